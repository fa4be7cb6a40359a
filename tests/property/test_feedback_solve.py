# SPDX-License-Identifier: Apache-2.0
"""The feedback's regularised pseudo-inverse is the one that NumPy's own decomposition gives.

Needs build/tests/property/libproperty_feedback_solve.so; $BUILD_DIR names another build.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from cffi import FFI
from hypothesis import given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / os.environ.get("BUILD_DIR", "build") / "tests/property/libproperty_feedback_solve.so"

ffi = FFI()
ffi.cdef("""
struct feedback_problem {
    uint32_t rows, columns;
    double const *response, *row_weight, *column_weight, *dispersion;
    uint32_t modes;
    double tikhonov;
    bool per_corrector;
};
int property_feedback_solve(struct feedback_problem const *problem, double *inverse, double *spectrum, double *gain);
""")
library: Any = ffi.dlopen(str(LIBRARY))

Matrix = npt.NDArray[np.float64]


def address(array: Matrix) -> Any:
    return ffi.cast("double *", array.ctypes.data)


def reference(
    response: Matrix, rows: Matrix, columns: Matrix, dispersion: Matrix | None, modes: int, tikhonov: float
) -> tuple[Matrix, Matrix, Matrix]:
    """Inverse, singular values and gains, by the formulas of solve.h and NumPy."""
    weighted = response
    if dispersion is not None:
        inverse_dispersion = dispersion * rows**2 / (dispersion**2 @ rows**2)
        weighted = response - np.outer(dispersion, inverse_dispersion @ response)
    weighted = rows[:, np.newaxis] * weighted * columns
    inside = np.ix_(rows > 0, columns > 0)
    u, s, vt = np.linalg.svd(weighted[inside], full_matrices=False)
    kept = int(np.count_nonzero(s > 1e-9 * s[0]))
    kept = min(kept, modes) if modes else kept
    gain = s[:kept] ** 2 / (s[:kept] ** 2 + (tikhonov * s[0]) ** 2)
    inverse = np.zeros(response.shape[::-1])
    inverse[np.ix_(columns > 0, rows > 0)] = (vt[:kept].T * (gain / s[:kept])) @ u[:, :kept].T
    return columns[:, np.newaxis] * inverse * rows, s, gain


@settings(deadline=None)
@given(
    shape=st.tuples(st.integers(2, 24), st.integers(2, 24)),
    seed=st.integers(0, 2**32 - 1),
    modes=st.integers(0, 12),
    tikhonov=st.sampled_from([0.0, 1e-3, 0.05, 1.0]),
    per_corrector=st.booleans(),
    projects=st.booleans(),
    masks=st.floats(0, 0.5),
)
def test_is_numpys_pseudo_inverse(
    shape: tuple[int, int],
    seed: int,
    modes: int,
    tikhonov: float,
    per_corrector: bool,
    projects: bool,
    masks: float,
) -> None:
    random = np.random.default_rng(seed)
    rows, columns = shape
    response = random.normal(size=shape) * 10 ** random.uniform(0, 5)
    row_weight = random.uniform(0.2, 2, rows) * (random.random(rows) >= masks)
    column_weight = random.uniform(0.2, 2, columns) * (random.random(columns) >= masks)
    row_weight[:2], column_weight[0] = 1, 1
    dispersion = random.normal(size=rows) * 100 if projects else None
    expected, spectrum, gain = reference(response, row_weight, column_weight, dispersion, modes, tikhonov)

    found = np.full((columns, rows), np.nan)
    found_spectrum, found_gain = np.full(len(spectrum), np.nan), np.full(max(shape), np.nan)
    problem: Any = ffi.new("struct feedback_problem *")
    problem.rows, problem.columns = rows, columns
    problem.response, problem.row_weight = address(response), address(row_weight)
    problem.column_weight = address(column_weight)
    problem.dispersion = ffi.NULL if dispersion is None else address(dispersion)
    problem.modes, problem.tikhonov, problem.per_corrector = modes, tikhonov, per_corrector
    count = library.property_feedback_solve(problem, address(found), address(found_spectrum), address(found_gain))

    assert count == len(gain)
    np.testing.assert_allclose(found_spectrum, spectrum, atol=1e-10 * spectrum[0])
    np.testing.assert_allclose(
        found, expected, rtol=0, atol=1e-7 * np.abs(expected).max() * spectrum[0] / spectrum[count - 1]
    )
    if not per_corrector:
        np.testing.assert_allclose(found_gain[:count], gain, atol=1e-9)
    assert not found[:, row_weight == 0].any()
    assert not found[column_weight == 0].any()
