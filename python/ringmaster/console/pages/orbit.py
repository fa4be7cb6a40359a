# SPDX-License-Identifier: Apache-2.0
"""The closed orbit in both planes, as it is or against a reference."""

import math

import numpy as np
import numpy.typing as npt

from ringmaster.beam.orbit import Orbit
from ringmaster.console import units
from ringmaster.console.lines import Line, Span, heading, line
from ringmaster.console.marks import bar_width, bars
from ringmaster.console.view import View
from ringmaster.console.watch import Frame

NAME = "orbit"
ABOUT = (
    "Mean position of every BPM over the newest turns that all of them have, up to half a second old. o takes the "
    "orbit of now as the reference and shows the difference to it, O shows the orbit itself again."
)
LABEL = 10
"""Columns of the scale."""
ROWS_ONCE = 10


def has_content(frame: Frame) -> bool:
    """Whether there are beam position monitors."""
    return frame.orbit is not None or any(stream.kind == "bpm" for stream in frame.snapshot.streams)


def keys(frame: Frame, view: View) -> list[tuple[str, str]]:
    """A reference needs an orbit, and the orbit itself can be shown again where a difference is."""
    return [("o", "reference")] * (frame.orbit is not None) + [("O", "absolute")] * (view.reference is not None)


def draw(frame: Frame, view: View, width: int, height: int | None) -> list[Line]:
    """Both planes, one above the other."""
    view.row_names = []
    orbit = frame.orbit
    if orbit is None:
        return [line(Span("no beam positions yet: no BPM has sent anything", "dim"))]
    shown, words = _against(orbit, view.reference)
    rows = ROWS_ONCE if height is None else max(3, (height - 4) // 2)
    lines = [
        heading(
            "Orbit", width, f"{words}{units.several(len(orbit.names), 'BPM')}, {orbit.turns} turns up to {orbit.turn}"
        )
    ]
    for plane, values in (("x", shown.x), ("y", shown.y)):
        lines += plot(plane, shown, values, width, rows)
    return [*lines, _names(shown, width)]


def _against(orbit: Orbit, reference: Orbit | None) -> tuple[Orbit, str]:
    """What is shown, and how it is called."""
    if reference is None or reference.names != orbit.names:
        return orbit, ""
    difference = Orbit(orbit.turn, orbit.turns, orbit.names, orbit.x - reference.x, orbit.y - reference.y, orbit.unit)
    return difference, f"difference to turn {reference.turn}; "


def plot(plane: str, orbit: Orbit, values: npt.NDArray[np.float64], width: int, rows: int) -> list[Line]:
    """One plane: its figures, and a bar for each BPM."""
    there = np.flatnonzero(~np.isnan(values))
    if not len(there):
        return [line(Span(f"{plane}  no BPM has sent these turns", "dim"))]
    most = int(there[np.argmax(np.abs(values[there]))])
    rms = float(np.sqrt(np.mean(values[there] ** 2)))
    scale = units.nice_above(abs(float(values[most])))
    mean = float(np.mean(values[there]))
    title = line(
        Span(plane, plane),
        f"  rms {units.length(rms, orbit.unit)}   mean {units.length(mean, orbit.unit)}   "
        f"most {units.length(float(values[most]), orbit.unit)} at {orbit.names[most]}",
    )
    drawn = bars(values.tolist(), rows, max(1, width - LABEL - 1), scale)
    labels = {0: f"+{units.length(scale, orbit.unit, 1)}", rows - 1: f"-{units.length(scale, orbit.unit, 1)}"}
    if rows >= 5:
        labels[rows // 2] = "0"
    return [
        title,
        *(line(Span(f"{labels.get(i, ''):>{LABEL}}", "dim"), " ", Span(text, plane)) for i, text in enumerate(drawn)),
    ]


def _names(orbit: Orbit, width: int) -> Line:
    """The BPMs below their bars; the first and the last where there is no room."""
    columns = max(1, width - LABEL - 1)
    each = bar_width(len(orbit.names), columns)
    if each > max(map(len, orbit.names)):
        return line(Span(" " * (LABEL + 1) + "".join(name.ljust(each) for name in orbit.names), "dim"))
    group = max(1, math.ceil(len(orbit.names) / columns))
    drawn = math.ceil(len(orbit.names) / group) * each
    first, last = orbit.names[0], orbit.names[-1]
    return line(Span(" " * (LABEL + 1) + first + last.rjust(max(len(last) + 2, drawn - len(first))), "dim"))
