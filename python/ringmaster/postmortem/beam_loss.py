# SPDX-License-Identifier: Apache-2.0
"""Beam loss, as sum signals show it: they fall below a share of what they were. The turn is found in the stream."""

from fnmatch import fnmatchcase
from itertools import chain
from time import monotonic

import numpy as np

from ringmaster.errors import WorkspaceError
from ringmaster.fabric.stream import Stream
from ringmaster.fabric.workspace import Workspace
from ringmaster.postmortem.event import Zero
from ringmaster.postmortem.look import Look

STREAMS = "*"
LANES = "sum*"
BELOW = 0.5
FOLLOWS_S = 1.0
"""Time constant with which the reference follows the signal while it stands above the limit."""
MOST_STREAMS = 8
"""Looked at each time; more are alike, as the current is the same all around the ring."""
MOST_RECORDS = 1 << 18
"""Of a stream that are searched."""
BEAM = 0.05
"""Of the largest reference so far: below, there is no beam to lose."""


class BeamLossTrigger:
    """Falls when more than half of the signals are below the limit; armed again when none is."""

    def __init__(self, streams: str = STREAMS, lanes: str = LANES, below: float = BELOW) -> None:
        self._streams, self._lanes, self._below = streams, lanes, below
        self._ws: Workspace | None = None
        self._signals: list[tuple[Stream, str]] = []
        self._reference: dict[tuple[str, str], float] = {}
        self._largest = 0.0
        self._looked_s = monotonic()
        self._fallen = False

    def look(self, look: Look) -> tuple[str, Zero] | None:
        """See triggers.Trigger."""
        self._find(look.ws)
        values = {(stream.name, lane): self._value(look, stream, lane) for stream, lane in self._signals}
        had = {key: value for key, value in values.items() if value is not None}
        low = [key for key, value in had.items() if value < self._below * self._reference.get(key, -np.inf)]
        references = [self._reference[key] for key in had if key in self._reference]
        beam = bool(references) and max(references) > BEAM * self._largest > 0
        fell = beam and 2 * len(low) > len(had) > 0
        was, self._fallen = self._fallen, fell or (self._fallen and bool(low))
        if not self._fallen:
            self._follow(had)
        if not fell or was:
            return None
        percent = 100 * self._below
        return (
            f"beam loss: {len(low)} of {len(had)} sum signals fell below {percent:g} % of what they were",
            self._zero(look),
        )

    def waits_for(self, look: Look) -> str:
        """See triggers.Trigger."""
        self._find(look.ws)
        return "" if self._signals else f"streams {self._streams} with lanes {self._lanes}"

    def _find(self, ws: Workspace) -> None:
        """The fastest streams that match."""
        if self._ws is ws and self._signals:
            return
        found = [
            (stream, lane.name)
            for stream in ws.streams.match(self._streams).values()
            for lane in stream.lanes
            if fnmatchcase(lane.name, self._lanes)
        ]
        fastest = min((stream.period for stream, _ in found), default=0)
        found = [(stream, lane) for stream, lane in found if stream.period == fastest]
        self._signals = found[:: -(-len(found) // MOST_STREAMS) or 1]
        self._ws = ws

    @staticmethod
    def _value(look: Look, stream: Stream, lane: str) -> float | None:
        newest = look.newest(stream)
        return None if newest is None else newest.lanes[lane]

    def _follow(self, values: dict[tuple[str, str], float]) -> None:
        now = monotonic()
        share = min(1.0, (now - self._looked_s) / FOLLOWS_S)
        self._looked_s = now
        for key, value in values.items():
            reference = self._reference.setdefault(key, value)
            self._reference[key] = reference + share * (value - reference)
            self._largest = max(self._largest, self._reference[key])

    def _zero(self, look: Look) -> Zero:
        """The first turn at which a signal is below, and stays so, in the fastest stream that still has it."""
        for period, group in self._by_period(look.ws):
            found = [fall for stream, lane, limit in group if (fall := last_fall(stream, lane, limit)) is not None]
            if found:
                turn_epoch, turn, name = min(found)
                how = f"first record of {name} below {100 * self._below:g} %"
                return look.zero(turn, turn_epoch, how, period)
        return look.zero_at(look.tai_ns, "when the sum signals were seen low: no ring reaches back to the fall")

    def _by_period(self, ws: Workspace) -> list[tuple[int, list[tuple[Stream, str, float]]]]:
        """The signals, and the same lanes of the same instruments at slower rates."""
        groups: dict[int, list[tuple[Stream, str, float]]] = {}
        for stream, lane in self._signals:
            slower = (one for one in ws.streams.values() if one.instrument == stream.instrument and one is not stream)
            limit = self._below * self._reference.get((stream.name, lane), 0.0)
            for one in chain([stream], slower):
                if any(lane == known.name for known in one.lanes):
                    groups.setdefault(one.period, []).append((one, lane, limit))
        return sorted(groups.items())


def last_fall(stream: Stream, lane: str, limit: float) -> tuple[int, int, str] | None:
    """Turn-counter epoch and turn of the first record below ``limit`` after the last one that is not; with the lane's
    name. None where the ring does not reach so far back.
    """
    try:
        window = stream.latest(min(stream.capacity, MOST_RECORDS))
    except WorkspaceError:
        return None
    values, turns = window[lane][window.ok], window.turn[window.ok]
    above = np.flatnonzero(values >= limit)
    if not len(above) or above[-1] + 1 >= len(values):
        return None
    return window.turn_epoch, int(turns[above[-1] + 1]), f"{stream.name}:{lane}"
