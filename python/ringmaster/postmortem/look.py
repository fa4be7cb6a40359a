# SPDX-License-Identifier: Apache-2.0
"""One look at a workspace: what triggers ask of it, each thing read once, and turns with their times."""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from ringmaster.errors import ObjectNotFound, WorkspaceDamaged, WorkspaceError
from ringmaster.fabric.clock import ClockReading
from ringmaster.fabric.parameter import ParameterReading
from ringmaster.fabric.stream import Stream
from ringmaster.fabric.workspace import SERVER, Workspace
from ringmaster.postmortem.event import Zero
from ringmaster.values import time_format

LIVES, STOPPED, ENDED, KILLED = "lives", "stopped", "ended", "killed"


class Newest(NamedTuple):
    """The newest record of a stream."""

    turn: int
    turn_epoch: int
    lanes: dict[str, float]


class Look:
    """Valid for one round of the triggers."""

    def __init__(self, ws: Workspace, server: str = LIVES) -> None:
        """``server``: how it is, one of the four words above."""
        self.ws = ws
        self.server = server
        self.tai_ns = time_format.now_tai_ns()
        self._newest: dict[str, Newest | None] = {}

    @cached_property
    def clock(self) -> ClockReading | None:
        """None where there is none, or where turns cannot be converted yet."""
        try:
            reading = self.ws.clock.read()
        except (ObjectNotFound, WorkspaceDamaged):
            return None
        return reading if reading.anchored and reading.ticks_per_turn > 0 else None

    @property
    def turn_rate_hz(self) -> float:
        """By the clock, or as configured; 0 where neither says."""
        if self.clock is not None:
            return self.clock.turn_rate_hz
        reading = self.parameter("server/turn_rate_hz")
        return float(np.asarray(reading.value, np.float64)) if reading is not None else 0.0

    def parameter(self, name: str) -> ParameterReading | None:
        """None while no owner of it is there."""
        try:
            return self.ws.parameters[name].read()
        except WorkspaceError:
            return None

    def newest(self, stream: Stream) -> Newest | None:
        """The newest record, None where none can be read just now."""
        if stream.name not in self._newest:
            self._newest[stream.name] = read_newest(stream)
        return self._newest[stream.name]

    def tai_at(self, turn: int, turn_epoch: int) -> int:
        """When the datagrams of a turn come, in nanoseconds of TAI; now, where the clock does not know that epoch."""
        if self.clock is None or self.clock.turn_epoch != turn_epoch:
            return self.tai_ns
        return self.clock.tai_ns_at(self.clock.tsc_at(turn))

    def zero(self, turn: int, turn_epoch: int, how: str, within: int = 1, from_interlock: bool = False) -> Zero:
        """A turn that is known."""
        return Zero(turn, turn_epoch, how, within, from_interlock, self.tai_at(turn, turn_epoch))

    def zero_at(self, tai_ns: int, how: str) -> Zero:
        """The turn of a time."""
        if self.clock is None:
            head, turn_epoch = newest_turn(self.ws)
            return Zero(head, turn_epoch, f"{how}; there is no turn clock, so the newest turn", 1000, False, tai_ns)
        turn = self.clock.turn_at(self.clock.tsc_at_tai_ns(tai_ns))
        within = 2 + round(self.clock.turn_rate_hz * 10e-6)
        return Zero(turn, self.clock.turn_epoch, how, within, False, tai_ns)


def read_newest(stream: Stream) -> Newest | None:
    """The newest record that is there."""
    window = stream.latest(2)  # the newest may still be missing
    good = np.flatnonzero(window.ok)
    if not len(good):
        return None
    record = window.records[good[-1]]
    lanes = {lane: float(record[lane]) for lane in window.lanes}
    return Newest(int(window.turn[good[-1]]), window.turn_epoch, lanes)


def newest_turn(ws: Workspace) -> tuple[int, int]:
    """The newest turn that any stream of the server has, and its turn-counter epoch; (0, 0) where nothing came."""
    heads = [
        (stream.turn_epoch, head)
        for name, stream in ws.streams.items()
        if (head := stream.head) is not None and ws.objects[f"stream/{name}"].owner == SERVER
    ]
    turn_epoch, turn = max(heads, default=(0, 0))
    return turn, turn_epoch
