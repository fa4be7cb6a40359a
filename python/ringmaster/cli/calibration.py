# SPDX-License-Identifier: Apache-2.0
"""`ringmaster calibration`: from raw numbers to physical units."""

from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from ringmaster.cli.options import examples, print_json, reads_a_workspace
from ringmaster.cli.programs import become

if TYPE_CHECKING:
    from ringmaster.fabric.stream import Stream

PREFIX = "calibration/"


@click.group(
    epilog=examples(
        "ringmaster calibration template configs/demo.yaml > calibration.csv",
        "ringmaster calibration check calibration.csv --config configs/demo.yaml",
        "ringmaster calibration show bpm01",
    ),
    no_args_is_help=True,
)
def calibration() -> None:
    """Make, check and look at the calibrations of instruments."""


@calibration.command(epilog=examples("ringmaster calibration check calibration.csv --config configs/demo.yaml"))
@click.argument("file", type=click.Path())
@click.option(
    "--config", type=click.Path(), required=True, metavar="CONFIG.yaml", help="The configuration with the instruments."
)
def check(file: str, config: str) -> None:
    """Check the table FILE (CSV) against the instruments of a configuration, and their units."""
    become("ringmaster-calibration", "check", file, config)


@calibration.command(epilog=examples("ringmaster calibration template configs/demo.yaml > calibration.csv"))
@click.argument("config", type=click.Path())
def template(config: str) -> None:
    """Print a table to be filled in, with a row for every BPM and every other instrument of CONFIG."""
    become("ringmaster-calibration", "template", config)


def _complete_instrument(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from ringmaster.errors import WorkspaceError
    from ringmaster.fabric.workspace import attach

    try:
        with attach(context.params.get("workspace"), dead=True) as ws:
            names = [name.removeprefix(PREFIX) for name in ws.parameters if name.startswith(PREFIX)]
    except (WorkspaceError, OSError):
        return []
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


@calibration.command(
    epilog=examples("ringmaster calibration show", "ringmaster calibration show bpm01 -w demo --json"),
)
@click.argument("instruments", metavar="[INSTRUMENT]…", nargs=-1, shell_complete=_complete_instrument)
@reads_a_workspace
def show(instruments: tuple[str, ...], workspace: str | None, dead: bool, as_json: bool) -> None:
    """Show the calibrations in a workspace: of these instruments, or of all."""
    from ringmaster.fabric.naming import not_found
    from ringmaster.fabric.workspace import attach

    with attach(workspace, dead) as ws:
        streams = {stream.instrument: stream for stream in ws.streams.values() if stream.calibration is not None}
        for name in instruments:
            if name not in streams:
                raise not_found("calibrated instrument", name, list(streams))
        wanted = {name: streams[name] for name in instruments or streams}
        shown = {name: _plain(stream) for name, stream in wanted.items()}
    if as_json:
        print_json(shown)
        return
    if not shown:
        click.echo("no instrument of this workspace is calibrated")
    for name, instrument in shown.items():
        click.echo(f"{name}: applied {instrument['applied']}")
        for lane, values in instrument["lanes"].items():
            click.echo(f"  {lane}: {_line(values)}")


def _plain(stream: "Stream") -> dict[str, Any]:
    assert stream.calibration is not None
    return {"applied": stream.calibrated.name.lower().replace("_", " "), "lanes": stream.calibration.describe()}


IDENTITY = {"gain": 1.0, "k10": 1.0}


def _line(values: dict[str, object]) -> str:
    """The units and the coefficients that differ from the identity's."""
    coefficients = {name: value for name, value in values.items() if isinstance(value, float)}
    different = [f"{name} {value:g}" for name, value in coefficients.items() if value != IDENTITY.get(name, 0.0)]
    return f"{values['raw_unit']} → {values['unit']}  " + (", ".join(different) or "the identity")
