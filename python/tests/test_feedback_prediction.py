# SPDX-License-Identifier: Apache-2.0
"""The feedback's law and its predictions, beside python-control's, which knows nothing of ours."""

from pathlib import Path

import control
import numpy as np
import pytest
from numpy.typing import NDArray

from ringmaster.feedback.configuration import Family, read_configuration
from ringmaster.feedback.law import Law, Plant, Resonator, Tuning
from ringmaster.feedback.predict import draw, is_stable, predict
from ringmaster.machine.server_file import cycle_rate_hz

RATE_HZ = 1157000 / 120
HZ = np.array([0.3, 7.0, 49.95, 50.0, 51.0, 180.0, 700.0, 2000.0, 4500.0])
PLANTS = (
    Plant(RATE_HZ, 5000.0, 0.0, 150e-6),
    Plant(RATE_HZ, 1000.0, 5000.0, 104e-6),
    Plant(RATE_HZ, 300.0, 300.0, 2 / RATE_HZ),
    Plant(RATE_HZ, 0.0, 0.0, 1 / RATE_HZ),
    Plant(RATE_HZ, 0.0, 800.0, 30e-6),
)
LINES = (Resonator(50.0, 1.0, 0.004), Resonator(100.0, 1.5, 0.006), Resonator(300.0, 3.5, 0.014))
TUNINGS = (
    Tuning(0.0, 100.0, False),
    Tuning(0.4, 150.0, True),
    Tuning(0.2, 120.0, True, LINES),
    Tuning(0.0, 90.0, False, LINES),
)


def delays(count: int) -> control.StateSpace:
    """So many cycles."""
    return control.ss(np.eye(count, k=-1), np.eye(count, 1), np.eye(1, count, count - 1), 0, 1 / RATE_HZ)


def plant_of(plant: Plant, delay_s: float) -> control.StateSpace:
    """Sampled by python-control, twice within a cycle, since its input changes there."""
    whole = int(np.floor(delay_s * RATE_HZ + 1e-9))
    fraction = max(0.0, delay_s * RATE_HZ - whole)
    bandwidths = [hz for hz in (plant.bandwidth_hz, plant.second_hz) if hz > 0]
    if not bandwidths:
        return delays(whole + 1)
    continuous = control.ss(control.tf([1], [1]))
    for hz in bandwidths:
        continuous = continuous * control.ss(control.tf([1], [1 / (2 * np.pi * hz), 1]))
    late = control.sample_system(continuous, (1 - fraction) / RATE_HZ)
    a = control.sample_system(continuous, 1 / RATE_HZ).A
    early = late.A @ control.sample_system(continuous, fraction / RATE_HZ).B if fraction > 1e-9 else late.B * 0
    now = control.ss(a, late.B, late.C, 0, 1 / RATE_HZ)
    before = control.ss(a, early, late.C, 0, 1 / RATE_HZ) * delays(1)
    return (now + before) * delays(whole) if whole else now + before


def law_of(law: Law) -> control.StateSpace:
    """The controller, put together of blocks: the predictor is a loop around P and I, and resonators stand beside."""
    t, tuning = law.tuning, law.tuning
    pi = control.ss(1, 1, 2 * np.pi * t.integral_hz / RATE_HZ, 2 * np.pi * t.integral_hz / RATE_HZ, 1 / RATE_HZ)
    pi = pi + control.ss([], [], [], t.proportional, 1 / RATE_HZ)
    inner, delayed = plant_of(law.plant, 0.0), plant_of(law.plant, law.plant.delay_s)
    whole = pi
    for one, (pole, coupling) in zip(tuning.resonators, law.resonators(), strict=True):
        turn = np.array([[pole.real, -pole.imag], [pole.imag, pole.real]])
        vector = np.array([[coupling.real], [coupling.imag]])
        assert abs(pole) < 1
        assert one.hz == pytest.approx(np.angle(pole) * RATE_HZ / 2 / np.pi)
        whole = whole + control.ss(turn, turn @ vector, [[1, 0]], [[coupling.real]], 1 / RATE_HZ)
    return control.feedback(1, pi * (inner - delayed)) * whole if tuning.predicts else whole


def at(system: control.StateSpace, hz: NDArray[np.float64]) -> NDArray[np.complex128]:
    return np.array([complex(np.squeeze(system(np.exp(2j * np.pi * f / RATE_HZ)))) for f in hz])


@pytest.mark.parametrize("plant", PLANTS)
def test_the_plant_is_python_controls(plant: Plant) -> None:
    assert plant.response(HZ) == pytest.approx(at(plant_of(plant, plant.delay_s), HZ), rel=1e-7)
    assert plant.undelayed(HZ) == pytest.approx(at(plant_of(plant, 0.0), HZ), rel=1e-7)


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("tuning", TUNINGS)
def test_the_sensitivity_is_python_controls(plant: Plant, tuning: Tuning) -> None:
    law = Law(plant, tuning)
    loop = law_of(law) * plant_of(plant, plant.delay_s)
    sensitivity = control.feedback(1, loop)
    assert np.abs(law.sensitivity(HZ)) == pytest.approx(np.abs(at(sensitivity, HZ)), rel=1e-4, abs=1e-7)
    # The predictor's own integral cancels: that pole stays where it was.
    assert is_stable(law) == bool(np.abs(control.poles(sensitivity)).max() < 1 + 1e-6)


