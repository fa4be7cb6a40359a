# SPDX-License-Identifier: Apache-2.0
"""Points as attributes of TANGO's devices.

TANGO holds a lock of its own for each device while it serves one, and a thread that pushes an event waits for that. So
nothing is pushed with the gateway's lock held: a thread of its own does that, and leaves out a device that waits for an
owner's answer.
"""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from threading import Condition, Event, Thread
from time import monotonic
from typing import Any

from ringmaster.gateways.gateway import Gateway
from ringmaster.gateways.point import Point, State, asked
from ringmaster.gateways.rights import Client
from ringmaster.gateways.tango_classes import classes_of
from ringmaster.gateways.tango_device import GONE, REFUSED, describe, fail
from ringmaster.gateways.tango_events import push, push_state, subscribed
from ringmaster.gateways.tango_names import attribute_of, device_of
from ringmaster.gateways.tango_state import COMMANDS, Loop, loops_of, state_of_loop
from ringmaster.gateways.tango_values import typed

SUBSCRIBED_S = 0.5
"""How often to ask which attributes have subscribers: what changes before is told then."""
ANSWER_S = 60.0
"""No owner takes longer: the queue of puts has given up on it."""


class Device:
    """One of them: what it is called, what it shows."""

    def __init__(self, name: str, points: Iterable[Point]) -> None:
        self.name = name
        self.points = {attribute_of(point.name).casefold(): point for point in points}
        self.server: Any = None
        """TANGO's side; None before the server runs."""
        self.turn: int | None = None
        """Of what was read last."""
        self.said = ""
        """The state that was pushed last."""


