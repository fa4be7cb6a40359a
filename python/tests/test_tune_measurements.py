# SPDX-License-Identifier: Apache-2.0
"""What `ringmaster tune` makes of numbers: lock-in, the window's attenuation, damping, lines and closest approach."""

import numpy as np
import pytest

from ringmaster.moving.lockin import by_period, response
from ringmaster.tune.window import attenuation

PERIOD_TURNS = 5000.0
PERIODS = 20


def test_a_lock_in_finds_a_response_in_noise_drift_and_gaps() -> None:
    """The reference is no perfect sine; half of one period is missing."""
    rng = np.random.default_rng(1)
    turn = np.arange(0, int(PERIOD_TURNS * PERIODS), 10)
    reference = np.cos(2 * np.pi * turn / PERIOD_TURNS + 0.1) + 0.05 * np.sin(6 * np.pi * turn / PERIOD_TURNS)
    noise, slope = 0.2, 3.0
    signal = slope * reference + 1e-4 * turn + noise * rng.standard_normal(len(turn))
    good = (turn < 7 * PERIOD_TURNS) | (turn > 7.6 * PERIOD_TURNS)
    known = by_period(turn, reference[None], PERIOD_TURNS, 0, PERIODS)[0]
    found = response(by_period(turn[good], signal[None, good], PERIOD_TURNS, 0, PERIODS)[0], known)
    assert found.periods == PERIODS - 1
    assert found.sigma == pytest.approx(noise * np.sqrt(2 / good.sum()), rel=0.5)
    assert abs(found.value.real - slope) < 5 * found.sigma
    assert abs(found.value.imag) < 5 * found.sigma


def test_the_error_of_a_lock_in_is_the_scatter_of_what_it_says() -> None:
    rng = np.random.default_rng(2)
    turn = np.arange(0, int(PERIOD_TURNS * 8), 50)
    reference = np.cos(2 * np.pi * turn / PERIOD_TURNS)
    known = by_period(turn, reference[None], PERIOD_TURNS, 0, 8)[0]
    said = []
    for _ in range(200):
        signal = reference + rng.standard_normal(len(turn))
        said.append(response(by_period(turn, signal[None], PERIOD_TURNS, 0, 8)[0], known))
    scatter = np.std([one.value.real for one in said])
    assert scatter == pytest.approx(np.sqrt(2 / len(turn)), rel=0.15)
    assert np.sqrt(np.mean([one.sigma**2 for one in said])) == pytest.approx(scatter, rel=0.15)


def test_too_short_a_measurement_says_so() -> None:
    two = np.array([1 + 0j, 1 + 0j])
    with pytest.raises(ValueError, match="2 whole periods came"):
        response(two, two)


@pytest.mark.parametrize(("hz", "left"), [(50.0, 0.937), (100.0, 0.767)])
def test_the_window_leaves_what_the_application_s_law_says(hz: float, left: float) -> None:
    """docs/tune.md: of 8192 turns at 1.157 MHz, Hann's window."""
    assert attenuation(hz / 1.157e6, 8192) == pytest.approx(left, abs=1e-3)
