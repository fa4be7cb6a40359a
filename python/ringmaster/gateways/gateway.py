# SPDX-License-Identifier: Apache-2.0
"""What all gateways share: they watch a workspace, give names, tell sinks what changed, and queue puts to owners.

A sink is one protocol. It says which points its clients look at; only these are read and told to it. Memory holds the
newest value alone, so of changes between two looks a client has the last one; `every_ms` is how often it looks. When
the server or another owner ends, all that it owns is INVALID; when it has come again, the gateway attaches anew.
"""

from collections.abc import Callable, Collection, Mapping, Set
from dataclasses import dataclass, replace
from threading import Event, RLock
from time import monotonic
from typing import Protocol

import numpy as np

from ringmaster.errors import WorkspaceDamaged, WorkspaceError
from ringmaster.fabric.layout import Severity
from ringmaster.fabric.parameter import Parameter
from ringmaster.fabric.request import Wanted
from ringmaster.fabric.workspace import Workspace
from ringmaster.gateways.injection import Injection
from ringmaster.gateways.names import SHOWN, USUAL, Given, Legal, NameRule, Names
from ringmaster.gateways.point import Point, State, damaged, point_of, state_of
from ringmaster.gateways.puts import Done, Put, Puts
from ringmaster.gateways.rights import Client, forbidden
from ringmaster.gateways.settings import Settings
from ringmaster.gateways.streams import NOTHING, Shown, shown_of
from ringmaster.gateways.views import View, missing
from ringmaster.values import time_format
from ringmaster.values.changes import ALIVE_S, Change, Watch
from ringmaster.values.value_format import show

REQUESTED_S = 0.25
"""How often what is computed on request is computed anew while a client looks at it."""

Say = Callable[[str], None]


class Sink(Protocol):
    """One protocol. Its methods are called with the gateway's lock held, ``show`` only for what is ``wanted``."""

    @property
    def wanted(self) -> Collection[str]:
        """Names that a client looks at now; it may change while another thread has the lock."""

    def offer(self, points: Mapping[str, Point]) -> None:
        """From now on these are the points there are, by their names."""

    def show(self, point: Point, state: State) -> None:
        """What a point says now; clients are told at the next ``flush``."""

    def flush(self) -> None:
        """Tells clients what was shown: at once, for a thread that is woken for each costs more than all the rest."""


class Following(Protocol):
    """Points whose parameters a sink reads by itself; the gateway does not read these for it. Called with the gateway's
    lock held.
    """

    @property
    def names(self) -> Set[str]:
        """Of the points."""

    def look(self) -> Collection[str]:
        """Tells what has changed, and returns the names of what the gateway is to read and tell."""

    def clear(self) -> None:
        """Their parameters are no more."""


@dataclass(frozen=True)
class _Served:
    """A sink, and what it reads by itself."""

    sink: Sink
    following: Following | None

    @property
    def wanted(self) -> Set[str]:
        """What the gateway is to read for it."""
        wanted = set(self.sink.wanted)
        return wanted if self.following is None else wanted - self.following.names

    def look(self) -> Collection[str]:
        """What it reads by itself, and what of it is left to the gateway."""
        return self.following.look() if self.following else ()


