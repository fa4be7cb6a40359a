# SPDX-License-Identifier: Apache-2.0
"""From raw numbers to physical units: the mathematics of include/ringmaster/calibration.h, on whole windows at once.

Streams use it by themselves (``stream.read(turn, 1000, physical=True)``); a Calibration in hand also converts what was
recorded::

    calibration = ws.streams["bpm01/turn"].calibration
    calibration.apply({"x1": x1, "y1": y1})["x1"]  # in calibration.unit("x1")
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ringmaster.errors import WorkspaceVersion
from ringmaster.fabric.layout import LANES

VERSION = 1
ORDERS = ("k10", "k30", "k12", "k50", "k32", "k14")
"""Of the pick-up's polynomial: first the power of the plane's own position, then that of the other plane's."""

_PLANE = np.dtype([("k", "<f8", (len(ORDERS),)), ("electrical_offset", "<f8"), ("mechanical_offset", "<f8")])
_BPM = np.dtype(
    [("x_lane", "<f8"), ("y_lane", "<f8"), ("roll_rad", "<f8"), ("reserved", "<f8"), ("x", _PLANE), ("y", _PLANE)]
)
LAYOUT = np.dtype(
    [
        ("version", "<f8"),
        ("bpm_count", "<f8"),
        ("calibrated_lanes", "<f8"),
        ("reserved", "<f8"),
        ("lane", "<f8", (LANES, 4)),
        ("bpm", _BPM, (LANES // 2,)),
    ]
)
"""struct rm_calibration."""
VALUES = LAYOUT.itemsize // 8

Numbers = npt.NDArray[np.floating] | npt.NDArray[np.integer]
F64 = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Units:
    """Of one lane."""

    raw: str
    physical: str
    """The same as ``raw`` for a lane that is not calibrated."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """What turns one instrument's raw numbers into physical units."""

    values: F64
    """Shape (172,): struct rm_calibration."""
    units: Mapping[str, Units]
    """By the names of the instrument's lanes, in the order of its records."""

    def __post_init__(self) -> None:
        if not _is_good(self.values, len(self.units)):
            raise WorkspaceVersion(
                f"no calibration of version {VERSION}, which is {VALUES} finite numbers; use the package that came "
                f"with the server"
            )

    @cached_property
    def _struct(self) -> np.void:
        struct: np.void = np.ascontiguousarray(self.values, "<f8").view(LAYOUT)[0]
        return struct

    @cached_property
    def lanes(self) -> tuple[str, ...]:
        """The lanes that are calibrated; all others stay as they are."""
        return tuple(lane for i, lane in enumerate(self.units) if int(self._struct["calibrated_lanes"]) >> i & 1)

    def unit(self, lane: str) -> str:
        """The unit of a lane once converted."""
        return self.units[lane].physical

    def apply(self, raw: Mapping[str, Numbers]) -> dict[str, F64]:
        """The calibrated ones of these lanes in physical units, as f8; equal shapes in, the same shape out.

        Both lanes of a BPM are needed. Raises ValueError when only one is given.
        """
        names = list(self.units)
        lanes = [lane for lane in self.lanes if lane in raw]
        done = {lane: self._polynomial(names.index(lane), raw[lane]) for lane in lanes}
        for bpm in self._struct["bpm"][: int(self._struct["bpm_count"])]:
            x, y = names[int(bpm["x_lane"])], names[int(bpm["y_lane"])]
            if x in done and y in done:
                done[x], done[y] = _geometry(bpm, done[x], done[y])
            elif x in done or y in done:
                raise ValueError(f"{x} and {y} are one BPM: both are needed to convert either")
        return done

    def _polynomial(self, index: int, raw: Numbers) -> F64:
        r = np.asarray(raw, np.float64)
        c0, c1, c2, c3 = self._struct["lane"][index]
        result: F64 = c0 + r * (c1 + r * (c2 + r * c3))
        return result

    def describe(self) -> dict[str, Any]:
        """All coefficients that are not those of the identity, by name, for people and JSON."""
        names = list(self.units)
        plain: dict[str, Any] = {}
        for lane in self.lanes:
            c = self._struct["lane"][names.index(lane)]
            coefficients = dict(zip(("offset", "gain", "c2", "c3"), c.tolist(), strict=True))
            plain[lane] = {"raw_unit": self.units[lane].raw, "unit": self.unit(lane)} | coefficients
        for bpm in self._struct["bpm"][: int(self._struct["bpm_count"])]:
            for plane in ("x", "y"):
                lane = names[int(bpm[f"{plane}_lane"])]
                if lane in plain:
                    plain[lane] |= _describe_plane(bpm, plane)
        return plain


def _is_good(values: F64, lanes: int) -> bool:
    if values.shape != (VALUES,) or not np.isfinite(values).all() or values[0] != VERSION:
        return False
    struct = np.ascontiguousarray(values, "<f8").view(LAYOUT)[0]
    count, mask = float(struct["bpm_count"]), float(struct["calibrated_lanes"])
    if count not in range(LANES // 2 + 1) or not mask.is_integer() or not 0 <= mask < 1 << lanes:
        return False
    places = [(float(bpm["x_lane"]), float(bpm["y_lane"])) for bpm in struct["bpm"][: int(count)]]
    return all(x in range(lanes) and y in range(lanes) and x != y for x, y in places)


def _geometry(bpm: np.void, x: F64, y: F64) -> tuple[F64, F64]:
    """Steps 2 to 5 of one BPM."""
    x, y = _straighten(bpm["x"], x, y), _straighten(bpm["y"], y, x)
    cosine, sine = np.cos(bpm["roll_rad"]), np.sin(bpm["roll_rad"])
    turned = x * cosine - y * sine, x * sine + y * cosine
    return turned[0] - bpm["x"]["mechanical_offset"], turned[1] - bpm["y"]["mechanical_offset"]


def _straighten(plane: np.void, own: F64, other: F64) -> F64:
    k10, k30, k12, k50, k32, k14 = plane["k"]
    own2, other2 = own * own, other * other
    factor = k10 + own2 * (k30 + own2 * k50 + other2 * k32) + other2 * (k12 + other2 * k14)
    result: F64 = own * factor - plane["electrical_offset"]
    return result


def _describe_plane(bpm: np.void, plane: str) -> dict[str, float]:
    values = bpm[plane]
    orders = dict(zip(ORDERS, values["k"].tolist(), strict=True))
    offsets = {name: float(values[name]) for name in ("electrical_offset", "mechanical_offset")}
    return orders | offsets | {"roll_rad": float(bpm["roll_rad"])}


def read_units(text: str) -> dict[str, Units]:
    """The text "calibration/INSTRUMENT/units": lane, raw and physical unit, with tabs between, a line for each lane."""
    rows = [line.split("\t") for line in text.splitlines()]
    return {row[0]: Units(row[1], row[2]) for row in rows if len(row) == 3}


def write_units(units: Mapping[str, Units]) -> str:
    """The same text again."""
    return "".join(f"{lane}\t{unit.raw}\t{unit.physical}\n" for lane, unit in units.items())
