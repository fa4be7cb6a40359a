# SPDX-License-Identifier: Apache-2.0
"""Two servers of one machine: what a server is, what it may do, and states of applications between the two."""

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt

from ringmaster.errors import WorkspaceDamaged
from ringmaster.fabric import layout
from ringmaster.fabric._library import ffi, lib
from ringmaster.fabric.layout import StandbyReason, StandbyRole
from ringmaster.fabric.memory import Place, Words, half_written, structure
from ringmaster.fabric.segment import ObjectInfo, Segment

_TIMEOUT_S = 0.2


@dataclass(frozen=True)
class StandbyStateReading:
    """A consistent copy of what a server said of itself in its newest cycle."""

    role: StandbyRole
    reason: StandbyReason
    """What happened last."""
    term: int
    """Under which it sends, or sent last; 0: it never did."""
    highest_term: int
    """Of all that it has heard of."""
    turn: int
    """Of the newest cycle."""
    since_turn: int
    """With which the role began."""
    instance: int
    """Number of this life of the server."""
    with_us: int
    """Chains that answered this server's term."""
    unacknowledged: bool
    """An automatic take-over has happened that no operator has acknowledged."""
    swap_cycles: int | None
    """Of the newest take-over, from the other server's last setpoint to the first of this one; None: there was none."""
    switch_turn: int | None
    """Of a planned switch that is to come."""
    since_tai_ns: int
    """Of the last change of role."""


@dataclass(frozen=True)
class StandbyOrdersReading:
    """A consistent copy of what `ringmaster-standby` tells its server."""

    synchronised: bool
    """All that the active server knows is here."""
    synchronised_turn: int
    """Up to this turn."""
    hold: bool
    """An operator's."""
    acknowledged: int
    """Automatic take-overs acknowledged so far."""
    switch_turn: int | None
    """Of a planned switch that is agreed."""
    peer_role: StandbyRole | None
    """None: the peer is not heard."""
    peer_term: int
    peer_turn: int
    refused: bool
    """The peer cannot be one."""
    peer_unacknowledged: bool
    beat: int
    """Counts up while the process lives."""
    planned_only: bool
    """The peer is another build: the two swap by a planned switch alone."""


def _looked(what: str, look: Callable[[], bool], written: Callable[[], int]) -> bool:
    """Looks until the copy is consistent. False: nothing was written yet."""
    give_up = monotonic() + _TIMEOUT_S
    while not look():
        if written() == 0:
            return False
        if monotonic() > give_up:
            raise half_written(what)
    return True


def _turn(turn: int) -> int | None:
    return None if turn == layout.TURN_NONE else turn


def _role(number: int, what: str) -> StandbyRole:
    try:
        return StandbyRole(number)
    except ValueError:
        raise WorkspaceDamaged(f"{what}: {number} is no role; start its owner anew") from None


class StandbyState:
    """What one of two servers is to the machine; its transmit role writes it once per cycle."""

    def __init__(self, segment: Segment, info: ObjectInfo) -> None:
        header = structure(segment.memory, layout.STANDBY_STATE, info.offset)[0]
        self.name = info.name
        self.server = int(header["server"])
        """1 or 2: place in the configuration's list."""
        self.chains = int(header["chains"])
        """That vote."""
        self.majority = int(header["majority"])
        """So many of them are one."""
        self.missed_cycles = int(header["missed_cycles"])
        """Without setpoints, before the standby asks."""
        self.period_turns = int(header["period_turns"])
        """Of a cycle."""
        self._words = Words(segment.memory, layout.STANDBY_STATE, info.offset)
        self._state = Place("rm_standby_state", layout.STANDBY_STATE, segment.memory, info.offset)

    def read(self) -> StandbyStateReading | None:
        """Copies it; None before the first cycle. Raises WorkspaceDamaged when the server was killed while it wrote."""
        reading = ffi.new("struct rm_standby_state_reading *")
        look = lib.rm_standby_state_look
        if not _looked(self.name, lambda: look(self._state.pointer, reading), lambda: self._words("sequence")):
            return None
        return StandbyStateReading(
            role=_role(reading.role, self.name),
            reason=_reason(reading.reason, self.name),
            term=reading.term,
            highest_term=reading.highest_term,
            turn=reading.turn,
            since_turn=reading.since_turn,
            instance=reading.instance,
            with_us=reading.with_us,
            unacknowledged=reading.unacknowledged,
            swap_cycles=None if reading.swap_cycles == layout.TURN_NONE else reading.swap_cycles,
            switch_turn=_turn(reading.switch_turn),
            since_tai_ns=reading.since_tai_ns,
        )


