# SPDX-License-Identifier: Apache-2.0
"""Points and states as values of PV Access: normative types, with a field `turn` of our own."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from ringmaster.fabric import layout
from ringmaster.fabric.parameter import Limits
from ringmaster.gateways.point import Point, State, asked

CODES = {"f8": "d", "f4": "f", "i8": "l", "i4": "i", "u8": "L", "u4": "I", "u1": "B"}
"""Of p4p, by NumPy's."""
TURN = [("turn", "L")]
CAUSES = {"": 0, "HIHI": 3, "HIGH": 3, "LOW": 3, "LOLO": 3, "INVALID": 6, "ENDED": 2}
"""alarm.status: record, undefined, driver."""
ALARM = ("alarm.severity", "alarm.status", "alarm.message")
MINOR, MAJOR = 1, 2


@cache
def _type(kind: str) -> Any:
    """A type, which all values of its kind share: they are made and copied faster so."""
    from p4p import Type
    from p4p.nt import NTEnum, NTNDArray, NTScalar

    if kind == "enum":
        return NTEnum.buildType(extra=TURN, display=True)
    if kind == "image":
        usual = NTNDArray.buildType()
        return Type([*usual.items(), *TURN], id=usual.getID())
    numeric = not kind.endswith("s")
    return NTScalar.buildType(kind, extra=TURN, display=True, control=numeric, valueAlarm=numeric, form=numeric)


class Typed:
    """The type of a point's values, and what makes them."""

    def __init__(self, point: Point) -> None:
        self.point = point
        self._alarm: tuple[int, int, str] = (0, 0, "")
        self._scalar = point.count == 1 and not point.image
        code = "s" if point.is_text else CODES[point.dtype.str[1:]]
        kind = "enum" if point.choices else "image" if point.image else code if self._scalar else f"a{code}"
        self._type = _type(kind)

    def value(self, state: State, whole: bool) -> Any:
        """What clients get: ``whole``, or what changes from one state to the next."""
        from p4p import Value

        seconds, nanoseconds = divmod(state.utc_ns, 10**9)
        members: dict[str, Any] = {
            "timeStamp.secondsPastEpoch": seconds,
            "timeStamp.nanoseconds": nanoseconds,
            "turn": layout.TURN_NONE if state.turn is None else state.turn,
        }
        alarm = (int(state.severity), CAUSES.get(state.cause, 0), state.message)
        if whole or alarm != self._alarm:
            self._alarm = alarm
            members |= dict(zip(ALARM, alarm, strict=True))
        if state.value is not None:
            members |= self._content(state.value)
        if whole:
            members |= self._described()
        return Value(self._type, members)

    def _content(self, value: Any) -> dict[str, Any]:
        if self.point.image:
            rows, columns = value.shape
            dimensions = [{"size": size, "fullSize": size, "binning": 1} for size in (columns, rows)]
            size = int(value.nbytes)
            return {
                "value": ("doubleValue", value.ravel()),
                "dimension": dimensions,
                "compressedSize": size,
                "uncompressedSize": size,
            }
        if self.point.choices:
            return {"value.index": int(value)}
        return {"value": value}

    def _described(self) -> dict[str, Any]:
        point = self.point
        if point.image:
            return {}
        if point.choices:
            return {"value.choices": list(point.choices), "display.description": point.description}
        members: dict[str, Any] = {"display": {"description": point.description, "units": point.unit}}
        if point.is_text:
            return members
        members["display"]["precision"] = point.precision
        return _with_limits(members, point.limits)

    def asked(self, given: Any) -> Any:
        """What a client puts. Raises ValueError where it gives no value, none of the choices, or another count."""
        name = self.point.name
        if self.point.choices:
            if not given.changed("value.index"):
                raise ValueError(f"{name}: nothing was given to put; expected one of {', '.join(self.point.choices)}")
            return asked(self.point, int(given["value.index"]))
        if not given.changed("value"):
            raise ValueError(f"{name}: nothing was given to put; expected `value`")
        value = given["value"]
        count = 1 if self._scalar else len(value)
        if count != self.point.count:
            raise ValueError(f"{name}: {count} elements were given, expected {self.point.count}")
        return value if self._scalar else np.asarray(value)


def _with_limits(members: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """EPICS' convention for no range is 0 to 0; a limit without severity is none."""

    def put(part: str, low: float | None, high: float | None) -> None:
        if low is not None and high is not None:
            members.setdefault(part, {}).update({"limitLow": low, "limitHigh": high})

    put("display", limits.control_low, limits.control_high)
    put("display", limits.display_low, limits.display_high)
    put("control", limits.control_low, limits.control_high)
    alarms: Mapping[str, tuple[float | None, int]] = {
        "lowAlarm": (limits.major_low, MAJOR),
        "lowWarning": (limits.minor_low, MINOR),
        "highWarning": (limits.minor_high, MINOR),
        "highAlarm": (limits.major_high, MAJOR),
    }
    told: dict[str, Any] = {"active": False}
    for name, (limit, severity) in alarms.items():
        if limit is not None:
            told |= {"active": True, f"{name}Limit": limit, f"{name}Severity": severity}
    if limits.hysteresis is not None:
        told["hysteresis"] = limits.hysteresis
    return members | {"valueAlarm": told}


def table_type() -> Any:
    """Of the inventory, an NTTable: what wraps its rows."""
    from p4p.nt import NTTable

    texts = [(name, "s") for name in ("name", "source", "unit", "owner", "description")]
    return NTTable([*texts, ("elements", "I"), ("writable", "?")])


def table_rows(points: Mapping[str, Point]) -> list[dict[str, Any]]:
    """What there is."""
    return [
        {
            "name": point.name,
            "source": point.source,
            "unit": point.unit,
            "owner": point.owner or "server",
            "description": point.description,
            "elements": point.count,
            "writable": point.writable,
        }
        for point in points.values()
    ]
