# SPDX-License-Identifier: Apache-2.0
"""Parameters: named typed values and arrays, with limits, time stamp, turn and one owner."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ringmaster import layout
from ringmaster.errors import WorkspaceDamaged
from ringmaster.layout import ElementType, Severity
from ringmaster.memory import Words, structure, text
from ringmaster.segment import ObjectInfo, Segment

Value = int | float | str | npt.NDArray[np.generic]
"""A number; an array where the parameter has more than one element; text where its unit is "utf-8"."""


@dataclass(frozen=True)
class Limits:
    """In the parameter's unit; None means: no such limit."""

    display_low: float | None
    display_high: float | None
    control_low: float | None
    control_high: float | None
    minor_low: float | None
    minor_high: float | None
    major_low: float | None
    major_high: float | None
    hysteresis: float | None


@dataclass(frozen=True)
class ParameterReading:
    """A consistent copy of a parameter."""

    value: Value
    timestamp_tai_ns: int
    """Of the last change; nanoseconds of TAI since 1970-01-01."""
    turn: int | None
    """Of the last change, where it has one."""
    severity: Severity
    changes: int
    """How often it was changed so far; the difference of two readings says how many lie between them."""


class Parameter:
    """One parameter. Its owner alone writes it; reading takes no system call."""

    def __init__(self, segment: Segment, info: ObjectInfo) -> None:
        header = structure(segment.memory, layout.PARAMETER, info.offset)[0]
        self.name = info.name
        self.unit = info.unit
        self.description = info.description
        self.owner = text(header["owner"])
        limits = header["limits"]
        self.limits = Limits(
            **{name: None if np.isnan(limits[name]) else float(limits[name]) for name in Limits.__dataclass_fields__}
        )
        self._shape = info.shape
        self._is_text = info.unit == "utf-8"
        self._live = Words(segment.memory, layout.PARAMETER, info.offset)
        self._values = self._map_values(segment, info, int(header["values_offset"]), int(header["count"]))

    def _map_values(
        self, segment: Segment, info: ObjectInfo, values_offset: int, count: int
    ) -> npt.NDArray[np.generic]:
        if info.element_type == ElementType.RECORD:
            raise WorkspaceDamaged(f"{segment.path}: parameter {self.name!r} cannot hold records")
        element = np.dtype(layout.ELEMENT_FORMATS[info.element_type])
        if values_offset + count * element.itemsize > info.size or count != info.shape[0] * info.shape[1]:
            raise WorkspaceDamaged(f"{segment.path}: parameter {self.name!r} contradicts itself; start its owner anew")
        return np.frombuffer(segment.memory, element, count, info.offset + values_offset)

    def __repr__(self) -> str:
        return f"<parameter {self.name} = {self.value} {self.unit}>"

    @property
    def value(self) -> Value:
        """The value now, in ``unit``."""
        return self.read().value

    def read(self) -> ParameterReading:
        """Copies the value and what goes with it. Raises WorkspaceDamaged when its owner was killed in a change."""
        return self._live.consistently(self._copy)

    def _copy(self) -> ParameterReading:
        turn = self._live("turn")
        return ParameterReading(
            value=self._value(self._values.copy()),
            timestamp_tai_ns=self._live("timestamp_tai_ns"),
            turn=None if turn == layout.TURN_NONE else turn,
            severity=_severity(self._live("severity")),
            changes=self._live("sequence") // 2,
        )

    def _value(self, values: npt.NDArray[np.generic]) -> Value:
        if self._is_text:
            return text(values.tobytes())
        if values.size == 1:
            number = values.item()
            assert isinstance(number, int | float)
            return number
        return values.reshape(self._shape) if self._shape[1] > 1 else values


def _severity(word: int) -> Severity:
    return Severity(word) if word in Severity.__members__.values() else Severity.INVALID
