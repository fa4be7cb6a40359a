# SPDX-License-Identifier: Apache-2.0
"""One lane over evenly spaced turns, from a live stream or from an archive."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from time import monotonic, sleep
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ringmaster.errors import ObjectNotFound
from ringmaster.fabric.layout import LaneType
from ringmaster.fabric.simulated_time import NOMINAL, is_simulated
from ringmaster.fabric.stream import Stream
from ringmaster.fabric.window import Window
from ringmaster.fabric.workspace import Workspace
from ringmaster.spectra.tune_window import TuneWindow, window_of

if TYPE_CHECKING:
    from ringmaster.archive.archive import Archive
    from ringmaster.archive.stream import StoredStream
    from ringmaster.archive.times import Edge

Floats = NDArray[np.float64]
TUNE_LANES = ("tune_x", "tune_y")
USUAL_S = 4.0
"""Of a live stream, where it holds so much: it resolves 0.6 Hz."""


@dataclass(frozen=True)
class Series:
    """Values of one lane, one for each record's turn, NaN where the record was not had."""

    name: str
    """Stream and lane: "bpm01/turn/x1"."""
    unit: str
    rate_hz: float
    """Records per second, by the measured rate of the turns where there is one."""
    values: Floats
    """Shape (n,)."""
    first_turn: int
    period: int
    """Turns from one record to the next."""
    gain: float = 1.0
    """Of the stream's filter at 0 Hz; what the filter does to higher frequencies is not taken out."""
    tune_window: TuneWindow | None = None
    """Of a measured tune: what it leaves of higher frequencies is not taken out of the values either."""

    def correction(self, hz: float) -> float:
        """What an amplitude at a frequency is to be multiplied with, for the window of a tune; NaN where too little of
        it is left.
        """
        return self.tune_window.correction(hz, self.rate_hz * self.period) if self.tune_window else 1.0

    def __len__(self) -> int:
        return len(self.values)

    @property
    def present(self) -> NDArray[np.bool_]:
        """Shape (n,): which values are numbers."""
        return np.isfinite(self.values)

    @property
    def missing(self) -> float:
        """The share of records that were not had."""
        return 1.0 - float(self.present.mean()) if len(self) else 1.0

    @property
    def seconds(self) -> float:
        """Its length."""
        return len(self) / self.rate_hz


def live(ws: Workspace, names: tuple[str, ...], seconds: float | None = None) -> list[Series]:
    """The newest ``seconds`` of the lanes that are named (patterns; a stream alone stands for all its lanes).

    Waits until the streams have so much from now back. Without ``seconds``: 4 s, or what the ring holds. All series end
    at the same time, to a record. Raises ObjectNotFound where a name fits nothing, ValueError where more is asked for
    than a ring holds, RuntimeError where nothing comes.
    """
    chosen = _chosen(names, lanes_of(ws.streams.values()))
    measured_hz = 0.0 if is_simulated(ws) else ws.clock.read().measured_turn_rate_hz
    turn_rate_hz = measured_hz or ws.parameters[NOMINAL].number
    streams = [ws.streams[name] for name in chosen]
    if seconds is None:
        seconds = min(USUAL_S, *(held_s(stream, turn_rate_hz) for stream in streams))
    for stream in streams:
        held = held_s(stream, turn_rate_hz)
        if seconds > held:
            raise ValueError(f"{stream.name} holds {held:.3g} s, not {seconds:g} s: give --seconds less")
    last = _await(streams, seconds, turn_rate_hz)
    raw = [_read_until(stream, last, seconds * turn_rate_hz) for stream in streams]  # all of them, before they go by
    found = []
    for stream, window in zip(streams, map(Stream.physical, streams, raw), strict=True):
        units = stream.physical_units
        found += [
            Series(
                f"{stream.name}/{lane}",
                units.get(lane, ""),
                turn_rate_hz / stream.period,
                window.values(lane),
                int(window.turn[0]),
                stream.period,
                stream.gain,
                window_of(ws, stream) if lane in TUNE_LANES else None,
            )
            for lane in chosen[stream.name]
        ]
    return found


def _read_until(stream: Stream, last: int, turns: float) -> Window:
    """The records of so many turns up to `last`, as they came."""
    count = max(1, int(turns / stream.period))
    end = last // stream.period * stream.period
    return stream.read(end - (count - 1) * stream.period, count)


def held_s(stream: Stream, turn_rate_hz: float) -> float:
    """How many seconds of a stream can be read at once: all but what its writer may be about to overwrite."""
    return (stream.capacity - 2 * stream.margin) * stream.period / turn_rate_hz


def _await(streams: list[Stream], seconds: float, turn_rate_hz: float) -> int:
    """The turn up to which all have the span; waits for it."""
    give_up = monotonic() + 3 * seconds + 10
    while True:
        spans = [(stream.oldest(), stream.head) for stream in streams]
        heads = [head for _, head in spans if head is not None]
        oldest = [first for first, _ in spans if first is not None]
        if len(heads) == len(oldest) == len(streams) and min(heads) - max(oldest) >= seconds * turn_rate_hz:
            return min(heads)
        if monotonic() > give_up:
            silent = next((s.name for s in streams if s.head is None), streams[0].name)
            raise RuntimeError(f"{silent} has no {seconds:g} s yet, and they do not come: `ringmaster top` shows why")
        sleep(0.01)