class Gateway:
    """A workspace as its clients see it."""

    def __init__(self, settings: Settings, workspace: str | None, legal: Legal, say: Say) -> None:
        """Raises what ``attach`` raises; ValueError for names that cannot be."""
        self.settings, self._legal, self._say = settings, legal, say
        self.lock = RLock()
        """Held while a point is read and told, so that nothing older overtakes it."""
        self._watch = Watch(workspace or settings.workspace, ("*",))
        self._served: list[_Served] = []
        self._told: dict[str, int] = {}
        """By name: how often it had changed when it was told last."""
        self._turns: dict[str, int | None] = {}
        """By name of a point of a slow stream: the turn that was told last."""
        self._found: Mapping[str, object] = {}
        self.points: dict[str, Point] = {}
        """By name outside."""
        self._shown: dict[str, Shown] = {}
        self._names: dict[str, list[str]] = {}
        """Outside names by our own: of one there may be views."""
        self._views: dict[str, View] = {}
        """By name outside."""
        self._injection = None if settings.injection is None else Injection(settings.injection, settings.window_records)
        self._describe()
        self._puts = Puts(self.workspace.path)

    @property
    def workspace(self) -> Workspace:
        """As it is attached now."""
        return self._watch.workspace

    # ---- what there is

    def _describe(self) -> None:
        """Gives all their names. Raises ValueError for names that cannot be."""
        ws, parameters = self.workspace, self._watch.parameters
        computed = [*shown_of(ws, self.settings), *(self._injection.shown(ws) if self._injection else ())]
        shown = {it.point.source: it for it in computed if it.point.source not in parameters}
        views = self.settings.views
        names = Names(self.settings.names, ws.name, self._legal, self._legal.words(ws))
        named = names.of([*parameters, *shown], [Given(view.name, view.of or view.name, view.place) for view in views])
        if faults := missing(views, [*parameters, *shown]):
            raise ValueError(
                "; ".join(faults[:SHOWN]) + (f"; and {len(faults) - SHOWN} more" if faults[SHOWN:] else "")
            )
        self.points, self._shown, self._names = {}, {}, {}
        self._views = {view.name: view for view in views}
        for source, name in named.items():
            self._place(source, name, self._source_point(source, names.rule_of[source], shown), shown)
        for view in views:
            if view.of:
                point = view.point(self._source_point(view.of, names.rule_of.get(view.of, USUAL), shown))
                self._place(view.of, view.name, point, shown)
            else:
                self.points[view.name] = view.constant_point()
        self._found = parameters

    def _source_point(self, source: str, rule: NameRule, shown: Mapping[str, Shown]) -> Point:
        if source in shown:
            return shown[source].point
        return point_of("", self._watch.parameters[source], rule.choices, rule.precision)

    def _place(self, source: str, name: str, point: Point, shown: Mapping[str, Shown]) -> None:
        self.points[name] = replace(point, name=name)
        self._names.setdefault(source, []).append(name)
        if source in shown:
            self._shown[name] = shown[source]

    def add(self, sink: Sink, following: Following | None = None) -> None:
        """A protocol more."""
        with self.lock:
            self._served.append(_Served(sink, following))
            sink.offer(self.points)

    def parameter(self, name: str) -> Parameter | None:
        """What a point shows as it is; None where it is computed: from streams, or by a view in another unit."""
        return None if name in self._views else self._watch.parameters.get(self.points[name].source)

    # ---- what it says

    def state(self, name: str) -> State:
        """What a point says now, for one that asks: who looks at it is told all the same."""
        with self.lock:
            return self._state(name)

    def lives(self, owner: str) -> bool:
        """Whether an owner was there at the last look at who lives; "": the server."""
        return self._watch.lives(owner or "server")

    def _state(self, name: str) -> State:
        view = self._views.get(name)
        if view is None:
            return self._source_state(name)
        if view.constant is not None:
            return State(view.constant)
        return view.state(self._source_state(name))

    def _source_state(self, name: str) -> State:
        point = self.points[name]
        try:
            if name in self._shown:
                state = self._shown[name].compute(self.workspace)
                return state if self._watch.lives("server") else _ended(state)
            parameter = self._watch.parameters[point.source]
            reading = parameter.read()
        except WorkspaceDamaged as damage:
            changed = self.parameter(name)
            return damaged(damage, changed.changes if changed else 0)
        except (WorkspaceError, ValueError, IndexError):  # of a workspace that is just being made
            return NOTHING
        return state_of(parameter, reading, self._watch.lives(parameter.owner))

    def _tell(self, name: str, state: State, looked: bool = False) -> None:
        """To all sinks; of what was ``looked`` at, not to those that look at it by themselves."""
        self._told[name] = state.changes
        for served in self._served:
            followed = looked and served.following is not None and name in served.following.names
            if name in served.sink.wanted and not followed:
                served.sink.show(self.points[name], state)

    def tell(self, name: str) -> None:
        """Tells what a point says now to those that look at it."""
        with self.lock:
            if name in self.points:
                self._tell(name, self._state(name))
                self._flush()

    def _flush(self) -> None:
        with self.lock:
            for served in self._served:
                served.sink.flush()

    # ---- puts

    def put(self, name: str, value: Wanted, client: Client, done: Done) -> None:
        """Asks the owner. ``done`` gets "" or why not, from another thread, after the new value was told."""
        reason = forbidden(self.settings.puts, client, name)
        asked: tuple[str, Wanted] | None = None
        if not reason:
            try:
                asked = self._asked(name, value)
            except ValueError as error:
                reason = str(error)
        if reason:
            self._say(f"put {name} by {client}: {show_wanted(value)}; refused: {reason}")
            done(reason)
            return
        old = self.state(name).value

        def answered(why: str) -> None:
            if not why:
                self._was_put(name, value)
            self._say(f"put {name} by {client}: {show_wanted(old)} → {show_wanted(value)}{why and '; refused: '}{why}")
            done(why)

        with self.lock:
            parameter = None if asked is None else self._watch.parameters.get(asked[0])
        if asked is None:
            answered("")
        elif parameter is None:
            answered(f"{asked[0]} is not there any more")
        else:
            self._puts.put(Put(parameter, asked[1], answered))

    def _asked(self, name: str, value: Wanted) -> tuple[str, Wanted] | None:
        """Which parameter is asked for what, if any. Raises ValueError where nothing sets it."""
        with self.lock:
            point, view, shown = self.points.get(name), self._views.get(name), self._shown.get(name)
            read_only = point is None or (view is not None and (view.read_only or view.constant is not None))
            if point is None or read_only or (shown is not None and shown.ask is None):
                raise ValueError(f"{name}: it is a reading, which nothing sets")
            wanted = value if view is None else view.asked(value)
            return (point.source, wanted) if shown is None or shown.ask is None else shown.ask(self.workspace, wanted)

    def _was_put(self, name: str, value: Wanted) -> None:
        """Tells what has changed under all its names."""
        with self.lock:
            point, shown = self.points.get(name), self._shown.get(name)
            if shown is not None:
                shown.done(value)
            names = [] if point is None else self._names.get(point.source, [name])
        for one in names:
            self.tell(one)

    # ---- the loop

    def run(self, over: Event) -> None:
        """Until ``over`` is set."""
        asked = requested = 0.0
        while not over.is_set():
            now = monotonic()
            if now - asked >= ALIVE_S:
                asked = now
                self._follow()
            self.look()
            if now - requested >= REQUESTED_S:
                requested = now
                self._compute()
            over.wait(max(0.0, now + self.settings.every_s - monotonic()))

    def close(self) -> None:
        """Ends what it began."""
        self._puts.close()
        self._watch.close()

    def wanted(self) -> set[str]:
        """Names that clients of any protocol look at."""
        with self.lock:
            return {name for served in self._served for name in tuple(served.sink.wanted)}

    def look(self) -> None:
        """Tells what has changed of what clients look at."""
        if self._injection is not None:
            self._injection.look(self.workspace)
        with self.lock:
            for name in {name for served in self._served for name in served.look()}:
                self._tell(name, self._state(name))
            wanted = {name for served in self._served for name in served.wanted}
        sources = {self.points[name].source for name in wanted if name in self.points}
        for change in self._watch.look(sources):
            self._show(change)
        for name in wanted & self._shown.keys():
            if not self.points[name].requested:
                self._newest(name)
        self._flush()

    def _show(self, change: Change) -> None:
        for name in self._names.get(change.name, ()):
            self._show_as(name, change)

    def _show_as(self, name: str, change: Change) -> None:
        with self.lock:
            if change.damage is not None:
                self._tell(name, damaged(change.damage), looked=True)
                return
            reading = change.reading
            if reading is None or reading.changes <= self._told.get(name, -1):
                return
            parameter = self._watch.parameters[change.name]
            state = state_of(parameter, reading, self._watch.lives(parameter.owner))
            self._tell(name, self._views[name].state(state) if name in self._views else state, looked=True)

    def _newest(self, name: str) -> None:
        with self.lock:
            state = self._state(name)
            if state.turn != self._turns.get(name):
                self._turns[name] = state.turn
                self._tell(name, state)

    def _compute(self) -> None:
        for name in sorted(self.wanted() & self._shown.keys()):
            if self.points[name].requested:
                self.tell(name)

    def _follow(self) -> None:
        """Owners that end and come."""
        with self.lock:
            changes = list(self._watch.ask_who_lives())
            if self._watch.parameters is not self._found:
                self._attached_anew()
            for change in changes:
                self._say(change.words or "")
                self._tell_all(change.owner)
            self._flush()

    def _tell_all(self, owner: str) -> None:
        """Of an owner that has ended or come again."""
        for name in self.wanted():
            point = self.points.get(name)
            if point is not None and (point.owner == owner or (owner == "server" and name in self._shown)):
                self._tell(name, self._state(name))

    def _attached_anew(self) -> None:
        """Other objects, or the same in new memory. Names that cannot be leave all as it was."""
        self._found = self._watch.parameters
        for served in self._served:
            if served.following is not None:
                served.following.clear()
        self._told.clear()
        self._turns.clear()
        try:
            self._describe()
        except ValueError as error:
            self._say(f"attached anew, and names cannot be given: {error}")
            return
        for served in self._served:
            served.sink.offer(self.points)
        for name in self.wanted() & self.points.keys():
            if not self.points[name].requested:
                self._tell(name, self._state(name))


def _ended(state: State) -> State:
    return replace(state, severity=Severity.INVALID, cause="ENDED", message="the server has ended or is stopped")


def show_wanted(value: object) -> str:
    """A value in a line of the log."""
    if value is None:
        return "nothing"
    return show(np.asarray(value) if isinstance(value, list | tuple) else value)  # type: ignore[arg-type]


def say(words: str) -> None:
    """A line of the log, with the time."""
    print(time_format.iso(time_format.now_tai_ns()), words, flush=True)
