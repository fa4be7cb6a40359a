# SPDX-License-Identifier: Apache-2.0
"""What a client of a gateway sees under one name, whatever protocol it speaks."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ringmaster.errors import WorkspaceDamaged
from ringmaster.fabric.layout import Severity
from ringmaster.fabric.parameter import Limits, Parameter, ParameterReading, Value
from ringmaster.values.time_format import utc_ns

USUAL_PRECISION, DIGITS = 6, 6
"""Digits behind the point of a number whose range nothing tells; digits of a range that are shown."""
NO_LIMITS = Limits()


@dataclass(frozen=True)
class Point:
    """One name: what it is. What it says is a State."""

    name: str
    """As clients call it."""
    source: str
    """As the workspace calls it."""
    dtype: np.dtype[Any]
    """Of its elements; U for texts, of which each element is one."""
    count: int = 1
    """Elements; of one whose length varies the most that there may be."""
    unit: str = ""
    description: str = ""
    owner: str = ""
    limits: Limits = NO_LIMITS
    writable: bool = False
    choices: tuple[str, ...] = ()
    """What the whole numbers from 0 on mean, where they mean something."""
    precision: int = USUAL_PRECISION
    room: int = 0
    """Of a text: bytes."""
    requested: bool = False
    """It is computed only as long as a client looks at it."""
    image: bool = False
    """Its value has two dimensions, which a protocol may show as a picture."""

    @property
    def is_text(self) -> bool:
        """Whether its elements are texts."""
        return self.dtype.kind == "U"


@dataclass(frozen=True)
class State:
    """What a point says at one time."""

    value: Value | list[str] | None
    """None: it has no value yet."""
    severity: Severity = Severity.NONE
    cause: str = ""
    """HIHI, HIGH, LOW, LOLO: beyond which limit; INVALID: no number, or not to be trusted; ENDED: not of now."""
    message: str = ""
    utc_ns: int = 0
    """Nanoseconds of UTC since 1970-01-01; 0 where it never changed."""
    turn: int | None = None
    changes: int = 0
    """Of a parameter: how often it had changed."""


def point_of(name: str, parameter: Parameter, choices: tuple[str, ...] = (), precision: int | None = None) -> Point:
    """The point that shows a parameter."""
    text = parameter.is_text
    return Point(
        name=name,
        source=parameter.name,
        dtype=np.dtype("U") if text else parameter.dtype,
        count=1 if text else parameter.count,
        unit="" if text else parameter.unit,
        description=parameter.description,
        owner=parameter.owner,
        limits=parameter.limits,
        writable=parameter.writable,
        choices=choices if parameter.dtype.kind in "iu" and parameter.count == 1 else (),
        precision=_precision(parameter.limits) if precision is None else precision,
        room=parameter.count if text else 0,
    )


def _precision(limits: Limits) -> int:
    """Digits behind the point that show a range to a millionth."""
    for low, high in ((limits.display_low, limits.display_high), (limits.control_low, limits.control_high)):
        if low is not None and high is not None and 0 < high - low < math.inf:
            return min(15, max(0, DIGITS - math.ceil(math.log10(high - low))))
    return USUAL_PRECISION


def state_of(parameter: Parameter, reading: ParameterReading, owner_lives: bool) -> State:
    """What a parameter says."""
    severity, cause, message = reading.severity, "", ""
    if not owner_lives:
        severity, cause, message = Severity.INVALID, "ENDED", f"{parameter.owner} has ended or is stopped"
    elif severity == Severity.INVALID:
        cause, message = "INVALID", f"no number, or {parameter.owner} has marked it as not to be trusted"
    elif severity != Severity.NONE:
        cause = beyond(parameter.limits, reading.value)
        message = f"{severity.name.lower()} {cause}".rstrip()
    value = reading.value.ravel() if isinstance(reading.value, np.ndarray) else reading.value
    return State(value, severity, cause, message, utc_ns(reading.timestamp_tai_ns), reading.turn, reading.changes)


def beyond(limits: Limits, value: Value) -> str:
    """Which limit a value is beyond; empty where hysteresis alone keeps its severity."""
    if isinstance(value, str):
        return ""
    numbers: npt.NDArray[Any] = np.atleast_1d(np.asarray(value))
    low, high = float(numbers.min()), float(numbers.max())
    for name, limit, over in (
        ("HIHI", limits.major_high, high),
        ("LOLO", limits.major_low, low),
        ("HIGH", limits.minor_high, high),
        ("LOW", limits.minor_low, low),
    ):
        if limit is not None and (over > limit if name.startswith("HI") else over < limit):
            return name
    return ""


def asked(point: Point, value: Any) -> Any:
    """What a client puts, as an owner takes it.

    Raises ValueError where it is none of the choices, or has too few or too many elements.
    """
    if point.is_text:
        return value
    if point.choices:
        return _choice(point, value)
    numbers = np.atleast_1d(np.asarray(value))
    if point.dtype.kind in "iu" and np.all(numbers == np.round(numbers)):
        numbers = numbers.astype(np.int64)
    if numbers.size != point.count:
        raise ValueError(f"{point.name}: {numbers.size} elements were given, expected {point.count}")
    return numbers if point.count > 1 else numbers[0].item()


def _choice(point: Point, value: Any) -> int:
    number = point.choices.index(value) if value in point.choices else value
    if isinstance(number, str) or not 0 <= int(number) < len(point.choices):
        raise ValueError(f"{point.name}: {number} was given, expected one of {', '.join(point.choices)}")
    return int(number)


def damaged(damage: WorkspaceDamaged, changes: int = 0) -> State:
    """What a parameter says that cannot be read."""
    return State(None, Severity.INVALID, "INVALID", str(damage), changes=changes)
