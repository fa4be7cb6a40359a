# SPDX-License-Identifier: Apache-2.0
"""What an application measures of the tune: its newest reading, and whether to trust it."""

from collections.abc import Sequence
from dataclasses import dataclass

from ringmaster.beam.bpm import bpm_streams, position_lanes
from ringmaster.errors import WorkspaceError
from ringmaster.fabric.simulated_time import machine_turn_rate_hz
from ringmaster.fabric.workspace import Workspace
from ringmaster.spectra.tune_window import TuneWindow, find_tune

REASONS = (
    "no beam",
    "no peak above noise",
    "two peaks",
    "a known line is near",
    "at the edge of the band",
    "saturated",
    "frozen",
    "lost turns",
    "same line in both planes",
)
"""Bits of the quality, from the lowest on: enum tune_reason of apps/tune/law/quality.h."""
SIMULATED = "machine/tune"
"""The stream of a virtual machine's own tunes."""


@dataclass(frozen=True)
class TunePlane:
    """One plane, in the newest record."""

    tune: float
    """Oscillations per turn; NaN without a peak."""
    sigma: float
    amplitude: float
    unit: str
    """Of ``amplitude``; empty where it is that of several BPMs, √(2J)."""
    snr: float
    reasons: Sequence[str]
    """Not to trust it."""
    simulated: float
    """The virtual machine's own tune, in the middle of the window; NaN where there is none."""


@dataclass(frozen=True)
class TuneFigures:
    """What the application of a workspace tells."""

    name: str
    """Of the application."""
    turn: int
    """With which the window of the newest record ends."""
    window: TuneWindow
    delay_s: float
    """By which the tune is late, at all frequencies."""
    refresh_hz: float
    x: TunePlane
    y: TunePlane
    lost_turns: float
    """Of the window, of the BPM in use that lost most."""
    bpms: int

    @property
    def planes(self) -> tuple[tuple[str, TunePlane], ...]:
        """With their names."""
        return ("x", self.x), ("y", self.y)

    @property
    def good(self) -> bool:
        """Whether both planes are to be trusted."""
        return not self.x.reasons and not self.y.reasons


def read_tune(ws: Workspace) -> TuneFigures | None:
    """The newest record; None where no application measures the tune, or has not yet."""
    measured = find_tune(ws)
    if measured is None:
        return None
    stream, window = measured
    newest = stream.latest(1)
    if len(newest) == 0 or not newest.ok[0]:
        return None
    try:
        rate_hz = machine_turn_rate_hz(ws)
    except WorkspaceError:
        return None
    turn, value = int(newest.turn[0]), {lane: float(newest.values(lane)[0]) for lane in newest.lanes}
    unit = _unit(ws) if value["bpms"] <= 1 else ""
    x, y = (
        TunePlane(
            tune=value[f"tune_{plane}"],
            sigma=value[f"sigma_{plane}"],
            amplitude=value[f"amplitude_{plane}"],
            unit=unit,
            snr=value[f"snr_{plane}"],
            reasons=reason_words(int(value[f"quality_{plane}"])),
            simulated=simulated,
        )
        for plane, simulated in zip("xy", _simulated_at(ws, turn - int(window.delay_turns)), strict=True)
    )
    delay_s = window.delay_turns / rate_hz if rate_hz else float("nan")
    refresh_hz = rate_hz / stream.period
    return TuneFigures(
        stream.instrument, turn, window, delay_s, refresh_hz, x, y, value["lost_turns"], int(value["bpms"])
    )


def reason_words(quality: int) -> tuple[str, ...]:
    """Reasons not to trust a tune, in words."""
    return tuple(word for bit, word in enumerate(REASONS) if quality >> bit & 1)


def _unit(ws: Workspace) -> str:
    """Of turn-by-turn positions."""
    for stream in bpm_streams(ws, "turn"):
        lane = position_lanes(stream)[0][0]
        return next(one.unit for one in stream.lanes if one.name == lane)
    return ""


def _simulated_at(ws: Workspace, turn: int) -> tuple[float, float]:
    """Of a living machine at a turn; else those of the ring's configuration, where there is a ring."""
    stream = ws.streams.get(SIMULATED)
    if stream is not None:
        record = stream.read(max(0, turn) // stream.period * stream.period, 1)
        return float(record.values("tune_x")[0]), float(record.values("tune_y")[0])
    return read_simulated(ws) or (float("nan"), float("nan"))


def read_simulated(ws: Workspace) -> tuple[float, float] | None:
    """Of a living machine, at its last look; else those of the ring's configuration; None where there is no ring."""
    for owner in ("machine", "ring"):
        try:
            x, y = (ws.parameters[f"{owner}/tune_{plane}"].value for plane in "xy")
        except WorkspaceError:
            continue
        if isinstance(x, int | float) and isinstance(y, int | float):
            return float(x), float(y)
    return None
