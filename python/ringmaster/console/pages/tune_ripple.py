# SPDX-License-Identifier: Apache-2.0
"""The tune's own spectrum: its lines beside what the ring simulates, and on a large screen its curve."""

import math

import numpy as np

from ringmaster.console import units
from ringmaster.console.lines import Column, Line, Span, beside, heading, line, table
from ringmaster.console.marks import curve
from ringmaster.console.watch import Frame
from ringmaster.monitor.tune import TuneFigures
from ringmaster.monitor.tune_spectrum import TuneLine, TuneLines, TuneSpectrum
from ringmaster.spectra.tune_window import ZEROS

TITLE = "Spectrum of the tune itself"
LABEL = 8
GAP = 2
HIGH = 34
"""From this height on there is room for the curve."""
CURVE_ROWS = 8
LEAST_LINES, MOST_LINES = 2, 6
SAME_HZ = 1.0
SHOWN_RESPONSES_HZ = (50.0, 100.0)


def draw(frame: Frame, figures: TuneFigures, width: int, height: int | None) -> list[Line]:
    """A blank line, the table of lines, the curve, and a blank line."""
    spectrum = frame.tune_spectrum
    if spectrum is None:
        words = "no spectrum of the tune yet: it takes a second of tunes that are to be trusted"
        return [line(), line(Span(words, "dim")), line()]
    turn_rate_hz, trusted = figures.window.delay_turns / figures.delay_s, spectrum.lines.trusted_share
    let_through = ", ".join(
        f"{figures.window.response(hz, turn_rate_hz):.3f} at {hz:g} Hz" for hz in SHOWN_RESPONSES_HZ
    )
    notes = (f"the window leaves {let_through}", f"{spectrum.lines.span_s:.2g} s, {units.share(trusted)} trusted")
    long = f"{notes[0]}; {notes[1]}"
    note = long if len(TITLE) + 2 + len(long) <= width else notes[0] if trusted == 1 else notes[1]
    lines = [line(), heading(TITLE, width, note)]
    most = MOST_LINES if height is None or height >= HIGH else LEAST_LINES
    lines += _table(spectrum.lines, most, width)
    if height is None or height >= HIGH:
        column = (width - GAP) // 2
        x, y = (_curve(spectrum, name, figures, turn_rate_hz, column) for name in "xy")
        lines += [line(), *beside(x, y, column, GAP)]
    return [*lines, line()]


def _table(lines: TuneLines, most: int, width: int) -> list[Line]:
    """The highest lines of either plane, from low frequencies to high ones."""
    together = _together(lines, most)
    if not together:
        return [line(Span("no line above the noise", "dim"))]
    columns = [Column("LINE", 8)]
    for plane in "xy":
        columns += [Column(f"{plane} CORRECTED", 11), Column("±", 6, drop=2), Column("RAW", 7, drop=1)]
        columns += [Column("SIMULATED", 9)]
    rows = [
        [Span(f"{hz:.1f} Hz"), *_cells(x, "x"), *_cells(y, "y")]
        for hz, x, y in sorted(together, key=lambda one: one[0])
    ]
    return table(columns, rows, width)


def _together(lines: TuneLines, most: int) -> list[tuple[float, TuneLine | None, TuneLine | None]]:
    """Lines that are near each other in both planes are one; the highest first."""
    highest = sorted((*lines.x, *lines.y), key=lambda one: -one.amplitude)
    found: list[tuple[float, TuneLine | None, TuneLine | None]] = []
    for one in highest:
        if len(found) < most and all(abs(one.hz - hz) > SAME_HZ for hz, _, _ in found):
            found.append((one.hz, lines.near("x", one.hz, SAME_HZ), lines.near("y", one.hz, SAME_HZ)))
    return found


def _cells(one: TuneLine | None, plane: str) -> list[Span]:
    if one is None:
        return [Span(units.NOTHING, "dim")] + [Span("")] * 3
    simulated = f"{one.simulated:.2e}" if math.isfinite(one.simulated) else units.NOTHING
    return [
        Span(f"{one.amplitude:.2e}", plane),
        Span(f"{one.sigma:.0e}", "dim"),
        Span(f"{one.raw:.2e}", "dim"),
        Span(simulated, "dim"),
    ]


def _curve(spectrum: TuneSpectrum, name: str, figures: TuneFigures, turn_rate_hz: float, width: int) -> list[Line]:
    """Density over frequency, up to where the window leaves nothing: both as measured."""
    found, columns = spectrum.density[name], max(20, width - LABEL - 5)
    end_hz = min(float(found.hz[-1]), ZEROS[figures.window.kind] / figures.window.turns * turn_rate_hz)
    edges = np.linspace(0, end_hz, 2 * columns + 1)
    root = np.sqrt(found.density)
    begin = np.searchsorted(found.hz, edges[:-1])
    end = np.maximum(begin + 1, np.searchsorted(found.hz, edges[1:]))
    high = np.array([root[a:b].max(initial=0.0) for a, b in zip(begin, end, strict=True)])
    logarithm = np.log10(np.maximum(high, 1e-15))
    top = math.ceil(float(logarithm.max()) + 1e-9)
    bottom = min(top - 1, math.floor(float(np.quantile(logarithm, 0.02))))
    drawn = curve(((logarithm - bottom) / (top - bottom)).tolist(), CURVE_ROWS)
    labels = {0: f"1e{top}", CURVE_ROWS - 1: f"1e{bottom}", 1: "1/√Hz"}
    lines = [line(Span(f"{labels.get(i, ''):>{LABEL}} ", "dim"), Span(text, name)) for i, text in enumerate(drawn)]
    return [*lines, line(Span(" " * (LABEL + 1) + _axis(columns, end_hz), "dim"))]


def _axis(columns: int, end_hz: float) -> str:
    """Every 50 Hz."""
    cells = [" "] * (columns + 4)
    for hz in range(0, int(end_hz) + 1, 50):
        text = f"┴{hz} Hz" if hz == 0 else f"┴{hz}"
        at = round(hz / end_hz * columns)
        if at + len(text) <= len(cells):
            cells[at : at + len(text)] = list(text)
    return "".join(cells).rstrip()
