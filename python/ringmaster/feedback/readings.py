# SPDX-License-Identifier: Apache-2.0
"""BPM readings of a workspace over a span of turns, whether a feedback runs there or not."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic, sleep

import numpy as np
from numpy.typing import NDArray

from ringmaster.errors import ObjectNotFound
from ringmaster.fabric.layout import InstrumentKind
from ringmaster.fabric.stream import Stream
from ringmaster.fabric.workspace import Workspace
from ringmaster.feedback.golden import matching, rate_of
from ringmaster.feedback.names import LENGTHS
from ringmaster.moving.stopping import Pause

Floats = NDArray[np.float64]

_POSITION = re.compile(r"[xy]\d*")
_POLL_S = 0.002
_BEHIND_S = 1.0
_NOTHING_S = 60.0
"""A busy host takes a core away for seconds."""
_TRIES = 3
"""Windows that are read before a row without any record in them counts as silent: a busy host loses one at times."""


@dataclass(frozen=True)
class Choice:
    """Which readings are measured."""

    rows: tuple[str, ...]
    """INSTRUMENT/LANE."""
    rate: str
    """Of their streams."""
    left_out: tuple[str, ...] = ()
    """BPMs whose records come at another rate than those of most."""


def choose(ws: Workspace, patterns: Sequence[str], rate: str | None) -> Choice:
    """The positions of all BPMs, or those that match the patterns, at ``rate`` or the slowest that most of them have.

    Raises ObjectNotFound where there is none.
    """
    rows: dict[str, InstrumentKind] = {}
    for stream in ws.streams.values():
        positions = [lane.name for lane in stream.lanes if _POSITION.fullmatch(lane.name) and lane.unit in LENGTHS]
        rows |= {f"{stream.instrument}/{lane}": stream.instrument_kind for lane in positions}
    if patterns:
        chosen = [list(rows)[i] for i in matching(list(rows), patterns)] if rows else []
    else:
        chosen = [row for row, kind in rows.items() if kind == InstrumentKind.BPM]
    if not chosen:
        raise ObjectNotFound(
            f"no BPM sends to workspace {ws.name!r}: its server's configuration needs `instruments` of kind bpm"
        )
    if rate is not None:
        return Choice(tuple(chosen), rate)
    rates = {row: rate_of(ws, [row]) for row in chosen}
    most = Counter(rates.values()).most_common(1)[0][0]
    others = {row.rpartition("/")[0]: None for row in chosen if rates[row] != most}
    return Choice(tuple(row for row in chosen if rates[row] == most), most, tuple(others))


class Readings:
    """The streams of all rows, read over equal spans of turns."""

    def __init__(self, ws: Workspace, rows: Sequence[str], rate: str, pause: Pause = sleep) -> None:
        """Raises ObjectNotFound for a row without a stream, ValueError where their records have different periods."""
        self._ws = ws
        self._pause = pause
        self._lanes = [row.rpartition("/")[2] for row in rows]
        self._names = [f"{row.rpartition('/')[0]}/{rate}" for row in rows]
        self.streams: dict[str, Stream] = {name: ws.streams[name] for name in dict.fromkeys(self._names)}
        self.clock = next(iter(self.streams.values()))
        for name, stream in self.streams.items():
            if stream.period != self.clock.period:
                raise ValueError(
                    f"{name} has a record every {stream.period} turns, {self.clock.name} every {self.clock.period}: "
                    f"a feedback takes readings of one period; choose by --readings or --rate"
                )
        self._nm = np.array([[self._unit_nm(n, lane)] for n, lane in zip(self._names, self._lanes, strict=True)])
        self._silent: NDArray[np.bool_] = np.zeros(len(rows), np.bool_)
        self.rate_hz = ws.parameters["server/turn_rate_hz"].number / self.clock.period

    def __len__(self) -> int:
        return len(self._lanes)

    def _unit_nm(self, name: str, lane: str) -> float:
        unit = next((found.unit for found in self.streams[name].lanes if found.name == lane), "nm")
        if unit not in LENGTHS:
            raise ValueError(f"{name}: the lane {lane} is in {unit!r}, expected a length: {', '.join(LENGTHS)}")
        return LENGTHS[unit]

    def take(self, seconds: float, settle_s: float) -> tuple[Floats, Floats]:
        """Time (s, of the turn counter) and nm of each row, (rows, records), NaN for what did not come.

        Begins ``settle_s`` after now, by the turns of the streams.
        """
        for _ in range(_TRIES):
            time_s, values = self._take_once(seconds, settle_s)
            nothing = np.asarray(np.isnan(values).all(axis=1), np.bool_)
            if not (nothing & ~self._silent).any():
                return time_s, values
        np.logical_or(self._silent, nothing, out=self._silent)
        return time_s, values

    def _take_once(self, seconds: float, settle_s: float) -> tuple[Floats, Floats]:
        period = self.clock.period
        heads = [stream.head for stream in self.streams.values()]
        newest = max((head for head in heads if head is not None), default=None)
        if newest is None:
            raise RuntimeError(f"nothing comes in the stream {self.clock.name}")
        first = newest + period * (1 + int(settle_s * self.rate_hz))
        count = max(1, int(seconds * self.rate_hz))
        last = first + (count - 1) * period
        self._wait_for(last)
        windows = {name: stream.read(first, count) for name, stream in self.streams.items()}
        values = np.array([windows[n].values(lane) for n, lane in zip(self._names, self._lanes, strict=True)])
        return (first + period * np.arange(count)) / (self.rate_hz * period), values * self._nm

    def _wait_for(self, turn: int) -> None:
        """Until all streams are there. One that is a second behind the others is silent from then on.

        Raises RuntimeError where nothing comes any more.
        """
        newest, give_up = -1, 0.0
        while late := [name for name in self._sending() if (self.streams[name].head or 0) < turn]:
            head = max(stream.head or 0 for stream in self.streams.values())
            if head > newest:
                newest, give_up = head, monotonic() + _NOTHING_S
            if newest > turn + self.rate_hz * self.clock.period * _BEHIND_S:
                self._silent[[i for i, name in enumerate(self._names) if name in late]] = True
            elif monotonic() > give_up:
                raise RuntimeError(f"nothing has come for {_NOTHING_S:g} s in {late[0]}, nor in any other stream")
            self._ws.check()
            self._pause(_POLL_S)

    def _sending(self) -> list[str]:
        silent = {name for name, out in zip(self._names, self._silent, strict=True) if out}
        return [name for name in self.streams if name not in silent]


def mean_of_records(values: Floats) -> Floats:
    """Of each row, over the records that came; NaN where none did."""
    good = np.isfinite(values)
    count = good.sum(axis=1)
    return np.where(count > 0, np.where(good, values, 0.0).sum(axis=1) / np.maximum(count, 1), np.nan)


def rms_of_records(values: Floats) -> float:
    """Median over the rows of the RMS about their mean; NaN where nothing came."""
    about = values - mean_of_records(values)[:, None]
    rms = np.sqrt(mean_of_records(np.square(about)))
    return float(np.median(rms[np.isfinite(rms)])) if np.isfinite(rms).any() else float("nan")