def _reason(number: int, what: str) -> StandbyReason:
    try:
        return StandbyReason(number)
    except ValueError:
        raise WorkspaceDamaged(f"{what}: {number} is no reason; start its owner anew") from None


class StandbyOrders:
    """What one of two servers may do; `ringmaster-standby` writes it."""

    def __init__(self, segment: Segment, info: ObjectInfo) -> None:
        self.name = info.name
        self._words = Words(segment.memory, layout.STANDBY_ORDERS, info.offset)
        self._orders = Place("rm_standby_orders", layout.STANDBY_ORDERS, segment.memory, info.offset)

    def read(self) -> StandbyOrdersReading | None:
        """Copies it; None before the first. Raises WorkspaceDamaged when its owner was killed while it wrote."""
        reading = ffi.new("struct rm_standby_orders_reading *")
        look = lib.rm_standby_orders_look
        if not _looked(self.name, lambda: look(self._orders.pointer, reading), lambda: self._words("sequence")):
            return None
        return StandbyOrdersReading(
            synchronised=reading.synchronised,
            synchronised_turn=reading.synchronised_turn,
            hold=reading.hold,
            acknowledged=reading.acknowledged,
            switch_turn=_turn(reading.switch_turn),
            peer_role=_role(reading.peer_role - 1, self.name) if reading.peer_role else None,
            peer_term=reading.peer_term,
            peer_turn=reading.peer_turn,
            refused=reading.refused,
            peer_unacknowledged=reading.peer_unacknowledged,
            beat=reading.beat,
            planned_only=reading.planned_only,
        )


@dataclass(frozen=True)
class ApplicationStateReading:
    """A whole copy of an application's state."""

    turn: int
    """Of the step behind which it was taken."""
    steps: int
    """Since init, that one included."""
    checksum: int
    content: npt.NDArray[np.uint8]


class StateBytes:
    """An application's state as bytes, or the peer's of it."""

    def __init__(self, segment: Segment, info: ObjectInfo) -> None:
        header = structure(segment.memory, layout.STATE, info.offset)[0]
        self.name = info.name
        self.capacity = int(header["capacity"])
        """Bytes of room."""
        start = layout.STATE.itemsize
        if int(header["bytes_offset"]) != start or self.capacity % 8 or start + self.capacity > info.size:
            raise WorkspaceDamaged(f"{segment.path}: state {info.name!r} contradicts itself; start its owner anew")
        self._words = Words(segment.memory, layout.STATE, info.offset)
        self._state = Place("rm_state", layout.STATE, segment.memory, info.offset)

    def read(self) -> ApplicationStateReading | None:
        """Copies it; None while there is none. Raises WorkspaceDamaged when its owner was killed while it wrote."""
        reading: Any = ffi.new("struct rm_state_reading *")
        content = np.empty(self.capacity, np.uint8)
        room = ffi.cast("void *", content.ctypes.data)
        if not lib.rm_state_copy(self._state.pointer, room, self.capacity, reading):
            if self._words("sequence") == 0:
                return None
            raise half_written(self.name)
        return ApplicationStateReading(reading.turn, reading.steps, reading.checksum, content[: reading.bytes].copy())
