# SPDX-License-Identifier: Apache-2.0
"""Parameters: named typed values and arrays, with limits, time stamp, turn and one owner."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ringmaster.errors import UnitUnknown, WorkspaceDamaged
from ringmaster.fabric import layout
from ringmaster.fabric._library import ffi, lib
from ringmaster.fabric.conversion import Conversion, same_unit
from ringmaster.fabric.layout import ElementType, ParameterFlags, Severity
from ringmaster.fabric.memory import Place, Words, half_written, structure, text
from ringmaster.fabric.segment import ObjectInfo, Segment

Value = int | float | str | npt.NDArray[np.generic]
"""A number; an array where the parameter has more than one element; text where its unit is "utf-8"."""

_READING = ffi.typeof("struct rm_parameter_reading *")
_SEVERITIES = {int(severity): severity for severity in Severity}


@dataclass(frozen=True)
class Limits:
    """In the parameter's unit; None means: no such limit."""

    display_low: float | None = None
    """Range of a gauge that shows it."""
    display_high: float | None = None
    control_low: float | None = None
    """Range that a request must keep."""
    control_high: float | None = None
    minor_low: float | None = None
    """Outside: Severity.MINOR."""
    minor_high: float | None = None
    major_low: float | None = None
    """Outside: Severity.MAJOR."""
    major_high: float | None = None
    hysteresis: float | None = None
    """How far a value must come back before its severity falls."""


@dataclass(frozen=True)
class ParameterReading:
    """A consistent copy of a parameter."""

    value: Value
    unit: str
    """Of the value."""
    timestamp_tai_ns: int
    """Of the last change; nanoseconds of TAI since 1970-01-01."""
    turn: int | None
    """Of the last change, where it has one."""
    severity: Severity
    changes: int
    """How often it was changed so far; the difference of two readings says how many lie between them."""


class Addresses(NamedTuple):
    """Where a parameter lies, for C. Its memory stays mapped as long as the parameter is referenced."""

    parameter: int
    sequence: int
    values: int
    """As they were checked when it was attached."""


