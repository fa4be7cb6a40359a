# SPDX-License-Identifier: Apache-2.0
"""Points over PV Access, by p4p's server. A PV is open, and told what changes, only while a client looks at it."""

from collections.abc import Collection, Mapping
from threading import Lock, Thread
from typing import Any

from ringmaster.fabric.layout import Severity
from ringmaster.gateways.gateway import Gateway, Say
from ringmaster.gateways.point import Point, State
from ringmaster.gateways.pva_follow import Followers
from ringmaster.gateways.pva_values import Typed, table_rows, table_type
from ringmaster.gateways.rights import Client

INVENTORY = "inventory"


class _Handler:
    """What a PV's clients do: they come, go, and put. It is called by the server's own thread.

    Only that thread may open a PV which clients wait for: pvxs holds the PV's lock and waits for that thread then,
    which may wait for the lock, as another client comes. It waits for the gateway's lock here, so no holder of that may
    wait for it, as closing a PV does.
    """

    def __init__(self, sink: "PvAccess", typed: Typed) -> None:
        self._sink, self.typed = sink, typed

    def onFirstConnect(self, pv: Any) -> None:  # noqa: N802 (p4p's word)
        self._sink.open(self.typed, pv)

    def onLastDisconnect(self, pv: Any) -> None:  # noqa: N802
        self._sink.shut(self.typed, pv)

    def put(self, _pv: Any, operation: Any) -> None:
        self._sink.put(self.typed, operation)


def _followers(say: Say) -> Followers | None:
    try:
        return Followers()
    except (OSError, AttributeError) as error:
        say(f"PV Access posts from Python, at half the rate: `make gateways` builds what is faster ({error})")
        return None


def _change(state: State) -> tuple[object, ...]:
    return state.changes, state.utc_ns, state.severity


class PvAccess:
    """The sink, and its server."""

    def __init__(self, gateway: Gateway, say: Say) -> None:
        from p4p.server import Server, StaticProvider
        from p4p.server.raw import _SharedPV

        self._gateway = gateway
        self._provider = StaticProvider("ringmaster")
        self._pvs: dict[str, tuple[Typed, Any]] = {}
        self._replacing = Lock()
        self._open: set[str] = set()
        self._followers = _followers(say)
        self._shown: list[tuple[str, Any, Any, State]] = []
        self._said: dict[str, tuple[object, ...]] = {}
        """By name of an open PV: which change its clients have."""
        self._post = _SharedPV.post
        self._inventory_name = f"{gateway.workspace.name}:{INVENTORY}"
        self._inventory: Any = None
        gateway.add(self, self._followers)
        self._server = Server(providers=[self._provider])

    @property
    def port(self) -> int:
        """Of TCP, where it listens."""
        return int(self._server.conf()["EPICS_PVAS_SERVER_PORT"])

    @property
    def wanted(self) -> Collection[str]:
        """Names that a client looks at now."""
        return self._open

    def offer(self, points: Mapping[str, Point]) -> None:
        """From now on these are the points there are; clients of those that are others connect anew."""
        gone = {name: pv for name, (typed, pv) in self._pvs.items() if points.get(name) != typed.point}
        for name, pv in gone.items():
            del self._pvs[name]
            self._forget(name, pv)
        made = {name: self._made(point) for name, point in points.items() if name not in self._pvs}
        if gone:
            Thread(target=self._replace, args=(gone, made), name="pva-replace").start()
        else:
            self._replace(gone, made)
        self._said.clear()
        for name in self._open:
            self._follow(*self._pvs[name])
        self._tell_inventory(points)

    def _made(self, point: Point) -> Any:
        from p4p.server.raw import SharedPV

        typed = Typed(point)
        pv = SharedPV(handler=_Handler(self, typed))
        self._pvs[point.name] = (typed, pv)
        return pv

    def _replace(self, gone: Mapping[str, Any], made: Mapping[str, Any]) -> None:
        """Without the gateway's lock where some are gone; one after the other."""
        with self._replacing:
            for name, pv in gone.items():
                self._provider.remove(name)
                pv.close(destroy=True)
            for name, pv in made.items():
                self._provider.add(name, pv)

    def _tell_inventory(self, points: Mapping[str, Point]) -> None:
        from p4p.server.thread import SharedPV

        rows = table_rows(points)
        if self._inventory is not None:
            self._inventory.post(rows)
        elif self._inventory_name not in points:
            self._inventory = SharedPV(nt=table_type(), initial=rows)
            self._provider.add(self._inventory_name, self._inventory)

    def show(self, point: Point, state: State) -> None:
        """What a point says now."""
        typed, pv = self._pvs[point.name]
        if state.changes and (self._said.get(point.name) == _change(state) or self._posted(point.name, state)):
            return
        self._shown.append((point.name, pv, typed.value(state, whole=False), state))

    def _posted(self, name: str, state: State) -> bool:
        """Whether the follower has posted that: before the answer of a put, say."""
        return (
            self._followers is not None and state.severity == Severity.NONE and self._followers.has(name, state.changes)
        )

    def flush(self) -> None:
        """Posts what was shown."""
        shown, self._shown = self._shown, []
        for name, pv, value, state in shown:
            self._post(pv, value)
            self._told(name, state)

    def open(self, typed: Typed, pv: Any) -> None:
        """A first client has come."""
        name = typed.point.name
        with self._gateway.lock:
            if self._pvs.get(name, (None,))[0] is typed and name not in self._open:
                state = self._gateway.state(name)
                pv.open(typed.value(state, whole=True))
                self._open.add(name)
                self._follow(typed, pv)
                self._told(name, state)

    def _follow(self, typed: Typed, pv: Any) -> None:
        """From now on the PV follows its parameter by itself, if it can."""
        parameter = self._gateway.parameter(typed.point.name)
        if self._followers is not None and parameter is not None and not typed.point.is_text:
            self._followers.add(typed.point.name, pv, parameter, bool(typed.point.choices))

    def _told(self, name: str, state: State) -> None:
        self._said[name] = _change(state)
        if self._followers is not None:
            plain = state.severity == Severity.NONE and state.value is not None
            self._followers.told(name, state.changes, plain)

    def shut(self, typed: Typed, pv: Any) -> None:
        """The last client has gone."""
        name = typed.point.name
        with self._gateway.lock:
            if self._pvs.get(name, (None,))[0] is typed:
                self._forget(name, pv)
                pv.close()

    def _forget(self, name: str, pv: Any) -> None:
        self._open.discard(name)
        self._said.pop(name, None)
        if self._followers is not None:
            self._followers.remove(name)
        self._shown = [entry for entry in self._shown if entry[1] is not pv]

    def put(self, typed: Typed, operation: Any) -> None:
        """A client puts; it is answered when the owner has."""
        address = str(operation.peer()).rpartition(":")[0].strip("[]")
        client = Client(str(operation.account()).removeprefix("ca/"), address, address, "PVA")
        try:
            value = typed.asked(operation.value())
        except (ValueError, TypeError) as error:
            operation.done(error=str(error))
            return
        self._gateway.put(typed.point.name, value, client, lambda why: operation.done(error=why or None))

    def close(self) -> None:
        """Clients are disconnected."""
        self._server.stop()
        with self._gateway.lock:
            if self._followers is not None:
                self._followers.clear()
