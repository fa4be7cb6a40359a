# SPDX-License-Identifier: Apache-2.0
"""The turns around a kick, of all BPMs: of a running machine, for whose next kick is waited, or of any series.

A beam that noise drives grows and fades by itself, over its damping time. A kick does so within a few turns: the
amplitude, of blocks of turns, jumps by far more than it does elsewhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic, sleep

import numpy as np

from ringmaster.fabric.stream import Stream
from ringmaster.fabric.workspace import Workspace
from ringmaster.optics.lines import Floats
from ringmaster.spectra.series import Series, joined

POLL_S = 0.02
BLOCK = 64
"""Turns whose amplitude is taken together."""
APART = 4
"""Blocks between the two amplitudes of a jump."""
JUMP = 12.0
"""Times the usual jump."""
LEAST_BLOCKS = 200
"""From which the usual jump is known."""
MOST_BLOCKS = 4000
WATCHED = 2
"""BPM electronics that are watched."""


@dataclass(frozen=True)
class KickedTurns:
    """Positions, NaN for lost turns."""

    x: Floats
    """Shape (BPMs, turns), in the unit of the lanes."""
    y: Floats
    kick: int
    """Index of the first turn that shows it."""
    turn: int
    """And its number."""
    unit: str


def of_series(series: Sequence[Series]) -> KickedTurns:
    """Of x and y of the first BPM, of the second, … Raises ValueError where no kick stands out."""
    together = joined(list(series))
    values = np.array([one.values for one in together])
    block = find_jump(amplitudes(values))
    if block is None:
        raise ValueError("no kick stands out of these turns: say by --from and --until where it was")
    index = _first_turn(values, block)
    turn = together[0].first_turn + index * together[0].period
    return KickedTurns(values[0::2], values[1::2], index, turn, together[0].unit)


def amplitudes(values: Floats) -> Floats:
    """Shape (blocks,): RMS of the first differences of all lanes, shape (lanes, turns), in each block."""
    lanes, turns = values.shape
    count = turns // BLOCK
    squares = (np.diff(values, axis=1, prepend=np.nan) ** 2)[:, : count * BLOCK].reshape(lanes, count, BLOCK)
    known = np.isfinite(squares)
    mean = np.where(known, squares, 0.0).sum(axis=2) / np.maximum(known.sum(axis=2), 1)
    return np.asarray(np.sqrt(mean.sum(axis=0)))


def find_jump(trace: Floats) -> int | None:
    """The block with which the amplitude jumps most; None where no jump is far above the usual ones."""
    if len(trace) < LEAST_BLOCKS:
        return None
    jump = trace[APART:] - trace[:-APART]
    usual = 1.4826 * float(np.median(np.abs(jump)))
    best = int(np.argmax(jump))
    return best + APART // 2 if jump[best] > JUMP * usual > 0 else None


def _first_turn(values: Floats, block: int) -> int:
    """Where the energy of the turns rises to a third of what it is afterwards."""
    first = max(0, (block - APART) * BLOCK)
    energy = np.nansum(np.diff(values[:, first : (block + 2 * APART) * BLOCK], axis=1, prepend=np.nan) ** 2, axis=0)
    smooth = np.convolve(energy, np.full(8, 1 / 8), mode="full")[: len(energy)]
    above = smooth > float(np.mean(energy[-APART * BLOCK :])) / 3
    return first + int(np.argmax(above))


class _Watch:
    """Amplitudes of a few BPMs, block by block, from now on."""

    def __init__(self, streams: Sequence[Stream], lanes: Sequence[Sequence[str]]) -> None:
        self._streams = streams
        self._lanes = lanes
        self._next = self._head() // BLOCK * BLOCK
        self._trace: Floats = np.empty(0)

    def _head(self) -> int:
        return min(stream.head or 0 for stream in self._streams)

    def look(self) -> int | None:
        """The first turn of the block in which the beam was kicked, once it is there."""
        oldest = max(stream.oldest(stream.capacity // 8) or 0 for stream in self._streams)
        if oldest > self._next:  # the host was away: what is missing may have been a kick
            self._next, self._trace = -(-oldest // BLOCK) * BLOCK, np.empty(0)
        count = min((self._head() - self._next) // BLOCK, MOST_BLOCKS)
        if count <= 0:
            return None
        windows = [stream.read(self._next, count * BLOCK) for stream in self._streams]
        new = np.array([one.values(lane) for one, lanes in zip(windows, self._lanes, strict=True) for lane in lanes])
        self._trace = np.append(self._trace, amplitudes(new))[-MOST_BLOCKS:]
        self._next += count * BLOCK
        block = find_jump(self._trace)
        return None if block is None else self._next - (len(self._trace) - block) * BLOCK


def await_kick(
    ws: Workspace, names: Sequence[str], before_turns: int, after_turns: int, timeout_s: float | None
) -> list[Series] | None:
    """The series of lanes ("bpm01/turn/x1") around the next kick; None where there was none in that time.

    Raises ValueError where the rings hold less, and for BPMs that do not send every turn.
    """
    lanes = [(ws.streams[stream], stream, lane) for stream, _, lane in (name.rpartition("/") for name in names)]
    streams = {name: stream for stream, name, _ in lanes}
    if slow := [name for name, stream in streams.items() if stream.period != 1]:
        raise ValueError(f"{slow[0]} has a record every {streams[slow[0]].period} turns: damping is seen turn by turn")
    rate_hz = ws.parameters["server/turn_rate_hz"].number
    least = min(streams.values(), key=lambda stream: stream.capacity)
    held = least.capacity - 2 * least.margin
    if before_turns + after_turns > 0.8 * held:
        raise ValueError(
            f"{least.name} holds {held} turns, and {before_turns + after_turns} are looked at, which takes a quarter "
            f"more: make `buffers.turn_records` of the server larger"
        )
    watched = list(streams)[:: max(1, len(streams) // WATCHED)][:WATCHED]
    watch = _Watch(
        [streams[name] for name in watched], [[lane for _, of, lane in lanes if of == name] for name in watched]
    )
    give_up = None if timeout_s is None else monotonic() + timeout_s
    while (kick := watch.look()) is None:
        if give_up is not None and monotonic() > give_up:
            return None
        ws.check()
        sleep(POLL_S)
    end = kick + after_turns
    while any((stream.head or 0) < end for stream in streams.values()):
        ws.check()
        sleep(POLL_S)
    first, count = kick - before_turns, before_turns + after_turns
    raw = {name: stream.read(first, count) for name, stream in streams.items()}  # all, before they go by
    windows = {name: streams[name].physical(window) for name, window in raw.items()}
    return [
        Series(
            f"{name}/{lane}",
            stream.physical_units.get(lane, ""),
            rate_hz,
            windows[name].values(lane),
            first,
            stream.period,
            stream.gain,
        )
        for stream, name, lane in lanes
    ]
