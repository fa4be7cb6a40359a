# SPDX-License-Identifier: Apache-2.0
"""One supply of the operator, moved by a sine while streams are collected; back where it stood, whatever ends it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic

from ringmaster.errors import ObjectNotFound, RequestRefused, RequestUnanswered
from ringmaster.fabric.stream import Stream
from ringmaster.fabric.workspace import Workspace
from ringmaster.moving.course import Course
from ringmaster.moving.hand import Hand, refuse_closed_loops, refuse_owned
from ringmaster.moving.stopping import stopped_at_pauses

POLL_S = 0.005
NOTHING_S = 60.0
"""A busy host takes a core away for seconds."""
REFUSED = 20
"""So many requests in a row that are refused or forgotten end it."""
ShareDone = Callable[[float], None]
"""Is told which share is done, 0 to 1."""


@dataclass(frozen=True)
class Sine:
    """A sine."""

    supply: str
    amplitude: float
    """In its unit."""
    hz: float
    seconds: float
    """Made up to whole periods, and one more."""

    @property
    def periods(self) -> int:
        """Of the sine."""
        return 1 + max(1, math.ceil(self.seconds * self.hz - 1e-9))


@dataclass(frozen=True)
class Modulated:
    """When it was."""

    begin: int
    """The turn at which the sine begins, with its zero."""
    period_turns: float
    periods: int

    @property
    def from_crest(self) -> int:
        """The first crest. In periods from there on a drift is odd and the sine even, so that the one costs the other
        nothing.
        """
        return self.begin + round(self.period_turns / 4)

    @property
    def whole_periods(self) -> int:
        """From there on."""
        return self.periods - 1


def readback_lane(ws: Workspace, supply: str) -> tuple[Stream, str]:
    """The stream and the lane in which a supply says at each cycle where it is. Raises ObjectNotFound, ValueError."""
    lane = supply.rpartition("/")[2]
    streams = [stream for chain in ws.chains.values() for stream in chain.streams]
    found = [stream for stream in streams if any(one.name == lane for one in stream.lanes)]
    if not found:
        raise ObjectNotFound(f"{supply}: no chain has a readback {lane!r}, so nothing tells what it did")
    if len(found) > 1:
        names = ", ".join(stream.name for stream in found)
        raise ValueError(f"{supply}: {names} have a readback {lane!r}; expected a last part of its name of its own")
    return found[0], lane


def modulate(ws: Workspace, sine: Sine, courses: Sequence[Course], progress: ShareDone = lambda _: None) -> Modulated:
    """Moves the supply and looks at the courses; times are those of turns, so a slow host costs nothing.

    KeyboardInterrupt, too, comes after it is back. Raises RequestRefused, NotFollowed, NotPutBack, ValueError.
    """
    refuse_closed_loops(ws)
    refuse_owned(ws, sine.supply)
    clock, _ = readback_lane(ws, sine.supply)
    period = ws.parameters["server/turn_rate_hz"].number / sine.hz
    with stopped_at_pauses() as pause:
        hand = Hand(ws, [sine.supply], pause)
        hand.begin(sine.supply, sine.amplitude)
        try:
            begin = clock.head or 0
            turn, wall, refused = begin, monotonic(), 0
            while turn < begin + sine.periods * period:
                offset = sine.amplitude * math.sin(2 * math.pi * (turn - begin) / period)
                refused = 0 if _is_taken(hand, sine.supply, offset, refused) else refused + 1
                for course in courses:
                    course.look()
                progress((turn - begin) / (sine.periods * period))
                ws.check()
                pause(POLL_S)
                now = clock.head or 0
                if now > turn:
                    turn, wall = now, monotonic()
                elif monotonic() > wall + NOTHING_S:
                    raise RuntimeError(f"nothing has come for {NOTHING_S:g} s in {clock.name}")
        finally:
            hand.put_back()
        for course in courses:
            course.look()
    return Modulated(begin, period, sine.periods)


def _is_taken(hand: Hand, supply: str, offset: float, refused: int) -> bool:
    """Asks once. Raises RequestRefused, RequestUnanswered where it was in vain for REFUSED times in a row."""
    try:
        hand.ask(supply, offset)
        return True
    except (RequestRefused, RequestUnanswered):
        if refused + 1 >= REFUSED:
            raise
        return False