@pytest.mark.parametrize("gain", [0.5, 1.0, 2.0, 4.0, 6.0, 9.0, 14.0])
def test_stability_is_where_the_poles_say(gain: float) -> None:
    law = Law(Plant(RATE_HZ, 3000.0, 0.0, 200e-6), Tuning(0.1, 200.0, False, LINES[:1]))
    sensitivity = control.feedback(1, gain * law_of(law) * plant_of(law.plant, law.plant.delay_s))
    assert is_stable(law, gain=gain) == bool(np.abs(control.poles(sensitivity)).max() < 1)


def test_a_line_is_as_deep_and_wide_as_asked() -> None:
    law = Law(PLANTS[0], TUNINGS[2])
    for one in LINES:
        quiet = np.abs(law.without_resonators().sensitivity(one.hz))
        depth = np.abs(law.sensitivity(one.hz)) / quiet
        assert depth == pytest.approx(one.leak_hz / one.width_hz, rel=0.1)
        edge = np.abs(law.sensitivity(one.hz + one.width_hz)) / quiet
        assert edge == pytest.approx(np.sqrt(0.5), rel=0.1)


def test_margins_are_python_controls() -> None:
    law = Law(PLANTS[0], TUNINGS[0])
    made = predict(Family("fast", (), law.plant, law.tuning, None, 0.0))
    hz = np.geomspace(1, RATE_HZ / 2, 4000)
    loop = at(law_of(law) * plant_of(law.plant, law.plant.delay_s), hz)
    gain, phase, *_ = control.stability_margins(control.frd(loop, 2 * np.pi * hz))
    assert made.stable
    assert made.gain_margin == pytest.approx(gain, rel=0.02)
    assert made.phase_margin_deg == pytest.approx(phase, abs=1.0)
    size = np.abs(law.sensitivity(np.array([0.9, 1.1]) * made.bandwidth_hz))
    assert size[0] < np.sqrt(0.5) < size[1]
    assert np.abs(law.sensitivity(made.peak_hz)) == pytest.approx(made.peak)


def test_a_configuration_is_predicted_and_drawn(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("# nm per unit\n,ps/f_1,ps/s_1\nb01/x,1000,2000\nb01/y,3,5\n")
    (tmp_path / "f.yaml").write_text(
        "matrix: r.csv\nfamilies:\n"
        "  - {name: fast, actuators: ['ps/f_*'], plant: {bandwidth_hz: 5000, delay_us: 150}, integral_hz: 150,\n"
        "     resonators: [50], unload_to: slow, crossover_hz: 1}\n"
        "  - {name: slow, actuators: ['ps/s_*'], plant: {bandwidth_hz: 300, delay_us: 150}}\n"
        "resonators: [{hz: 50, width_hz: 1, leak_hz: 0.004}]\n"
    )
    read = read_configuration(tmp_path / "f.yaml", RATE_HZ)
    assert [family.tuning is None for family in read.families] == [False, True]
    assert read.families[0].tuning is not None
    assert read.families[0].tuning.predicts  # as the application has it where nothing is said
    owner = read.family_of("ps/s_1")
    assert owner is not None
    assert owner.name == "slow"
    made = predict(read.family(None))
    assert made.lines_db[50.0][0] < -40
    draw([made], tmp_path / "s.png")
    assert (tmp_path / "s.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="no family 'slow' that has a law"):
        read.family("slow")


def test_the_rate_is_that_of_the_users_server(tmp_path: Path) -> None:
    own = tmp_path / "f.yaml"
    own.write_text("matrix: r.csv\nfamilies: []\n")
    with pytest.raises(ValueError, match=r"no server's configuration in the folder .* give --server SERVER.yaml or"):
        cycle_rate_hz(own, None)
    (tmp_path / "server.yaml").write_text(
        "turn_rate_hz: 1250000\napplications: [{name: feedback, configuration: f.yaml, period_turns: 125}]\n"
    )
    assert cycle_rate_hz(own, None) == 10000.0
    (tmp_path / "other.yaml").write_text(
        "turn_rate_hz: 1250000\nsetpoints: {period_turns: 50}\napplications: [{name: f, configuration: f.yaml}]\n"
    )
    with pytest.raises(ValueError, match=r"different rates: other.yaml 25000 Hz, server.yaml 10000 Hz; choose one"):
        cycle_rate_hz(own, None)
    assert cycle_rate_hz(own, tmp_path / "other.yaml") == 25000.0
    with pytest.raises(ValueError, match=r"f\.yaml has no application whose"):
        cycle_rate_hz(own, own)
