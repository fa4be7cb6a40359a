# SPDX-License-Identifier: Apache-2.0
"""A plan on a running server: the application ``excite`` moves the supplies, the BPMs' streams are collected meanwhile.

The sines are functions of the turn, so a slow host costs time and no phase. What was set is put back at any end.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic, sleep

import numpy as np
from numpy.typing import NDArray

from ringmaster.errors import ObjectNotFound, RequestRefused, RequestUnanswered
from ringmaster.fabric.layout import SupplyState
from ringmaster.fabric.stream import Stream
from ringmaster.fabric.workspace import Workspace
from ringmaster.feedback.golden import rate_of
from ringmaster.feedback.names import LENGTHS
from ringmaster.machine.server_file import of_workspace
from ringmaster.moving.course import Course
from ringmaster.moving.hand import NotPutBack, refuse_closed_loops
from ringmaster.moving.stopping import Pause, stopped_at_pauses
from ringmaster.response.analysis import Taken
from ringmaster.response.expected import supplies_of_application
from ringmaster.response.plan import SETTLE_S, Plan, Tone

Floats = NDArray[np.float64]
Progress = Callable[[float], None]
IDLE = 0
POLL_S = 0.02
NOTHING_S = 60.0
"""A busy host takes a core away for seconds."""
_GO_S = 15.0
"""So long a request is made again that was refused or forgotten."""
_MOST_VALUES = 512
"""In one request."""
_ARRAYS = ("amplitude", "hz", "phase")


@dataclass(frozen=True)
class Ran:
    """What came of a plan."""

    taken: tuple[Taken, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Supplies that did not do what they were told, and why."""
    clipped: int = 0
    """Steps in which a limit cut a sine."""
    first_turn: int = 0


def supplies_of(ws: Workspace, application: str) -> tuple[str, ...]:
    """In the order of its arrays. Raises ObjectNotFound where there is no such application."""
    if f"{application}/run" not in ws.parameters or f"{application}/amplitude" not in ws.parameters:
        raise ObjectNotFound(
            f"workspace {ws.name!r} has no application {application!r} that runs and moves supplies by sines: its "
            f"server's configuration needs one with `code: excite` (docs/excitation.md)"
        )
    return supplies_of_application(of_workspace(ws), application)


def stands(ws: Workspace, application: str) -> dict[str, float]:
    """Where each of its supplies stands."""
    names = supplies_of(ws, application)
    told = f"{application}/standing"
    values = np.atleast_1d(np.asarray(ws.parameters[told].value, np.float64)) if told in ws.parameters else None
    if values is None or len(values) != len(names):
        return {name: ws.supplies[name].setpoint.number for name in names}
    return dict(zip(names, values.tolist(), strict=True))


def run(
    ws: Workspace,
    plan: Plan,
    rows: Sequence[str],
    *,
    application: str = "excite",
    loop: Sequence[str] = (),
    loop_application: str | None = None,
    progress: Progress = lambda _: None,
) -> Ran:
    """All groups, one after the other. KeyboardInterrupt, too, comes after all is as it was.

    ``loop``: supplies of ``loop_application`` that answer meanwhile; without them an application whose loop is closed
    is refused. Raises ValueError, RuntimeError, RequestRefused, NotPutBack.
    """
    if not loop:
        refuse_closed_loops(ws)
    names = supplies_of(ws, application)
    unknown = [name for name in plan.supplies if name not in names]
    if unknown:
        raise ValueError(f"{unknown[0]} is not a supply of {application}: the plan is of another machine")
    readings = _Readings(ws, rows, plan)
    answering = _Answering(ws, loop_application, loop) if loop_application is not None and loop else None
    out = _out(ws, plan.supplies)
    taken = []
    with stopped_at_pauses() as pause, _kept(ws, application):
        clipped = ws.parameters[f"{application}/clipped"].number
        for number, group in enumerate(plan.groups):
            part = (number / len(plan.groups), 1 / len(plan.groups))
            taken.append(_one(ws, plan, group, names, application, readings, answering, part, progress, pause))
            out |= _out(ws, plan.supplies)
        clipped = ws.parameters[f"{application}/clipped"].number - clipped
    return Ran(tuple(taken), out, int(clipped), taken[0].first_turn)


def _out(ws: Workspace, supplies: Sequence[str]) -> dict[str, str]:
    """Those that have tripped, or saturate: what they are, in words."""
    bad = {SupplyState.TRIPPED, SupplyState.SATURATED} if hasattr(SupplyState, "SATURATED") else {SupplyState.TRIPPED}
    found = {}
    for name in supplies:
        if name in ws.supplies and bad & set(ws.supplies[name].state):
            found[name] = ws.supplies[name].words
    return found


