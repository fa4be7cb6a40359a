# SPDX-License-Identifier: Apache-2.0
"""The tune, the spectrum that it is found in and how that changes, and what moves the tune itself."""

import math

import numpy as np

from ringmaster.console import units
from ringmaster.console.lines import Line, Span, beside, heading, line, width_of, wrapped
from ringmaster.console.marks import curve, shades
from ringmaster.console.pages import tune_ripple
from ringmaster.console.spectrogram import across, levels
from ringmaster.console.spectrum import LOWEST, BeamSpectrum, Plane, folded
from ringmaster.console.view import View
from ringmaster.console.watch import Frame
from ringmaster.monitor.tune import TuneFigures, TunePlane

NAME = "tune"
ABOUT = (
    "The tune as the application measures it, with its standard deviation and the reasons not to trust it; without "
    "an application, that of the newest turns. A tune is a mean over its window: it is late by half of it, and its "
    "ripple comes out smaller. So amplitudes of the tune's own spectrum are corrected for the window; beside them "
    "stands what a virtual ring simulates. Below, for both planes: amplitude of the turn-by-turn motion over its "
    "frequency in units of the revolution frequency, logarithmic, ▼ at the highest lines above the noise; and how it "
    "changed, the newest at the bottom: rows of the application, or one for each look."
)
LABEL = 8
"""Columns of the scale."""
GAP = 2
"""Columns between the planes."""
ROWS_ONCE = 10
MOST_DECADES = 6
FRAME = 2
"""Lines of a curve beside its rows: marks and axis."""


def has_content(frame: Frame) -> bool:
    """Whether a beam position monitor sends every turn."""
    return any(
        kept.name.endswith("/turn")
        for stream in frame.snapshot.streams
        if stream.kind == "bpm"
        for kept in stream.streams
    )


def draw(frame: Frame, view: View, width: int, height: int | None) -> list[Line]:
    """Figures above, both planes side by side below."""
    view.row_names = []
    spectrum, figures = frame.spectrum, frame.snapshot.tune
    if figures is not None:
        lines = [*_measured(figures, width), *tune_ripple.draw(frame, figures, width, height)]
    elif spectrum is not None:
        lines = _found(spectrum, frame.snapshot.tunes_simulated, width)
    else:
        return [line(Span(why_none(frame), "dim"))]
    if spectrum is None:
        return [*lines, line(Span(why_none(frame), "dim"))]
    room = 2 * ROWS_ONCE if height is None else max(5, height - len(lines) - FRAME)
    column = (width - GAP) // 2
    planes = [_drawn(frame, spectrum, name, column, room) for name in "xy"]
    return [*lines, *beside(planes[0], planes[1], column, GAP)]


def why_none(frame: Frame) -> str:
    """Why there is no spectrum."""
    if has_content(frame):
        return "no spectrum yet: it takes 8192 turns of a BPM at turn rate"
    return "no turn-by-turn BPMs: a spectrum takes a BPM that sends every turn"


def _measured(figures: TuneFigures, width: int) -> list[Line]:
    """As the application tells it."""
    window = f"{figures.window.turns} turns ({figures.window.word})"
    late = f"late by {units.quantity(figures.delay_s, 's', 3)}, half a window"
    note = f"{units.several(figures.bpms, 'BPM')}, {window}, {figures.refresh_hz:.0f} a second, {late}"
    return [
        heading("Tune", width, note),
        *(row for name, plane in figures.planes for row in _measured_plane(name, plane, width)),
    ]


def _measured_plane(name: str, plane: TunePlane, width: int) -> list[Line]:
    value = f"{plane.tune:.6f} ± {plane.sigma:.1e}" if math.isfinite(plane.tune) else "–"
    size = units.length(plane.amplitude, plane.unit) if plane.unit else f"√(2J) {plane.amplitude:.3g}"
    words = line(Span(name, name), f"  {value:<19}")
    if math.isfinite(plane.simulated):
        words.append(Span(f"  simulated {plane.simulated:.6f}", "dim"))
    words.append(Span(f"  {size}, s/n {plane.snr:.0f}"))
    if not plane.reasons:
        return [[*words, Span("  good", "good")]]
    reasons = f"not to be trusted: {', '.join(plane.reasons)}"
    if width_of(words) + 2 + len(reasons) <= width:
        return [[*words, Span(f"  {reasons}", "warn")]]
    return [words, *wrapped(reasons, width, 3, "warn")]


def _found(spectrum: BeamSpectrum, simulated: tuple[float, float] | None, width: int) -> list[Line]:
    """As the newest turns tell it, where no application measures."""
    note = f"{units.several(spectrum.bpms, 'BPM')}, {spectrum.turns} turns up to {spectrum.turn}"
    lines = [heading("Tune", width, note)]
    for i, (name, plane) in enumerate((("x", spectrum.x), ("y", spectrum.y))):
        others = ", ".join(f"{peak.tune:.4f} ({units.length(peak.amplitude, spectrum.unit)})" for peak in plane.peaks)
        words = line(Span(name, name), f"  tune {plane.tune:.5f}" if plane.peaks else "  tune –")
        if simulated is not None:
            words.append(Span(f"  simulated {simulated[i]:.5f}", "dim"))
        lines.append([*words, Span(f"  lines {others}" if others else "  no line above the noise", "dim")])
    return lines


def _drawn(frame: Frame, spectrum: BeamSpectrum, name: str, width: int, room: int) -> list[Line]:
    """One plane: its spectrum, and the spectrogram below it on the same axis."""
    plane = spectrum.x if name == "x" else spectrum.y
    rows = frame.spectrogram.plane(name).thinned(room // 2)
    lines = plot(name, plane, spectrum, width, max(2, room - room // 2))
    turn_rate_hz = frame.snapshot.turn_rate_hz / (frame.snapshot.real_time_ratio or 1.0)
    for turn, cells in zip(rows.turns, rows.cells, strict=True):
        age_s = (rows.turns[-1] - turn) / turn_rate_hz if turn_rate_hz else math.nan
        label = "now" if turn == rows.turns[-1] else units.quantity(-age_s, "s", 2) if turn == rows.turns[0] else ""
        drawn = shades(levels(across(cells, _columns(width)), LOWEST), name)
        lines.append([Span(f"{label:>{LABEL}} ", "dim"), *drawn])
    return lines


def _columns(width: int) -> int:
    return max(20, width - LABEL - 5)


def plot(name: str, plane: Plane, spectrum: BeamSpectrum, width: int, rows: int) -> list[Line]:
    """Marks, curve, axis."""
    columns = _columns(width)
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
