# SPDX-License-Identifier: Apache-2.0
"""Points as channels of caproto's server: NAME, NAME:TURN, NAME:REFUSAL. A channel is made when a client asks for it.

The classes are made in a function, because caproto is not in every installation.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ringmaster.gateways.point import Point, State, asked
from ringmaster.gateways.rights import Client

if TYPE_CHECKING:
    from ringmaster.gateways.ca import ChannelAccess

TURN, REFUSAL = ":TURN", ":REFUSAL"
NO_TURN = -1.0
ENCODING = "utf-8"
UNIT_BYTES, REFUSAL_BYTES, CHOICES_MAX, CHOICE_BYTES = 7, 256, 16, 25
"""Of the protocol; of a reason."""
EPICS_EPOCH_S = 631_152_000
"""1990-01-01 in seconds since 1970: no time stamp of Channel Access is before."""
STATUSES = {"HIHI": "HIHI", "HIGH": "HIGH", "LOW": "LOW", "LOLO": "LOLO", "INVALID": "UDF", "ENDED": "COMM"}


class Made:
    """Channels of each kind, for one server."""

    def __init__(self, sink: "ChannelAccess") -> None:
        self._sink = sink
        self._of = _classes()

    def value(self, point: Point) -> Any:
        """The point itself."""
        described: dict[str, Any] = {}
        first: Any
        if point.is_text:
            kind, first, length = "Char", "", point.room or 40 * point.count
        elif point.choices and _fit_choices(point.choices):
            kind, first, length = "Enum", point.choices[0], 1
            described = {"enum_strings": point.choices}
        else:
            kind, length = _kind(point), point.count
            whole = kind in ("Integer", "Byte")
            first = (0 if whole else 0.0) if length == 1 else [0] * length
            described = _described(point, whole)
        channel = self._of[kind](value=first, max_length=length, string_encoding=ENCODING, **described)
        channel.live = Live(self._sink, point, channel, _content(point, kind))
        return channel

    def turn(self, point: Point) -> Any:
        """The turn of its last change; -1 where it has none."""
        channel = self._of["Double"](value=NO_TURN, units="turn", precision=0)
        channel.live = Live(self._sink, point, channel, _turn, writable=False)
        return channel

    def refusal(self, point: Point) -> Any:
        """Why the last put was refused; empty where it was done."""
        channel = self._of["Char"](value="", max_length=REFUSAL_BYTES, string_encoding=ENCODING)
        channel.live = Live(self._sink, point, channel, None, writable=False)
        return channel


def _fit_choices(choices: tuple[str, ...]) -> bool:
    return len(choices) <= CHOICES_MAX and all(len(one) < CHOICE_BYTES for one in choices)


def _kind(point: Point) -> str:
    """Channel Access has no whole numbers beyond i4: those are doubles, right to 2⁵³."""
    return {"f4": "Float", "i4": "Integer", "u1": "Byte"}.get(point.dtype.str[1:], "Double")


def _described(point: Point, whole: bool) -> dict[str, Any]:
    limits = point.limits

    def number(*values: float | None) -> float:
        value = next((value for value in values if value is not None), 0.0)
        return int(value) if whole else value

    described = {
        "units": point.unit.encode(ENCODING)[:UNIT_BYTES].decode(ENCODING, "ignore"),
        "lower_disp_limit": number(limits.display_low, limits.control_low),
        "upper_disp_limit": number(limits.display_high, limits.control_high),
        "lower_ctrl_limit": number(limits.control_low),
        "upper_ctrl_limit": number(limits.control_high),
        "lower_alarm_limit": number(limits.major_low),
        "upper_alarm_limit": number(limits.major_high),
        "lower_warning_limit": number(limits.minor_low),
        "upper_warning_limit": number(limits.minor_high),
    }
    return described if whole else described | {"precision": point.precision}


def _content(point: Point, kind: str) -> Callable[[State], Any]:
    """What a channel's value is."""

    def content(state: State) -> Any:
        value = state.value
        if value is None:
            return None
        if kind == "Enum":
            return point.choices[int(value)] if 0 <= int(value) < len(point.choices) else None  # type: ignore[arg-type]
        if isinstance(value, list):
            return "\n".join(value)
        if isinstance(value, np.ndarray):
            return value.ravel() if kind != "Double" else value.ravel().astype(np.float64)
        return float(value) if kind == "Double" else value

    return content


def _turn(state: State) -> float:
    return NO_TURN if state.turn is None else float(state.turn)


