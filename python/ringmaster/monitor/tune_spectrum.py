# SPDX-License-Identifier: Apache-2.0
"""The spectrum of the tune itself, over its last seconds: what moves it, corrected for what the window leaves."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ringmaster.errors import WorkspaceError
from ringmaster.fabric.simulated_time import machine_turn_rate_hz
from ringmaster.fabric.window import Window
from ringmaster.fabric.workspace import Workspace
from ringmaster.monitor.tune import SIMULATED
from ringmaster.spectra.density import Density, SpectralLine, lines, welch
from ringmaster.spectra.tune_window import TuneWindow, find_tune

SPAN_S = 4.0
"""Of the tunes that go into a spectrum, where there are so many: it resolves 1.1 Hz."""
LEAST_SPAN_S = 1.0
LOWEST_HZ = 10.0
"""What is slower is drift, and no ripple."""
MOST_LINES = 6
SAME_BINS = 2.0
"""Lines of two spectra that are nearer to each other are one."""


@dataclass(frozen=True)
class TuneLine:
    """A line in the spectrum of the tune."""

    hz: float
    raw: float
    """Amplitude in the tune as it is measured."""
    amplitude: float
    """The same, corrected for what the window leaves of it; NaN where that is too little."""
    sigma: float
    """Standard deviation of ``amplitude``, by the noise about the line."""
    simulated: float
    """Amplitude in the virtual machine's own tune; NaN where there is no such line."""


@dataclass(frozen=True)
class TuneLines:
    """What the spectra of both planes come to."""

    span_s: float
    """Of the tunes that went in."""
    trusted_share: float
    """Of these tunes: those that came, and that both planes trust."""
    x: tuple[TuneLine, ...]
    """From low frequencies to high ones."""
    y: tuple[TuneLine, ...]

    def near(self, plane: str, hz: float, reach_hz: float) -> TuneLine | None:
        """The line that is nearest to a frequency."""
        found = [one for one in (self.x if plane == "x" else self.y) if abs(one.hz - hz) <= reach_hz]
        return min(found, key=lambda one: abs(one.hz - hz), default=None)


@dataclass(frozen=True)
class TuneSpectrum:
    """The spectra that the lines are of."""

    lines: TuneLines
    density: Mapping[str, Density]
    """By plane, of the measured tune."""
    simulated: Mapping[str, Sequence[SpectralLine]]
    """By plane, lines of the virtual machine's own tune; empty where there is none."""


def read_tune_spectrum(ws: Workspace, span_s: float = SPAN_S) -> TuneSpectrum | None:
    """Of the newest tunes; None where no application measures them, and while there are too few to be trusted."""
    measured = find_tune(ws)
    if measured is None:
        return None
    stream, window = measured
    try:
        turn_rate_hz = machine_turn_rate_hz(ws)
    except WorkspaceError:
        return None
    rate_hz = turn_rate_hz / stream.period
    tunes = stream.latest(int(min(span_s * rate_hz, stream.capacity - 2 * stream.margin)))
    if not rate_hz or len(tunes) < LEAST_SPAN_S * rate_hz:
        return None
    trusted = tunes.ok & (tunes["quality_x"] == 0) & (tunes["quality_y"] == 0)
    try:
        density = {plane: welch(np.where(trusted, tunes.values(f"tune_{plane}"), np.nan), rate_hz) for plane in "xy"}
    except ValueError:  # hardly any is to be trusted
        return None
    own = _simulated(ws, tunes, window, turn_rate_hz)
    x, y = (_lines(density[plane], own.get(plane, []), window, turn_rate_hz) for plane in "xy")
    return TuneSpectrum(TuneLines(len(tunes) / rate_hz, float(trusted.mean()), x, y), density, own)


def _simulated(ws: Workspace, tunes: Window, window: TuneWindow, turn_rate_hz: float) -> dict[str, list[SpectralLine]]:
    """Lines of the machine's own tune over the time of the measured ones."""
    stream = ws.streams.get(SIMULATED)
    if stream is None:
        return {}
    first, last = (int(turn) - int(window.delay_turns) for turn in tunes.turn[[0, -1]])
    count = (last - first) // stream.period
    if first < 0 or count > stream.capacity:
        return {}
    own = stream.read(first // stream.period * stream.period, count)
    try:
        return {
            plane: lines(welch(own.values(f"tune_{plane}"), turn_rate_hz / stream.period), most=4 * MOST_LINES)
            for plane in "xy"
        }
    except ValueError:
        return {}


def _lines(density: Density, own: list[SpectralLine], window: TuneWindow, turn_rate_hz: float) -> tuple[TuneLine, ...]:
    """The highest that the window leaves enough of."""
    found = []
    for line in lines(density, most=4 * MOST_LINES):
        correction = window.correction(line.hz, turn_rate_hz)
        if line.hz < LOWEST_HZ or not math.isfinite(correction):
            continue
        amplitude = line.amplitude * correction
        same = [one for one in own if abs(one.hz - line.hz) < SAME_BINS * density.step_hz]
        simulated = max((one.amplitude for one in same), default=math.nan)
        sigma = amplitude * density.relative_sigma / math.sqrt(2 * line.above)
        found.append(TuneLine(line.hz, line.amplitude, amplitude, sigma, simulated))
    highest = sorted(found, key=lambda one: -one.amplitude)[:MOST_LINES]
    return tuple(sorted(highest, key=lambda one: one.hz))
