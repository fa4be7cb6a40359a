# SPDX-License-Identifier: Apache-2.0
"""What a gateway shows of streams: the newest record of slow ones as numbers; orbit, windows and spectra on request."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np
import numpy.typing as npt

from ringmaster.beam.bpm import OWN_RATES, bpm_streams, common_turn, position_lanes
from ringmaster.beam.orbit import Orbit, read_orbit
from ringmaster.errors import ObjectNotFound, WorkspaceError
from ringmaster.fabric.layout import LaneType, Severity
from ringmaster.fabric.request import Wanted
from ringmaster.fabric.stream import Stream
from ringmaster.fabric.workspace import Workspace
from ringmaster.gateways.point import Point, State
from ringmaster.gateways.settings import Settings
from ringmaster.spectra.density import welch
from ringmaster.values.time_format import utc_ns

FLOAT = np.dtype(np.float64)
NOTHING = State(None, Severity.INVALID, "INVALID", "nothing has come yet")


@dataclass(frozen=True)
class Shown:
    """A name that is computed from streams."""

    point: Point
    """Under our name, until it has one outside."""
    compute: Callable[[Workspace], State]
    ask: Callable[[Workspace, Wanted], tuple[str, Wanted] | None] | None = None
    """Where it may be put: what is asked for then, of which parameter; or nothing. Raises ValueError."""
    done: Callable[[Wanted], None] = lambda _: None
    """Is called when that was done."""


def shown_of(ws: Workspace, settings: Settings) -> Iterator[Shown]:
    """All that this workspace has."""
    for stream in ws.streams.values():
        if _fits(settings.streams, stream):
            yield from _newest(stream)
        if _fits(settings.windows, stream):
            yield from _windows(stream, min(settings.window_records, stream.capacity // 2))
    electronics = bpm_streams(ws, *OWN_RATES)
    if electronics:
        bpms, unit = _bpms_and_unit(electronics)
        yield from _orbit(bpms, unit)
        yield from _images(ws, settings.window_records)


def _bpms_and_unit(electronics: list[Stream]) -> tuple[int, str]:
    bpms = sum(len(position_lanes(stream)) for stream in electronics)
    return bpms, next(lane.unit for lane in electronics[0].lanes if lane.name == position_lanes(electronics[0])[0][0])


def _fits(patterns: tuple[str, ...], stream: Stream) -> bool:
    return any(fnmatchcase(stream.name, pattern) for pattern in patterns)


def _lanes(stream: Stream) -> Iterator[tuple[str, str]]:
    units = stream.physical_units
    for lane in stream.lanes:
        if lane.type != LaneType.UNUSED:
            yield lane.name, units[lane.name]


def time_of(ws: Workspace, turn: int) -> int:
    """When a turn came, by the clock: nanoseconds of UTC; 0 where the clock cannot tell."""
    try:
        clock = ws.clock.read()
        return utc_ns(clock.tai_ns_at(clock.tsc_at(turn)))
    except (WorkspaceError, ValueError):
        return 0


# ---- the newest record


def _newest(stream: Stream) -> Iterator[Shown]:
    for lane, unit in _lanes(stream):

        def compute(ws: Workspace, name: str = stream.name, lane: str = lane) -> State:
            window = ws.streams[name].latest(1, physical=True)
            if not len(window) or not window.ok[0]:
                return NOTHING
            turn = int(window.turn[0])
            return State(float(window[lane][0]), utc_ns=time_of(ws, turn), turn=turn)

        yield Shown(Point(f"{stream.name}/{lane}", f"{stream.name}/{lane}", FLOAT, unit=unit), compute)


# ---- on request


def _windows(stream: Stream, records: int) -> Iterator[Shown]:
    for lane, unit in _lanes(stream):
        source = f"{stream.name}/{lane}"

        def window(ws: Workspace, name: str = stream.name, lane: str = lane) -> State:
            found = ws.streams[name].latest(records, physical=True)
            if not len(found):
                return NOTHING
            turn = int(found.turn[-1])
            return State(found.values(lane), utc_ns=time_of(ws, turn), turn=turn)

        def spectrum(ws: Workspace, name: str = stream.name, lane: str = lane) -> State:
            return _spectrum(ws, ws.streams[name], lane, records, hz=False)

        def spectrum_hz(ws: Workspace, name: str = stream.name, lane: str = lane) -> State:
            return _spectrum(ws, ws.streams[name], lane, records, hz=True)

        yield Shown(_on_request(f"{source}/window", records, unit, "the newest records"), window)
        yield Shown(_on_request(f"{source}/spectrum", records // 2, f"{unit}²/Hz", "density of power"), spectrum)
        yield Shown(_on_request(f"{source}/spectrum_hz", records // 2, "Hz", "frequencies of it"), spectrum_hz)


def _on_request(source: str, count: int, unit: str, description: str, image: bool = False) -> Point:
    return Point(source, source, FLOAT, count, unit, description, requested=True, image=image)


def _spectrum(ws: Workspace, stream: Stream, lane: str, records: int, hz: bool) -> State:
    window = stream.latest(records, physical=True)
    if len(window) < 16:
        return NOTHING
    try:
        density = welch(window.values(lane), ws.clock.read().turn_rate_hz / stream.period)
    except (ValueError, ObjectNotFound) as error:
        return State(None, Severity.INVALID, "INVALID", str(error))
    turn = int(window.turn[-1])
    return State(density.hz if hz else density.density, utc_ns=time_of(ws, turn), turn=turn)


def _orbit(bpms: int, unit: str) -> Iterator[Shown]:
    def of(values: Callable[[Orbit], npt.NDArray[np.float64] | list[str]]) -> Callable[[Workspace], State]:
        def compute(ws: Workspace) -> State:
            try:
                orbit = read_orbit(ws)
            except ValueError:
                return NOTHING
            return State(values(orbit), utc_ns=time_of(ws, orbit.turn), turn=orbit.turn)

        return compute

    yield Shown(_on_request("orbit/x", bpms, unit, "mean of 1024 turns, by BPM"), of(lambda orbit: orbit.x))
    yield Shown(_on_request("orbit/y", bpms, unit, "mean of 1024 turns, by BPM"), of(lambda orbit: orbit.y))
    names = Point("orbit/bpms", "orbit/bpms", np.dtype("U"), bpms, "", "the BPMs of the orbit", requested=True)
    yield Shown(names, of(lambda orbit: list(orbit.names)))


def image_point(ws: Workspace, source: str, records: int, description: str) -> Point:
    """Of turns of all BPMs as a picture. There must be a BPM."""
    bpms, unit = _bpms_and_unit(bpm_streams(ws, *OWN_RATES))
    return _on_request(source, bpms * records, unit, description, image=True)


def picture(ws: Workspace, last: int, records: int, plane: int) -> npt.NDArray[np.float64]:
    """Turns of all BPMs up to ``last``: a row for each BPM, a column for each turn."""
    return np.array([row for stream in bpm_streams(ws, *OWN_RATES) for row in _rows(stream, last, records, plane)])


def _images(ws: Workspace, records: int) -> Iterator[Shown]:
    for plane in (0, 1):

        def compute(ws: Workspace, plane: int = plane) -> State:
            last = common_turn(bpm_streams(ws, *OWN_RATES), records)
            if last is None:
                return NOTHING
            return State(picture(ws, last, records, plane), utc_ns=time_of(ws, last), turn=last)

        words = f"newest turns of all BPMs, {'xy'[plane]}: a row for each BPM"
        yield Shown(image_point(ws, f"orbit/turns_{'xy'[plane]}", records, words), compute)


def _rows(stream: Stream, last: int, records: int, plane: int) -> Iterator[npt.NDArray[np.float64]]:
    """A lane of each BPM up to a turn; each record for all turns of its period, NaN where it was not had."""
    end = last // stream.period * stream.period
    count = min(-(-records // stream.period), end // stream.period + 1, stream.capacity)
    window = stream.read(end - (count - 1) * stream.period, count)
    for lanes in position_lanes(stream):
        row = np.full(records, np.nan)
        values = np.repeat(window.values(lanes[plane]), stream.period)[-records:]
        row[records - len(values) :] = values
        yield row
