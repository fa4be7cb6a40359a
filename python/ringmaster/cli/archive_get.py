# SPDX-License-Identifier: Apache-2.0
"""`ringmaster archive get`: records on a terminal, or for a script."""

import csv
import io
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from ringmaster.cli.archive_options import EDGE, archive_argument, opened, over_a_span
from ringmaster.cli.options import examples, json_option, print_json

if TYPE_CHECKING:
    from ringmaster.archive.stream import StoredStream
    from ringmaster.archive.times import Edge
    from ringmaster.archive.window import ArchiveWindow, ReducedWindow


@click.command(
    epilog=examples(
        "ringmaster archive get /archive bpm01/turn --from 120000000 --until 120000020",
        "ringmaster archive get /archive bpm01/turn --around 2026-11-25T14:00:01.5 --records 1000 > window.csv",
        "ringmaster archive get /archive bpm01/turn --from 2026-11-25 --until 2026-11-26 --points 500 --json",
    )
)
@archive_argument
@click.argument("name", metavar="NAME")
@over_a_span
@click.option("--around", type=EDGE, metavar="TIME", help="Half of the records before this time, half after it.")
@click.option(
    "--records", type=click.IntRange(min=1), default=100, show_default=True, help="--around: how many records."
)
@click.option("--points", type=click.IntRange(min=1), metavar="N", help="About so many, by a reduction.")
@click.option("--epoch", type=click.IntRange(min=0), metavar="N", help="Turns of this turn-counter epoch.")
@click.option("--physical", is_flag=True, help="Calibrated, where the calibration was recorded.")
@json_option
def get(
    path: str,
    name: str,
    start: "Edge",
    stop: "Edge",
    around: "Edge",
    records: int,
    points: int | None,
    epoch: int | None,
    physical: bool,
    as_json: bool,
) -> None:
    """Print records of the stream NAME as CSV: time, turn, whether it was had and why not, status, lanes.

    A lane of a record that was not had is empty (JSON: null); why it was not: missing in the stream, not recorded, or
    damaged on the disk. Of a reduction there are four columns for each lane.
    """
    stream = opened(path)[name]
    if around is not None:
        if isinstance(around, int):
            raise click.UsageError("--around takes a time; give turns by --from and --until")
        window: ArchiveWindow | ReducedWindow = stream.around(around, records // 2, records - records // 2)
    elif points is not None:
        window = stream.view(start, stop, points)
    else:
        window = stream.read(start, stop, epoch)
    if physical:
        window = _physical(stream, window)
    columns = _columns(window)
    if as_json:
        print_json({key: values.tolist() for key, values in columns.items()})
        return
    if not len(window):
        raise click.ClickException(f"{name}: nothing was recorded in this span; `ringmaster archive ls` shows what was")
    _print_csv(columns)


def _physical(stream: "StoredStream", window: "ArchiveWindow | ReducedWindow") -> "ArchiveWindow":
    from ringmaster.archive.window import ArchiveWindow

    if not isinstance(window, ArchiveWindow):
        raise click.UsageError("--physical: a reduction is of what was stored; leave out --points")
    return stream.physical(window)


def _columns(window: "ArchiveWindow | ReducedWindow") -> dict[str, Any]:
    from ringmaster.archive.window import ArchiveWindow

    columns: dict[str, Any] = {
        "utc": np.char.add(np.datetime_as_string(window.utc), "Z") if len(window) else np.empty(0, "U1"),
        "epoch": window.epochs,
        "turn": window.turn,
        "ok": window.ok,
        "why": _reasons(window.result),
    }
    if isinstance(window, ArchiveWindow):
        columns["status"] = window.status
        return columns | {lane: window.values(lane) for lane in window.lanes}
    columns |= {"present": window.present, "missing": window.missing}
    for lane in window.lanes:
        columns |= {
            f"{lane}_min": window.min(lane),
            f"{lane}_mean": window.values(lane),
            f"{lane}_max": window.max(lane),
            f"{lane}_std": window.std(lane),
        }
    return columns


def _reasons(result: "np.typing.NDArray[np.uint8]") -> "np.typing.NDArray[np.str_]":
    """Of each record why it was not had, in words; empty where it was."""
    from ringmaster.fabric.window import ReadResult

    words = [it.name.lower().replace("_", " ") for it in ReadResult]
    return np.array(["", *words[1:]])[result]


def _print_csv(columns: dict[str, Any]) -> None:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*(values.tolist() for values in columns.values()), strict=True):
        writer.writerow([_word(value) for value in row])
    click.echo(out.getvalue(), nl=False)


def _word(value: object) -> object:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float):
        return "" if value != value else f"{value:.9g}"
    return value