@contextmanager
def _kept(ws: Workspace, application: str) -> Iterator[None]:
    """Ends what runs, and sets the sines as they were. Raises NotPutBack."""
    if ws.parameters[f"{application}/state"].number != IDLE:
        raise ValueError(
            f"{application} moves supplies already: wait until it is done, or `ringmaster put {application}/run 0`"
        )
    before = {name: ws.parameters[f"{application}/{name}"].value for name in (*_ARRAYS, "ramp_s", "seconds")}
    _ask(ws, f"{application}/run", 0.0)
    try:
        yield
    finally:
        try:
            _ask(ws, f"{application}/run", 0.0)
            _until_idle(ws, application)
            # first without amplitude: what stood there may be too fast for frequencies that are not back yet
            _put(ws, f"{application}/amplitude", np.zeros_like(np.atleast_1d(before["amplitude"]), np.float64))
            for name, value in sorted(before.items(), key=lambda item: item[0] == "amplitude"):
                _put(ws, f"{application}/{name}", np.atleast_1d(np.asarray(value, np.float64)))
        except (RequestRefused, RequestUnanswered, RuntimeError) as error:
            raise NotPutBack(
                f"the sines of {application} are not as they were ({error}): `ringmaster put {application}/run 0` ends "
                f"them"
            ) from error


def _ask(ws: Workspace, name: str, value: "float | Floats", first: int = 0, pause: Pause = sleep) -> None:
    """Again and again: a busy host refuses for a moment. Raises RequestRefused or RequestUnanswered when it lasts."""
    give_up = monotonic() + _GO_S
    while True:
        try:
            ws.put(name, value, first=first)
            return
        except (RequestRefused, RequestUnanswered):
            if monotonic() > give_up:
                raise
        pause(0.1)


def _put(ws: Workspace, name: str, values: Floats) -> None:
    """An array, in as few requests as that takes; nothing where it is so already."""
    now = np.atleast_1d(np.asarray(ws.parameters[name].value, np.float64))
    if np.array_equal(now, values):
        return
    if len(values) == 1:
        _ask(ws, name, float(values[0]))
        return
    for first in range(0, len(values), _MOST_VALUES):
        _ask(ws, name, values[first : first + _MOST_VALUES], first)


def _until_idle(ws: Workspace, application: str) -> None:
    """Waits for the end of the ramp, by the turns of its stream. Raises RuntimeError where nothing moves any more."""
    clock = ws.streams[f"{application}/state"]
    turn, wall = clock.head, monotonic()
    while ws.parameters[f"{application}/state"].number != IDLE:
        if clock.head != turn:
            turn, wall = clock.head, monotonic()
        if monotonic() > wall + NOTHING_S:
            raise RuntimeError(f"{application} has not ended, and nothing has come for {NOTHING_S:g} s in {clock.name}")
        ws.check()
        sleep(POLL_S)


def _one(
    ws: Workspace,
    plan: Plan,
    group: Sequence[Tone],
    names: Sequence[str],
    application: str,
    readings: "_Readings",
    answering: "_Answering | None",
    part: tuple[float, float],
    progress: Progress,
    pause: Pause,
) -> Taken:
    """A group: sines are set, begin, last, end."""
    at = [names.index(tone.supply) for tone in group]
    for key, values in (
        ("amplitude", [0.0] * len(group)),  # a new frequency may be too fast for the amplitude that stood there
        ("hz", [plan.hz(tone) for tone in group]),
        ("phase", [tone.phase for tone in group]),
        ("amplitude", [tone.amplitude for tone in group]),
    ):
        whole = np.zeros(len(names))
        whole[at] = values
        _put(ws, f"{application}/{key}", whole)
    _put(ws, f"{application}/ramp_s", np.array([plan.ramp_s]))
    _put(ws, f"{application}/seconds", np.array([plan.full_s]))
    runs = ws.parameters[f"{application}/runs"].number
    readings.begin()
    if answering is not None:
        answering.begin()
    _ask(ws, f"{application}/run", 1.0, pause=pause)
    clock = ws.streams[f"{application}/state"]
    wanted = (plan.full_s + 2 * plan.ramp_s) * plan.rate_hz * plan.period_turns
    begin, turn, wall = clock.head or 0, clock.head or 0, monotonic()
    while ws.parameters[f"{application}/runs"].number == runs:
        readings.look()
        if answering is not None:
            answering.look()
        now = clock.head or 0
        progress(part[0] + part[1] * min(1.0, (now - begin) / wanted))
        if now > turn:
            turn, wall = now, monotonic()
        elif monotonic() > wall + NOTHING_S:
            raise RuntimeError(f"nothing has come for {NOTHING_S:g} s in {clock.name}")
        ws.check()
        pause(POLL_S)
    readings.look()
    if answering is not None:
        answering.look()
    _ask(ws, f"{application}/run", 0.0)
    begin_turn = int(ws.parameters[f"{application}/begin_turn"].number)
    full_turn = int(ws.parameters[f"{application}/full_turn"].number)
    end_turn = int(ws.parameters[f"{application}/end_turn"].number)
    first = full_turn + round(SETTLE_S * 0.9 * plan.rate_hz) * plan.period_turns
    if first + plan.records * plan.period_turns > end_turn:
        raise RuntimeError(f"{application} ended before its time: was its permission `run` taken away?")
    return Taken(readings.window(first), first, begin_turn, {} if answering is None else answering.window(first, plan))


