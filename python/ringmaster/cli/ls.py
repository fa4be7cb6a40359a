# SPDX-License-Identifier: Apache-2.0
"""`ringmaster ls`: what is in a workspace."""

from functools import partial
from typing import TYPE_CHECKING

import click

from ringmaster.cli.complete import complete_object
from ringmaster.cli.options import examples, print_json, reads_a_workspace, severity_style

if TYPE_CHECKING:
    from rich.table import Table

    from ringmaster.fabric.layout import ObjectKind
    from ringmaster.fabric.segment import ObjectInfo
    from ringmaster.fabric.workspace import Workspace


@click.command(
    epilog=examples(
        "ringmaster ls",
        "ringmaster ls 'sr/ps/ch_s01_*/setpoint'",
        "ringmaster ls --requesters",
        "ringmaster ls -w demo --json | jq -r '.objects[].name'",
    )
)
@click.argument("patterns", metavar="[PATTERN…]", nargs=-1, shell_complete=complete_object)
@click.option("--requesters", is_flag=True, help="Name the programs that hold a place to ask from (put, console, …).")
@reads_a_workspace
def ls(patterns: tuple[str, ...], requesters: bool, workspace: str | None, dead: bool, as_json: bool) -> None:
    """List the streams, parameters, counters and other objects of a workspace, or those that match a PATTERN.

    The column SET says which parameters others may ask to be set ("put"), and which are settings ("save").
    """
    if requesters:
        _print_requesters(workspace, as_json)
        return
    from ringmaster.fabric.workspace import attach
    from ringmaster.values.inventory import describe, matching, whole

    with attach(workspace, dead) as ws:
        wanted = patterns or ("*",)
        infos = {info.name: info for pattern in wanted for info in matching(ws, pattern)}
        if as_json:
            described = [whole(partial(describe, ws, info)) for info in infos.values()]
            objects = [known for known in described if known is not None]
            about = {"workspace": ws.name, "path": str(ws.path), "alive": ws.alive}
            print_json({**about, "objects": objects, "left_out": ws.left_out})
        else:
            _print_tables(ws, infos)


def _print_requesters(workspace: str | None, as_json: bool) -> None:
    from dataclasses import asdict

    from rich.console import Console

    from ringmaster.fabric._library import lib
    from ringmaster.fabric.requesters import find_requesters
    from ringmaster.fabric.workspace import directory_of

    path = directory_of(workspace)
    places = find_requesters(path)
    per_user, most = lib.RM_REQUESTERS_PER_USER, lib.RM_REQUESTERS_MAX
    if as_json:
        limits = {"per_user": per_user, "all": most}
        print_json({"path": str(path), "requesters": [asdict(place) for place in places], "limits": limits})
        return
    table = _table("USER", ">PROCESS", "PROGRAM", "NAME")
    for place in places:
        table.add_row(place.user, "" if place.pid is None else str(place.pid), _plain(place.program), place.name)
    console = Console()
    console.print(
        f"{len(places)} programs hold a place to ask from; one user may hold {per_user}, all {most}", highlight=False
    )
    if places:
        console.print(table)


def _print_tables(ws: "Workspace", infos: "dict[str, ObjectInfo]") -> None:
    import sys

    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(f"workspace [bold]{ws.name}[/] in {ws.path}", highlight=False)
    for owner in ws.segments.values():
        state = f"process {owner.owner_pid}" if owner.alive else "[red]has ended[/]"
        state += " [red]is stopped[/]" if owner.alive and owner.stopped else ""
        console.print(
            f"  {owner.owner}: {state}, generation {owner.generation}, {len(owner.objects)} objects", highlight=False
        )
    for reason in ws.left_out.values():
        console.print(f"  [red]left out:[/] {_plain(reason)}", highlight=False)
    for table in (_streams(ws, infos), _rows(ws, infos), _parameters(ws, infos), _counters(ws, infos), _others(infos)):
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


def _rate(turn_rate_hz: float, period: int) -> str:
    from ringmaster.console import units

    return units.hertz(turn_rate_hz / period) if turn_rate_hz else f"1/{period} turns"


