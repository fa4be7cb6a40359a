# SPDX-License-Identifier: Apache-2.0
"""Optics from turns of a tracked beam, whose optics are known, and lines of measured ones."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from command import ringmaster
from numpy.typing import NDArray

from ringmaster.optics.dispersion import measure_dispersion
from ringmaster.optics.driven import Drive
from ringmaster.optics.lines import find_line, hann, line_at
from ringmaster.optics.model import Model, fractional, model_of, whole_tune
from ringmaster.optics.turns import NEIGHBOURS, measure
from ringmaster.spectra.series import Series
from ringmaster.twin import Twin, load_lattice

Floats = NDArray[np.float64]
TURNS = 512
KICK_M = 1e-5
NOISE_M = 1e-7


@cache
def ring() -> tuple[Twin, list[int], Model]:
    """The ring that we ship, its BPMs, and its model."""
    lattice = load_lattice("elettra2_like")
    twin = Twin(lattice)
    twin.disable_6d()
    bpms = [i for i, name in enumerate(lattice.names) if name.startswith("BPM_")]
    return twin, bpms, model_of(twin, bpms, [lattice.names[i] for i in bpms])


def turns(twin: Twin, noise_m: float = NOISE_M, seed: int = 1) -> tuple[Floats, Floats]:
    """Of a beam that starts beside its orbit in both planes."""
    start = np.zeros((6, 1))
    start[[0, 2]] = KICK_M
    tracked = np.asarray(twin.track(start, nturns=TURNS, refpts=ring()[1])[0])
    rng = np.random.default_rng(seed)
    x, y = tracked[0, 0], tracked[2, 0]
    return x + noise_m * rng.standard_normal(x.shape), y + noise_m * rng.standard_normal(y.shape)


@cache
def kicked() -> tuple[Floats, Floats]:
    return turns(ring()[0])


def test_a_lines_errors_are_those_that_it_says() -> None:
    rng, turn = np.random.default_rng(1), np.arange(1024)
    off, said, amplitude_off, amplitude_said = [], [], [], []
    for _ in range(120):
        values = 2 * np.cos(2 * np.pi * 0.2137 * turn + 0.3) + rng.standard_normal(1024)
        values[rng.integers(0, 1024, 100)] = np.nan
        found = find_line(values, 0.1, 0.3)
        at = line_at(values, hann(values), 0.2137)
        off.append(found.tune - 0.2137)
        said.append(found.sigma_tune)
        amplitude_off.append((at.amplitude - 2 * np.exp(0.3j)).real)
        amplitude_said.append(at.sigma_amplitude)
    bound = np.sqrt(6) / np.pi / 2 / np.sqrt(1024.0) / 1024 / np.sqrt(0.9)
    assert np.std(off) / np.mean(said) == pytest.approx(1.0, abs=0.25)
    assert np.std(off) / bound == pytest.approx(1.53, abs=0.35)
    assert np.std(amplitude_off) / np.mean(amplitude_said) == pytest.approx(1.0, abs=0.25)


def test_too_few_turns_are_refused() -> None:
    with pytest.raises(ValueError, match="a line takes half, and 32"):
        hann(np.full(100, np.nan))


@pytest.mark.parametrize("plane", [0, 1])
def test_the_optics_of_a_kicked_beam_are_those_of_the_ring(plane: int) -> None:
    _, _, model = ring()
    found = measure(*kicked(), model)
    one = found.planes[plane]
    assert found.faults == ()
    assert abs(one.tune - fractional(model.tune[plane])) < 5e-5  # 10 µm detune
    beta = model.beta_m[:, plane]
    for value, sigma in (
        (one.beta_phase_m, one.sigma_beta_phase_m),
        (one.beta_amplitude_m, one.sigma_beta_amplitude_m),
    ):
        pull = (value - beta) / sigma
        assert np.isfinite(pull).all()
        assert 0.5 < np.std(pull) < 1.6
    assert np.std(one.phase_error_rad / one.sigma_phase_rad) < 1.6
    assert found.closest_approach < 3e-4


def test_a_wrong_quadrupole_shows_as_it_is() -> None:
    twin, bpms, model = ring()
    wrong = twin.copy()
    quadrupole = next(i for i, element in enumerate(twin) if element.FamName.startswith("Q"))
    wrong.set_value_refpts([quadrupole], "PolynomB", 0.02 * twin[quadrupole].PolynomB[1], index=1, increment=True)
    truth = model_of(wrong, bpms, model.names)
    beating = truth.beta_m / model.beta_m - 1
    found = measure(*turns(wrong, NOISE_M / 10), model)
    for plane, one in enumerate(found.planes):
        assert np.ptp(beating[:, plane]) > 0.01
        measured = one.beta_phase_m / model.beta_m[:, plane] - 1
        away = slice(NEIGHBOURS + 1, -NEIGHBOURS - 1)  # beside the quadrupole the model's own phases are wrong
        assert np.std((measured - beating[:, plane])[away]) < 0.1 * np.std(beating[:, plane])


Make = Callable[[Floats, Floats], tuple[Floats, Floats]]
FAULTS: dict[int, tuple[str, Make]] = {
    5: ("dead", lambda x, y: (0 * x, y)),
    20: ("sign of x", lambda x, y: (-x, y)),
    40: ("sign of x and y", lambda x, y: (-x, -y)),
    60: ("planes swapped", lambda x, y: (y, x)),
    80: ("turns: +1", lambda x, y: (np.roll(x, -1), np.roll(y, -1))),
    100: ("turns: -2", lambda x, y: (np.roll(x, 2), np.roll(y, 2))),
    120: ("noisy", lambda x, y: (x + 2e-6 * np.random.default_rng(9).standard_normal(len(x)), y)),
}


def test_each_fault_of_a_bpm_is_named_and_costs_that_bpm_alone() -> None:
    _, _, model = ring()
    x, y = (signal.copy() for signal in kicked())
    for bpm, (_, make) in FAULTS.items():
        x[bpm], y[bpm] = make(x[bpm].copy(), y[bpm].copy())
    found = measure(x, y, model)
    assert {fault.bpm: fault.what for fault in found.faults} == {
        model.names[bpm]: what for bpm, (what, _) in FAULTS.items()
    }
    good = [i for i in range(len(model)) if i not in FAULTS]
    for plane, one in enumerate(found.planes):
        assert np.isnan(one.beta_phase_m[list(FAULTS)]).all()
        pull = (one.beta_phase_m[good] - model.beta_m[good, plane]) / one.sigma_beta_phase_m[good]
        assert np.std(pull) < 1.6


def test_lost_turns_are_left_out() -> None:
    _, _, model = ring()
    x, y = (signal.copy() for signal in kicked())
    x[np.random.default_rng(3).random(x.shape) < 0.2] = np.nan
    found = measure(x, y, model)
    pull = (found.x.beta_phase_m - model.beta_m[:, 0]) / found.x.sigma_beta_phase_m
    assert found.faults == ()
    assert np.std(pull) < 1.6


def rolled(signals: tuple[Floats, Floats], roll_rad: float) -> tuple[Floats, Floats]:
    """As BPMs show them that are rolled by random angles of this RMS."""
    x, y = signals
    angle = roll_rad * np.random.default_rng(6).standard_normal((len(x), 1))
    return x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)


@pytest.mark.parametrize(("which", "skew_per_m2"), [(0, 0.5), (40, 0.5), (77, 0.2)])
def test_coupling_is_told_by_the_closest_approach(which: int, skew_per_m2: float) -> None:
    """One short skew gradient: |C⁻| = k L √(β_x β_y) ÷ 2π. Rolls of 5 mrad hardly move it, at any BPM."""
    twin, _, model = ring()
    place = [i for i, element in enumerate(twin) if element.Class == "Sextupole"][which]
    coupled = twin.copy()
    coupled.set_value_refpts([place], "PolynomA", skew_per_m2, index=1)
    beta = np.asarray(twin.linopt6([place, place + 1])[2].beta)[:2].mean(axis=0)
    approach = skew_per_m2 * twin[place].Length * np.sqrt(beta.prod()) / (2 * np.pi)
    signals = turns(coupled, NOISE_M / 10)
    assert measure(*signals, model).closest_approach == pytest.approx(approach, rel=0.05)
    assert measure(*rolled(signals, 5e-3), model).closest_approach == pytest.approx(approach, rel=0.06)


def test_rolls_of_bpms_alone_look_like_a_little_coupling() -> None:
    """So much as the page says, and no less: nothing smaller can be measured by BPMs that are rolled."""
    _, _, model = ring()
    distance = abs(fractional(model.tune[0]) - fractional(model.tune[1]))
    found = measure(*rolled(turns(ring()[0], NOISE_M / 100), 5e-3), model).closest_approach
    assert 0.6 < found / (5e-3 * distance) < 1.2


@cache
def oscillating() -> Floats:
    """Horizontal turns of a beam that is off in energy, in the ring with cavities and radiation."""
    twin = Twin(load_lattice("elettra2_like"))
    twin.enable_6d()
    start = np.asarray(twin.find_orbit()[0]).reshape(6, 1).copy()
    start[4] += 3e-5
    x = np.asarray(twin.track(start, nturns=1024, refpts=ring()[1])[0])[0, 0]
    return np.asarray(x + NOISE_M * np.random.default_rng(7).standard_normal(x.shape))


def test_dispersion_is_told_by_an_energy_oscillation() -> None:
    _, _, model = ring()
    x = oscillating().copy()
    x[5] = np.nan
    found = measure_dispersion(x, model.dispersion_m, 0.003)
    off = np.delete(found.dispersion_m - model.dispersion_m, 5)
    assert np.isnan(found.dispersion_m[5])
    assert found.energy == pytest.approx(3e-5, rel=0.1)  # it is damped
    assert np.abs(off).max() < 1e-3 < np.ptp(model.dispersion_m) / 40
    assert 0.6 < np.std(off / np.delete(found.sigma_m, 5)) < 1.6
    with pytest.raises(ValueError, match="no BPM shows an energy oscillation between 0.0015 and 0.0045"):
        measure_dispersion(np.random.default_rng(8).standard_normal(x.shape), model.dispersion_m, 0.003)


def driven(model: Model, drive: Drive, place_rad: float, plane: int) -> Floats:
    """The steady motion that an exciter at a phase drives, in a ring of the model's optics."""
    tune = model.tune[plane]
    w, turn = 2 * np.pi * whole_tune(drive.tune[plane], float(tune)), np.arange(4096)
    once = np.exp(-2j * np.pi * tune)
    a, b = (once * 0.5j / (np.exp(sign * 1j * w) - once) for sign in (1, -1))
    before = a * np.exp(1j * w * turn) + b * np.exp(-1j * w * turn)
    after = before + 1j * np.cos(w * turn)
    phase = model.phase_rad[:, plane] - place_rad
    motion = np.where((phase < 0)[:, None], before * np.exp(-1j * phase)[:, None], after * np.exp(-1j * phase)[:, None])
    return np.asarray(np.sqrt(model.beta_m[:, plane])[:, None] * motion.real)


