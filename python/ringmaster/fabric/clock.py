# SPDX-License-Identifier: Apache-2.0
"""The clocks, and how they hang together: turn ↔ TSC (the CPU's time stamp counter) ↔ TAI."""

from dataclasses import dataclass

from ringmaster.fabric import layout
from ringmaster.fabric._library import ffi, lib
from ringmaster.fabric.memory import Place, half_written
from ringmaster.fabric.segment import ObjectInfo, Segment

_U64 = (1 << 64) - 1


@dataclass(frozen=True)
class ClockReading:
    """A consistent copy of the clock's fit, and the conversions by it.

    "The TSC of turn T" is when the promptest instruments' datagrams of turn T arrive.
    """

    anchored: bool
    """False until a first turn was accepted; turns cannot be converted before."""
    turn_epoch: int
    """As in the streams."""
    turn: int
    """At ``turn_tsc``."""
    turn_tsc: int
    """TSC ticks."""
    ticks_per_turn: float
    """TSC ticks from one turn to the next."""
    residual_ticks: float
    """RMS distance of the arrivals' envelope from the fit, TSC ticks."""
    tsc_hz: float
    """TSC ticks per second of TAI."""
    tai_tsc: int
    """TSC ticks at ``tai_ns``."""
    tai_ns: int
    """Nanoseconds of TAI since 1970-01-01; of UTC where the kernel was never told the leap seconds."""
    measured_ticks_per_turn: float = 0.0
    """As ``ticks_per_turn``, by what instruments counted over 0.3 s and more; 0 while it is not measured."""
    supported: bool = False
    """Whether what was measured supports the fitted rate; while it does not, that is a guess."""

    @property
    def turn_rate_hz(self) -> float:
        """Turns per second, as fitted; 0 while not anchored."""
        return self.tsc_hz / self.ticks_per_turn if self.anchored and self.ticks_per_turn > 0 else 0.0

    @property
    def measured_turn_rate_hz(self) -> float:
        """Turns per second, as counted by the instruments; 0 while not measured."""
        return self.tsc_hz / self.measured_ticks_per_turn if self.measured_ticks_per_turn > 0 else 0.0

    def turn_at(self, tsc: int) -> int:
        """Turn at a TSC; fractional turns are cut off."""
        self._need_anchor()
        return max(0, self.turn + int((tsc - self.turn_tsc) / self.ticks_per_turn // 1))

    def tsc_at(self, turn: int) -> int:
        """TSC ticks at which the datagrams of ``turn`` are expected."""
        self._need_anchor()
        return (self.turn_tsc + round((turn - self.turn) * self.ticks_per_turn)) & _U64

    def tai_ns_at(self, tsc: int) -> int:
        """Nanoseconds of TAI since 1970-01-01 at a TSC."""
        if self.tsc_hz <= 0:
            raise ValueError("the clock has not been set yet")
        return self.tai_ns + round((tsc - self.tai_tsc) * 1e9 / self.tsc_hz)

    def tsc_at_tai_ns(self, tai_ns: int) -> int:
        """TSC ticks at a time stamp."""
        if self.tsc_hz <= 0:
            raise ValueError("the clock has not been set yet")
        return (self.tai_tsc + round((tai_ns - self.tai_ns) * self.tsc_hz / 1e9)) & _U64

    def _need_anchor(self) -> None:
        if not self.anchored or self.ticks_per_turn <= 0:
            raise ValueError("the turn clock is not anchored: no instrument's turn was accepted yet")


class Clock:
    """The clock of a workspace."""

    def __init__(self, segment: Segment, info: ObjectInfo) -> None:
        self.name = info.name
        self._clock = Place("rm_clock", layout.CLOCK, segment.memory, info.offset)

    def read(self) -> ClockReading:
        """Copies the fit. Raises WorkspaceDamaged when the server was killed while it wrote."""
        reading = ffi.new("struct rm_clock_reading *")
        if not lib.rm_clock_read(self._clock.pointer, reading):
            raise half_written(self.name)
        return ClockReading(**{name: getattr(reading, name) for name in ClockReading.__dataclass_fields__})
