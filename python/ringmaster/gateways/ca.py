# SPDX-License-Identifier: Apache-2.0
"""Points over Channel Access, by caproto's server in a thread of its own.

A channel is read when a client reads it, and told what changes only while a client monitors it.
"""

import asyncio
import logging
from collections.abc import Collection, Mapping
from threading import Event, Thread
from typing import Any

from ringmaster.gateways.ca_channels import REFUSAL, TURN, Live, Made, in_thread
from ringmaster.gateways.gateway import Gateway
from ringmaster.gateways.point import Point, State
from ringmaster.gateways.rights import Client

START_S = 30.0


class _Board(dict[str, Any]):
    """Channels by name; one that is asked for first is made."""

    def __init__(self, sink: "ChannelAccess") -> None:
        self._sink = sink

    def __missing__(self, name: str) -> Any:
        channel = self._sink.channel(name)
        if channel is None:
            raise KeyError(name)
        self[name] = channel
        return channel


class ChannelAccess:
    """The sink, and its server."""

    def __init__(self, gateway: Gateway) -> None:
        """Raises OSError where no port can be had."""
        self._gateway = gateway
        self._points: Mapping[str, Point] = {}
        self._made = Made(self)
        self._board = _Board(self)
        self._watched: dict[str, set[Live]] = {}
        """By name: channels that are monitored."""
        self._shown: dict[str, State] = {}
        self._pending: dict[str, State] = {}
        self._loop = asyncio.new_event_loop()
        self._ready = Event()
        self._failed: BaseException | None = None
        self._new = asyncio.Event()
        self.port = 0
        gateway.add(self)
        self._thread = Thread(target=self._run, name="channel-access", daemon=True)
        self._thread.start()
        self._ready.wait(START_S)
        if self._failed is not None:
            raise OSError(f"Channel Access cannot be served: {self._failed}")

    @property
    def wanted(self) -> Collection[str]:
        """Names that a client monitors now."""
        return self._watched

    # ---- called by the gateway

    def offer(self, points: Mapping[str, Point]) -> None:
        """From now on these are the points there are; where one is another, all clients connect anew."""
        changed = any(points.get(name) != point for name, point in self._points.items())
        self._points = dict(points)
        if changed:
            self._call(self._drop)

    def show(self, point: Point, state: State) -> None:
        """What a point says now."""
        self._shown[point.name] = state

    def flush(self) -> None:
        """Hands over what was shown. Of what comes faster than the loop takes it, the newest stays."""
        if self._shown:
            shown, self._shown = self._shown, {}
            self._call(self._hand_over, shown)

    def _call(self, work: Any, *arguments: Any) -> None:
        if self._ready.is_set() and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(work, *arguments)

    # ---- in the loop's thread

    def _hand_over(self, shown: Mapping[str, State]) -> None:
        self._pending |= shown
        self._new.set()

    async def _deliver(self) -> None:
        while True:
            await self._new.wait()
            self._new.clear()
            pending, self._pending = self._pending, {}
            for name, state in pending.items():
                for live in tuple(self._watched.get(name, ())):
                    await live.write(state)

    def channel(self, name: str) -> Any:
        """A new channel of that name; None where there is none."""
        if name in self._points:
            return self._made.value(self._points[name])
        for suffix, make in ((TURN, self._made.turn), (REFUSAL, self._made.refusal)):
            point = self._points.get(name.removesuffix(suffix))
            if name.endswith(suffix) and point is not None:
                return make(point)
        return None

    async def read(self, point: Point) -> State:
        """What a point says now."""
        if point.requested:
            return await in_thread(lambda: self._gateway.state(point.name))
        return self._gateway.state(point.name)

    def watch(self, point: Point, live: Live, watched: bool) -> None:
        """Whether a channel's clients are told of changes."""
        lives = self._watched.setdefault(point.name, set())
        (lives.add if watched else lives.discard)(live)
        if not lives:
            del self._watched[point.name]

    def may_put(self, user: str, name: str) -> bool:
        """Whether a user may put from any host."""
        return any(rule.allows_user(user, name) for rule in self._gateway.settings.puts)

    async def put(self, point: Point, value: Any, client: Client) -> str:
        """Asks the owner, and waits; NAME:REFUSAL has its words."""
        answer: asyncio.Future[str] = self._loop.create_future()

        def done(why: str) -> None:
            self._loop.call_soon_threadsafe(answer.set_result, why)

        self._gateway.put(point.name, value, client, done)
        why = await answer
        await self.refuse(point, why)
        return why

    async def refuse(self, point: Point, why: str) -> None:
        """Says why a put was refused; with "" that it was not."""
        raw = why.encode()[:255].decode(errors="ignore")
        await self._board[point.name + REFUSAL].write(raw, verify_value=False, update_fields=False)

    # ---- its thread

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        except BaseException as error:  # told to the thread that waits for it
            self._failed = error
        finally:
            self._ready.set()
            self._loop.close()

    async def _serve(self) -> None:
        from caproto.asyncio.server import Context

        logging.getLogger("caproto").setLevel(logging.CRITICAL)  # it tells a page of each client that sends rubbish
        deliver = self._loop.create_task(self._deliver())
        self._context = Context(self._board)
        self._task = self._loop.create_task(self._context.run(startup_hook=self._started))
        await self._task
        deliver.cancel()

    async def _started(self, _library: Any) -> None:
        self.port = self._context.port
        self._ready.set()

    def _drop(self) -> None:
        self._dropping = self._loop.create_task(self._drop_clients())

    async def _drop_clients(self) -> None:
        """All connect anew, to channels that are made anew."""
        circuits = tuple(self._context.circuits)
        self._board.clear()
        for circuit in circuits:
            await circuit._on_disconnect()
            await circuit.tasks.cancel_all()
        self._watched.clear()

    def _stop(self) -> None:
        self._task.cancel()

    def close(self) -> None:
        """Clients are disconnected."""
        self._call(self._stop)
        self._thread.join(START_S)
