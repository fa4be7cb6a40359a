# SPDX-License-Identifier: Apache-2.0
"""`ringmaster get`: what an object says now."""

from typing import Any

import click

from ringmaster.cli.complete import complete_object
from ringmaster.cli.options import examples, print_json, reads_a_workspace


@click.command(
    epilog=examples(
        "ringmaster get server/turn_rate_hz",
        "ringmaster get bpm01/turn clock",
        "ringmaster get 'counters/stream/*' --json",
    )
)
@click.argument("names", metavar="NAME…", nargs=-1, required=True, shell_complete=complete_object)
@reads_a_workspace
def get(names: tuple[str, ...], workspace: str | None, dead: bool, as_json: bool) -> None:
    """Print parameters, counters, the clock, histograms, texts, or the newest record of streams.

    A NAME is a whole name, or one without "stream/" or "counters/", or a shell pattern of either.
    """
    from ringmaster.inventory import matching, read
    from ringmaster.workspace import attach

    with attach(workspace, dead) as ws:
        infos = {info.name: info for name in names for info in matching(ws, name)}
        readings = {name: read(ws, info) for name, info in infos.items()}
    if as_json:
        print_json(readings)
        return
    for name, reading in readings.items():
        _print_reading(name, reading)


def _print_reading(name: str, reading: dict[str, Any]) -> None:
    if set(reading) == {"text"}:
        click.echo(f"{name}:\n{reading['text']}")
    elif "value" in reading:
        alarm = "" if reading["severity"] == "none" else f"  ({reading['severity']} alarm)"
        click.echo(f"{name} = {reading['value']} {reading['unit']}".rstrip() + alarm)
    else:
        click.echo(f"{name}:")
        flat = {**reading, **reading.get("lanes", {})}
        flat.pop("lanes", None)
        width = max(map(len, flat))
        for key, value in flat.items():
            click.echo(f"  {key:<{width}}  {value}")
