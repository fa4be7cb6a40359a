# SPDX-License-Identifier: Apache-2.0
"""The spectrum of the beam's motion: tunes and other lines in both planes."""

import math

import numpy as np

from ringmaster.console import units
from ringmaster.console.lines import Line, Span, heading, line
from ringmaster.console.marks import curve
from ringmaster.console.spectrum import LOWEST, BeamSpectrum, Plane, folded
from ringmaster.console.view import View
from ringmaster.console.watch import Frame

NAME = "tune"
ABOUT = (
    "Amplitude of the turn-by-turn motion over its frequency in units of the revolution frequency, of the newest turns "
    "of the first BPMs; logarithmic. ▼ marks the highest lines above the noise."
)
LABEL = 8
"""Columns of the scale."""
ROWS_ONCE = 10
MOST_DECADES = 6


def has_content(frame: Frame) -> bool:
    """Whether a beam position monitor sends every turn."""
    return any(
        kept.name.endswith("/turn")
        for stream in frame.snapshot.streams
        if stream.kind == "bpm"
        for kept in stream.streams
    )


def draw(frame: Frame, view: View, width: int, height: int | None) -> list[Line]:
    """Both planes, one above the other."""
    view.row_names = []
    spectrum = frame.spectrum
    if spectrum is None:
        return [line(Span(why_none(frame), "dim"))]
    simulated = frame.snapshot.tunes_simulated or (None, None)
    rows = ROWS_ONCE if height is None else max(2, (height - 1) // 2 - 3)
    note = f"{units.several(spectrum.bpms, 'BPM')}, {spectrum.turns} turns up to {spectrum.turn}"
    lines = [heading("Tune", width, note)]
    for name, plane, true in (("x", spectrum.x, simulated[0]), ("y", spectrum.y, simulated[1])):
        lines += [*_title(name, plane, spectrum, true), *plot(name, plane, spectrum, width, rows)]
    return lines


def why_none(frame: Frame) -> str:
    """Why there is no spectrum."""
    if has_content(frame):
        return "no spectrum yet: it takes 8192 turns of a BPM at turn rate"
    return "no turn-by-turn BPMs: a spectrum takes a BPM that sends every turn"


def _title(name: str, plane: Plane, spectrum: BeamSpectrum, simulated: float | None) -> list[Line]:
    others = ", ".join(f"{peak.tune:.4f} ({units.length(peak.amplitude, spectrum.unit)})" for peak in plane.peaks)
    words = line(Span(name, name), f"  tune {plane.tune:.5f}" if plane.peaks else "  tune –")
    if simulated is not None:
        words.append(Span(f"  simulated {simulated:.5f}", "dim"))
    return [[*words, Span(f"  lines {others}" if others else "  no line above the noise", "dim")]]


def plot(name: str, plane: Plane, spectrum: BeamSpectrum, width: int, rows: int) -> list[Line]:
    """Marks, curve, axis."""
    columns = max(20, width - LABEL - 5)
    amplitude = folded(plane.amplitude[1:], 2 * columns)
    motion = amplitude[int(LOWEST / 0.5 * len(amplitude)) :]  # slower motions of the orbit may leave the picture
    top = math.ceil(math.log10(max(float(motion.max()), 1e-12)) + 1e-9)
    floor = max(float(np.median(motion)) / 3, 10.0 ** (top - MOST_DECADES))
    bottom = min(top - 1, math.floor(math.log10(floor)))
    heights = (np.log10(np.maximum(amplitude, 1e-12)) - bottom) / (top - bottom)
    drawn = curve(heights.tolist(), rows)
    labels = {0: units.length(10.0**top, spectrum.unit, 1), rows - 1: units.length(10.0**bottom, spectrum.unit, 1)}
    lines = [line(" " * (LABEL + 1), Span(_marks(plane, columns), "key"))]
    lines += [line(Span(f"{labels.get(i, ''):>{LABEL}} ", "dim"), Span(text, name)) for i, text in enumerate(drawn)]
    return [*lines, line(Span(" " * (LABEL + 1) + _axis(columns), "dim"))]


def _marks(plane: Plane, columns: int) -> str:
    """The highest lines above the curve; the frequency beside each where there is room."""
    cells = [" "] * columns
    for peak in plane.peaks:
        at = min(columns - 1, round(peak.tune / 0.5 * columns))
        text = f"▼{peak.tune:.4f}"
        if at + len(text) > columns:
            at, text = at - len(text) + 1, text[1:] + "▼"
        if all(cell == " " for cell in cells[max(0, at - 1) : at + len(text) + 1]):
            cells[at : at + len(text)] = list(text)
        elif cells[at] == " ":
            cells[at] = "▼"
    return "".join(cells)


def _axis(columns: int) -> str:
    """Frequencies in units of the revolution frequency."""
    cells = [" "] * (columns + 4)
    for tenth in range(6):
        at = round(tenth / 5 * columns)
        text = f"┴{tenth / 10:g}"
        cells[at : at + len(text)] = list(text)
    return "".join(cells).rstrip()
