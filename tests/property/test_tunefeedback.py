# SPDX-License-Identifier: Apache-2.0
"""The law of the tune feedback around a model of what a tune is: a mean over a window, half a window late.

The model knows nothing of frequencies: it weights the tunes of the window's steps. So the margins and the sensitivity,
which the law computes from responses, are compared with loops that run.

Needs the library that Meson builds from apps/tunefeedback, below $BUILD_DIR (default: build).
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cffi import FFI
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / os.environ.get("BUILD_DIR", "build") / "tests/property/libproperty_tunefeedback.so"
RATE_HZ = 1e6
PERIOD_TURNS = 500
STEP_S = PERIOD_TURNS / RATE_HZ
NO_LIMIT = 1e30
PARTS = 64
"""Of a step, for the weights."""

ffi = FFI()
ffi.cdef("""
void *property_integrator(double const matrix[4], double const limits[7]);
bool property_step(void *integrator, double const error[2], double gain, double offset[2]);
void property_margins(double const plant[4], bool is_hann, double integral_hz, double told[2]);
double property_sensitivity(double const plant[4], bool is_hann, double integral_hz, double hz);
void free(void *);
""")
library: Any = ffi.dlopen(str(LIBRARY))

Floats = NDArray[np.float64]
windows = st.tuples(st.integers(10, 24), st.booleans())
"""Steps in a window, and whether it is Hann's."""
matrices = st.tuples(*(st.floats(0.2, 1.0) for _ in range(4))).map(
    lambda m: np.array([[m[0] + 1.0, -m[1]], [-m[2], m[3] + 1.0]]) * 1e-3
)


def weights(steps: int, is_hann: bool) -> Floats:
    """Of the tunes of a window's steps in the slope of its phase, newest first."""
    t = (np.arange(steps * PARTS) + 0.5) / (steps * PARTS) - 0.5
    window = 1 + np.cos(2 * np.pi * t) if is_hann else np.ones_like(t)
    kernel = -np.cumsum(t * window).reshape(steps, PARTS).mean(axis=1)
    return np.asarray(kernel / kernel.sum())


def plant_of(steps: int) -> list[float]:
    return [RATE_HZ, steps * PERIOD_TURNS, STEP_S, 0.0]


def margins(steps: int, is_hann: bool, integral_hz: float) -> tuple[float, float]:
    told = ffi.new("double[2]")
    library.property_margins(plant_of(steps), is_hann, integral_hz, told)
    return told[0], told[1]


def run(
    natural: Floats, matrix: Floats, window: tuple[int, bool], integral_hz: float, gain: float = 1.0, **limits: Any
) -> tuple[Floats, Floats]:
    """The machine's tunes, and the families' offsets, at each step. ``natural`` has shape (steps, 2).

    The machine's matrix is ``matrix``; the law believes in ``error`` times that.
    """
    share = 2 * np.pi * integral_hz * STEP_S
    step, excursion = limits.get("step_a", NO_LIMIT), limits.get("excursion_a", NO_LIMIT)
    both = [share] + 2 * [step, -excursion, excursion]
    believed = limits.get("error", 1.0) * matrix
    integrator = ffi.gc(library.property_integrator(believed.ravel().tolist(), both), library.free)
    weight = weights(*window)
    tunes, offsets = natural.copy(), np.zeros_like(natural)
    offset = ffi.new("double[2]")
    for n in range(len(natural)):
        if n > 0:
            tunes[n] += matrix @ offsets[n - 1]
        seen = weight[: n + 1] @ tunes[n - len(weight) : n][::-1] if n >= len(weight) else np.zeros(2)
        library.property_step(integrator, (-seen).tolist(), gain, offset)
        offsets[n] = list(offset)
    return tunes, offsets


def step_disturbance(steps: int) -> Floats:
    return np.tile([1e-3, -5e-4], (steps, 1))


@settings(max_examples=25, deadline=None)
@given(window=windows, matrix=matrices)
def test_the_gain_margin_is_where_a_loop_begins_to_grow(window: tuple[int, bool], matrix: Floats) -> None:
    margin, _ = margins(*window, 1.0)
    for share, grows in ((0.85, False), (1.15, True)):
        tunes, _ = run(step_disturbance(120 * window[0]), matrix, window, 1.0, gain=share * margin)
        sizes = [np.abs(part).max() for part in np.array_split(tunes, 4)]
        assert (sizes[3] > sizes[1]) == grows, (margin, share, sizes)


@settings(max_examples=25, deadline=None)
@given(window=windows, matrix=matrices, part=st.floats(0.05, 0.4), place=st.floats(0.1, 2.0))
def test_a_ripple_comes_out_as_the_sensitivity_says(
    window: tuple[int, bool], matrix: Floats, part: float, place: float
) -> None:
    """``part`` of the gain that would be unstable; ``place`` is the ripple's periods in a window."""
    margin, _ = margins(*window, 1.0)
    hz, integral_hz = place / (window[0] * STEP_S), part * margin
    settles = int(12 / (2 * np.pi * integral_hz * STEP_S))
    seen = int(np.ceil(20 / (hz * STEP_S)))
    t = (np.arange(settles + seen) + 0.5) * STEP_S
    natural = 1e-4 * np.outer(np.sin(2 * np.pi * hz * t), [1.0, -0.5])
    tunes, _ = run(natural, matrix, window, integral_hz)
    line = np.exp(-2j * np.pi * hz * t[settles:])
    gain = abs(line @ tunes[settles:]) / abs(line @ natural[settles:])
    expected = library.property_sensitivity(plant_of(window[0]), window[1], integral_hz, hz)
    assert gain == pytest.approx(np.full(2, expected), rel=0.05)
    assert expected <= margins(*window, integral_hz)[1] * 1.001


@settings(max_examples=25, deadline=None)
@given(window=windows, matrix=matrices, error=st.floats(0.7, 1.4))
def test_a_step_is_taken_away_though_the_matrix_is_wrong(
    window: tuple[int, bool], matrix: Floats, error: float
) -> None:
    """By its scale: the loop is slower or faster, and ends where it should."""
    margin, _ = margins(*window, 1.0)
    integral_hz = margin / 20
    settles = int(20 / (2 * np.pi * integral_hz * STEP_S))
    tunes, _ = run(step_disturbance(settles), matrix, window, integral_hz, error=error)
    assert np.abs(tunes[-1]).max() < 1e-3 * np.exp(-10)
    assert np.abs(tunes).max() <= 1e-3


@settings(max_examples=25, deadline=None)
@given(
    window=windows,
    matrix=matrices,
    step_a=st.floats(1e-4, 1e-2),
    excursion_a=st.floats(1e-3, 1.0),
    size=st.floats(1e-4, 1e-2),
)
def test_steps_and_excursions_are_kept(
    window: tuple[int, bool], matrix: Floats, step_a: float, excursion_a: float, size: float
) -> None:
    rng = np.random.default_rng(int(size * 1e9))
    natural = size * np.cumsum(rng.normal(size=(600, 2)), axis=0)
    margin, _ = margins(*window, 1.0)
    _, offsets = run(natural, matrix, window, margin / 3, step_a=step_a, excursion_a=excursion_a)
    assert np.abs(offsets).max() <= excursion_a * (1 + 1e-12)
    assert np.abs(np.diff(offsets, axis=0)).max() <= step_a * (1 + 1e-9)
