# SPDX-License-Identifier: Apache-2.0
"""`ringmaster put`: ask the owner of a parameter to set it."""

from typing import TYPE_CHECKING

import click

from ringmaster.cli.complete import complete_writable
from ringmaster.cli.options import examples, json_option, print_json, severity_style, workspace_option

if TYPE_CHECKING:
    from ringmaster.fabric.parameter import ParameterReading, Value
    from ringmaster.fabric.workspace import Workspace


@click.command(
    epilog=examples(
        "ringmaster put ramp/rate 0.5",
        "ringmaster put sr/ps/ch_s01_01/setpoint 12.5 --unit urad",
        "ringmaster put 'ramp/mask[3]' 0",
        "ringmaster put ramp/weights 1 0.5 0.25",
        "ringmaster put ramp/comment after the access",
    ),
    context_settings={"ignore_unknown_options": True},  # -1.5 is a value
)
@click.argument("name", metavar="NAME", shell_complete=complete_writable)
@click.argument("values", metavar="VALUE…", nargs=-1, required=True)
@click.option("--unit", metavar="UNIT", help="The value is in this unit of the parameter; µ may be written u.")
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for the owner's answer.",
)
@workspace_option
@json_option
def put(
    name: str, values: tuple[str, ...], unit: str | None, timeout: float, workspace: str | None, as_json: bool
) -> None:
    """Ask the owner of parameter NAME to set it, and print what it was and what it is.

    The owner may refuse: then its reason is printed and the exit status is 1. NAME[3] is one element of an array,
    NAME[3:5] are elements 3 and 4; several values may be given with blanks or commas between.
    """
    from ringmaster.errors import RequestRefused
    from ringmaster.fabric.workspace import attach
    from ringmaster.values.value_format import parse, plain, show, split_name

    with attach(workspace) as ws:
        base, first, count = split_name(name) if name not in ws.parameters else (name, 0, None)
        parameter = ws.parameters[base]
        value = parse(parameter, list(values))
        given = 1 if isinstance(value, int | float | str) else value.size
        if given != (count or (1 if parameter.is_text else parameter.count)):
            raise click.UsageError(_wrong_count(base, count or parameter.count, given, whole=count is None))
        old = parameter.read(unit)
        try:
            new = ws.put(base, value, unit, timeout, first)
        except RequestRefused as error:
            if as_json:
                print_json({"name": name, "refused": str(error)})
            raise click.ClickException(str(error)) from None
        part = slice(None) if count is None else slice(first, first + count)
        before, after = (_part(reading.value, part) for reading in (old, new))
        moving = _moving(ws, base, value, new)
        if as_json:
            stamps = {"timestamp_tai_ns": new.timestamp_tai_ns, "turn": new.turn, "severity": new.severity.name.lower()}
            target = {"target": plain(value)} if moving else {}
            print_json({"name": name, "old": plain(before), "new": plain(after), "unit": new.unit, **target, **stamps})
            return
        shown = click.style(show(after, new.unit), **severity_style(new.severity))
        if moving:
            click.echo(f"{name}: target {show(value, new.unit)}, now {shown}; {moving}")
        else:
            click.echo(f"{name}: {show(before)} → {shown}")


def _moving(ws: "Workspace", name: str, target: "Value", now: "ParameterReading") -> str:
    """How a supply's setpoint gets to its target; empty where it is there, or this is no setpoint of a supply."""
    from ringmaster.machine.server_file import of_workspace, slew_of

    supply = name.removesuffix("/setpoint")
    if supply == name or supply not in ws.supplies or isinstance(target, str) or _same(target, now.value):
        return ""
    slew = slew_of(of_workspace(ws), supply)
    rate = "as fast as its slew allows" if slew is None else f"at {slew:g} {ws.parameters[name].unit}/s"
    return f"it moves there {rate}: `ringmaster monitor {name}` shows it"


def _same(target: "Value", value: "Value") -> bool:
    """But for the rounding of a setpoint that is a float of 32 bits."""
    import numpy as np

    return bool(np.allclose(np.asarray(target, float), np.asarray(value, float), rtol=1e-5, atol=1e-12))


def _wrong_count(name: str, expected: int, given: int, whole: bool) -> str:
    hint = f"; {name}[3] sets one of them" if whole and expected > 1 else ""
    return f"{name}: {expected} {'value is' if expected == 1 else 'values are'} needed, {given} given{hint}"


def _part(value: "Value", part: slice) -> "Value":
    """Elements of an array; one alone is a number."""
    import numpy as np

    if part == slice(None) or not isinstance(value, np.ndarray):
        return value
    chosen = value.ravel()[part]
    return chosen.item() if chosen.size == 1 else chosen
