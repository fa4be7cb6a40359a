# SPDX-License-Identifier: Apache-2.0
"""`ringmaster ls`: what is in a workspace."""

from typing import TYPE_CHECKING

import click

from ringmaster.cli.options import examples, print_json, reads_a_workspace

if TYPE_CHECKING:
    from rich.table import Table

    from ringmaster.workspace import Workspace


@click.command(epilog=examples("ringmaster ls", "ringmaster ls -w demo --json | jq -r '.objects[].name'"))
@reads_a_workspace
def ls(workspace: str | None, dead: bool, as_json: bool) -> None:
    """List the streams, parameters, counters and other objects of a workspace."""
    from ringmaster.inventory import describe
    from ringmaster.workspace import attach

    with attach(workspace, dead) as ws:
        if as_json:
            objects = [describe(ws, info) for info in ws.objects.values()]
            print_json({"workspace": ws.name, "path": str(ws.path), "alive": ws.alive, "objects": objects})
        else:
            _print_tables(ws)


def _print_tables(ws: "Workspace") -> None:
    import sys

    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(f"workspace [bold]{ws.name}[/] in {ws.path}", highlight=False)
    for owner in ws.segments.values():
        state = f"process {owner.owner_pid}" if owner.alive else "[red]has ended[/]"
        console.print(f"  {owner.owner}: {state}, epoch {owner.epoch}, {len(owner.objects)} objects", highlight=False)
    for table in (_streams(ws), _parameters(ws), _counters(ws), _others(ws)):
        if table.row_count:
            console.print(table)


def _table(*columns: str) -> "Table":
    """Of these columns the last is folded where the width does not suffice."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        right = column.startswith(">")
        folded = column is columns[-1]
        table.add_column(column.removeprefix(">"), justify="right" if right else "left", no_wrap=not folded)
    return table


def _streams(ws: "Workspace") -> "Table":
    table = _table("\nSTREAM", "\nKIND", ">\nRATE", ">\nHEAD", ">\nRECORDS", "\nFILTER", "\nLANES")
    turn_rate_hz = ws.clock.read().turn_rate_hz
    for name, stream in ws.streams.items():
        rate = f"{turn_rate_hz / stream.period / 1e3:.1f} kHz" if turn_rate_hz else f"1/{stream.period} turns"
        head = "none yet" if stream.head is None else str(stream.head)
        lanes = " ".join(f"{lane.name}[{lane.unit}]" for lane in stream.lanes)
        kind = stream.instrument_kind.name.lower()
        table.add_row(name, kind, rate, head, str(stream.capacity), stream.filter, _plain(lanes))
    return table


def _parameters(ws: "Workspace") -> "Table":
    table = _table("\nPARAMETER", "\nVALUE", "\nUNIT", "\nDESCRIPTION")
    for name, parameter in ws.parameters.items():
        table.add_row(name, _plain(str(parameter.value)), _plain(parameter.unit), _plain(parameter.description))
    return table


def _counters(ws: "Workspace") -> "Table":
    table = _table("\nCOUNTERS", "\nNOT ZERO")
    for name, block in ws.counter_blocks.items():
        table.add_row(name, ", ".join(f"{counter} {value}" for counter, value in block.items() if value))
    return table


def _others(ws: "Workspace") -> "Table":
    from ringmaster.layout import ObjectKind

    shown = (ObjectKind.STREAM, ObjectKind.PARAMETER, ObjectKind.COUNTERS)
    table = _table("\nOTHER", "\nKIND", "\nDESCRIPTION")
    for info in ws.objects.values():
        if info.kind not in shown:
            table.add_row(info.name, info.kind.name.lower(), _plain(info.description))
    return table


def _plain(words: str) -> str:
    from rich.markup import escape

    return escape(words)
