# SPDX-License-Identifier: Apache-2.0
"""Readers in C and in Python convert alike, whatever the coefficients are.

Needs the library that readers link, below $BUILD_DIR (default: build).
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
from cffi import FFI
from hypothesis import given, settings
from hypothesis import strategies as st

from ringmaster.fabric.calibration import LAYOUT, VALUES, Calibration, Units

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / os.environ.get("BUILD_DIR", "build") / "src/fabric/libringmaster.so"
LANES = ("x1", "y1", "loss", "x2", "y2")

ffi = FFI()
ffi.cdef("""
void rm_calibrate(double const *calibration, void const *record, void const *lanes, double *out);
bool rm_calibration_is_good(double const *calibration);
void rm_calibration_identity(double *calibration, void const *lanes, uint32_t lane_count);
""")
library: Any = ffi.dlopen(str(LIBRARY))

LANE_INFO = np.dtype(
    {"names": ["name", "type"], "formats": ["S16", "<u4"], "offsets": [0, 32], "itemsize": 64}
)  # struct rm_lane_info
lanes = np.zeros(12, LANE_INFO)
for i, lane in enumerate(LANES):
    lanes[i] = (lane, 1)

small = st.floats(-1, 1)


def address(array: np.ndarray[Any, Any], kind: str = "void *") -> Any:
    return ffi.cast(kind, array.ctypes.data)


@settings(deadline=None)
@given(st.lists(small, min_size=VALUES, max_size=VALUES), st.lists(st.integers(-9, 9), min_size=5, max_size=5))
def test_c_and_python_agree(coefficients: list[float], raw: list[int]) -> None:
    values = np.zeros(VALUES)
    library.rm_calibration_identity(address(values, "double *"), address(lanes), len(LANES))
    identity = values.view(LAYOUT)[0].copy()
    values[:] = coefficients
    calibration = values.view(LAYOUT)[0]
    for member in ("version", "bpm_count"):
        calibration[member] = identity[member]
    calibration["bpm"]["x_lane"], calibration["bpm"]["y_lane"] = identity["bpm"]["x_lane"], identity["bpm"]["y_lane"]
    calibration["calibrated_lanes"] = 0b11111
    assert library.rm_calibration_is_good(address(values, "double *"))
    record = np.zeros(16, "<i4")
    record[4 : 4 + len(LANES)] = raw
    out = np.zeros(12)
    library.rm_calibrate(address(values, "double *"), address(record), address(lanes), address(out, "double *"))
    units = dict.fromkeys(LANES, Units("nm", "mm"))
    found = Calibration(values, units).apply({lane: np.array([raw[i]]) for i, lane in enumerate(LANES)})
    assert np.allclose([found[lane][0] for lane in LANES], out[: len(LANES)], rtol=1e-12, atol=1e-9)
