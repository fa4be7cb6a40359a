# SPDX-License-Identifier: Apache-2.0
"""Interlock records. The turn zero is the one that the interlock itself recorded, whenever the record comes."""

from typing import NamedTuple

import numpy as np

from ringmaster.fabric.layout import InstrumentKind
from ringmaster.fabric.stream import Stream
from ringmaster.fabric.workspace import Workspace
from ringmaster.postmortem.event import Zero
from ringmaster.postmortem.look import Look, Newest

LOSS_TURN, PERMITS = "loss_turn", "permits"
LOW_32 = (1 << 32) - 1
MOST_RECORDS = 1 << 18


class _Seen(NamedTuple):
    loss_turn: int | None
    permits: int | None


class InterlockTrigger:
    """Sees a new turn in the lane ``loss_turn``; or, without that, a bit of ``permits`` that is taken away."""

    def __init__(self, streams: str = "*") -> None:
        self._pattern = streams
        self._ws: Workspace | None = None
        self._streams: list[Stream] = []
        self._was: dict[str, _Seen] = {}

    def look(self, look: Look) -> tuple[str, Zero] | None:
        """See triggers.Trigger."""
        self._find(look.ws)
        found = [self._look_at(look, stream) for stream in self._streams]
        return min((one for one in found if one is not None), key=lambda one: one[1].turn, default=None)

    def waits_for(self, look: Look) -> str:
        """See triggers.Trigger."""
        self._find(look.ws)
        return "" if self._streams else f"streams {self._pattern} of interlocks"

    def _find(self, ws: Workspace) -> None:
        """Of each interlock its fastest stream."""
        if self._ws is ws and self._streams:
            return
        fastest: dict[str, Stream] = {}
        for stream in ws.streams.match(self._pattern).values():
            if stream.instrument_kind == InstrumentKind.INTERLOCK:
                other = fastest.get(stream.instrument)
                if other is None or stream.period < other.period:
                    fastest[stream.instrument] = stream
        self._streams, self._ws = list(fastest.values()), ws

    def _look_at(self, look: Look, stream: Stream) -> tuple[str, Zero] | None:
        newest = look.newest(stream)
        if newest is None:
            return None
        now = _Seen(_bits(newest, LOSS_TURN), _bits(newest, PERMITS))
        was = self._was.get(stream.name)
        self._was[stream.name] = now
        if was is None:
            return None
        if now.loss_turn is not None and now.loss_turn not in (LOW_32, was.loss_turn):
            turn = whole_turn(now.loss_turn, newest.turn)
            zero = look.zero(turn, newest.turn_epoch, f"lane {LOSS_TURN} of {stream.name}", 1, True)
            return f"interlock {stream.instrument}: beam lost at turn {turn}", zero
        taken = 0 if was.permits is None or now.permits is None else was.permits & ~now.permits
        if not taken or now.loss_turn not in (None, LOW_32):
            return None
        bits = ", ".join(str(bit) for bit in range(32) if taken >> bit & 1)
        return f"interlock {stream.instrument}: permit {bits} taken away", self._permit_zero(look, stream, taken)

    @staticmethod
    def _permit_zero(look: Look, stream: Stream, taken: int) -> Zero:
        window = stream.latest(min(stream.capacity, MOST_RECORDS))
        permits, turns = window[PERMITS][window.ok].astype(np.int64) & LOW_32, window.turn[window.ok]
        given = np.flatnonzero(permits & taken == taken)
        if len(given) and given[-1] + 1 < len(turns):
            turn, how, within = int(turns[given[-1] + 1]), f"record of {stream.name} without the permit", stream.period
            return look.zero(turn, window.turn_epoch, how, within, True)
        return look.zero_at(look.tai_ns, "when the permit was seen to be away: its ring does not reach back to it")


def whole_turn(low: int, near: int) -> int:
    """The turn with these low 32 bits that is nearest to ``near``."""
    behind = (near - low) & LOW_32
    return near - behind if behind < 1 << 31 else near - behind + LOW_32 + 1


def _bits(newest: Newest, lane: str) -> int | None:
    """A lane of type i32 as its 32 bits, None where there is no such lane."""
    value = newest.lanes.get(lane)
    return None if value is None else int(value) & LOW_32
