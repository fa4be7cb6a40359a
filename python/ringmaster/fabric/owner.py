# SPDX-License-Identifier: Apache-2.0
"""A segment of one's own: how a Python program tells others its parameters, and answers who asks for them to be set.

::

    owner = ringmaster.Owner("ramp", "demo")
    rate = owner.parameter("ramp/rate", 0.5, unit="A/s", writable=True, limits=ringmaster.Limits(control_low=0))
    with owner:
        while True:
            owner.serve(timeout=0.1)
            ...
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ringmaster.fabric import layout
from ringmaster.fabric._library import call, ffi, lib, text
from ringmaster.fabric.layout import ParameterFlags
from ringmaster.fabric.owned import Axis, OwnedRows, OwnedStream
from ringmaster.fabric.parameter import Limits, Value
from ringmaster.fabric.workspace import directory_of

LOOK_S = 0.1
"""How often an owner looks who has come to ask: as request.h has it."""

_TYPES = {np.dtype(code): kind for kind, code in layout.ELEMENT_FORMATS.items()}


@dataclass(frozen=True)
class Request:
    """What a client asks for."""

    requester: str
    uid: int
    """The user who asks: told by the system, not by the requester."""
    parameter: str
    first: int
    """First element."""
    values: npt.NDArray[np.generic]
    timestamp_tai_ns: int


Judge = Callable[[Request], str | None]
"""Says why a request is refused, or None. It was found good by the parameter's limits before."""


