# SPDX-License-Identifier: Apache-2.0
"""Response by excitation: plans keep their budgets, sines are told from mains, drift and gaps, errors are true."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ringmaster.feedback.law import Plant
from ringmaster.response import closed, crest, plan
from ringmaster.response.analysis import Analysis, Taken, analyse
from ringmaster.response.expected import Expected
from ringmaster.response.frequencies import Mains, choose, window_records
from ringmaster.response.plan import Plan
from ringmaster.response.plants import Family, fitted, response_of
from ringmaster.response.sines import Window, drift

Floats = NDArray[np.float64]
RATE_HZ = 1157000 / 120
SLOW = Family("slow", ("c*",), Plant(RATE_HZ, 300.0, 2000.0, 20e-6))
RF = Family("rf", ("rf",), Plant(RATE_HZ))
NOISE_NM = 200.0


def expected(columns: int = 12, bpms: int = 8, seed: int = 1) -> Expected:
    """A ring of random phases: the first half of the correctors move x, the others y, and the last is the RF."""
    rng = np.random.default_rng(seed)
    rows = tuple(f"bpm{i:02d}/{lane}" for i in range(bpms) for lane in ("x1", "y1"))
    names = (*(f"c{i:02d}" for i in range(columns)), "rf")
    phase, beta = rng.uniform(0, 2 * np.pi, (2, bpms)), rng.uniform(0.5, 2, (2, bpms))
    own = rng.uniform(0, 2 * np.pi, columns)
    matrix = np.zeros((2 * bpms, columns + 1))
    for j in range(columns):
        plane = 0 if j < columns // 2 else 1
        matrix[plane::2, j] = 1e5 * np.sqrt(beta[plane]) * np.cos(phase[plane] - own[j])
    matrix[0::2, -1] = rng.uniform(10, 100, bpms)
    size = np.tile([40e3, 4e3], bpms)
    limit = np.full(columns + 1, 10.0)
    limit[-1] = 1000.0
    slew = np.full(columns + 1, 500.0)
    slew[-1] = 5000.0
    return Expected(RATE_HZ, 120, rows, names, matrix, size, -limit, limit, slew, (SLOW, RF), ("rf", 1.0))


# ---- frequencies


@settings(deadline=None)
@given(
    st.integers(1, 60),
    st.floats(1.0, 12.0),
    st.floats(10.0, 100.0),
    st.floats(40.0, 400.0),
    st.floats(45.0, 65.0),
    st.floats(0.0, 0.003),
)
def test_no_frequency_is_near_the_mains_or_another(
    count: int, seconds: float, low: float, width: float, mains_hz: float, wander: float
) -> None:
    records, mains = window_records(seconds, RATE_HZ), Mains(mains_hz, wander)
    try:
        bins = choose(count, records, RATE_HZ, (low, low + width), mains)
    except ValueError:
        return
    hz = np.array(bins) * RATE_HZ / records
    assert len(bins) == count
    assert (np.diff(bins) >= 2).all()
    assert (hz >= low - 1e-9).all()
    assert (hz <= low + width + 1e-9).all()
    for harmonic in range(1, 12):
        line = harmonic * mains_hz
        assert (np.abs(hz - line) > mains.clear_hz + wander * line).all()


def test_too_few_frequencies_say_how_many_there_are() -> None:
    with pytest.raises(ValueError, match=r"400 supplies need as many frequencies, and 30 to 60 Hz have \d+"):
        choose(400, window_records(10, RATE_HZ), RATE_HZ, (30, 60), Mains())


# ---- plans


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(plan.MODES), st.integers(1, 3), st.integers(1, 50), st.floats(0.02, 500.0))
def test_a_plan_keeps_its_budget_and_the_supplies_limits(mode: str, groups: int, seed: int, slew: float) -> None:
    machine = expected(seed=seed)
    slews = machine.slew.copy()
    slews[:4] = slew
    machine = replace(machine, slew=slews)
    made = plan.make_plan(machine, mode, 3.0, (60, 200), groups=groups, seed=seed)
    assert sorted(made.supplies) == sorted(machine.columns)
    for group in made.groups:
        part = machine.of([tone.supply for tone in group])
        hz = np.array([made.hz(tone) for tone in group])
        amplitude = np.array([tone.amplitude for tone in group])
        assert (amplitude > 0).all()
        assert (amplitude <= part.highest).all()
        assert (2 * np.pi * hz * amplitude <= part.slew).all()
        phasors = part.matrix * response_of(part.families, part.columns, hz) * amplitude
        if mode == "users":
            turned = phasors * np.exp(1j * np.array([tone.phase for tone in group]))
            largest = crest.excursions(turned, np.array([tone.periods for tone in group]), 40)
            assert (largest <= 1.02 * 0.1 * part.size_nm).all()
        else:
            rms = np.sqrt(0.5 * np.square(np.abs(phasors)).sum(axis=1))
            for plane in "xy":
                assert np.sqrt(np.mean(rms[part.row_planes == plane] ** 2)) <= 1.001 * 30e3


def test_phases_make_the_largest_excursion_less_than_by_lot() -> None:
    machine = expected(columns=60)
    bins = np.array(choose(61, window_records(3, RATE_HZ), RATE_HZ, (60, 200), Mains()))
    answer = machine.matrix[0::2].astype(complex)
    found = crest.optimised(answer, bins, np.ones(len(answer)), 1)
    lot = np.random.default_rng(1).uniform(-np.pi, np.pi, len(bins))
    best, by_lot = (crest.largest(answer * np.exp(1j * p), bins, np.ones(len(answer))) for p in (found, lot))
    assert best < 0.9 * by_lot


def test_a_plan_is_kept_in_a_file(tmp_path: Path) -> None:
    made = plan.make_plan(expected(), "users", 2.0, (60, 200), groups=2, mains=Mains(60.0, 0.002, 1.5, (33.0,)))
    plan.save(tmp_path / "plan.yaml", made)
    read = plan.load(tmp_path / "plan.yaml")
    assert read.mains == made.mains
    assert (read.records, read.mode, read.supplies) == (made.records, made.mode, made.supplies)
    for one, other in zip(sum(read.groups, ()), sum(made.groups, ()), strict=True):
        assert one.amplitude == pytest.approx(other.amplitude, rel=1e-8)
        assert one.phase == pytest.approx(other.phase, abs=1e-6)
    (tmp_path / "other.yaml").write_text("kind: something\n")
    with pytest.raises(ValueError, match="no plan of"):
        plan.load(tmp_path / "other.yaml")


# ---- sines


def mains_and_drift(rows: int, records: int, rng: np.random.Generator) -> Floats:
    """Three lines whose frequency wanders, and motion that is slower than 10 Hz."""
    time = np.arange(records) / RATE_HZ
    counted = time + 1e-3 * (1 - np.cos(2 * np.pi * time / 2.3)) * 2.3 / (2 * np.pi)
    lines = [(1, 20e3), (2, 8e3), (3, 5e3)]
    made = sum(size * rng.normal(size=(rows, 1)) * np.sin(2 * np.pi * 50 * h * counted + h) for h, size in lines)
    slow = np.cumsum(rng.normal(size=(rows, records)), axis=1) * 20
    return np.asarray(made + slow, np.float64)


def test_sines_are_told_from_noise_mains_drift_and_gaps_and_errors_are_true() -> None:
    from ringmaster.response import mains

    rng, rows = np.random.default_rng(3), 24
    records = window_records(4.0, RATE_HZ)
    bins = np.array(choose(60, records, RATE_HZ, (60, 200), Mains()))
    truth = 300 * np.exp(2j * np.pi * rng.random((rows, len(bins))))
    own = Window(records, bins, drift(records))
    values = own.synthesized(truth) + NOISE_NM * rng.normal(size=(rows, records)) + mains_and_drift(rows, records, rng)
    values[1, rng.choice(records, 400, replace=False)] = np.nan
    values[2, 5000:6500] = np.nan
    values[3] = np.nan
    phase = mains.phase_of(values, RATE_HZ, bins, Mains())
    assert phase is not None
    found = Window(records, bins, mains.functions(phase, RATE_HZ, 200.0, Mains())).fit(values)
    assert np.isnan(found.phasors[3]).all()
    off = np.delete(found.phasors - truth, 3, axis=0)
    pull = np.sqrt(np.mean(np.abs(off) ** 2 / np.delete(found.variance, 3, axis=0) / 2))
    assert 0.9 < pull < 1.15
    for gaps in (1, 2):  # lost records cost accuracy in their own proportion, and make no error
        assert np.sqrt(np.mean(np.abs(off[gaps]) ** 2)) < 2.0 * np.sqrt(np.mean(np.abs(off[0]) ** 2))


def test_gaps_are_weighted_not_filled() -> None:
    rng = np.random.default_rng(4)
    records = window_records(1.0, RATE_HZ)
    bins = np.arange(60, 160, 2)
    window = Window(records, bins, drift(records))
    truth = rng.normal(size=(1, len(bins))) + 1j * rng.normal(size=(1, len(bins)))
    values = window.synthesized(truth) + 7.0
    values[0, 1000:1900] = np.nan
    values[0, rng.choice(records, 900, replace=False)] = np.nan
    assert np.abs(window.fit(values).phasors - truth).max() < 1e-9


# ---- all of it


def synthetic(machine: Expected, made: Plan, truth: Floats, seed: int = 1, shift: int = 777) -> list[Taken]:
    """What readings would be."""
    rng, taken = np.random.default_rng(seed), []
    for number, group in enumerate(made.groups):
        at = [machine.columns.index(tone.supply) for tone in group]
        hz, bins = np.array([made.hz(tone) for tone in group]), np.array([tone.periods for tone in group])
        amplitude, phase = (np.array([getattr(tone, key) for tone in group]) for key in ("amplitude", "phase"))
        sine = amplitude * np.exp(1j * (2 * np.pi * hz * shift / RATE_HZ + phase - np.pi / 2))
        moved = truth[:, at] * response_of(machine.families, [tone.supply for tone in group], hz) * sine
        values = Window(made.records, bins, drift(made.records)).synthesized(moved) + 5000
        values += NOISE_NM * rng.normal(size=values.shape)
        begin = 1000080 + 1000000 * number
        taken.append(Taken(np.round(values), begin + shift * 120, begin))
    return taken


def other_machine(machine: Expected, seed: int = 2) -> Floats:
    """Its true response: gains, and the other plane."""
    rng = np.random.default_rng(seed)
    truth = machine.matrix * (1 + 0.05 * rng.normal(size=machine.matrix.shape))
    return np.asarray(truth + 0.02 * np.abs(machine.matrix).max(axis=0) * rng.normal(size=truth.shape), np.float64)


def pulls(found: Analysis, machine: Expected, truth: Floats) -> float:
    """RMS, of correctors and dispersion."""
    at = [machine.columns.index(name) for name in found.response.columns]
    off = (found.response.values - truth[:, at]) / found.response.sigma
    rf = (found.response.dispersion - truth[:, -1]) / found.response.dispersion_sigma
    both = np.concatenate([off.ravel(), rf])
    return float(np.sqrt(np.nanmean(both**2)))


@pytest.mark.parametrize(("mode", "groups"), [("users", 1), ("machine", 1), ("users", 2)])
def test_a_measurement_finds_the_response_with_true_errors(mode: str, groups: int) -> None:
    machine = expected(columns=20, bpms=12)
    made = plan.make_plan(machine, mode, 2.0, (60, 200), groups=groups)
    truth = other_machine(machine)
    found = analyse(machine.rows, made, synthetic(machine, made, truth), machine.families, rf=machine.rf)
    assert set(found.response.columns) == set(machine.columns) - {"rf"}
    assert 0.9 < pulls(found, machine, truth) < 1.15
    assert 0.9 < found.imaginary_pull < 1.15
    assert all(abs(check.mean_deg) < 5 * check.sigma_deg for check in found.phases)
    assert np.isnan(found.mains_hz)


def test_what_did_not_happen_is_not_told() -> None:
    machine = expected(columns=10)
    made = plan.make_plan(machine, "machine", 2.0, (60, 200))
    truth = other_machine(machine)
    truth[:, 3] *= -1  # a supply with its cables swapped
    taken = synthetic(machine, made, truth)
    taken[0].values[4] = np.nan
    taken[0].values[6, ::10] = np.nan
    found = analyse(machine.rows, made, taken, machine.families, rf=machine.rf, left_out=["c05"])
    assert found.silent == (machine.rows[4],)
    assert np.isnan(found.response.column("c05")).all()
    assert np.isnan(found.response.values[4]).all()
    assert found.missing == pytest.approx(0.1 / (len(machine.rows) - 1), rel=0.01)
    assert np.nansum(found.response.column("c03") * machine.matrix[:, 3]) < 0
    assert 0.9 < pulls(found, machine, truth) < 1.15


def test_a_wrong_plant_shows_in_the_phases_and_a_fitted_one_does_not() -> None:
    machine = expected(columns=20, bpms=12)
    made = plan.make_plan(machine, "machine", 2.0, (60, 200))
    truth = other_machine(machine)
    taken = synthetic(machine, made, truth)
    early = [replace(SLOW, plant=replace(SLOW.plant, delay_s=70e-6)), RF]
    late = analyse(machine.rows, made, taken, early, rf=machine.rf)
    check = next(phase for phase in late.phases if phase.family == "slow")
    assert check.delay_us == pytest.approx(-50.0, rel=0.01)
    assert pulls(late, machine, truth) < 2.5  # a delay is divided out
    slower = [replace(SLOW, plant=replace(SLOW.plant, bandwidth_hz=200.0)), RF]
    wrong = analyse(machine.rows, made, taken, slower, rf=machine.rf)
    check = next(phase for phase in wrong.phases if phase.family == "slow")
    assert check.rms_deg > 100 * check.expected_deg
    assert wrong.imaginary_pull > 2
    unknown = [replace(SLOW, plant=Plant(RATE_HZ), given=False), RF]
    found = analyse(machine.rows, made, taken, unknown, rf=machine.rf)
    assert pulls(found, machine, truth) < 2.5  # the error of a plant is one number of all its columns
    told = found.response
    truth = truth[:, [machine.columns.index(name) for name in told.columns]]
    single = told.single_sigma
    gain = (told.values * truth / single**2).sum(axis=0) / ((truth / single) ** 2).sum(axis=0)
    assert told.gain_sigma is not None
    assert (told.gain_sigma > 0).all()
    assert 0.8 < np.sqrt(np.mean(((gain - 1) / told.gain_sigma) ** 2)) < 3  # but for what columns share:
    assert 0.9 < np.sqrt(np.mean(((told.values - gain * truth) / single) ** 2)) < 1.15
    plant = next(family.plant for family in found.families if family.name == "slow")
    hz = np.linspace(60, 200, 20)
    assert np.abs(plant.response(hz) / SLOW.plant.response(hz) - 1).max() < 0.01


def test_a_plant_is_fitted_from_phases() -> None:
    hz = np.linspace(60, 250, 40)
    phase = np.angle(SLOW.plant.response(hz))
    found = fitted(replace(SLOW, given=False), hz, phase, np.full(40, 1e-5)).plant
    assert found.bandwidth_hz == pytest.approx(300, rel=0.01)
    one = fitted(replace(SLOW, given=False), np.full(3, 100.0), phase[:3] * 0 - 0.4, np.full(3, 1e-3)).plant
    assert np.angle(one.response(100.0)) == pytest.approx(-0.4, abs=1e-4)


# ---- a closed loop


def test_the_loop_is_divided_out() -> None:
    """Fast correctors answer the orbit by an integral controller; the slow ones are excited."""
    rng = np.random.default_rng(5)
    rows, slow, fast = 30, 24, 6
    hz = np.linspace(60, 250, slow)
    response, own = rng.normal(size=(rows, slow)), rng.normal(size=(rows, fast))
    transfer = SLOW.plant.response(hz)
    plant = Plant(RATE_HZ, 5000.0, 0.0, 20e-6).response(hz)
    law = 2 * np.pi * 150 / RATE_HZ / (1 - np.exp(-2j * np.pi * hz / RATE_HZ))
    inverse = np.linalg.pinv(own)
    orbit, moved = np.empty((rows, slow), np.complex128), np.empty((fast, slow), np.complex128)
    for k in range(slow):
        by_itself = response[:, k] * transfer[k]
        orbit[:, k] = np.linalg.solve(np.eye(rows) + own @ inverse * law[k] * plant[k], by_itself)
        moved[:, k] = -law[k] * (inverse @ orbit[:, k])
    sigma = 0.003
    noise = rng.normal(size=orbit.shape) + 1j * rng.normal(size=orbit.shape)
    noisy: NDArray[np.complex128] = orbit + sigma * noise
    variance = np.full(orbit.shape, sigma**2)
    found = closed.solve(noisy, variance, transfer, moved * plant)
    pull = np.sqrt(np.mean(((found.values - response) / found.sigma) ** 2))
    assert 0.85 < pull < 1.15
    naive = (noisy / transfer).real
    assert np.sqrt(np.mean((naive - response) ** 2)) > 5 * np.sqrt(np.mean((found.values - response) ** 2))
    assert np.sqrt(np.mean((found.loop - own) ** 2)) < 0.2


def test_a_loop_that_cannot_be_divided_out_is_refused() -> None:
    ratio, variance = np.ones((4, 2), np.complex128), np.ones((4, 2))
    with pytest.raises(ValueError, match="open the loop"):
        closed.solve(ratio, variance, np.ones(2, np.complex128), np.ones((5, 2), np.complex128))
