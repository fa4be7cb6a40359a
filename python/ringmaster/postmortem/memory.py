# SPDX-License-Identifier: Apache-2.0
"""Windows of streams, saved from shared memory: of a living server, of one that was killed, through a restart of turns.

Rings last for moments. So what is there is copied at the trigger, and what comes later as it comes. Each time it is
written to a file of its own, memory/1.h5, memory/2.h5, …, as recordings.export has it. Within a file a stream is of one
turn-counter epoch.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ringmaster.errors import WorkspaceError
from ringmaster.fabric.layout import ON_CHANGE
from ringmaster.fabric.naming import counted
from ringmaster.fabric.stream import Stream
from ringmaster.fabric.window import ReadResult, Window
from ringmaster.fabric.workspace import Workspace
from ringmaster.postmortem.event import Kept
from ringmaster.recordings import export

FOLDER = "memory"
MOST_BYTES = 256 << 20
"""That are held before they are written."""
RECORD_BYTES = 64
MOST_PERIOD = 120
"""Turns: of streams that are looked at to see how far the machine is."""

LastTurn = Callable[[int], int | None]
"""The last turn of the windows in a turn-counter epoch; None of one that has none of them."""


@dataclass
class _Taken:
    """Of one stream: how far it was copied, and what is not written yet."""

    stream: Stream
    first: int
    """First turn of the windows that is a multiple of the period."""
    next: int
    turn_epoch: int
    pieces: list[Window] = field(default_factory=list)
    had_first: int = -1
    had_last: int = -1
    records: int = 0
    missing: int = 0
    """Records that were not there."""
    lapped: int = 0
    """Records that were overwritten before they were copied."""
    reached: int = -1
    """The first turn that its ring still had; -1 before the first copy."""

    @property
    def on_change(self) -> bool:
        """Whether it speaks of changes alone: a turn without a record has lost nothing."""
        return self.stream.filter == ON_CHANGE


class MemoryWindows:
    """The windows of one event over the streams of a workspace."""

    def __init__(self, folder: Path, workspace: str, first: int, turn_epoch: int) -> None:
        """``folder`` is the event's, ``first`` the first turn of the windows, in that turn-counter epoch."""
        self._folder = folder / FOLDER
        self._workspace = workspace
        self._first, self._turn_epoch = first, turn_epoch
        self._taken: dict[str, _Taken] = {}
        self._bytes = 0
        self._newest = self._looked = (0, -1)
        """Turn-counter epoch and newest turn that any stream had, in this look and in the one before it."""
        self.left_out: set[str] = set()
        """Streams that are not copied."""
        self.restarted = False
        """Whether the turn counter restarted while they were copied."""

    def take(self, ws: Workspace, last_turn: LastTurn) -> None:
        """Copies what is there and was not copied yet."""
        self._looked, self._newest = self._newest, (0, -1)
        for name, stream in ws.streams.items():
            if name in self.left_out:
                continue
            try:
                self._take(name, stream, last_turn)
            except WorkspaceError:  # another owner's segment was cut, or is damaged: the others go on
                self.left_out.add(name)
        if self._bytes > MOST_BYTES:
            self.flush()

    def _take(self, name: str, stream: Stream, last_turn: LastTurn) -> None:
        head, oldest, turn_epoch = stream.head, stream.oldest(), stream.turn_epoch
        last = last_turn(turn_epoch)
        if head is None or oldest is None or last is None:
            return
        self._newest = max(self._newest, (turn_epoch, head))
        taken = self._of(name, stream, turn_epoch)
        is_known = taken.reached >= 0
        if not is_known:
            taken.reached = oldest if oldest > max(taken.first, stream.first or 0) else taken.first
        upto = min(head, last // stream.period * stream.period)
        start = max(taken.next, oldest)
        if start > upto:
            if oldest > last >= taken.next:  # the rest of the windows is overwritten: nothing more comes
                taken.lapped += self._overwritten(taken, last // stream.period * stream.period + stream.period)
                taken.next = last + stream.period
            return
        if taken.records or (taken.on_change and is_known):
            taken.lapped += self._overwritten(taken, start)
        window = stream.read(start, min((upto - start) // stream.period + 1, stream.capacity))
        if window.turn_epoch != turn_epoch:  # it restarted while it was read: the next look has the new one
            return
        taken.pieces.append(window)
        taken.next = start + len(window) * stream.period
        self._note(taken, window)

    def _overwritten(self, taken: _Taken, end: int) -> int:
        """Records before turn ``end`` that may be lost. One on change had none between its head and an earlier look."""
        first = taken.next
        if taken.on_change and self._looked[0] == taken.turn_epoch:
            first = max(first, self._looked[1])
        return max(0, (end - first) // taken.stream.period)

    def _of(self, name: str, stream: Stream, turn_epoch: int) -> _Taken:
        taken = self._taken.get(name)
        if taken is None:
            first = self._first if turn_epoch == self._turn_epoch else 0
            first = -(-first // stream.period) * stream.period
            taken = self._taken[name] = _Taken(stream, first, first, turn_epoch)
        if taken.turn_epoch != turn_epoch:
            self.flush()
            self.restarted = True
            taken.next, taken.turn_epoch = 0, turn_epoch
        taken.stream = stream
        return taken

    def _note(self, taken: _Taken, window: Window) -> None:
        good = window.turn[window.ok]
        self._bytes += len(window) * RECORD_BYTES
        taken.records += len(good)
        taken.missing += len(window) - len(good)
        if len(good) and window.turn_epoch == self._turn_epoch:
            taken.had_first = int(good[0]) if taken.had_first < 0 else taken.had_first
            taken.had_last = int(good[-1])

    def behind(self, last_turn: LastTurn) -> list[str]:
        """Streams that came to within the windows and are not at their end yet; one on change may never be."""
        return [
            name
            for name, taken in self._taken.items()
            if (last := last_turn(taken.stream.turn_epoch)) is not None
            and (taken.next <= last // taken.stream.period * taken.stream.period)
            and taken.records
            and not taken.on_change
        ]

    def has_reached(self, last_turn: LastTurn) -> bool:
        """Whether any stream has come to the windows' end: then others that have not are silent."""
        turn_epoch, turn = self._newest
        last = last_turn(turn_epoch)
        return last is None or turn >= last - MOST_PERIOD

    def flush(self) -> Path | None:
        """Writes what was copied since the last time. None where that is nothing."""
        windows = {taken.stream: _joined(taken.pieces) for taken in self._taken.values() if taken.pieces}
        if not windows:
            return None
        self._folder.mkdir(exist_ok=True)
        number = 1 + len(list(self._folder.glob("*.h5")))
        path = self._folder / f"{number}.h5"
        new = path.with_suffix(".new")
        new.unlink(missing_ok=True)
        export.write(new, self._workspace, windows)
        new.replace(path)
        for taken in self._taken.values():
            taken.pieces.clear()
        self._bytes = 0
        return path

    def kept(self, first: int, last: int, turn_rate_hz: float) -> dict[str, Kept]:
        """What there is of each stream, judged by the windows of the turn zero's epoch."""
        return {name: self._kept(taken, first, last, turn_rate_hz) for name, taken in self._taken.items()}

    def _kept(self, taken: _Taken, first: int, last: int, turn_rate_hz: float) -> Kept:
        period = taken.stream.period
        if not taken.records:
            return Kept("nowhere", why="no record of it lies in the windows")
        first = -(-first // period) * period
        why = []
        begins_late = (taken.reached if taken.on_change else taken.had_first) - first
        if begins_late > period:
            why.append(f"its ring reached {_time(begins_late, turn_rate_hz)} less far back than wanted")
        if taken.lapped:
            why.append(f"overwritten before they were copied: {counted(taken.lapped, 'record')}")
        silent = last - taken.had_last > 2 * period + taken.stream.closing_delay_turns
        if silent and not taken.on_change and not self.restarted:
            why.append(f"no record of it in the last {_time(last - taken.had_last, turn_rate_hz)} of the windows")
        missing = taken.missing * (not taken.on_change) + taken.lapped + max(0, begins_late // period)
        return Kept("memory", taken.had_first, taken.had_last, taken.records, missing, "; ".join(why))


def _time(turns: int, turn_rate_hz: float) -> str:
    return f"{turns} turns" + (f" ({1e3 * turns / turn_rate_hz:.3g} ms)" if turn_rate_hz > 0 else "")


def _joined(pieces: list[Window]) -> Window:
    """Consecutive windows of one stream as one; records between them are missing."""
    if len(pieces) == 1:
        return pieces[0]
    period = int(pieces[0].turn[1] - pieces[0].turn[0]) if len(pieces[0]) > 1 else _period(pieces)
    first, end = int(pieces[0].turn[0]), int(pieces[-1].turn[-1]) + period
    turn = np.arange(first, end, period, dtype=np.uint64)
    result = np.full(len(turn), ReadResult.LAPPED, np.uint8)
    records = np.zeros(len(turn), pieces[0].records.dtype)
    for piece in pieces:
        at = (int(piece.turn[0]) - first) // period
        result[at : at + len(piece)], records[at : at + len(piece)] = piece.result, piece.records
    newest = pieces[-1]
    return Window(turn, result, records, newest.turn_epoch, newest.published_tsc, newest.decimated)


def _period(pieces: list[Window]) -> int:
    return int(pieces[1].turn[0] - pieces[0].turn[0])


def expected_bytes(ws: Workspace, turns: int) -> Mapping[str, int]:
    """What the windows of each stream may take, by name."""
    return {
        name: min(turns // stream.period + 1, stream.capacity) * RECORD_BYTES for name, stream in ws.streams.items()
    }