def test_a_driven_beam_tells_the_free_optics() -> None:
    _, _, model = ring()
    place = (float(model.phase_rad[50, 0]) + 0.1, float(model.phase_rad[50, 1]) + 0.1)
    tune = [fractional(one) for one in model.tune]
    drive = Drive((tune[0] - 0.01, tune[1] + 0.008), place)
    x, y = (driven(model, drive, place[plane], plane) for plane in (0, 1))
    rng = np.random.default_rng(4)
    x, y = (signal + 1e-4 * np.std(signal) * rng.standard_normal(signal.shape) for signal in (x, y))
    free = measure(x, y, model, drive)
    wrong = measure(x, y, model, width=0.015)
    for plane in (0, 1):
        assert free.planes[plane].tune == pytest.approx(drive.tune[plane], abs=1e-6)
        assert np.abs(free.planes[plane].beta_amplitude_m / model.beta_m[:, plane] - 1).max() < 1e-3
        assert np.abs(free.planes[plane].beta_phase_m / model.beta_m[:, plane] - 1).max() < 3e-3
        assert np.abs(wrong.planes[plane].beta_phase_m / model.beta_m[:, plane] - 1).max() > 0.02
    assert np.isnan(free.closest_approach)


def test_no_beam_is_said() -> None:
    _, _, model = ring()
    rng = np.random.default_rng(5)
    noise = rng.standard_normal((2, len(model), 256))
    with pytest.raises(ValueError, match="no BPM shows a line in x between"):
        measure(noise[0], noise[1], model)


