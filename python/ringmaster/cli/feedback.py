# SPDX-License-Identifier: Apache-2.0
"""`ringmaster feedback`: the orbit feedback on the command line."""

import math
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from ringmaster.cli.feedback_matrix import matrix
from ringmaster.cli.feedback_measure import predict, sensitivity, spectrum
from ringmaster.cli.feedback_options import a_feedback, attached
from ringmaster.cli.options import examples, json_option, print_json
from ringmaster.feedback.names import LENGTHS

if TYPE_CHECKING:
    from ringmaster.feedback.loop import Feedback

ANGLES = {"nrad": 1e-9, "urad": 1e-6, "µrad": 1e-6, "mrad": 1e-3, "rad": 1.0}


class _Quantity(click.ParamType[float]):
    """A number with a unit: 100um."""

    name = "quantity"

    def __init__(self, units: dict[str, float]) -> None:
        self.units = units

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """To the units' base."""
        word = str(value)
        unit = next((unit for unit in sorted(self.units, key=len, reverse=True) if word.endswith(unit)), None)
        with suppress(ValueError):
            number = float(word.removesuffix(unit or ""))
            if unit is not None or number == 0:
                return number * self.units.get(unit or "", 1.0)
        return self.fail(f"found {value!r}, expected a number with a unit, as 100{next(iter(self.units))}", param, ctx)


@click.group(
    epilog=examples(
        "ringmaster feedback why",
        "ringmaster feedback on",
        "ringmaster feedback mask bpm07 --out",
        "ringmaster feedback bump bpm12/x1 --x 100um",
        "ringmaster feedback matrix twin elettra2_like --map mapping.yaml -o response.csv",
        "ringmaster feedback sensitivity --plot s.png",
    ),
    no_args_is_help=True,
)
def feedback() -> None:
    """Look at and steer the orbit feedback of a running server, make its response matrix, predict and measure it."""


# ---- state


@feedback.command(epilog=examples("ringmaster feedback status", "ringmaster feedback status --json | jq .rms_x"))
@a_feedback
@json_option
def status(as_json: bool, **where: Any) -> None:
    """Print what the feedback says of itself, and what it is set to."""
    from ringmaster.feedback.loop import summary

    with attached(**where) as it:
        numbers = summary(it)
        if as_json:
            print_json({"name": it.name, "state_name": it.state.name.lower(), **numbers})
            return
        _print_status(it, numbers)


def _shown(value: float) -> str:
    """A reading; one that is no number is not known, or not watched."""
    if not math.isfinite(value):
        return "–"
    whole = value == int(value) or abs(value) >= 99999.5  # else five digits have an exponent
    return f"{value:.0f}" if whole else f"{value:.5g}"


def _print_status(it: "Feedback", numbers: dict[str, Any]) -> None:
    import sys

    from rich.console import Console
    from rich.table import Table

    from ringmaster.feedback.names import State

    console = Console(width=None if sys.stdout.isatty() else 160, highlight=False)
    state = State(int(numbers["state"])).name  # of the same look as the table
    colour = {"ON": "green", "FAULT": "red", "HOLD": "yellow"}.get(state, "default")
    console.print(f"[bold]{it.name}[/] is [{colour}]{state}[/]")
    if it.withdrawn:
        console.print(f"[yellow]its permission to act was withdrawn: {it.withdrawn}[/]")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in ("NAME", "VALUE", "UNIT", "WHAT IT IS"):
        table.add_column(column, justify="right" if column == "VALUE" else "left", no_wrap=column != "WHAT IT IS")
    for settable in (False, True):
        for short, value in numbers.items():
            parameter = it.parameter(short)
            if parameter.writable == settable:
                table.add_row(short, _shown(value), parameter.unit, parameter.description)
        table.add_section()
    console.print(table)
    console.print("The lower ones can be set: ringmaster feedback set NAME VALUE")