class Owner:
    """The owner of one segment: add what it shall hold, then open it, best in a ``with`` statement.

    One thread. A program that is killed needs no cleaning up; the next one takes over what it left.
    """

    def __init__(self, name: str, workspace: str | None = None, answers: bool = True) -> None:
        """``workspace`` as in ``attach``; ``answers``: others may ask for parameters to be set, see ``serve``."""
        self.name = name
        self.path = directory_of(workspace)
        made = ffi.new("struct rm_owner **")
        call(lib.rm_owner_new, str(self.path.absolute()).encode(), name.encode(), made)
        self._owner = made[0]
        self._inbox = ffi.NULL
        self._open = False
        self._answers = answers
        self._parameters: dict[str, OwnedParameter] = {}
        self._groups: dict[str, OwnedGroup] = {}
        self._stamp: Any = None
        self._looked = 0.0
        if answers:
            lib.rm_owner_replies(self._owner)

    def parameter(
        self,
        name: str,
        value: Value | Sequence[float],
        unit: str = "",
        description: str = "",
        *,
        limits: Limits | None = None,
        conversion: tuple[str, Sequence[float]] | None = None,
        writable: bool = False,
        setting: bool = False,
        group: "OwnedGroup | None" = None,
        room: int = 0,
    ) -> "OwnedParameter":
        """Adds a parameter; begin its name with the owner's. ``value`` says type and shape, and what it is at first.

        ``conversion`` is another unit with one to four coefficients of the polynomial that leads there. ``room`` is
        what a text may grow to, in bytes. An opened segment that an earlier owner left keeps the values of that one.
        """
        values = _text(str(value), room) if isinstance(value, str) else _array(value)
        it = OwnedParameter(self, name, values, isinstance(value, str), group)
        told = (name, "utf-8" if isinstance(value, str) else unit, description)
        plan = ffi.new("struct rm_parameter_plan *")
        texts = [ffi.new("char[]", words.encode()) for words in told]  # they must outlive the call
        plan.name, plan.unit, plan.description = texts
        plan.type = _TYPES[values.dtype]
        plan.rows, plan.columns = values.shape if values.ndim == 2 else (values.size, 1)
        limit, other = _limits(limits), _conversion(conversion)
        plan.limits, plan.conversion = limit, other
        plan.flags = ParameterFlags.WRITABLE * writable | ParameterFlags.SETTING * setting
        group_name = ffi.new("char[]", group.name.encode()) if group else ffi.NULL
        plan.group = group_name
        it._index = lib.rm_owner_parameter(self._owner, plan)
        self._parameters[name] = it
        return it

    def group(self, name: str, description: str = "") -> "OwnedGroup":
        """The group of that name, added where it is not there yet: ``with owner.group("ramp/settings"): …``."""
        if name not in self._groups:
            index = lib.rm_owner_group(self._owner, name.encode(), description.encode())
            self._groups[name] = OwnedGroup(self, name, index)
        return self._groups[name]

    def setpoints(self, actuators: int, description: str = "") -> "OwnedSetpoints":
        """Adds setpoint vectors, ``setpoints/NAME``."""
        words = (f"setpoints/{self.name}".encode(), description.encode())
        return OwnedSetpoints(self, lib.rm_owner_setpoints(self._owner, *words, actuators), actuators)

    def stream(
        self,
        name: str,
        lanes: Sequence[tuple[str, str]],
        period: int,
        description: str = "",
        *,
        capacity: int = 65536,
    ) -> OwnedStream:
        """Adds a stream of numbers, ``NAME``: a record of all ``lanes`` (name, unit) every ``period`` turns.

        ``capacity``, a power of two from 1024 on, is how many records are kept.
        """
        if not 1 <= len(lanes) <= layout.LANES:
            raise ValueError(f"a stream has 1 to {layout.LANES} lanes, not {len(lanes)}")
        head = np.zeros(1, layout.STREAM)[0]
        head["capacity"], head["period"], head["lane_count"] = capacity, period, len(lanes)
        head["instrument_kind"], head["filter"], head["gain"] = layout.InstrumentKind.APPLICATION, b"none", 1.0
        for place, (lane, unit) in zip(head["lane"], lanes, strict=False):
            place["name"], place["unit"], place["type"] = lane.encode(), unit.encode(), layout.LaneType.F32
        constant = ffi.from_buffer(head.tobytes())
        told = (name.encode(), description.encode(), ffi.cast("struct rm_stream *", constant))
        return OwnedStream(self, lib.rm_owner_stream(self._owner, *told), len(lanes))

    def rows(
        self, name: str, unit: str, axis: Axis, period: int, description: str = "", *, depth: int = 256
    ) -> OwnedRows:
        """Adds a row ring, ``NAME``: a row of ``axis.width`` values every ``period`` turns, ``depth`` of them kept."""
        told = {
            "name": ffi.new("char[]", name.encode()),
            "unit": ffi.new("char[]", unit.encode()),
            "description": ffi.new("char[]", description.encode()),
            "axis_name": ffi.new("char[]", axis.name.encode()),
            "axis_unit": ffi.new("char[]", axis.unit.encode()),
        }
        numbers = {"width": axis.width, "depth": depth, "period": period}
        plan = ffi.new("struct rm_rows_plan *", told | numbers | {"axis_first": axis.first, "axis_step": axis.step})
        return OwnedRows(self, lib.rm_owner_rows(self._owner, plan), axis.width)

    @property
    def adopted(self) -> bool:
        """Whether an equal segment was there already: its parameters have the values that its owner left."""
        return bool(lib.rm_owner_adopted(self._owner))

    def open(self) -> None:
        """Makes the segment, or takes over an equal one. Raises OwnerBusy while another process owns it."""
        call(lib.rm_owner_open, self._owner)
        self._open = True
        if not self.adopted:
            for parameter in self._parameters.values():
                parameter._write(parameter._first)
        if self._answers:
            inbox = ffi.new("struct rm_inbox **")
            call(lib.rm_inbox_new, self._owner, inbox)
            self._inbox = inbox[0]

    def close(self) -> None:
        """Closes in good order; the segment stays for readers."""
        if self._inbox != ffi.NULL:
            lib.rm_inbox_free(self._inbox)
        lib.rm_owner_close(self._owner)
        self._inbox = self._owner = ffi.NULL
        self._open = False

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def serve(self, timeout: float = 0.0, judge: Judge | None = None, turn: int | None = None) -> list[Request]:
        """Answers all requests that there are; waits for one as long as ``timeout`` seconds. Returns what was granted.

        A request is granted where the parameter may be set by others, its values are numbers within the control limits,
        and ``judge`` has nothing against it; ``turn`` is what the change is stamped with.
        """
        give_up = monotonic() + timeout
        while True:
            if monotonic() - self._looked >= LOOK_S:
                self._look()
            granted, answered = self._answer_all(judge, turn)
            left = give_up - monotonic()
            if answered or left <= 0:
                return granted
            lib.rm_inbox_wait(self._inbox, round(min(left, LOOK_S) * 1e9))
            self._look()

    def _look(self) -> None:
        lib.rm_inbox_look(self._inbox)
        self._looked = monotonic()

    def _answer_all(self, judge: Judge | None, turn: int | None) -> tuple[list[Request], int]:
        asked = ffi.new("struct rm_request *")
        granted: list[Request] = []
        answered = 0
        while lib.rm_inbox_take(self._inbox, asked):
            answered += 1
            request = self._request(asked)
            good = self._is_good(asked)
            reason = judge(request) if judge is not None and good else None
            if reason is not None:
                words = f"{request.parameter}: {reason}".encode()
                lib.rm_inbox_answer(self._inbox, asked, lib.RM_VERDICT_REFUSED, words)
                continue
            lib.rm_inbox_apply(self._inbox, asked, _stamp(turn))
            granted += [request] if good else []
        return granted, answered

    def _is_good(self, asked: Any) -> bool:
        found = ffi.new("struct rm_parameter **")
        reason = ffi.new("char[]", lib.RM_REASON_BYTES)
        return bool(lib.rm_inbox_judge(self._inbox, asked, found, reason))

    def _request(self, asked: Any) -> Request:
        name = text(asked.parameter)
        known = self._parameters.get(name)
        raw = bytes(ffi.buffer(asked.value, min(asked.bytes, lib.RM_REQUEST_VALUE_BYTES)))
        element = known._first.dtype if known is not None else np.dtype("u1")
        values = np.frombuffer(raw, element, len(raw) // element.itemsize)
        return Request(text(asked.requester), asked.requester_uid, name, asked.first, values, asked.timestamp_tai_ns)

    def _memory(self, index: int) -> Any:
        if not self._open:
            raise RuntimeError(f"owner {self.name!r} is not open: use it in a `with` statement, or call open()")
        return lib.rm_owner_memory(self._owner, index)


class OwnedParameter:
    """A parameter of one's own. Reading and writing it takes no system call."""

    def __init__(
        self, owner: Owner, name: str, first: npt.NDArray[np.generic], is_text: bool, group: "OwnedGroup | None"
    ) -> None:
        self.name = name
        self._owner = owner
        self._first = first
        self._is_text = is_text
        self._group = group
        self._index = 0

    def __repr__(self) -> str:
        return f"<own parameter {self.name}>"

    @property
    def value(self) -> Value:
        """The value now."""
        values = np.empty_like(self._first)
        reading = ffi.new("struct rm_parameter_reading *")
        lib.rm_parameter_read(self._pointer, ffi.from_buffer(values), values.nbytes, reading)
        if self._is_text:
            return values.tobytes().split(b"\0", 1)[0].decode(errors="replace")
        return values.item() if values.size == 1 else values

    @value.setter
    def value(self, value: Value | Sequence[float]) -> None:
        self.write(value)

    @property
    def number(self) -> float:
        """The value now, of a parameter that is one number: the shortest way."""
        if self._first.dtype == np.float64 and self._first.size == 1:
            return float(lib.rm_parameter_read_f64(self._pointer))
        return float(self.value)

    def write(self, value: Value | Sequence[float], turn: int | None = None) -> None:
        """Sets it, stamped with now and ``turn``; inside a change of its group, with the group's stamp."""
        if self._is_text:
            values = _text(str(value), self._first.size)
        else:
            values = np.ascontiguousarray(value, self._first.dtype).reshape(self._first.shape)
        self._write(values, turn)

    def _write(self, values: npt.NDArray[np.generic], turn: int | None = None) -> None:
        stamp = self._owner._stamp or _stamp(turn)
        lib.rm_parameter_write(self._pointer, ffi.from_buffer(values), values.nbytes, stamp)

    def invalidate(self, turn: int | None = None) -> None:
        """Marks the value as not to be trusted until the next write."""
        lib.rm_parameter_invalidate(self._pointer, self._owner._stamp or _stamp(turn))

    @property
    def _pointer(self) -> Any:
        return ffi.cast("struct rm_parameter *", self._owner._memory(self._index))


class OwnedGroup:
    """A group of one's own: what is written inside ``with group:`` changes together, for who reads the group."""

    def __init__(self, owner: Owner, name: str, index: int) -> None:
        self.name = name
        self._owner = owner
        self._index = index
        self._changes: list[Any] = []

    @contextmanager
    def change(self, turn: int | None = None) -> Iterator[None]:
        """The same, at a turn."""
        if self._owner._stamp is not None:
            raise RuntimeError(f"group {self.name!r}: groups do not nest")
        pointer = ffi.cast("struct rm_group *", self._owner._memory(self._index))
        self._owner._stamp = stamp = _stamp(turn)
        lib.rm_group_begin(pointer)
        try:
            yield
        finally:
            lib.rm_group_commit(pointer, stamp)
            self._owner._stamp = None

    def __enter__(self) -> Self:
        change = self.change()
        change.__enter__()
        self._changes.append(change)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._changes.pop().__exit__(kind, error, at)


class OwnedSetpoints:
    """Setpoint vectors of one's own: commands, which the server's guard judges."""

    def __init__(self, owner: Owner, index: int, actuators: int) -> None:
        self._owner = owner
        self._index = index
        self._actuators = actuators

    def commit(self, values: npt.ArrayLike, grant_number: int, input_turn: int, tsc: int = 0) -> None:
        """Publishes a row: all values, the grant number as granted, the turn that it answers, and when that is (TSC
        ticks).
        """
        wanted = np.ascontiguousarray(values, np.float64).ravel()
        if wanted.size != self._actuators:
            raise ValueError(f"a row has {self._actuators} values, not {wanted.size}")
        vector = lib.rm_setpoints_begin(ffi.cast("struct rm_setpoints *", self._owner._memory(self._index)))
        place = ffi.cast("char *", vector) + layout.member_offset(layout.SETPOINT_VECTOR, "value")
        np.frombuffer(ffi.buffer(place, wanted.nbytes), np.float64)[:] = wanted
        lib.rm_setpoints_commit(vector, grant_number, input_turn, tsc)


def _stamp(turn: int | None) -> Any:
    stamp = lib.rm_stamp_now()
    if turn is not None:
        stamp.turn = turn
    return stamp


def _array(value: Value | Sequence[float]) -> npt.NDArray[np.generic]:
    values: npt.NDArray[np.generic] = np.atleast_1d(np.ascontiguousarray(value))
    if values.dtype not in _TYPES or not values.size or values.ndim > 2:
        known = ", ".join(dtype.name for dtype in _TYPES)
        raise ValueError(f"a parameter is a number, or an array of one or two dimensions, of {known}; not {value!r}")
    return values


def _text(words: str, room: int) -> npt.NDArray[np.generic]:
    raw = words.encode()
    size = room or len(raw) + 1
    if len(raw) >= size:
        raise ValueError(f"{words!r} is longer than the {size - 1} bytes that there is room for")
    return np.frombuffer(raw.ljust(size, b"\0"), np.uint8).copy()


def _limits(limits: Limits | None) -> Any:
    if limits is None:
        return ffi.NULL
    members = {name: np.nan if limit is None else limit for name, limit in vars(limits).items()}
    return ffi.new("struct rm_limits *", members | {"hysteresis": limits.hysteresis or 0.0})


def _conversion(conversion: tuple[str, Sequence[float]] | None) -> Any:
    if conversion is None:
        return ffi.NULL
    unit, coefficients = conversion
    c = [float(coefficient) for coefficient in coefficients]
    return ffi.new("struct rm_conversion *", {"unit": unit.encode(), "c": [*c, *[0.0] * (4 - len(c))]})