class Live:
    """What keeps a channel as its point is."""

    def __init__(
        self,
        sink: "ChannelAccess",
        point: Point,
        channel: Any,
        content: Callable[[State], Any] | None,
        writable: bool = True,
    ) -> None:
        self.point, self._sink, self._channel = point, sink, channel
        self._content = content
        self._writable = writable
        self._written: tuple[object, ...] = ()

    async def refresh(self) -> None:
        """Reads the point now."""
        if self._content is not None:
            await self.write(await self._sink.read(self.point))

    async def write(self, state: State) -> None:
        """Makes the channel say that, and tells who monitors it; nothing where it says so already."""
        from caproto import AlarmSeverity, AlarmStatus

        stamp = (state.utc_ns, state.turn, state.severity, state.cause)
        if self._content is None or (stamp == self._written and state.utc_ns):
            return
        self._written = stamp
        value = self._content(state)
        name = STATUSES.get(state.cause, "STATE" if state.severity else "NO_ALARM")
        seconds, nanoseconds = divmod(max(0, state.utc_ns - EPICS_EPOCH_S * 10**9), 10**9)
        await self._channel.write(
            self._channel.value if value is None else value,
            verify_value=False,
            update_fields=False,
            timestamp=(seconds, nanoseconds),
            status=AlarmStatus[name],
            severity=AlarmSeverity(int(state.severity)),
        )

    def watch(self, watched: bool) -> None:
        """A first client monitors it, or the last one has gone."""
        self._sink.watch(self.point, self, watched and self._content is not None)

    def may_be_put(self, user: str) -> bool:
        """Whether this user may ever, as far as the protocol lets us say so beforehand."""
        return self._writable and self.point.writable and self._sink.may_put(user, self.point.name)

    async def put(self, value: Any, host: str, user: str, address: str) -> str:
        """Asks the owner; returns "" or why not."""
        if not self._writable:
            return "it is a reading, which nothing sets"
        client = Client(user or "", host or address, address, "CA")
        return await self._sink.put(self.point, asked(self.point, value), client)


def _classes() -> dict[str, Any]:
    """The channels of caproto, each with a life."""
    import caproto
    from caproto._utils import ConversionDirection

    def alive(base: type[Any]) -> type[Any]:
        class Channel(base):  # type: ignore[misc]
            live: Live

            async def read(self, data_type: Any) -> Any:
                await self.live.refresh()
                return await self._read(data_type)

            async def subscribe(self, queue: Any, sub_spec: Any, sub: Any) -> None:
                await self.live.refresh()
                self.live.watch(True)
                await super().subscribe(queue, sub_spec, sub)

            async def unsubscribe(self, queue: Any, sub_spec: Any) -> None:
                await super().unsubscribe(queue, sub_spec)
                kinds = [types for syncs in self._queues.values() for types in syncs.values()]
                if not any(specs for types in kinds for specs in types.values()):
                    self.live.watch(False)

            def check_access(self, hostname: str, username: str) -> Any:  # noqa: ARG002 (caproto's)
                rights = caproto.AccessRights
                return rights.READ | rights.WRITE if self.live.may_be_put(username) else rights.READ

            async def auth_write(
                self,
                hostname: str,
                username: str,
                data: Any,
                data_type: Any,
                metadata: Any,  # noqa: ARG002
                *,
                flags: int = 0,  # noqa: ARG002
                user_address: Any = None,
            ) -> Any:
                address = str(user_address[0]) if user_address else ""
                try:
                    why = await self.live.put(self._converted(data, data_type), hostname, username, address)
                except (ValueError, TypeError, caproto.CaprotoError) as error:
                    why = str(error) or f"{self.live.point.name}: {data!r} cannot be made what it is"
                    await self.live._sink.refuse(self.live.point, why)
                return caproto.CAStatus.ECA_PUTFAIL.value.code_with_severity if why else None

            def _converted(self, data: Any, data_type: Any) -> Any:
                values = caproto.backend.convert_values(
                    values=data,
                    from_dtype=caproto.native_type(data_type),
                    to_dtype=self.data_type,
                    string_encoding=self.string_encoding,
                    enum_strings=getattr(self, "enum_strings", None),
                    direction=ConversionDirection.FROM_WIRE,
                )
                return self.preprocess_value(values)

        Channel.__name__ = f"Live{base.__name__}"
        return Channel

    kinds = ("Char", "Enum", "Float", "Integer", "Byte", "Double")
    return {kind: alive(getattr(caproto, f"Channel{kind}")) for kind in kinds}


async def in_thread(work: Callable[[], State]) -> State:
    """What takes long, beside the loop."""
    return await asyncio.get_running_loop().run_in_executor(None, work)