class Tango:
    """The sink. TANGO's server runs while ``begin`` is called for each device."""

    def __init__(self, gateway: Gateway, over: Event) -> None:
        self._gateway, self._at_end = gateway, over
        self.outdated = False
        """The workspace has other objects than before, which a device server cannot show: it must start anew."""
        self.devices: dict[str, Device] = {}
        """By name, in small letters."""
        self.killed = False
        """By the command Kill of its admin device: TANGO's library has ended already."""
        self._wanted: set[str] = set()
        self._looked = 0.0
        self._pending: dict[str, tuple[Point, State]] = {}
        self._shown: dict[str, tuple[Point, State]] = {}
        self._busy: set[str] = set()
        """Devices that wait for an owner's answer."""
        self._written: set[str] = set()
        """Names that a client has written."""
        self._loops: dict[str, Loop] = {}
        self._new = Condition()
        self._over = False
        gateway.add(self)
        self._thread = Thread(target=self._push, name="tango-events", daemon=True)

    # ---- called by the gateway

    @property
    def wanted(self) -> Collection[str]:
        """Names whose events a client has subscribed to."""
        if monotonic() - self._looked > SUBSCRIBED_S and not self._is_ending():
            self._looked = monotonic()
            self._wanted = {
                point.name
                for device in tuple(self.devices.values())
                for point in tuple(device.points.values())
                if point.source != point.name  # a constant
                and subscribed(device.server, attribute_of(point.name))
            }
        return self._wanted

    def offer(self, points: Mapping[str, Point]) -> None:
        """These are the points there are."""
        by_device: dict[str, list[Point]] = {}
        for point in points.values():
            by_device.setdefault(device_of(point.name), []).append(point)
        found = {name.casefold(): Device(name, listed) for name, listed in by_device.items()}
        if not self.devices:
            self.devices = found
            self._loops = loops_of(points.values())
        elif {name: it.points for name, it in found.items()} != {name: it.points for name, it in self.devices.items()}:
            self.outdated = True
            self._at_end.set()

    def show(self, point: Point, state: State) -> None:
        """What a point says now."""
        self._shown[point.name] = (point, state)

    def flush(self) -> None:
        """Hands over what was shown. Of what comes faster than it is pushed, the newest stays."""
        shown, self._shown = self._shown, {}
        with self._new:
            self._pending |= shown
            self._new.notify()

    def _is_ending(self) -> bool:
        """Whether TANGO takes its devices down, as the command Kill asks it to: none of them may be touched then."""
        import tango

        if not self.killed and self._thread.is_alive() and tango.Util.instance().is_svr_shutting_down():
            self.killed = True
            self._at_end.set()
        return self.killed

    # ---- its thread

    def start(self) -> None:
        """The server runs: from now on events are pushed."""
        self._thread.start()

    def _push(self) -> None:
        import tango

        looked = 0.0
        with tango.EnsureOmniThread():
            while not self._over and not self._is_ending():
                with self._new:
                    self._new.wait_for(lambda: self._over or self._ready(), SUBSCRIBED_S)
                    ready = self._ready()
                    for name in ready:
                        del self._pending[name]
                for point, state in ready.values():
                    if self._is_ending():
                        return
                    with suppress(tango.DevFailed):  # of a device that is just made anew
                        self._push_point(point, state)
                if monotonic() - looked > SUBSCRIBED_S:
                    looked = monotonic()
                    self._push_states()

    def _ready(self) -> dict[str, tuple[Point, State]]:
        """What can be pushed now."""
        return {name: it for name, it in self._pending.items() if device_of(name).casefold() not in self._busy}

    def _push_point(self, point: Point, state: State) -> None:
        device = self.devices[device_of(point.name).casefold()]
        device.turn = state.turn
        push(device.server, point, state)

    def _push_states(self) -> None:
        from tango import DevFailed

        for name, device in self.devices.items():
            if name not in self._busy and not self._is_ending() and subscribed(device.server, "State"):
                with suppress(DevFailed):
                    device.said = push_state(device.server, device.said)

    # ---- called by TANGO

    def begin(self, server: Any) -> None:
        """Makes attributes and commands of a device."""
        from tango.server import attribute, command

        device = self.devices[server.get_name().casefold()]
        device.server = server
        for point in device.points.values():
            self._add(server, point)
        server.add_attribute(
            attribute(
                name="Turn", dtype="DevULong64", fget=server.read_turn, doc="the newest turn of what the device says"
            )
        )
        server.set_change_event("State", True, False)
        if device.name.casefold() in self._loops:
            for word in COMMANDS:
                server.add_command(command(f=getattr(server, word)), device_level=True)

    def _add(self, server: Any, point: Point) -> None:
        from tango import AttrWriteType
        from tango.server import attribute

        name = attribute_of(point.name)
        write = {"fset": server.write_point} if self.is_written(point) else {}
        access = AttrWriteType.READ_WRITE if write else AttrWriteType.READ
        server.add_attribute(attribute(name=name, access=access, fget=server.read_point, **write, **typed(point)))
        describe(server, point)
        server.set_change_event(name, True, False)
        server.set_archive_event(name, True, False)

    def is_written(self, point: Point) -> bool:
        """Whether a client may write it, from wherever it asks."""
        return point.writable and any(rule.allows_user("", point.name) for rule in self._gateway.settings.puts)

    def is_unwritten(self, point: Point) -> bool:
        """Whether a client may write it, and none has."""
        return point.name not in self._written and self.is_written(point) and not point.is_text

    def classes(self) -> dict[str, str]:
        """The class of each device, by its name."""
        return classes_of({it.name: it.points.values() for it in self.devices.values()}, self.is_written)

    def _point(self, device: str, attribute: str) -> Point:
        return self.devices[device.casefold()].points[attribute.casefold()]

    def read(self, device: str, attribute: str) -> tuple[Point, State]:
        """What a point says now."""
        point = self._point(device, attribute)
        try:
            state = self._gateway.state(point.name)
        except KeyError:
            fail(GONE, f"{point.name} is not there any more; the gateway starts anew", device)
            raise
        if state.turn is not None:
            self.devices[device.casefold()].turn = state.turn
        return point, state

    def turn(self, device: str) -> int | None:
        """The newest turn of what it says; of what is computed on request, that of the last time."""
        it = self.devices[device.casefold()]
        states = [self._gateway.state(point.name) for point in tuple(it.points.values()) if not point.requested]
        turns = [state.turn for state in states if state.turn is not None]
        return max(turns + ([] if it.turn is None else [it.turn]), default=None)

    def write(self, device: str, attribute: str, value: Any, client: Client) -> None:
        """Asks the owner, and waits; what it refuses is a DevFailed."""
        point = self._point(device, attribute)
        try:
            wanted = asked(point, value)
        except (ValueError, TypeError) as error:
            fail(REFUSED, str(error), device)
            raise
        self._put(device, point.name, wanted, client)
        self._written.add(point.name)

    def _put(self, device: str, name: str, wanted: Any, client: Client) -> None:
        answered, answer = Event(), ["no answer came"]

        def done(why: str) -> None:
            answer[0] = why
            answered.set()

        with self._new:
            self._busy.add(device.casefold())
        try:
            self._gateway.put(name, wanted, client, done)
            answered.wait(ANSWER_S)
        finally:
            with self._new:
                self._busy.discard(device.casefold())
                self._new.notify()
        if answer[0]:
            fail(REFUSED, answer[0], device)

    def command(self, device: str, word: str, client: Client) -> None:
        """What a user of a loop asks for."""
        loop = self._loops[device.casefold()]
        name, value = loop.asked(word, self._gateway.state(loop.reset).value)
        self._put(device, name, value, client)

    def state_of(self, device: str) -> tuple[str, str]:
        """State and status."""
        it = self.devices[device.casefold()]
        owners = {point.owner or "server" for point in tuple(it.points.values()) if point.source != point.name}
        if dead := sorted(owner for owner in owners if not self._gateway.lives(owner)):
            return "UNKNOWN", f"{dead[0]} has ended or is stopped"
        loop = self._loops.get(device.casefold())
        if loop is not None:
            return state_of_loop(self._gateway.state(loop.state))
        return "ON", f"of the workspace {self._gateway.workspace.name}"

    def close(self) -> None:
        """No event is pushed any more."""
        with self._new:
            self._over = True
            self._new.notify()
        if self._thread.is_alive():
            self._thread.join(ANSWER_S)
