# SPDX-License-Identifier: Apache-2.0
"""Levels of detectors, as the largest of each block of time: from a recording, a simulation, or while they come."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Self

import numpy as np
import numpy.typing as npt

from ringmaster.fabric.stream import Stream
from ringmaster.fabric.workspace import Workspace
from ringmaster.premortem.masks import STREAM, levels_of
from ringmaster.simulation import Simulation

Floats = npt.NDArray[np.float64]
POLL_S = 0.05


@dataclass(frozen=True)
class Blocks:
    """The largest level of each whole block, of each detector."""

    block_s: float
    largest: Mapping[str, Floats]
    """By lane; NaN for a block in which the detector had no level."""
    missing: float
    """Share of the records that were not had."""

    @classmethod
    def of(cls, lanes: Mapping[str, npt.NDArray[np.floating]], rate_hz: float, block_s: float, missing: float) -> Self:
        """Of levels at ``rate_hz``, NaN where there were none. Detectors that never had any are left out."""
        steps = max(1, round(block_s * rate_hz))
        largest = {}
        for lane, levels in lanes.items():
            whole = np.asarray(levels[: len(levels) // steps * steps], np.float64).reshape(-1, steps)
            if np.isfinite(whole).any():
                filled = np.where(np.isfinite(whole), whole, -np.inf).max(axis=1)
                largest[lane] = np.where(np.isneginf(filled), np.nan, filled)
        return cls(steps / rate_hz, largest, missing)


def from_file(path: Path, turn_rate_hz: float | None, block_s: float) -> Blocks:
    """From an HDF5 file that `ringmaster get NAME/levels --output` has written. Raises ValueError, OSError."""
    import h5py

    from ringmaster.recordings import export

    if turn_rate_hz is None:
        raise ValueError(f"{path}: a file has turns and no seconds: say the machine's --turn-rate in Hz")
    with h5py.File(path, "r") as file:
        if not export.is_export(file):
            raise ValueError(f"{path}: not a file of ours; `ringmaster get premortem/levels --output FILE` writes one")
        found = [f"{owner}/{STREAM}" for owner, group in file.items() if STREAM in group]
        if len(found) != 1:
            raise ValueError(f"{path}: expected one stream NAME/{STREAM}, found: {', '.join(found) or 'none'}")
        group = file[found[0]]
        ok = np.asarray(group["ok"][:], bool)
        lanes = {name: np.where(ok, data[:], np.nan) for name, data in group["lanes"].items()}
        return Blocks.of(lanes, turn_rate_hz / float(group.attrs["period_turns"]), block_s, 1 - float(ok.mean()))


def from_simulation(folder: Path, block_s: float) -> Blocks:
    """From the folder of `ringmaster simulate … --out`."""
    run = Simulation.load(folder)
    return Blocks.of(run.stream(STREAM), run.rate_hz, block_s, 0.0)


def from_workspace(ws: Workspace, seconds: float, block_s: float) -> Blocks:
    """What comes within the next ``seconds``, read as it comes. Ctrl-C ends it early. Raises ValueError."""
    stream = levels_of(ws)
    rate_hz = ws.parameters["server/turn_rate_hz"].number / stream.period
    collected = _Collected(stream, max(1, round(block_s * rate_hz)))
    give_up = monotonic() + seconds
    try:
        while monotonic() < give_up:
            stream.wait(collected.next_turn, POLL_S)
            collected.take()
    except KeyboardInterrupt:
        pass
    return collected.blocks(rate_hz)


class _Collected:
    """The largest of each block, without the levels themselves: hours of them would not fit."""

    def __init__(self, stream: Stream, steps: int) -> None:
        self._stream, self._steps = stream, steps
        self._largest: dict[str, list[float]] = {name: [] for name in stream.read(0, 0).lanes}
        self._good = self._all = 0
        self._first = (stream.head or 0) + stream.period

    @property
    def next_turn(self) -> int:
        """The last turn of the next block."""
        return self._first + (self._steps - 1) * self._stream.period

    def take(self) -> None:
        """All whole blocks that are there; one that is longer than the ring holds cannot be."""
        if self._steps > self._stream.capacity // 2:
            raise ValueError(f"{self._stream.name} holds {self._stream.capacity} records: expected a shorter --block")
        while (head := self._stream.head) is not None and head >= self.next_turn:
            window = self._stream.read(self._first, self._steps)
            self._good += int(window.ok.sum())
            self._all += self._steps
            for lane, largest in self._largest.items():
                largest.append(_largest(window.values(lane)))
            self._first += self._steps * self._stream.period

    def blocks(self, rate_hz: float) -> Blocks:
        """So far."""
        lanes = {lane: np.array(largest, np.float64) for lane, largest in self._largest.items()}
        had = {lane: values for lane, values in lanes.items() if np.isfinite(values).any()}
        return Blocks(self._steps / rate_hz, had, 1 - self._good / self._all if self._all else 1.0)


def _largest(values: Floats) -> float:
    return float(np.nanmax(values)) if np.isfinite(values).any() else float("nan")
