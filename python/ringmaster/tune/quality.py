# SPDX-License-Identifier: Apache-2.0
"""The stream of the application `tune`: what it is, and when it is to be trusted."""

from dataclasses import dataclass

import numpy as np

from ringmaster.errors import ObjectNotFound
from ringmaster.fabric.stream import Stream
from ringmaster.fabric.workspace import Workspace

REASONS = (
    *("no beam", "no peak above the noise", "two peaks", "a known line is near", "at the edge of the band"),
    *("saturated", "frozen", "lost turns", "the same line in both planes"),
)
"""Bit by bit: docs/tune.md."""
LANES = ("tune_x", "tune_y", "sigma_x", "sigma_y", "quality_x", "quality_y")
LOOKS = 100
"""Records that are looked at before anything moves."""
TRUSTED = 0.5
"""Share of them that must be good in both planes."""


@dataclass(frozen=True)
class TuneStream:
    """Of an application."""

    stream: Stream
    delay_turns: float
    """From the tune to the turn of its record: half a window."""

    @property
    def window_turns(self) -> int:
        """Of the application."""
        return round(2 * self.delay_turns + 1)


def tune_stream(ws: Workspace, application: str) -> TuneStream:
    """Raises ObjectNotFound where no such application runs, ValueError where its tune is not to be trusted."""
    name = f"{application}/tune"
    if name not in ws.streams or f"{application}/delay" not in ws.parameters:
        raise ObjectNotFound(
            f"workspace {ws.name!r} has no stream {name!r}: start the application (`ringmaster application CONFIG "
            f"{application}`), or say by --application what it is called"
        )
    stream = ws.streams[name]
    window = stream.latest(LOOKS)
    quality = np.array([window.values(f"quality_{plane}")[window.ok] for plane in "xy"])
    bad = quality != 0
    if quality.shape[1] == 0 or bad.any(axis=0).mean() > 1 - TRUSTED:
        raise ValueError(f"{name} is not to be trusted now: {_why(quality)}; `ringmaster get '{name}'` shows it")
    return TuneStream(stream, ws.parameters[f"{application}/delay"].number)


def _why(quality: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> str:
    """Its most frequent reasons."""
    if quality.shape[1] == 0:
        return "nothing has come"
    words = quality.astype(np.int64)
    counts = [int(np.count_nonzero(words & (1 << bit))) for bit in range(len(REASONS))]
    order = np.argsort(counts)[::-1][:2]
    return ", ".join(REASONS[i] for i in order if counts[i])