class _Readings:
    """The streams of all rows."""

    def __init__(self, ws: Workspace, rows: Sequence[str], plan: Plan) -> None:
        """Raises ValueError where records are not those that the plan was made for."""
        self._plan = plan
        self._rows = [row.rpartition("/") for row in rows]
        rate = rate_of(ws, rows)
        self._streams: dict[str, Stream] = {}
        for instrument in dict.fromkeys(name for name, _, _ in self._rows):
            stream = ws.streams[f"{instrument}/{rate}"]
            if stream.period != plan.period_turns:
                raise ValueError(
                    f"{stream.name} has a record every {stream.period} turns, and the plan is for one every "
                    f"{plan.period_turns}: is it of this server?"
                )
            self._streams[instrument] = stream
        self._courses: dict[str, Course] = {}

    def begin(self) -> None:
        """From now on."""
        self._courses = {
            name: Course(stream, [lane for own, _, lane in self._rows if own == name])
            for name, stream in self._streams.items()
        }

    def look(self) -> None:
        """Takes what has come since."""
        for course in self._courses.values():
            course.look()

    def window(self, first: int) -> Floats:
        """[row, record] nm, NaN for what did not come."""
        plan = self._plan
        values = np.full((len(self._rows), plan.records), np.nan)
        at: dict[str, list[tuple[int, str]]] = {}
        for i, (name, _, lane) in enumerate(self._rows):
            at.setdefault(name, []).append((i, lane))
        for name, course in self._courses.items():
            index = (course.turn - first) // plan.period_turns
            inside = (index >= 0) & (index < plan.records)
            units = {lane.name: lane.unit for lane in self._streams[name].lanes}
            for (row, lane), own in zip(at[name], course.values, strict=True):
                values[row, index[inside]] = own[inside] * LENGTHS[units[lane]]
        return values


class _Answering:
    """What an application with a closed loop commands meanwhile, from its own record of what was sent.

    A record of the streams NAME/sent* has what was sent last when a step began: what the step before had commanded.
    """

    def __init__(self, ws: Workspace, application: str, supplies: Sequence[str]) -> None:
        """Raises ObjectNotFound where it has no such streams."""
        order = supplies_of_application(of_workspace(ws), application)
        streams = sorted(
            (stream for name, stream in ws.streams.items() if name.startswith(f"{application}/sent")),
            key=lambda stream: (len(stream.name), stream.name),
        )
        lanes = [(stream, lane.name) for stream in streams for lane in stream.lanes]
        if len(lanes) < len(order):
            raise ObjectNotFound(f"{application} has no streams {application}/sent*, which tell what its loop commands")
        self._lanes: dict[str, tuple[Stream, str]] = {name: lanes[order.index(name)] for name in supplies}
        self._courses: dict[str, Course] = {}

    def begin(self) -> None:
        """From now on."""
        by_stream: dict[str, list[str]] = {}
        for stream, lane in self._lanes.values():
            by_stream.setdefault(stream.name, []).append(lane)
        found = {stream.name: stream for stream, _ in self._lanes.values()}
        self._courses = {name: Course(found[name], lanes) for name, lanes in by_stream.items()}
        self._order = by_stream

    def look(self) -> None:
        """Takes what has come since."""
        for course in self._courses.values():
            course.look()

    def window(self, first: int, plan: Plan) -> dict[str, Floats]:
        """Of each supply, what it was told in the step of each record."""
        made = {}
        for name, (stream, lane) in self._lanes.items():
            course = self._courses[stream.name]
            index = (course.turn - first) // plan.period_turns - 1
            inside = (index >= 0) & (index < plan.records)
            values = np.full(plan.records, np.nan)
            values[index[inside]] = course.values[self._order[stream.name].index(lane)][inside]
            made[name] = values
        return made
