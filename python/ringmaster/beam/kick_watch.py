# SPDX-License-Identifier: Apache-2.0
"""Waiting for a kick of the beam, in the turns of a few BPMs as they come."""

from collections.abc import Callable, Iterator, Sequence
from time import monotonic, sleep

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ringmaster.beam.bpm import position_lanes
from ringmaster.beam.kick import F64
from ringmaster.fabric.layout import InstrumentKind
from ringmaster.fabric.stream import Stream

BLOCK_TURNS = 64
"""Turns whose energy is taken together."""
HISTORY = 64
"""Blocks that a block is compared with."""
RISE = 2.5
"""Times the energy before, from which a lane counts."""
SHARE = 0.25
"""Of the lanes that must rise: a kick may be in one plane, and a BPM may be at a node."""
BPMS = 3
"""BPMs that are watched."""
CHUNK_TURNS = 1 << 15
"""Turns that are looked at together."""
SLACK = 8
"""The oldest turns of a ring, one part in so many, are left alone: they are overwritten while one looks."""
POLL_S = 0.05


class KickWatch:
    """Looks for moments at which the beam begins to oscillate, over all turns that are still in the rings."""

    def __init__(
        self, bpms: Sequence[Stream], from_now: bool = False, check: Callable[[], None] = lambda: None
    ) -> None:
        """``from_now`` leaves out what is in the rings already. ``check`` raises where nobody sends any more: then
        waiting is in vain. Raises ValueError where there is no BPM.
        """
        self._check = check
        if not bpms:
            raise ValueError("no BPM sends here: a kick cannot be seen")
        self._bpms = [bpms[i] for i in sorted({i * len(bpms) // BPMS for i in range(BPMS)})]
        self._next = self._head() if from_now else 0
        self._history: F64 | None = None

    @property
    def names(self) -> list[str]:
        """Streams that are watched."""
        return [stream.name for stream in self._bpms]

    def kicks(self, timeout_s: float | None) -> Iterator[int]:
        """Turns near which the beam was kicked, one after the other, until the time is over (None: for ever)."""
        give_up = None if timeout_s is None else monotonic() + timeout_s
        while (turn := self._next_kick(give_up)) is not None:
            yield turn

    def _next_kick(self, give_up: float | None) -> int | None:
        while True:
            oldest = max((stream.oldest(stream.capacity // SLACK) or 0) for stream in self._bpms)
            if oldest > self._next:
                self._next, self._history = oldest + BLOCK_TURNS, None
            first = self._next // BLOCK_TURNS * BLOCK_TURNS
            turns = min(self._head() - first, CHUNK_TURNS) // BLOCK_TURNS * BLOCK_TURNS
            if turns > 0:
                self._next = first + turns
                block = self._look(first, turns)
                if block is not None:
                    self._next, self._history = first + (block + HISTORY) * BLOCK_TURNS, None
                    return first + block * BLOCK_TURNS
            elif give_up is not None and monotonic() >= give_up:
                return None
            else:
                self._check()
                sleep(POLL_S)

    def _head(self) -> int:
        heads = [stream.head or 0 for stream in self._bpms]
        return min(heads)

    def _look(self, first: int, turns: int) -> int | None:
        """The first block in which enough lanes rise above the blocks before."""
        energy: F64 = np.concatenate([_energies(stream, first, turns) for stream in self._bpms])
        if self._history is not None:
            energy = np.concatenate([self._history, energy], axis=1)
        self._history = energy[:, -HISTORY:]
        if energy.shape[1] <= HISTORY:
            return None
        before = np.median(sliding_window_view(energy[:, :-1], HISTORY, axis=1), axis=2)
        rising = np.flatnonzero((energy[:, HISTORY:] > RISE * np.maximum(before, 1e-300)).mean(axis=0) >= SHARE)
        if not rising.size:
            return None
        before_chunk = len(energy[0]) - turns // BLOCK_TURNS
        return int(rising[0]) + HISTORY - before_chunk


def _energies(stream: Stream, first: int, turns: int) -> F64:
    """Mean squared first differences of each position; shape (lanes, blocks)."""
    signals = read_signals(stream, first, turns)
    squares = np.diff(signals, axis=1, prepend=np.nan) ** 2
    blocks = squares.reshape(len(signals), turns // BLOCK_TURNS, -1)
    known = np.isfinite(blocks)
    mean: F64 = np.where(known, blocks, 0.0).sum(axis=2) / np.maximum(known.sum(axis=2), 1)
    return mean


def read_signals(stream: Stream, first: int, turns: int) -> F64:
    """Positions of a BPM electronics, or all lanes of another instrument but those of bits; shape (lanes, records)."""
    first = -(-first // stream.period) * stream.period
    window = stream.read(first, turns // stream.period)
    if stream.instrument_kind == InstrumentKind.BPM:
        lanes = [lane for pair in position_lanes(stream) for lane in pair]
    else:
        lanes = [lane.name for lane in stream.lanes if lane.unit != "bits"]
    return np.array([window.values(lane) for lane in lanes]).reshape(len(lanes), len(window))
