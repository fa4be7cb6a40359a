# SPDX-License-Identifier: Apache-2.0
"""What the window of a tune leaves of a ripple of the tune: refresh is not bandwidth.

A tune from T turns is a mean over them. Of a ripple of frequency f it has the share

    H(f) = W′(u) / (u W″(0)),   u = π f T,   W the transform of the window over its value at 0

and it is half a window late. apps/tune/law/response.h derives it; these are its formulas.
"""

import math
from dataclasses import dataclass

from ringmaster.errors import WorkspaceError
from ringmaster.fabric.stream import Stream
from ringmaster.fabric.workspace import Workspace

LEAST = 0.3
"""Of H, that is still corrected for: the noise is divided by it, too."""
ZEROS = {"rectangular": 1.4303, "hann": 2.3619}
"""Periods in the window at which nothing is left; the main lobe ends there."""


@dataclass(frozen=True)
class TuneWindow:
    """The turns that a tune is measured from."""

    kind: str
    """ "hann" or "rectangular"."""
    turns: int

    @property
    def word(self) -> str:
        """Its kind, for people."""
        return "Hann" if self.kind == "hann" else self.kind

    @property
    def delay_turns(self) -> float:
        """By how much the tune is older than the window's last turn, at all frequencies."""
        return 0.5 * (self.turns - 1)

    def response(self, hz: float, turn_rate_hz: float) -> float:
        """H: 1 for what is slow."""
        return response(self.kind, hz / turn_rate_hz * self.turns)

    def correction(self, hz: float, turn_rate_hz: float) -> float:
        """1 / H: an amplitude in the measured tune times this is that of the beam's tune. NaN where H is too small."""
        periods = hz / turn_rate_hz * self.turns
        let_through = response(self.kind, periods)
        return 1 / let_through if periods < ZEROS[self.kind] and let_through >= LEAST else math.nan


def find_tune(ws: Workspace) -> tuple[Stream, TuneWindow] | None:
    """The stream of an application that measures the tune, and its window; None where none does."""
    for stream in ws.streams.values():
        window = window_of(ws, stream)
        if window is not None:
            return stream, window
    return None


def window_of(ws: Workspace, stream: Stream) -> TuneWindow | None:
    """That the tunes of a stream are measured with; None where it has no tunes that an application measures."""
    if not {"tune_x", "sigma_x", "quality_x"} <= {lane.name for lane in stream.lanes}:
        return None
    try:
        delay, kind = (ws.parameters[f"{stream.instrument}/{what}"].number for what in ("delay", "window"))
    except WorkspaceError:
        return None
    return TuneWindow("hann" if kind else "rectangular", round(2 * delay) + 1) if delay > 0 else None


def response(kind: str, periods: float) -> float:
    """H at so many periods in the window."""
    u = math.pi * abs(periods)
    if u < 1e-6:
        return 1.0
    if kind == "rectangular":
        return -3 * _sinc_slope(u) / u
    slope = _sinc_slope(u) + (_sinc_slope(u - math.pi) + _sinc_slope(u + math.pi)) / 2
    return slope / (u * (-1 / 3 + 2 / math.pi**2))


def _sinc_slope(x: float) -> float:
    """Of sin x / x."""
    if abs(x) < 1e-2:
        return x * (-1 / 3 + x * x / 30)
    return (x * math.cos(x) - math.sin(x)) / (x * x)