def test_the_command_says_it_in_words_and_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, model = ring()
    rows = [f"bpm{i // 2 + 1:02}/turn/{plane}{i % 2 + 1}" for i in range(len(model)) for plane in "xy"]
    x, y = (signal.copy() for signal in kicked())
    x[7] *= -1
    x += 5e-5 * np.outer(model.dispersion_m, np.cos(0.02 * 2 * np.pi * np.arange(TURNS)))
    values = [signal for pair in zip(x, y, strict=True) for signal in pair]
    series = [Series(name, "m", 1e6, one, 0, 1) for name, one in zip(rows, values, strict=True)]
    monkeypatch.setattr("ringmaster.cli.optics.read_series", lambda _names, **_: series)
    mapping = tmp_path / "mapping.yaml"
    mapping.write_text('bpms: "BPM_*"\nrows: "bpm[01-84]/{x1,y1,x2,y2}"\n')
    arguments = ("optics", "elettra2_like", "--mapping", str(mapping))
    said = ringmaster(*arguments, "--synchrotron", "0.021", "--plot", str(tmp_path / "optics.png")).stdout
    assert "synchrotron tune 0.0" in said
    assert "168 BPMs, 512 turns" in said
    assert f"{model.names[7]}: sign of x" in said
    assert (tmp_path / "optics.png").stat().st_size > 10000
    whole = json.loads(ringmaster(*arguments, "--synchrotron", "0.021", "--json").stdout)
    assert whole["synchrotron_tune"] == pytest.approx(0.02, abs=2e-5)
    assert whole["dispersion_m"][9] == pytest.approx(model.dispersion_m[9], abs=1e-3)
    assert whole["faults"] == {model.names[7]: "sign of x"}
    assert whole["x"]["beta_phase_m"][7] is None
    assert whole["y"]["beta_phase_m"][8] == pytest.approx(model.beta_m[8, 1], rel=0.01)
    assert "belong together" in ringmaster(*arguments, "--exciter", "K1", expect=2).stderr
    said = ringmaster(*arguments, "--driven", "0.29", "0.18", "--exciter", "K1", expect=1).stderr
    assert "has no element 'K1'" in said
