# SPDX-License-Identifier: Apache-2.0
"""What `ringmaster tune` makes of numbers: lock-in, the window's attenuation, damping, lines and closest approach."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.signal import lfilter

from ringmaster.moving.lockin import by_period, response
from ringmaster.places import CONFIGS
from ringmaster.tune import synchrotron
from ringmaster.tune.coupling import OneLine, fit_approach, two_lines
from ringmaster.tune.damping import Damping, measure
from ringmaster.tune.model import expect
from ringmaster.tune.window import attenuation

Floats = NDArray[np.float64]
PERIOD_TURNS = 5000.0
PERIODS = 20
DAMPING_TURNS, SYNCHROTRON_TUNE = 3000.0, 0.0025


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


def kicked(rng: np.random.Generator, fades: Floats | float = 1.0) -> tuple[Floats, int]:
    """Eight BPMs of 0.5 µm noise; a beam that noise drives, 2 µm RMS; a kick of 150 µm after eight damping times."""
    kick, turns = int(8 * DAMPING_TURNS), int(4 * DAMPING_TURNS)
    step = np.exp(-1 / DAMPING_TURNS + 2j * np.pi * 0.3)
    white = rng.standard_normal(kick + turns) + 1j * rng.standard_normal(kick + turns)
    driven = lfilter([1.0], [1.0, -step], 2.0 * np.sqrt(1 - abs(step) ** 2) * white)
    free = 150.0 * step ** np.arange(turns) * fades
    motion = driven + np.concatenate([np.zeros(kick), free])
    phase = np.exp(1j * rng.uniform(0, 6.28, 8))
    signals = (phase[:, None] * motion).real + 0.5 * rng.standard_normal((8, kick + turns)) + 30
    signals[:, rng.integers(0, kick + turns, 300)] = np.nan
    return signals, kick


def damping_of(rng: np.random.Generator, fades: Floats | float = 1.0) -> Damping:
    return measure(*kicked(rng, fades), 33.3, DAMPING_TURNS, SYNCHROTRON_TUNE)


def test_a_damping_time_comes_with_an_error_that_is_its_scatter() -> None:
    rng = np.random.default_rng(3)
    found = [damping_of(rng) for _ in range(30)]
    pulls = np.array([(one.turns.value - DAMPING_TURNS) / one.turns.sigma for one in found])
    assert np.mean([one.turns.sigma for one in found]) < 0.03 * DAMPING_TURNS
    assert abs(pulls.mean()) < 5 / np.sqrt(len(pulls))
    assert 0.6 < pulls.std() < 1.5
    assert not any(one.bend.is_seen or one.breathing.is_seen for one in found)


def test_decoherence_is_told_from_damping() -> None:
    """By its bend where the amplitude makes it, by its breathing where chromaticity does."""
    rng = np.random.default_rng(4)
    turn = np.arange(4 * DAMPING_TURNS)
    bent = damping_of(rng, np.exp(-((turn / 5000) ** 2)))
    assert bent.bend.is_seen
    assert bent.bend.value < 0
    assert not bent.breathing.is_seen
    breathes = damping_of(rng, np.exp(-0.2 * np.sin(np.pi * SYNCHROTRON_TUNE * turn) ** 2))
    assert breathes.breathing.is_seen
    assert breathes.breathing.value == pytest.approx(0.1, rel=0.2)
    assert not breathes.bend.is_seen


def test_a_plane_without_a_kick_has_no_damping_time() -> None:
    rng = np.random.default_rng(5)
    with pytest.raises(ValueError, match=r"no BPM shows a line|above 4 times the noise"):
        measure(rng.standard_normal((8, 30_000)), 12_000, 9.17, 3000.0, SYNCHROTRON_TUNE)


def test_too_few_turns_before_a_kick_are_refused() -> None:
    with pytest.raises(ValueError, match="4000 turns before the kick and 25936 after it; it takes 9000"):
        measure(np.zeros((8, 30_000)), 4000, 9.17, 3000.0, SYNCHROTRON_TUNE)


def swinging(rng: np.random.Generator, tune: float, damping_turns: float, turns: int = 120_000) -> Floats:
    """An energy that noise drives, in white noise."""
    step = np.exp(-1 / damping_turns + 2j * np.pi * tune)
    driven = lfilter([1.0], [1.0, -step], rng.standard_normal(turns) + 1j * rng.standard_normal(turns))
    return np.asarray(driven.real / np.std(driven.real) + 2 * rng.standard_normal(turns))


def test_a_synchrotron_tune_comes_with_an_error_that_is_its_scatter() -> None:
    rng = np.random.default_rng(6)
    found = [synchrotron.find("δ", swinging(rng, 0.0026, 3000.0), "", 0.0025, 3000.0) for _ in range(40)]
    pulls = np.array([(one.tune - 0.0026) / one.sigma for one in found])
    assert np.mean([one.sigma for one in found]) < 0.01 * 0.0026
    assert abs(pulls.mean()) < 5 / np.sqrt(len(pulls))
    assert 0.7 < pulls.std() < 1.4
    times = np.array([(one.damping_turns - 3000) / one.damping_sigma for one in found])
    assert 0.6 < times.std() < 1.5
    assert np.mean([one.rms for one in found]) == pytest.approx(1.0, abs=0.15)


def test_no_synchrotron_line_is_no_tune() -> None:
    rng = np.random.default_rng(7)
    with pytest.raises(ValueError, match="no synchrotron line between"):
        synchrotron.find("δ", rng.standard_normal(100_000), "", 0.0025, 3000.0)


def test_a_voltage_makes_its_tune() -> None:
    found = expect("elettra2_like", CONFIGS / "mappings/tune-lattice.yaml")
    assert found.cavities is not None
    assert found.cavities.voltage_of(found.synchrotron_tune) == pytest.approx(found.cavities.voltage_v, rel=1e-3)
    assert found.rf_hz_per_delta * 8e-5 == pytest.approx(-4.61, abs=0.01)


def test_a_closest_approach_comes_with_an_error_that_is_its_scatter() -> None:
    rng = np.random.default_rng(8)
    offset = np.linspace(-2.8, -2.2, 11)
    free = 0.05 * (offset + 2.5) + 0.01 * (offset + 2.5) ** 2
    apart = np.hypot(free, 4e-3)
    sigma = 2e-5
    pulls = []
    for _ in range(60):
        tunes = 0.22 + np.stack([-apart / 2, apart / 2], axis=1) + sigma * rng.standard_normal((11, 2))
        value, error, centre, slope, _ = fit_approach(offset, tunes, np.full((11, 2), sigma))
        pulls.append((value - 4e-3) / error)
    assert error < 4 * sigma
    assert abs(np.mean(pulls)) < 5 / np.sqrt(len(pulls))
    assert 0.6 < np.std(pulls) < 1.2  # a scatter that is too small by chance does not make the error smaller
    assert centre == pytest.approx(-2.5, abs=0.01)
    assert slope == pytest.approx(0.05, rel=0.02)


def test_two_lines_are_told_apart_and_one_is_told() -> None:
    rng = np.random.default_rng(9)
    turn = np.arange(16384)
    line = np.cos(2 * np.pi * 0.2203 * turn)
    both = np.array([line + 0.5 * np.cos(2 * np.pi * 0.2243 * turn), line + 0.1 * rng.standard_normal(len(turn))])
    assert two_lines(both + 0.1 * rng.standard_normal(both.shape), (0.22, 0.225)) == pytest.approx(
        [0.2203, 0.2243], abs=1e-5
    )
    with pytest.raises(OneLine, match="fewer than two lines within 0.03"):
        two_lines(line[None] + 0.1 * rng.standard_normal((1, len(turn))), (0.22, 0.225))
