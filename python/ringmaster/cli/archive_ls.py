# SPDX-License-Identifier: Apache-2.0
"""`ringmaster archive ls`: what is in an archive."""

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import click

from ringmaster.cli.archive_options import archive_argument, opened
from ringmaster.cli.options import examples, json_option, print_json

if TYPE_CHECKING:
    from ringmaster.archive.archive import Archive
    from ringmaster.archive.images import StoredCamera
    from ringmaster.archive.stored import StoredObject

WIDTH = 160
"""Columns of the table, at least: a narrow terminal breaks its lines, and a pipe has them whole."""


@click.command(
    epilog=examples(
        "ringmaster archive ls /archive",
        "ringmaster archive ls /archive 'bpm01/*'",
        "ringmaster archive ls /archive --marks --events",
        "ringmaster archive ls /archive --json | jq '.objects[].name'",
    )
)
@archive_argument
@click.argument("patterns", metavar="[NAME]…", nargs=-1)
@click.option("--files", is_flag=True, help="The files, and what is damaged or foreign.")
@click.option("--marks", is_flag=True, help="What is missing, and why.")
@click.option("--events", is_flag=True, help="What was recorded beside the streams.")
@json_option
def ls(path: str, patterns: tuple[str, ...], files: bool, marks: bool, events: bool, as_json: bool) -> None:
    """List streams and reductions: lanes, rate, span in time and in turns, bytes. And cameras: their frames."""
    archive = opened(path)
    objects = [
        stored
        for stored in (*archive.streams, *archive.all_reductions)
        if not patterns or any(fnmatchcase(stored.name, pattern) for pattern in patterns)
    ]
    cameras = [
        camera
        for camera in archive.cameras
        if camera.records > 0 and (not patterns or any(fnmatchcase(camera.name, pattern) for pattern in patterns))
    ]
    if as_json:
        print_json(_as_json(archive, objects) | {"cameras": [_camera_as_json(camera) for camera in cameras]})
        return
    _print_objects(objects, cameras)
    if files:
        _print_files(archive)
    for mark in archive.marks if marks else ():
        click.echo(str(mark))
    for event in archive.events() if events else ():
        click.echo(str(event))


def _as_json(archive: "Archive", objects: "list[StoredObject]") -> dict[str, Any]:
    return {
        "path": archive.path,
        "objects": [_object_as_json(stored) for stored in objects],
        "files": [vars(file) for file in archive.files],
        "marks": [vars(mark) | {"reason": mark.reason.name.lower()} for mark in archive.marks],
        "damages": [vars(damage) for damage in archive.damages],
        "foreign": archive.foreign,
        "events": [{"utc_ns": event.utc_ns, **event.what} for event in archive.events()],
    }


def _object_as_json(stored: "StoredObject") -> dict[str, Any]:
    return {
        "name": stored.name,
        "reduction": _is_reduction(stored),
        "log": stored.log,
        "period_turns": stored.period,
        "filter": stored.filter,
        "group_delay_turns": stored.group_delay_turns,
        "closing_delay_turns": stored.closing_delay_turns,
        "delay_turns": stored.delay_turns,
        "lanes": [{"name": lane.name, "unit": lane.unit, "type": lane.type.name.lower()} for lane in stored.lanes],
        "records": stored.records,
        "stored_bytes": stored.stored_bytes,
        "plain_bytes": stored.plain_bytes,
        "runs": [
            run._asdict() | {"first_utc_ns": run.first_utc_ns, "last_utc_ns": run.last_utc_ns} for run in stored.runs
        ],
    }


def _is_reduction(stored: "StoredObject") -> bool:
    from ringmaster.archive.stream import StoredReduction

    return isinstance(stored, StoredReduction)


def _camera_as_json(camera: "StoredCamera") -> dict[str, Any]:
    blocks, utc = camera.blocks, camera.utc
    return {
        "name": camera.name,
        "log": camera.log,
        "frames": camera.records,
        "stored_bytes": camera.stored_bytes,
        "plain_bytes": camera.plain_bytes,
        "first_number": int(blocks["number"][0]),
        "last_number": int(blocks["number"][-1]),
        "first_utc_ns": int(utc[0].astype(int)),
        "last_utc_ns": int(utc[-1].astype(int)),
    }


def _print_objects(objects: "list[StoredObject]", cameras: "list[StoredCamera]") -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("name", "every", "lanes", "from (UTC)", "until", "turns", "records", "bytes", "ratio", "log"):
        right = column in ("every", "records", "bytes", "ratio")
        table.add_column(column, justify="right" if right else "left", no_wrap=True)
    for stored in objects:
        for row in _rows(stored):
            table.add_row(*row)
    for camera in cameras:
        table.add_row(*_camera_row(camera))
    console = Console(highlight=False)
    console.width = max(console.width, WIDTH)
    console.print(table)


def _rows(stored: "StoredObject") -> list[tuple[str, ...]]:
    """One for each run: a restart of the turn counter is seen."""
    name = f"{stored.name} (reduced)" if _is_reduction(stored) else stored.name
    head = (name, _every(stored), _lanes(stored))
    ratio = f"{stored.plain_bytes / stored.stored_bytes:.1f}" if stored.stored_bytes else "–"
    tail = (str(stored.records), _bytes(stored.stored_bytes), ratio, stored.log)
    rows = [
        (_time(run.first_utc_ns), _time(run.last_utc_ns), f"{run.first_turn}–{run.last_turn}") for run in stored.runs
    ] or [("–",) * 3]
    return [(*(head if i == 0 else ("",) * 3), *row, *(tail if i == 0 else ("",) * 4)) for i, row in enumerate(rows)]


def _camera_row(camera: "StoredCamera") -> tuple[str, ...]:
    utc, numbers = camera.utc, camera.blocks["number"]
    span = (_time(int(utc[0].astype(int))), _time(int(utc[-1].astype(int))), f"frames {numbers[0]}–{numbers[-1]}")
    ratio = f"{camera.plain_bytes / camera.stored_bytes:.1f}"
    return (camera.name, "–", "image", *span, str(camera.records), _bytes(camera.stored_bytes), ratio, camera.log)


def _every(stored: "StoredObject") -> str:
    from ringmaster.fabric.layout import ON_CHANGE

    return f"{stored.period}, on change" if stored.filter == ON_CHANGE else str(stored.period)


def _lanes(stored: "StoredObject") -> str:
    names = [lane.name for lane in stored.lanes]
    return " ".join(names) if len(names) < 4 else f"{names[0]} … {names[-1]} ({len(names)})"


def _print_files(archive: "Archive") -> None:
    for file in archive.files:
        state = "sealed" if file.sealed else "open"
        click.echo(f"{file.path}: {_bytes(file.bytes)}, {state}, TAI − UTC = {file.tai_minus_utc_s} s")
    for damage in archive.damages:
        click.echo(f"{damage.path}: damaged at byte {damage.offset}, {damage.bytes} bytes: {damage.what}")
    for path, what in archive.foreign.items():
        click.echo(f"{path}: foreign: {what}")


def _time(utc_ns: int) -> str:
    from ringmaster.archive.times import iso

    return iso(utc_ns)[:23].replace("T", " ")


def _bytes(count: int) -> str:
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.4g} TB"
