# SPDX-License-Identifier: Apache-2.0
"""The feedback's law in C does what Python predicts, whatever plant and tuning are.

Needs the library of this folder, below $BUILD_DIR (default: build).
"""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cffi import FFI
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ringmaster.feedback.law import Law, Plant, Resonator, Tuning
from ringmaster.feedback.predict import is_stable

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / os.environ.get("BUILD_DIR", "build") / "tests/property/libproperty_feedback_law.so"
LINES_MAX = 16
HZ = (0.5, 20.0, 49.97, 99.0, 333.0, 1500.0, 4000.0)

ffi = FFI()
ffi.cdef("""
struct property_design {
    double rate_hz, bandwidth_hz, second_hz, delay_s;
    double proportional, integral_hz;
    uint32_t predicts, lines;
    double hz[16], width_hz[16], leak_hz[16];
};
void property_feedback_response(struct property_design const *design, double scale, double hz, double *plant,
                                double *law, double *sensitivity);
uint32_t property_feedback_run(struct property_design const *design, double gain, uint32_t cycles,
                               double const *disturbance, double const *impulse, uint32_t length, double *error);
""")
library: Any = ffi.dlopen(str(LIBRARY))

rates = st.sampled_from([9641.67, 10_000.0, 96_416.7])
bandwidths = st.one_of(st.just(0.0), st.floats(100, 8000))
plants = st.builds(Plant, rates, bandwidths, bandwidths, st.floats(0, 6e-4)).filter(
    lambda plant: (
        abs(plant.bandwidth_hz - plant.second_hz) > 0.01 * plant.bandwidth_hz  # C draws them apart
        or plant.bandwidth_hz == 0
    )
)
lines = st.lists(st.sampled_from([50.0, 100.0, 150.0, 300.0, 900.0]), max_size=4, unique=True).map(
    lambda chosen: tuple(Resonator(hz, 0.0125 * hz, 5e-5 * hz) for hz in chosen)
)
tunings = st.builds(Tuning, st.floats(0, 1), st.floats(1, 300), st.booleans(), lines)


def design(law: Law) -> Any:
    tuning = law.tuning
    padded = [tuple(getattr(r, name) for r in tuning.resonators) for name in ("hz", "width_hz", "leak_hz")]
    return ffi.new(
        "struct property_design *",
        {
            **vars(law.plant),
            "proportional": tuning.proportional,
            "integral_hz": tuning.integral_hz,
            "predicts": tuning.predicts,
            "lines": len(tuning.resonators),
            **dict(zip(("hz", "width_hz", "leak_hz"), padded, strict=True)),
        },
    )


def number(pair: Any) -> complex:
    return complex(pair[0], pair[1])


@settings(deadline=None)
@given(plants, tunings, st.floats(0.998, 1.002))
@example(Plant(10_000.0, delay_s=6e-4), Tuning(0.0, 1.0), 1.0)  # 5.999999999999999 cycles
def test_responses_agree(plant: Plant, tuning: Tuning, scale: float) -> None:
    law = Law(plant, tuning, scale)
    for hz in HZ:
        out = [ffi.new("double[2]") for _ in range(3)]
        library.property_feedback_response(design(law), scale, hz, *out)
        assert number(out[0]) == pytest.approx(complex(plant.response(hz)), rel=1e-6, abs=1e-9)
        assert number(out[1]) == pytest.approx(complex(law.controller(hz)), rel=1e-5, abs=1e-9)
        assert number(out[2]) == pytest.approx(complex(law.sensitivity(hz)), rel=1e-5, abs=1e-9)


def impulse(plant: Plant) -> np.ndarray[Any, Any]:
    """What an output of 1 in one cycle does in the following ones: the inverse transform of the response."""
    count = 4096
    hz = np.arange(count // 2 + 1) * plant.rate_hz / count
    return np.fft.irfft(plant.response(hz))[1:]


@settings(deadline=None, max_examples=30)
@given(plants, tunings, st.floats(0.2, 1.0), st.sampled_from([37.0, 140.0, 700.0]))
def test_the_controllers_in_a_loop_does_what_is_predicted(plant: Plant, tuning: Tuning, gain: float, hz: float) -> None:
    """In time: a sine disturbs a loop around the real states, until what was at first has died away."""
    plant = replace(plant, bandwidth_hz=max(plant.bandwidth_hz, 300.0), second_hz=0.0)
    tuning = replace(
        tuning,
        integral_hz=max(tuning.integral_hz, 30.0),
        proportional=0.2 * tuning.proportional,
        resonators=tuple(replace(one, leak_hz=0.2 * one.width_hz) for one in tuning.resonators),
    )
    law = Law(plant, tuning)
    if not is_stable(law, gain=1.3 * gain):
        return
    cycles = int(2.0 * plant.rate_hz)
    time = np.arange(cycles) / plant.rate_hz
    disturbance = np.sin(2 * np.pi * hz * time)
    response = impulse(plant)[:1024]  # twenty times the slowest pole, at the highest rate
    error = np.zeros(cycles)
    arrays = [ffi.cast("double *", array.ctypes.data) for array in (disturbance, response, error)]
    done = library.property_feedback_run(design(law), gain, cycles, arrays[0], arrays[1], len(response), arrays[2])
    assert done == cycles
    last = slice(cycles - int(0.5 * plant.rate_hz), cycles)
    basis = np.exp(-2j * np.pi * hz * time[last]) * np.hanning(last.stop - last.start)
    found = np.sum(error[last] * basis) / np.sum(disturbance[last] * basis)
    assert abs(found) == pytest.approx(float(np.abs(law.sensitivity(hz, gain=gain))), abs=0.01)
