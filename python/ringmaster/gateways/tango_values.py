# SPDX-License-Identifier: Apache-2.0
"""Points and states as attributes of TANGO: types, ranges, qualities. Its texts are Latin-1."""

import math
from collections.abc import Mapping
from time import time
from typing import Any

import numpy as np

from ringmaster.fabric.layout import Severity
from ringmaster.gateways.point import Point, State

TYPES = {
    "f8": "DevDouble",
    "f4": "DevFloat",
    "i8": "DevLong64",
    "i4": "DevLong",
    "u8": "DevULong64",
    "u4": "DevULong",
    "u1": "DevUChar",
}
"""Of TANGO, by NumPy's."""
IMAGE_MAX = 1 << 16
"""Most rows and columns of a picture, whose size may change from one to the next."""


def latin(text: str) -> str:
    """As TANGO can carry it."""
    return text.encode("latin-1", "replace").decode("latin-1")


def is_scalar(point: Point) -> bool:
    """Whether its value is one, and no array."""
    return point.count == 1 and not point.image


def typed(point: Point) -> dict[str, Any]:
    """What kind of attribute it is: the same for one name in all devices of a class."""
    kind = "DevEnum" if point.choices else "DevString" if point.is_text else TYPES[point.dtype.str[1:]]
    if point.image:
        return {"dtype": ((kind,),), "max_dim_x": IMAGE_MAX, "max_dim_y": IMAGE_MAX}
    if point.count > 1:
        return {"dtype": (kind,), "max_dim_x": point.count}
    labels = {"enum_labels": [latin(choice) for choice in point.choices]} if point.choices else {}
    return {"dtype": kind, **labels}


def described(point: Point) -> dict[str, str]:
    """What else TANGO says of it, of this device alone; of choices nothing can be said."""
    if point.choices:
        return {}
    made = {
        "description": latin(point.description) or "no description",
        "unit": latin(point.unit),
        "label": point.name.rpartition("/")[2],
    }
    return made if point.is_text else made | _numeric(point)


def _numeric(point: Point) -> dict[str, str]:
    limits = point.limits
    whole = point.dtype.kind in "iu"
    pairs: Mapping[str, tuple[float | None, float | None]] = {
        "value": (limits.control_low, limits.control_high)
        if point.writable
        else (limits.display_low, limits.display_high),
        "warning": (limits.minor_low, limits.minor_high),
        "alarm": (limits.major_low, limits.major_high),
    }
    made = {"format": "%d" if whole else f"%.{point.precision}f"}
    for name, (low, high) in pairs.items():
        if low is not None and high is not None and not low < high:
            continue  # TANGO has no range of one value
        for end, limit in (("min", low), ("max", high)):
            if limit is not None and math.isfinite(limit):
                made[f"{end}_{name}"] = str(round(limit) if whole else limit)
    return made


def seconds(state: State) -> float:
    """When it changed last, UTC; now, where it never did."""
    return state.utc_ns * 1e-9 if state.utc_ns else time()


def content(point: Point, state: State) -> Any:
    """Its value as TANGO takes it; None where it has none that is of now."""
    value = state.value
    if value is None or state.severity == Severity.INVALID:
        return None
    if isinstance(value, str):
        return latin(value)
    if isinstance(value, list):
        return [latin(text) for text in value]
    if is_scalar(point):
        return np.asarray(value).ravel()[0].item()
    return np.ascontiguousarray(value, point.dtype)


def nothing(point: Point) -> Any:
    """What stands for a value in an event that says there is none."""
    if point.is_text:
        return "" if is_scalar(point) else [""]
    if point.image:
        return np.zeros((1, 1), point.dtype)
    return 0 if is_scalar(point) else np.zeros(point.count, point.dtype)


def quality(state: State) -> str:
    """The name of its quality."""
    return {
        Severity.NONE: "ATTR_VALID",
        Severity.MINOR: "ATTR_WARNING",
        Severity.MAJOR: "ATTR_ALARM",
        Severity.INVALID: "ATTR_INVALID",
    }[state.severity]