@feedback.command(epilog=examples("ringmaster feedback why", "ringmaster feedback why --json | jq -r '.sentences[]'"))
@a_feedback
@json_option
def why(as_json: bool, **where: Any) -> None:
    """Say in plain sentences why the feedback is off, or what it does, and what to do about it.

    The exit status is not 0 where that is not known: no server, a stopped one, or no such application.
    """
    from ringmaster.errors import WorkspaceError
    from ringmaster.feedback.why import explain, unknown

    try:
        with attached(**where) as it:
            answer = explain(it)
    except WorkspaceError as error:
        answer = unknown(where["name"], error)
        if as_json:
            print_json(answer.as_json())
        raise type(error)(answer.sentences[0]) from None
    if as_json:
        print_json(answer.as_json())
        return
    for sentence in answer.sentences:
        click.echo(sentence)
    if answer.advice:
        click.echo("\nWhat to do:")
    for advice in answer.advice:
        click.echo(f"  {advice}")


def _switch(name: str, what: str, value: int) -> None:
    def run(**where: Any) -> None:
        with attached(**where) as it:
            it.put("loop", value)
            _say_state(it)

    run.__doc__ = what
    feedback.command(name, epilog=examples(f"ringmaster feedback {name}"))(a_feedback(run))


_switch("on", "Switch the loop on: it starts softly as soon as all enable conditions are there.", 1)
_switch("off", "Switch the loop off: all setpoints stay where they are.", 0)
_switch("hold", "Keep all outputs as they are, ready to go on.", 2)


def _say_state(it: "Feedback", seconds: float = 1.0) -> None:
    """The state, once it has had time to change."""
    from time import monotonic, sleep

    from ringmaster.feedback.names import Loop, State

    wanted = {Loop.ON: {State.ON}, Loop.HOLD: {State.HOLD}, Loop.OFF: {State.OFF, State.READY}}
    aim = wanted[Loop(int(it.number("loop")))]
    give_up = monotonic() + seconds
    while it.state not in aim and monotonic() < give_up:
        sleep(0.02)
    click.echo(f"{it.name} is {it.state.name}")
    if it.state not in aim:
        click.echo("`ringmaster feedback why` says why.")


@feedback.command(epilog=examples("ringmaster feedback reset"))
@a_feedback
def reset(**where: Any) -> None:
    """Leave the state FAULT, after having looked why."""
    with attached(**where) as it:
        it.put("reset", 1.0 - it.number("reset") if it.number("reset") in (0.0, 1.0) else 0.0)
        _say_state(it)