class Parameter:
    """One parameter. Its owner alone writes it; reading takes no system call."""

    def __init__(self, segment: Segment, info: ObjectInfo) -> None:
        header = structure(segment.memory, layout.PARAMETER, info.offset)[0]
        self.name = info.name
        self.unit = info.unit
        self.description = info.description
        self.owner = text(header["owner"])
        """Who changes it, and answers requests to do so."""
        flags = int(header["flags"])
        self.writable = bool(flags & ParameterFlags.WRITABLE)
        """Whether others may ask for it to be set."""
        self.setting = bool(flags & ParameterFlags.SETTING)
        """Whether it is a choice and not a reading: what ``ringmaster save`` keeps."""
        self.group: str | None = text(header["group"]) or None
        """The group whose members change together with it."""
        limits = header["limits"]
        self.limits = Limits(
            **{name: None if np.isnan(limits[name]) else float(limits[name]) for name in Limits.__dataclass_fields__}
        )
        self.conversion = _conversion(header["conversion"], self.limits)
        """To the other unit that it has, if it has one."""
        self.shape = info.shape
        self.is_text = info.unit == "utf-8"
        self._live = Words(segment.memory, layout.PARAMETER, info.offset)
        self._parameter = Place("rm_parameter", layout.PARAMETER, segment.memory, info.offset)
        self._values = self._map_values(segment, info, int(header["values_offset"]), int(header["count"]))
        self.dtype = self._values.dtype
        self._place = ffi.cast("void *", self._values.ctypes.data)

    def _map_values(
        self, segment: Segment, info: ObjectInfo, values_offset: int, count: int
    ) -> npt.NDArray[np.generic]:
        if info.element_type == ElementType.RECORD:
            raise WorkspaceDamaged(f"{segment.path}: parameter {self.name!r} cannot hold records")
        element = np.dtype(layout.ELEMENT_FORMATS[info.element_type])
        whole = values_offset + count * element.itemsize <= info.size and values_offset % 8 == 0
        words = -(-count * element.itemsize // 8)  # which the C library reads whole
        if (
            not whole
            or info.offset + values_offset + 8 * words > len(segment.memory)
            or count != info.shape[0] * info.shape[1]
        ):
            raise WorkspaceDamaged(f"{segment.path}: parameter {self.name!r} contradicts itself; start its owner anew")
        return np.frombuffer(segment.memory, element, count, info.offset + values_offset)

    def __repr__(self) -> str:
        return f"<parameter {self.name} = {self.value} {self.unit}>"

    @property
    def count(self) -> int:
        """How many elements it has."""
        return int(self._values.size)

    @property
    def addresses(self) -> Addresses:
        """Where it lies, for readers in C."""
        sequence = layout.PARAMETER.fields["sequence"][1]  # type: ignore[index]
        parameter, values = (int(ffi.cast("uintptr_t", at)) for at in (self._parameter.pointer, self._place))
        return Addresses(parameter, parameter + sequence, values)

    @property
    def units(self) -> tuple[str, ...]:
        """Its unit, and the other one where it has one."""
        return (self.unit, self.conversion.unit) if self.conversion else (self.unit,)

    @property
    def changes(self) -> int:
        """How often it was changed so far: the cheapest way to see that nothing has changed."""
        return self._live("sequence") // 2

    @property
    def value(self) -> Value:
        """The value now, in ``unit``."""
        return self.read().value

    @property
    def number(self) -> float:
        """The value now, of a parameter that is one number."""
        return float(self.value)

    def read(self, unit: str | None = None) -> ParameterReading:
        """Copies the value and what goes with it, in ``unit`` where it has another.

        Raises WorkspaceDamaged when its owner was killed in a change, UnitUnknown for a unit that it does not have.
        """
        conversion = self.conversion_to(unit)
        reading = self._copy()
        if conversion is None:
            return reading
        value = np.asarray(reading.value, np.float64)
        converted = conversion.there(value) if value.ndim else conversion.there(float(value))
        return replace(reading, value=converted, unit=conversion.unit)

    def conversion_to(self, unit: str | None) -> Conversion | None:
        """What converts to ``unit``; None where that is the parameter's own. Raises UnitUnknown."""
        if unit is None or same_unit(unit, self.unit):
            return None
        if self.conversion is not None and same_unit(unit, self.conversion.unit):
            return self.conversion
        known = " and ".join(map(repr, filter(None, self.units))) or "no unit"
        raise UnitUnknown(f"{self.name} has {known}; {unit!r} is not among its units")

    def has_unit(self, unit: str) -> bool:
        """Whether it can be read in that unit."""
        return any(same_unit(unit, own) for own in self.units)

    def _copy(self) -> ParameterReading:
        values, reading = np.empty(self._values.size, self.dtype), ffi.new(_READING)
        copy = ffi.from_buffer(values)
        if lib.rm_parameter_copy(self._parameter.pointer, self._place, values.nbytes, copy, reading) < values.nbytes:
            raise half_written(self.name)
        return ParameterReading(
            value=self._value(values),
            unit=self.unit,
            timestamp_tai_ns=reading.timestamp_tai_ns,
            turn=None if reading.turn == layout.TURN_NONE else reading.turn,
            severity=_severity(reading.severity),
            changes=reading.sequence // 2,
        )

    def _value(self, values: npt.NDArray[np.generic]) -> Value:
        if self.is_text:
            return text(values.tobytes())
        if values.size == 1:
            number = values.item()
            assert isinstance(number, int | float)
            return number
        return values.reshape(self.shape) if self.shape[1] > 1 else values


def _conversion(header: np.void, limits: Limits) -> Conversion | None:
    unit = text(header["unit"])
    if not unit:
        return None
    c = tuple(float(coefficient) for coefficient in header["c"])
    return Conversion(unit, (c[0], c[1], c[2], c[3]), limits.control_low, limits.control_high)


def _severity(word: int) -> Severity:
    return _SEVERITIES.get(word, Severity.INVALID)