def _streams(ws: "Workspace", infos: "dict[str, ObjectInfo]") -> "Table":
    from ringmaster.fabric.layout import ObjectKind
    from ringmaster.values.inventory import whole

    table = _table("\nSTREAM", "\nKIND", ">\nRATE", ">\nHEAD", ">\nRECORDS", "\nFILTER", "\nLANES")
    names = _short_names(infos, ObjectKind.STREAM)
    turn_rate_hz = ws.clock.read().turn_rate_hz if names else 0.0
    for name in names:
        stream = whole(partial(ws.streams.__getitem__, name))
        if stream is None:
            continue
        rate = _rate(turn_rate_hz, stream.period)
        head = "none yet" if stream.head is None else str(stream.head)
        lanes = " ".join(f"{lane.name}[{lane.unit}]" for lane in stream.lanes)
        kind = stream.instrument_kind.name.lower()
        table.add_row(name, kind, rate, head, str(stream.capacity), stream.filter, _plain(lanes))
    return table


def _rows(ws: "Workspace", infos: "dict[str, ObjectInfo]") -> "Table":
    from ringmaster.fabric.layout import ObjectKind
    from ringmaster.values.inventory import whole

    table = _table("\nROWS", ">\nRATE", ">\nHEAD", ">\nROWS", ">\nVALUES", "\nUNIT", "\nAXIS")
    names = _short_names(infos, ObjectKind.ROWS)
    turn_rate_hz = ws.clock.read().turn_rate_hz if names else 0.0
    for name in names:
        rows = whole(partial(ws.rows.__getitem__, name))
        if rows is None:
            continue
        head = "none yet" if rows.head is None else str(rows.head)
        axis = f"{rows.axis_name} {rows.axis[0]:.6g} … {rows.axis[-1]:.6g} {rows.axis_unit}"
        rate = _rate(turn_rate_hz, rows.period)
        table.add_row(name, rate, head, str(rows.capacity), str(rows.width), _plain(rows.unit), _plain(axis))
    return table


def _parameters(ws: "Workspace", infos: "dict[str, ObjectInfo]") -> "Table":
    from ringmaster.fabric.layout import ObjectKind
    from ringmaster.values.inventory import whole
    from ringmaster.values.value_format import show

    table = _table("\nPARAMETER", "\nVALUE", "\nUNIT", "\nSET", "\nDESCRIPTION")
    for name in _short_names(infos, ObjectKind.PARAMETER):
        parameter = whole(partial(ws.parameters.__getitem__, name))
        reading = None if parameter is None else whole(parameter.read)
        if parameter is None or reading is None:
            continue
        colour = severity_style(reading.severity).get("fg")
        value = _plain(show(reading.value))
        shown = f"[{colour}]{value}[/]" if colour else value
        may = " ".join(["put"] * parameter.writable + ["save"] * parameter.setting)
        table.add_row(name, shown, _plain(" ".join(parameter.units)), may, _plain(parameter.description))
    return table


def _counters(ws: "Workspace", infos: "dict[str, ObjectInfo]") -> "Table":
    from ringmaster.fabric.layout import ObjectKind
    from ringmaster.values.inventory import whole

    table = _table("\nCOUNTERS", "\nNOT ZERO")
    for name in _short_names(infos, ObjectKind.COUNTERS):
        block = whole(partial(ws.counter_blocks.__getitem__, name))
        if block is None:
            continue
        table.add_row(name, ", ".join(f"{counter} {value}" for counter, value in block.items() if value))
    return table


def _others(infos: "dict[str, ObjectInfo]") -> "Table":
    from ringmaster.fabric.layout import ObjectKind

    shown = (ObjectKind.STREAM, ObjectKind.ROWS, ObjectKind.PARAMETER, ObjectKind.COUNTERS)
    table = _table("\nOTHER", "\nKIND", "\nDESCRIPTION")
    for info in infos.values():
        if info.kind not in shown:
            table.add_row(info.name, info.kind.name.lower(), _plain(info.description))
    return table


def _short_names(infos: "dict[str, ObjectInfo]", kind: "ObjectKind") -> list[str]:
    from ringmaster.values.inventory import short_name

    return [short_name(info) for info in infos.values() if info.kind == kind]


def _plain(words: str) -> str:
    from rich.markup import escape

    return escape(words)