def _complete_setting(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Short names of what can be set."""
    from ringmaster.errors import WorkspaceError
    from ringmaster.fabric.workspace import attach

    prefix = f"{context.params.get('name') or 'feedback'}/"
    try:
        with attach(context.params.get("workspace"), dead=True) as ws:
            names = [n.removeprefix(prefix) for n, p in ws.parameters.items() if n.startswith(prefix) and p.writable]
    except (WorkspaceError, OSError):
        return []
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


@feedback.command(
    "set",
    epilog=examples("ringmaster feedback set gain 0.5", "ringmaster feedback set modes 48"),
    context_settings={"ignore_unknown_options": True},  # -1.5 is a value
)
@click.argument("setting", metavar="NAME", shell_complete=_complete_setting)
@click.argument("value", metavar="VALUE", type=float)
@a_feedback
def set_(setting: str, value: float, **where: Any) -> None:
    """Set one of the feedback's settings; `ringmaster feedback status` lists them."""
    with attached(**where) as it:
        before = it.number(setting) if f"{it.name}/{setting}" in it.ws.parameters else it.parameter(setting).number
        it.put(setting, value)
        click.echo(f"{it.name}/{setting}: {before:g} → {it.number(setting):g}")


# ---- masks and orbits


def _complete_names(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Rows, their instruments, and actuators."""
    from ringmaster.errors import WorkspaceError

    given = context.params
    try:
        with attached(given.get("workspace"), given.get("name") or "feedback", given.get("configuration")) as it:
            instruments = dict.fromkeys(row.rpartition("/")[0] for row in it.rows)
            names = [*instruments, *it.rows, *it.actuators]
    except (WorkspaceError, OSError, ValueError):
        return []
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


@feedback.command(
    epilog=examples(
        "ringmaster feedback mask bpm07",
        "ringmaster feedback mask bpm07/x1 'sr/ps/cf_x_0*' --out",
        "ringmaster feedback mask bpm07 --in",
    )
)
@click.argument("names", metavar="NAME…", nargs=-1, required=True, shell_complete=_complete_names)
@click.option("--out/--in", "out", default=True, help="Out of the loop (which is meant without either), or back in.")
@a_feedback
def mask(names: tuple[str, ...], out: bool, **where: Any) -> None:
    """Take BPM readings and actuators out of the running loop, or back in, without a bump.

    A NAME is INSTRUMENT/LANE, an INSTRUMENT (all its lanes), an actuator, or a shell pattern of these.
    """
    from ringmaster.feedback.golden import matching

    with attached(**where) as it:
        both = it.need_matrix()
        chosen = matching((*both.rows, *both.columns), names)
        for setting, first, count in (
            ("bpm_mask", 0, len(both.rows)),
            ("actuator_mask", len(both.rows), len(both.columns)),
        ):
            mine = [i - first for i in chosen if first <= i < first + count]
            if mine:
                values = it.array(setting)
                values[mine] = 0.0 if out else 1.0
                it.put_array(setting, values)
        words = [(*both.rows, *both.columns)[i] for i in chosen]
        click.echo(f"{'out' if out else 'in'}: {', '.join(words)}")


@feedback.command(
    epilog=examples(
        "ringmaster feedback golden current",
        "ringmaster feedback golden friday.csv",
        "ringmaster feedback golden zero",
        "ringmaster feedback golden current --save today.csv",
    )
)
@click.argument("orbit", metavar="FILE|current|zero", type=click.Path())
@click.option("--save", type=click.Path(path_type=Path), metavar="FILE", help="Write it there, and set nothing.")
@click.option("--seconds", type=float, default=1.0, show_default=True, help="current: mean over so long.")
@a_feedback
def golden(orbit: str, save: Path | None, seconds: float, **where: Any) -> None:
    """Want another orbit: of a file (lines NAME,nm), the one that is there now, or zero.

    It is approached at the configured speed, without a jump. BPMs that say nothing, and those that the file does not
    name, keep what they have.
    """
    import numpy as np

    from ringmaster.feedback.golden import current_orbit, rate_of
    from ringmaster.feedback.matrix import load_values, save_values

    with attached(**where) as it:
        rows = it.need_matrix().rows
        before = it.array("golden")
        if orbit == "zero":
            wanted = np.zeros(len(rows))
        elif orbit == "current":
            wanted, _ = current_orbit(it.ws, rows, rate_of(it.ws, rows), seconds)
        else:
            wanted = load_values(Path(orbit), rows)
        kept = int(np.count_nonzero(~np.isfinite(wanted)))
        wanted = np.where(np.isfinite(wanted), np.round(wanted), before)
        if save is not None:
            save_values(save, rows, wanted, f"orbit of {it.ws.name}, nm")
            click.echo(f"{save}: {len(rows)} readings")
            return
        it.put_array("golden", wanted)
        change = float(np.abs(wanted - before).max()) * 1e-3
        silent = f"; {kept} of them had no data and keep what they had" if kept else ""
        click.echo(f"golden orbit of {len(rows)} readings, at most {change:.3g} µm from the one before{silent}")


@feedback.command(
    epilog=examples(
        "ringmaster feedback bump bpm12/x1 --x 100um",
        "ringmaster feedback bump bpm12 --y -50um --try",
        "ringmaster feedback bump bpm12/x1 bpm12/x2 --x 20um --angle 10urad --apart 1.5",
    )
)
@click.argument("at", metavar="AT…", nargs=-1, required=True, shell_complete=_complete_names)
@click.option("--x", "x_nm", type=_Quantity(LENGTHS), help="Horizontally, as 100um.")
@click.option("--y", "y_nm", type=_Quantity(LENGTHS), help="Vertically.")
@click.option(
    "--angle",
    type=_Quantity(ANGLES),
    help="Besides, so steep from the first to the last of AT; in the planes of --x and --y.",
)
@click.option("--apart", type=float, metavar="M", help="Length from the first to the last of AT, for --angle.")
@click.option("--free", type=click.IntRange(0), default=2, show_default=True, help="Neighbours that may move.")
@click.option("--try", "only_try", is_flag=True, help="Show it, and set nothing.")
@a_feedback
@json_option
def bump(
    at: tuple[str, ...],
    x_nm: float | None,
    y_nm: float | None,
    angle: float | None,
    apart: float | None,
    free: int,
    only_try: bool,
    as_json: bool,
    **where: Any,
) -> None:
    """Add a closed bump to the golden orbit: so far at AT (INSTRUMENT or INSTRUMENT/LANE), and nothing elsewhere.

    The bump is what the actuators in use can make of it by the response matrix, in least squares; what others move is
    told.
    """
    import numpy as np

    from ringmaster.feedback.golden import closed_bump, matching
    from ringmaster.feedback.matrix import row_plane

    if (angle is None) != (apart is None):
        raise click.UsageError("--angle and --apart go together")
    with attached(**where) as it:
        both = it.need_matrix()
        chosen = matching(both.rows, at)
        wanted: dict[int, float] = {}
        for plane, distance in (("x", x_nm), ("y", y_nm)):
            if distance is None:
                continue
            rows = [i for i in chosen if row_plane(both.rows[i]) == plane]
            if not rows:
                raise click.UsageError(f"--{plane}: none of {' '.join(at)} is a reading of plane {plane}")
            tilt = 0.0 if angle is None or apart is None else angle * apart * 1e9
            steps = np.linspace(-0.5, 0.5, len(rows)) if len(rows) > 1 else np.zeros(len(rows))
            wanted |= {row: distance + tilt * step for row, step in zip(rows, steps, strict=True)}
        if not wanted:
            raise click.UsageError("say how far: --x, --y")
        made = closed_bump(both, wanted, it.moved_by_loop(), free)
        if not only_try:
            it.put_array("golden", it.array("golden") + np.round(made.orbit_nm))
        _say_bump(it, made, wanted, only_try, as_json)


def _say_bump(it: "Feedback", made: Any, wanted: dict[int, float], only_try: bool, as_json: bool) -> None:
    import numpy as np

    both = it.need_matrix()
    planes = {p: made.leak_nm(both.plane_of_rows(p)) for p in "xy"}
    largest = np.argsort(-np.abs(made.currents))[:6]
    if as_json:
        print_json(
            {
                "set": not only_try,
                "at": {both.rows[i]: {"wanted_nm": nm, "made_nm": float(made.orbit_nm[i])} for i, nm in wanted.items()},
                "elsewhere_nm": {p: {"rms": rms, "largest": most} for p, (rms, most) in planes.items()},
                "actuators": {both.columns[i]: float(made.currents[i]) for i in np.flatnonzero(made.currents)},
            }
        )
        return
    for i, nm in wanted.items():
        click.echo(f"{both.rows[i]}: {made.orbit_nm[i] * 1e-3:.4g} µm, wanted {nm * 1e-3:.4g} µm")
    for plane, (rms, most) in planes.items():
        click.echo(f"elsewhere in {plane}: RMS {rms * 1e-3:.3g} µm, at most {most * 1e-3:.3g} µm")
    click.echo("it takes: " + ", ".join(f"{both.columns[i]} {made.currents[i]:.3g}" for i in largest))
    click.echo("nothing was set" if only_try else "added to the golden orbit")


for command in (matrix, sensitivity, spectrum, predict):
    feedback.add_command(command)
