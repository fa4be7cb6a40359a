# SPDX-License-Identifier: Apache-2.0
"""What all inputs read at the marks of a sequence: means of some milliseconds before each, a row a mark."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from ringmaster.fabric.layout import LaneType
from ringmaster.fabric.stream import Stream
from ringmaster.fabric.workspace import Workspace
from ringmaster.machine.server_file import applications
from ringmaster.sequence.course import Mark
from ringmaster.sequence.simulated import Simulated

MEAN_S = 0.01
"""A mark has the means of so long before it, or since its state was entered where that is shorter."""

WAIT_S = 1.0
"""So long a slow stream may be behind."""


@dataclass(frozen=True)
class MarkRow:
    """One mark."""

    turn: int
    state: str
    readings: Mapping[str, float]
    """Lanes by STREAM.LANE; supplies and parameters by their names."""


def of_simulation(done: Simulated) -> list[MarkRow]:
    """Of all inputs of the application, and of the supplies that moved."""
    steps = max(1, round(MEAN_S * done.run.rate_hz))
    lanes = [
        (f"{each['name']}.{lane}", place, at, each["types"][at] == "f32")
        for place, each in enumerate(done.run.summary["inputs"])
        for at, lane in enumerate(each["lanes"])
    ]
    moved = np.flatnonzero(np.ptp(done.run.setpoints, axis=0) > 0)
    names = done.run.actuators
    rows = []
    for mark in done.marks:
        piece = slice(max(0, mark.step - steps), mark.step)
        readings = np.ascontiguousarray(done.run.readings[piece])
        floats = readings.view(np.float32)
        row = {
            name: float((floats if is_float else readings)[:, place, at].mean(dtype=float))
            for name, place, at, is_float in lanes
        }
        row |= {names[place]: float(np.mean(done.run.currents[piece, place])) for place in moved}
        rows.append(MarkRow(mark.turn, mark.state.name, row))
    return rows


def of_workspace(ws: Workspace, application: str, more: Sequence[str], mark: Mark) -> MarkRow:
    """Of all inputs of a running application, and of more streams; a stream that is not there yet is left out."""
    patterns = applications(ws).get(application, {}).get("inputs") or []
    names = [name for pattern in patterns for name in ws.streams if fnmatchcase(name, str(pattern))]
    span = MEAN_S * ws.parameters["server/turn_rate_hz"].number
    row: dict[str, float] = {}
    for name in dict.fromkeys([*names, *more]):
        stream = ws.streams[name]
        count = max(1, round(span / stream.period))
        last = mark.turn // stream.period * stream.period
        first = max(0, last - (count - 1) * stream.period)
        stream.wait(last, WAIT_S)
        window = stream.read(first, (last - first) // stream.period + 1)
        if window.ok.any():
            row |= {f"{name}.{lane}": float(np.mean(window[lane][window.ok], dtype=float)) for lane in _lanes(stream)}
    return MarkRow(mark.turn, mark.state.name, row)


def _lanes(stream: Stream) -> list[str]:
    return [lane.name for lane in stream.lanes if lane.type != LaneType.UNUSED]


def save_csv(path: Path, rows: Sequence[MarkRow]) -> None:
    """A line for each mark, a column for each reading."""
    columns = list(dict.fromkeys(name for row in rows for name in row.readings))
    with path.open("w", newline="") as opened:
        writer = csv.writer(opened)
        writer.writerow(["mark", "turn", "state", *columns])
        for number, row in enumerate(rows, 1):
            values = (f"{row.readings[name]:.9g}" if name in row.readings else "" for name in columns)
            writer.writerow([number, row.turn, row.state, *values])
