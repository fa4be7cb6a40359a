# SPDX-License-Identifier: Apache-2.0
"""`ringmaster get`: what an object says now."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ringmaster.cli.complete import complete_object
from ringmaster.cli.options import examples, print_json, reads_a_workspace, severity_style
from ringmaster.fabric.naming import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ringmaster.errors import WorkspaceError
    from ringmaster.fabric.workspace import Workspace


@click.command(
    epilog=examples(
        "ringmaster get server/turn_rate_hz",
        "ringmaster get bpm01/turn clock",
        "ringmaster get 'sr/ps/*/setpoint' --unit urad",
        "ringmaster get 'ramp/mask[3]' ramp/settings grant/ramp setpoints/sent",
        "ringmaster get 'counters/stream/*' --json",
        "ringmaster get 'bpm*/turn' --records 8192 --output beam.h5",
    )
)
@click.argument("names", metavar="NAME…", nargs=-1, required=True, shell_complete=complete_object)
@click.option("--unit", metavar="UNIT", help="Show parameters in this unit, those that have it; µ may be written u.")
@click.option(
    "--output", type=click.Path(path_type=Path), metavar="FILE.h5", help="Write streams and rows to a new file."
)
@click.option(
    "--records", type=click.IntRange(min=1), default=8192, show_default=True, help="--output: how many of each."
)
@reads_a_workspace
def get(
    names: tuple[str, ...],
    unit: str | None,
    output: Path | None,
    records: int,
    workspace: str | None,
    dead: bool,
    as_json: bool,
) -> None:
    """Print parameters, groups, counters, the clock, histograms, texts, grants, the newest of streams and setpoints.

    A NAME is a whole name, or one without "stream/" or "counters/", or a shell pattern of either; NAME[3] is one
    element of a parameter. With --output the
    newest records of streams, and rows, go to a file (HDF5), with their units and their calibration.
    """
    from ringmaster.fabric.workspace import attach
    from ringmaster.values.inventory import read_all, units_of

    with attach(workspace, dead) as ws:
        if output is not None:
            _export(ws, names, output, records)
            return
        readings = {found: reading for name in names for found, reading in read_all(ws, name, unit).items()}
        units = {found: {} if as_json else units_of(ws, found) for found in readings}
        left = {} if dead else {name: what for name in readings if (what := _trouble(ws, name)) is not None}
        readings = {name: reading for name, reading in readings.items() if name not in left}
    if as_json:
        print_json(readings)
    else:
        for name, reading in readings.items():
            _print_reading(name, reading, units[name])
    for name, trouble in left.items():
        raise type(trouble)(f"{name}: {trouble}")


def _trouble(ws: "Workspace", name: str) -> "WorkspaceError | None":
    """Why what an object says is not of now."""
    from ringmaster.errors import WorkspaceError
    from ringmaster.values.value_format import split_name

    try:
        ws.check(ws.objects[name if name in ws.objects else split_name(name)[0]].owner)
    except WorkspaceError as error:
        return error
    return None


def _export(ws: "Workspace", names: tuple[str, ...], output: Path, records: int) -> None:
    from ringmaster.fabric.layout import ObjectKind
    from ringmaster.recordings import export
    from ringmaster.values.inventory import matching, short_name

    infos = {info.name: info for name in names for info in matching(ws, name)}
    streams = [ws.streams[short_name(info)] for info in infos.values() if info.kind == ObjectKind.STREAM]
    rings = [ws.rows[short_name(info)] for info in infos.values() if info.kind == ObjectKind.ROWS]
    if not streams and not rings:
        raise click.UsageError(f"{' '.join(names)}: no stream or rows among these; --output writes these")
    windows = {stream: stream.latest(records) for stream in streams}
    export.write(output, ws.name, windows, {rows: rows.latest(records) for rows in rings})
    told = [counted(len(streams), "stream")] if streams else []
    click.echo(f"{output}: {' and '.join([*told, counted(len(rings), 'row ring')] if rings else told)}")


def _value(reading: dict[str, Any]) -> str:
    """A parameter's value, in the colour of its severity."""
    from ringmaster.fabric.layout import Severity
    from ringmaster.values.value_format import show

    value = reading["value"]
    if isinstance(value, float):
        value = show(value)
    elif isinstance(value, list):  # all of it, where put and monitor show the first ones
        value = f"[{', '.join(map(show, value))}]"
    severity = Severity[reading["severity"].upper()]
    alarm = f"  ({severity.name.lower()} alarm)" if severity else ""
    unit = "" if reading["unit"] == "utf-8" else reading["unit"]
    return click.style(f"{value} {unit}".rstrip() + alarm, **severity_style(severity))


def _print_reading(name: str, reading: dict[str, Any], units: dict[str, str]) -> None:
    if set(reading) == {"text"}:
        click.echo(f"{name}:\n{reading['text']}")
    elif "value" in reading:
        click.echo(f"{name} = {_value(reading)}")
    elif "members" in reading:
        from ringmaster.values import time_format

        turn = "" if reading["turn"] is None else f", turn {reading['turn']}"
        last = f", last at {time_format.clock_time(reading['timestamp_tai_ns'])}{turn}" if reading["changes"] else ""
        click.echo(f"{name}: {reading['changes']} changes{last}")
        for member, value in reading["members"].items():
            click.echo(f"  {member} = {_value(value)}")
    else:
        click.echo(f"{name}:")
        rows = list(_rows(reading, units))
        width = max((len(key) for key, _ in rows), default=0)
        for key, value in rows:
            click.echo(f"  {key:<{width}}  {value}")


def _rows(reading: dict[str, Any], units: dict[str, str]) -> "Iterator[tuple[str, str]]":
    """Of an object with several numbers: what each is called, and its value with its unit."""
    from ringmaster.values.value_format import show

    for key, value in reading.items():
        if key == "physical" and isinstance(value, dict):
            yield from ((f"{lane} (calibrated)", show(one["value"], one["unit"])) for lane, one in value.items())
        elif isinstance(value, dict):  # lanes, setpoints; a counter may be called so, too
            yield from ((member, show(one, units.get(member, ""))) for member, one in value.items())
        elif isinstance(value, float):
            yield key, show(value, units.get(key, ""))
        else:
            yield key, f"{'–' if value is None else value} {units.get(key, '')}".rstrip()