def archived(archive: "Archive", names: tuple[str, ...], start: "Edge", stop: "Edge") -> list[Series]:
    """The span [start, stop) of the lanes that are named. Where turns began anew within it: what came after that."""
    chosen = _chosen(names, lanes_of(archive.streams))
    found = []
    for name, lanes in chosen.items():
        stream = archive[name]
        window = stream.read(start, stop, physical=True)
        begin = _newest_run(window)
        if len(window) - begin < 2:
            raise ValueError(f"{name}: nothing was recorded in this span; `ringmaster archive ls` shows what was")
        rate_hz = _rate_hz(window.turn[begin:], window.utc_ns[begin:], stream.period, archive.turn_rate_hz)
        units = stream.physical_units
        values = {lane: window.values(lane)[begin:] for lane in lanes}
        found += [
            _filled(f"{name}/{lane}", units.get(lane, ""), rate_hz, values[lane], window, begin, stream)
            for lane in lanes
        ]
    return found


def _newest_run(window: Window) -> int:
    """Where the turns begin for the last time: behind a restart of the turn counter."""
    back = np.flatnonzero(np.diff(window.turn.astype(np.int64)) <= 0)
    return int(back[-1]) + 1 if len(back) else 0


def _rate_hz(turn: NDArray[np.uint64], utc_ns: NDArray[np.uint64], period: int, usual_hz: float) -> float:
    """Records per second over the span, by its time stamps; by the configured rate where they say nonsense."""
    turns, ns = int(turn[-1]) - int(turn[0]), int(utc_ns[-1]) - int(utc_ns[0])
    measured = turns / ns * 1e9 if ns > 0 else 0.0
    sane = 0.9 * usual_hz < measured < 1.1 * usual_hz
    return (measured if sane else usual_hz) / period


def _filled(
    name: str, unit: str, rate_hz: float, values: Floats, window: Window, begin: int, stream: "StoredStream"
) -> Series:
    """Evenly spaced: what no file has, between two that do, is missing as what was lost on the way."""
    place = (window.turn[begin:].astype(np.int64) - int(window.turn[begin])) // stream.period
    even = np.full(int(place[-1]) + 1, np.nan)
    even[place] = values
    return Series(name, unit, rate_hz, even, int(window.turn[begin]), stream.period, stream.gain)


def lanes_of(streams: "Iterable[Stream | StoredStream]") -> dict[str, list[str]]:
    """The names of each stream's lanes that are in use."""
    return {it.name: [lane.name for lane in it.lanes if lane.type != LaneType.UNUSED] for it in streams}


def _chosen(names: tuple[str, ...], lanes: dict[str, list[str]]) -> dict[str, list[str]]:
    """Lanes by stream, in the order of the names."""
    found: dict[str, list[str]] = {}
    for pattern in names:
        hits = [
            (stream, lane)
            for stream, there in lanes.items()
            for lane in there
            if fnmatchcase(f"{stream}/{lane}", pattern) or fnmatchcase(stream, pattern)
        ]
        if not hits:
            raise ObjectNotFound(_nothing_fits(pattern, lanes))
        for stream, lane in hits:
            of_stream = found.setdefault(stream, [])
            if lane not in of_stream:
                of_stream.append(lane)
    return found


def _nothing_fits(pattern: str, lanes: dict[str, list[str]]) -> str:
    stream, _, lane = pattern.rpartition("/")
    if stream in lanes:
        return f"{stream} has no lane {lane!r}; it has: {', '.join(lanes[stream])}"
    some = ", ".join(sorted(lanes)[:6]) or "none"
    return f"no stream or lane fits {pattern!r}; expected STREAM or STREAM/LANE, and there are the streams {some} …"


def joined(series: list[Series]) -> list[Series]:
    """The same over the turns that all have, record for record. Raises ValueError where their rates differ."""
    periods = {one.period for one in series}
    if len(periods) > 1:
        raise ValueError(f"streams of several rates (a record every {_words(periods)} turns); choose those of one rate")
    period = periods.pop()
    offsets = {one.first_turn % period for one in series}
    if len(offsets) > 1:
        raise ValueError("the records of these streams are not of the same turns")
    first = max(one.first_turn for one in series)
    end = min(one.first_turn + len(one) * period for one in series)
    if end - first < 2 * period:
        raise ValueError("these streams have no turns in common")
    return [
        replace(
            one,
            values=one.values[(first - one.first_turn) // period : (end - one.first_turn) // period],
            first_turn=first,
        )
        for one in series
    ]


def interpolated(values: Floats) -> Floats:
    """The same values, NaN replaced along the straight line between their neighbours: for motions that are slow against
    a turn.

    Raises ValueError where nothing but NaN is left.
    """
    missing = np.isnan(values)
    if missing.all():
        raise ValueError(f"none of the {len(values)} records has a value")
    filled = np.array(values, dtype=np.float64)
    filled[missing] = np.interp(np.flatnonzero(missing), np.flatnonzero(~missing), filled[~missing])
    return filled


def _words(numbers: set[int]) -> str:
    return ", ".join(map(str, sorted(numbers)))
