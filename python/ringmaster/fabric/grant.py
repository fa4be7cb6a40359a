# SPDX-License-Identifier: Apache-2.0
"""Grants: what the server allows an application, and what its guard has seen of it."""

import math
from dataclasses import dataclass

from ringmaster.fabric import layout
from ringmaster.fabric._library import ffi, lib
from ringmaster.fabric.layout import ApplicationState, Refusal, StopAction
from ringmaster.fabric.memory import Place, half_written, structure, text
from ringmaster.fabric.segment import ObjectInfo, Segment

OPERATOR = "operator"
"""A person who sets a supply by hand."""
_WHOLE_VECTOR = (1 << 64) - 1


@dataclass(frozen=True)
class Offence:
    """The newest thing that the guard refused."""

    refusal: Refusal
    actuator: int | None
    """Index in the application's vector, of the operator's among all supplies; None when the vector was refused
    whole.
    """
    supply: str | None
    """The actuator's name, where it is known."""
    value: float
    """What was wanted; of a stale vector its input turn, of a wrong grant number the grant number."""
    limit: float
    """What it was held against."""
    turn: int
    """Of the cycle."""
    vector: int
    """Number of the vector, from 0."""
    tai_ns: int

    @property
    def reason(self) -> str:
        """In words."""
        whom = self.supply or (f"actuator {self.actuator}" if self.actuator is not None else f"vector {self.vector}")
        return f"{whom}: {_WORDS[self.refusal].format(value=_number(self.value), limit=_number(self.limit))}"


_WORDS: dict[Refusal, str] = {
    Refusal.NOTHING: "nothing",
    Refusal.GRANT: "of grant number {value}, where grant number {limit} is granted",
    Refusal.STALE: "answers turn {value}; turns before {limit} are too old",
    Refusal.FUTURE: "answers turn {value}, which is in the future; now is turn {limit}",
    Refusal.NUMBER: "{value} is no number that can be set",
    Refusal.LOW: "{value} is below the lower limit, {limit}",
    Refusal.HIGH: "{value} is above the upper limit, {limit}",
    Refusal.SLEW: "{value} is further than it may go in one cycle; it was sent {limit}",
    Refusal.OWNERSHIP: "belongs to an application, which alone sets it",
    Refusal.FAULT: "tripped, or its chain is lost: it stays where it is, and {value} was not sent",
}


def _number(value: float) -> str:
    return f"{value:.0f}" if math.isfinite(value) and value == int(value) else f"{value:.9g}"


@dataclass(frozen=True)
class GrantReading:
    """A consistent copy of a grant."""

    grant_number: int
    """Granted now; 0: nobody may send vectors."""
    instance: int
    """Grant number of the application's segment that it was granted to."""
    pid: int
    """And its process."""
    state: ApplicationState
    since_tai_ns: int
    stalls: int
    """How often it stalled since the server started."""
    restarts: int
    """How often an instance followed another."""
    offence: Offence | None
    """The newest refusal; None while there was none."""


class Grant:
    """The grant of one application, or of the operator; the server writes it."""

    def __init__(self, segment: Segment, info: ObjectInfo, supplies: tuple[str, ...] = ()) -> None:
        header = structure(segment.memory, layout.GRANT, info.offset)[0]
        self.application = text(header["application"])
        self.actuator_count = int(header["actuator_count"])
        self.period_turns = int(header["period_turns"])
        """One vector is expected in so many turns."""
        self.freshness_turns = int(header["freshness_turns"])
        """How far back a vector's input turn may lie."""
        self.watchdog_cycles = int(header["watchdog_cycles"])
        """So many without a good vector: stalled."""
        self.stop = StopAction(int(header["stop"]))
        """What follows when good vectors stop."""
        counts_all = self.application == OPERATOR  # whose requests have no vector: the index is the server's
        self._supplies = supplies if counts_all or len(supplies) == self.actuator_count else ()
        self._grant = Place("rm_grant", layout.GRANT, segment.memory, info.offset)
        offence = layout.member_offset(layout.GRANT, "offence")
        self._offence = Place("rm_offence", layout.OFFENCE, segment.memory, info.offset + offence)

    def __repr__(self) -> str:
        return f"<grant of {self.application}: {self.read().state.name.lower()}>"

    def read(self) -> GrantReading:
        """Copies it. Raises WorkspaceDamaged when the server was killed while it wrote."""
        offence, reading = self._read_offence(), ffi.new("struct rm_grant_reading *")
        if not lib.rm_grant_read(self._grant.pointer, reading):
            raise half_written(f"the grant of {self.application}")
        return GrantReading(
            grant_number=reading.grant_number,
            instance=reading.instance,
            pid=reading.pid,
            state=ApplicationState(reading.state),
            since_tai_ns=reading.since_tai_ns,
            stalls=reading.stalls,
            restarts=reading.restarts,
            offence=offence,
        )

    def _read_offence(self) -> Offence | None:
        reading = ffi.new("struct rm_offence_reading *")
        if not lib.rm_offence_read(self._offence.pointer, reading):
            raise half_written(f"the grant of {self.application}")
        if reading.refusal == Refusal.NOTHING:
            return None
        index = None if reading.actuator == _WHOLE_VECTOR else reading.actuator
        return Offence(
            refusal=Refusal(reading.refusal),
            actuator=index,
            supply=self._supplies[index] if index is not None and index < len(self._supplies) else None,
            value=reading.value,
            limit=reading.limit,
            turn=reading.turn,
            vector=reading.vector,
            tai_ns=reading.tai_ns,
        )
