# SPDX-License-Identifier: Apache-2.0
"""The recorder's reductions: smallest, mean, largest value and standard deviation as NumPy has them.

Hypothesis makes up lanes of integers and of floats, far from zero too, with records missing, gathered in parts of any
size. Needs the library that Meson builds from archive/record, below $BUILD_DIR (default: build).
"""

import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from cffi import FFI
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / os.environ.get("BUILD_DIR", "build") / "tests/property/libproperty_statistics.so"
LANES = 12
DECLARATION = """
void property_statistics(int32_t const *lanes, uint8_t const *present, uint32_t records, uint32_t part,
    uint32_t lane_count, uint32_t floats, float *values);
"""


@cache
def ffi() -> FFI:
    declared = FFI()
    declared.cdef(DECLARATION)
    return declared


@cache
def library() -> Any:
    return ffi().dlopen(str(LIBRARY))


def reduced(
    bits: NDArray[np.int32], present: NDArray[np.uint8], part: int, lanes: int, floats: int
) -> NDArray[np.float32]:
    """Four numbers for each lane."""
    values = np.zeros((lanes, 4), np.float32)
    library().property_statistics(
        ffi().from_buffer("int32_t[]", np.ascontiguousarray(bits).data),
        ffi().from_buffer("uint8_t[]", np.ascontiguousarray(present).data),
        len(present),
        part,
        lanes,
        floats,
        ffi().from_buffer("float[]", values.data, require_writable=True),
    )
    return values


@settings(max_examples=200, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    records=st.integers(0, 400),
    part=st.integers(1, 150),
    lanes=st.integers(1, LANES),
    floats=st.integers(0, 2**LANES - 1),
    center=st.sampled_from([0, 7, -1000, 10**6, -(2**30), 2**31 - 2000]),
    spread=st.sampled_from([0, 1, 50, 1500]),
    loss=st.sampled_from([0.0, 0.1, 0.9, 1.0]),
)
def test_as_numpy_has_it(
    seed: int, records: int, part: int, lanes: int, floats: int, center: int, spread: int, loss: float
) -> None:
    random = np.random.default_rng(seed)
    whole = (center + random.integers(-spread, spread + 1, (records, LANES))).astype(np.int32)
    number = whole.astype(np.float32) + random.normal(0, 0.25, (records, LANES)).astype(np.float32)
    is_float = np.array([floats >> lane & 1 for lane in range(LANES)], bool)
    bits = np.where(is_float, number.view(np.int32), whole)
    present = (random.random(records) >= loss).astype(np.uint8)
    values = reduced(bits, present, part, lanes, floats)
    there = np.where(is_float, number.astype(float), whole.astype(float))[present > 0, :lanes]
    if len(there) == 0:
        assert np.isnan(values).all()
        return
    assert (values[:, 0] == there.min(0).astype(np.float32)).all()
    assert (values[:, 2] == there.max(0).astype(np.float32)).all()
    np.testing.assert_allclose(values[:, 1], there.mean(0), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(values[:, 3], there.std(0), rtol=1e-5, atol=1e-5)
