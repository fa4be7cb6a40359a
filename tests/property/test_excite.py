# SPDX-License-Identifier: Apache-2.0
"""The sines of excite beside NumPy's: whatever steps are made or left out, and for hours.

Needs the library that Meson builds from apps/excite, below $BUILD_DIR (default: build).
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
from cffi import FFI
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / os.environ.get("BUILD_DIR", "build") / "tests/property/libproperty_excite.so"
STEP_S = 120 / 1157000

ffi = FFI()
ffi.cdef("""
void property_sines(double const *amplitude, double const *hz, double const *phase, uint32_t count, double step_s,
                    uint64_t const *step, uint32_t steps, double *value);
double property_curve(double share);
double property_steepest(double amplitude, double hz, double step_s);
""")
library: Any = ffi.dlopen(str(LIBRARY))

sines = st.lists(
    st.tuples(st.floats(-10, 10), st.floats(0, 0.5 / STEP_S), st.floats(-10, 10)), min_size=1, max_size=200
)
gaps = st.lists(st.one_of(st.just(1), st.integers(1, 3), st.integers(1, 10**6)), min_size=1, max_size=400)


def address(array: NDArray[Any], kind: str) -> Any:
    return ffi.cast(f"{kind} *", array.ctypes.data)


def law(given_sines: NDArray[np.float64], step: NDArray[np.uint64]) -> NDArray[np.float64]:
    columns = [np.ascontiguousarray(given_sines[:, i]) for i in range(3)]
    value = np.zeros((len(step), len(given_sines)))
    library.property_sines(
        *(address(column, "double") for column in columns),
        len(given_sines),
        STEP_S,
        address(step, "uint64_t"),
        len(step),
        address(value, "double"),
    )
    return value


@settings(deadline=None, max_examples=60)
@given(sines, gaps)
def test_sines_are_numpys(wanted: list[tuple[float, float, float]], steps: list[int]) -> None:
    given_sines, step = np.array(wanted), np.cumsum(np.array(steps, np.uint64) - np.uint64(steps[0] == 1))
    amplitude, hz, phase = given_sines.T
    periods = hz * (step[:, None].astype(float) * STEP_S)
    expected = amplitude * np.sin(2 * np.pi * (periods % 1) + phase)
    rounding = 1e-12 + 4 * np.spacing(periods) * 2 * np.pi  # of the time itself, in double precision
    assert np.all(np.abs(law(given_sines, step) - expected) <= np.abs(amplitude) * rounding)


@settings(deadline=None)
@given(st.floats(0.01, 10), st.floats(0, 0.5 / STEP_S), st.floats(-4, 4))
def test_no_step_is_steeper_than_is_said(amplitude: float, hz: float, phase: float) -> None:
    value = law(np.array([[amplitude, hz, phase]]), np.arange(300, dtype=np.uint64))[:, 0]
    assert np.max(np.abs(np.diff(value))) <= library.property_steepest(amplitude, hz, STEP_S) * (1 + 1e-9) + 1e-12


@settings(deadline=None)
@given(st.floats(-1, 2), st.floats(-1, 2))
def test_a_curve_only_rises(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 0 <= library.property_curve(low) <= library.property_curve(high) <= 1
    assert abs(library.property_curve(one) + library.property_curve(1 - one) - 1) < 1e-12
