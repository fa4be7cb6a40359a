# SPDX-License-Identifier: Apache-2.0
"""The shipped sequences on their ring, in simulated time: what they do to the beam, and their ways out."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ringmaster.cli.sequence_simulate import lines_of
from ringmaster.errors import SimulationError
from ringmaster.machine.knobs import Knobs
from ringmaster.machine.mapping import resolve
from ringmaster.places import CONFIGS
from ringmaster.sequence.described import Sequence, SequenceFile, read_sequences
from ringmaster.sequence.marks import of_simulation
from ringmaster.sequence.names import Cause, Result
from ringmaster.sequence.simulated import Simulated, find_application, look, simulate_sequence
from ringmaster.simulation import Simulation
from ringmaster.twin import Twin, load_lattice

Floats = npt.NDArray[np.float64]
CONFIG, OVERLAY = CONFIGS / "sequence.yaml", CONFIGS / "sequence-ring.yaml"
STRAIGHT = {"x": "bpm02/raw/x1", "y": "bpm08/raw/y1"}
"""BPMs within the two bumps."""
CLOSED = {"x": 0.03, "y": 0.06}
"""Of a bump, that a machine with errors leaves outside: the vertical one has ten magnets between its correctors."""

Run = Callable[..., Simulated]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs one, on a ring without mains and ground motion."""

    def simulate(name: str, *at: str, **values: float) -> Simulated:
        quiet = ("-0.02:machine/mains=0", "-0.02:machine/ground=0")
        return simulate_sequence(CONFIG, OVERLAY, name, tmp_path / "run", values=values, at=[*quiet, *at])

    return simulate


def orbit(done: Simulated, plane: str, since: float, until: float) -> dict[str, float]:
    """Mean readings in µm, by BPM."""
    within = (done.time_s >= since) & (done.time_s < until)
    means = done.run.orbit(plane)[within].mean(axis=0) * 1e-3
    return dict(zip(_rows(done, plane), means, strict=True))


def _rows(done: Simulated, plane: str) -> list[str]:
    return [
        f"{each['name']}/{lane}" for each in done.run.summary["inputs"] for lane in each["lanes"] if lane[0] == plane
    ]


def entered(done: Simulated, state: str) -> list[float]:
    """When a state was entered."""
    return [float(done.time_s[passage.step]) for passage in done.passages if passage.state.name == state]


def supply(done: Simulated, name: str) -> Floats:
    return np.asarray(done.run.currents[:, done.run.actuators.index(name)])


def assert_home(done: Simulated) -> None:
    """All supplies stand where they stood."""
    assert done.run.setpoints[-1] == pytest.approx(done.run.setpoints[0], abs=1e-6)


def test_degauss_swings_less_and_less_and_ends_where_it_began(run: Run) -> None:
    done = run("degauss", amplitude=1.0, swing_s=0.02)
    assert (done.result, done.cause) == (Result.DONE, Cause.NONE)
    current = supply(done, "sr/ps/ch_s05")
    swings = np.array([current[(done.time_s > at) & (done.time_s < at + 0.025)].max() for at in entered(done, "up")])
    assert swings[0] == pytest.approx(1.0, rel=0.02)
    assert swings[1:] / swings[:-1] == pytest.approx(0.64, rel=0.1)
    assert swings[-1] < 0.02
    assert current[-1] == pytest.approx(current[0], abs=1e-3)
    assert_home(done)


def test_the_bump_of_injection_is_closed_and_the_gate_is_about_it(run: Run) -> None:
    done = run("injection_bump", height=0.5, shots=2, pause_s=0.02)
    assert done.result is Result.DONE
    assert len(done.marks) == 2
    before = orbit(done, "x", -0.02, 0.0)
    for at in entered(done, "shoot"):
        during = orbit(done, "x", at + 0.004, at + 0.01)
        moved = {bpm: during[bpm] - before[bpm] for bpm in during}
        assert moved.pop(STRAIGHT["x"]) == pytest.approx(500, rel=0.03)
        assert max(map(abs, moved.values())) < CLOSED["x"] * 500
    gate, shot = supply(done, "sr/ti/topup_gate"), supply(done, "sr/ti/injector")
    assert (np.diff(gate) > 0.5).sum() == (np.diff(shot) > 0.5).sum() == 2
    assert gate[shot > 0.5].all()
    moving = np.abs(supply(done, "sr/ps/bump_01")) > 0.01
    assert gate[moving].all(), "the bump was there while beamlines used the orbit"
    assert_home(done)


def seen_tunes(done: Simulated, step: int) -> Floats:
    """Of the design lattice with the currents of that step."""
    twin = Twin(load_lattice("elettra2_like"))
    twin.disable_6d()
    given = {
        "bpms": "BPM_S01_01",
        "rows": "x/{x1,y1}",
        "strengths": [
            {"elements": f"{family.upper()}_*", "supplies": f"sr/ps/{family}_[01-24]", "per_unit": 0.001,
             "change": "gradient"}
            for family in ("qf1", "qd2")
        ],
    }  # fmt: skip
    knobs = Knobs(twin, resolve(twin.lattice, given))
    names = done.run.actuators
    knobs.set({name: float(done.run.currents[step, names.index(name)]) for name in names if name in knobs})
    return np.asarray(twin.get_tune()[:2])


def test_the_knob_moves_both_tunes_by_what_is_asked(run: Run) -> None:
    done = run("tune_knob", qx=0.004, qy=-0.003)
    assert done.result is Result.DONE
    moved = seen_tunes(done, -1) - seen_tunes(done, 0)
    assert moved == pytest.approx([0.004, -0.003], abs=1e-4)
    families = supply(done, "sr/ps/qf1_01"), supply(done, "sr/ps/qd2_01")
    share = [family / family[-1] for family in families]
    assert share[0] == pytest.approx(share[1], abs=0.01), "the families do not go in step"


def test_the_scan_marks_each_height_and_is_closed(run: Run) -> None:
    done = run("bump_scan", first=-0.1, last=0.2, points=4, dwell_s=0.03)
    assert done.result is Result.DONE
    rows = of_simulation(done)
    assert len(rows) == 4
    before = orbit(done, "y", -0.02, 0.0)
    heights = np.array([row.readings["bpm08/raw.y1"] * 1e-3 for row in rows]) - before[STRAIGHT["y"]]
    assert heights == pytest.approx([-100, 0, 100, 200], abs=6)
    away = [row.readings[f"bpm{bpm:02d}/raw.y2"] * 1e-3 - before[f"bpm{bpm:02d}/raw/y2"] for row in rows
            for bpm in range(1, 13)]  # fmt: skip
    assert np.abs(away).max() < CLOSED["y"] * 200
    assert_home(done)


def test_the_sweep_goes_to_both_sides_and_the_orbit_by_the_dispersion(run: Run) -> None:
    done = run("rf_sweep", span=80, steps=1, dwell_s=0.04)
    assert done.result is Result.DONE
    rows = of_simulation(done)
    rf = np.array([row.readings["sr/rf/frequency"] for row in rows])
    assert rf == pytest.approx([0, 80, 0, -80, 0], abs=0.5)
    arc, straight = (np.array([row.readings[f"bpm02/raw.{lane}"] for row in rows]) * 1e-3 for lane in ("x2", "x1"))
    twin = Twin(load_lattice("elettra2_like"))
    slope = -27e3 / (twin.get_mcf() * twin.rf_frequency)  # µm per Hz, of 27 mm of dispersion
    assert np.polyfit(rf, arc, 1)[0] == pytest.approx(slope, rel=0.15)
    assert abs(np.polyfit(rf, straight, 1)[0]) < 0.05 * abs(slope)
    assert_home(done)


@pytest.mark.parametrize(
    ("event", "cause"),
    [
        ("trip=sr/ps/bump_03", Cause.NOT_FOLLOWED),
        ("machine/beam=0", Cause.BEAM_LOST),
        ("sequence/abort=1", Cause.ABORTED),
        ("drop=bpm02", Cause.INPUT_MISSING),
        ("event=offset, instrument: bpm02/1, x_um: 2500", Cause.ENABLE_LOST),
    ],
)
def test_every_way_of_going_wrong_leads_out(run: Run, event: str, cause: Cause) -> None:
    done = run("injection_bump", f"0.03:{event}")
    assert (done.result, done.cause) == (Result.FAILED, cause)
    assert [passage.state.name for passage in done.passages][-2:] == ["drop", "let_go"]
    assert next(passage for passage in done.passages if passage.is_way_out).state.name == "drop"
    assert_home(done)


def test_limits_that_would_be_crossed_abort_before_anything_moves(tmp_path: Path) -> None:
    """The corrector stands at 7 A already, and the group has 8 A."""
    overlay = tmp_path / "ring.yaml"
    overlay.write_text(OVERLAY.read_text().replace("supplies:\n", "supplies:\n  - {supplies: ch, initial: 7}\n", 1))
    done = simulate_sequence(CONFIG, overlay, "degauss", tmp_path / "run", values={"amplitude": 2.0})
    assert (done.result, done.cause) == (Result.FAILED, Cause.VALUE)
    assert done.run.setpoints[-1] == pytest.approx(done.run.setpoints[0], abs=1e-6)
    assert supply(done, "sr/ps/ch_s05") == pytest.approx(7, abs=1e-3)


def test_the_command_draws_a_time_line_and_tells_what_happened(tmp_path: Path, run: Run) -> None:
    pytest.importorskip("matplotlib")
    plot, marks, out = tmp_path / "line.png", tmp_path / "marks.csv", tmp_path / "out"
    words = ("injection_bump", "--set", "shots=1", "--at", "0.03:sequence/abort=1", "--plot", plot, "--marks", marks,
             "--out", out, "--json")  # fmt: skip
    whole = [sys.executable, "-m", "ringmaster", "sequence", "simulate", CONFIG, OVERLAY, *words]
    done = subprocess.run(list(map(str, whole)), capture_output=True, text=True, timeout=300)
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    assert (told["result"], told["cause"]) == ("failed", "aborted by a person")
    assert [passage["state"] for passage in told["passages"]] == ["close_gate", "rise", "drop", "let_go"]
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert marks.read_text().startswith("mark,turn,state")
    loaded = look(Simulation.load(out), *named("injection_bump"))
    text = "\n".join(lines_of(loaded))
    assert "injection_bump failed after 0.08" in text
    for passage in told["passages"]:
        assert f"{passage['turn']}  {passage['state']}" in text


def named(name: str) -> tuple[SequenceFile, Sequence]:
    file = read_sequences(CONFIGS / "sequence-elettra2.yaml")
    return file, file.sequence(name)


def test_what_cannot_be_run_is_named(run: Run, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no sequence 'degaus', expected one of"):
        run("degaus")
    with pytest.raises(ValueError, match="no variable 'hight', expected one of"):
        run("degauss", hight=1)
    with pytest.raises(ValueError, match="expected seconds from the sequence's begin"):
        run("degauss", "soon:drop=bpm01")
    with pytest.raises(SimulationError, match="amplitude|0 to 8|control limit"):
        run("degauss", amplitude=80)
    with pytest.raises(ValueError, match="those that run sequences: sequence"):
        find_application(CONFIG, "sequences")
    with pytest.raises(ValueError, match="those that run sequences: none"):
        find_application(CONFIGS / "supplies.yaml")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('supplies: ["sr/ps/*"', 'supplies: ["sr/ps/b*"', '"sr/ps/ch_s05" is none of the application\'s'),
        ('inputs: ["bpm*/raw"]', "inputs: [bpm01/raw]", "bpm02/raw is none of the application's 1 inputs"),
    ],
)
def test_a_machine_that_does_not_fit_is_told_by_check(old: str, new: str, said: str, tmp_path: Path) -> None:
    config = tmp_path / "server.yaml"
    assert old in CONFIG.read_text()
    config.write_text(CONFIG.read_text().replace(old, new))
    shutil.copy(CONFIGS / "sequence-elettra2.yaml", tmp_path)
    with pytest.raises(SimulationError) as refused:
        simulate_sequence(config, OVERLAY, "degauss", tmp_path / "run")
    assert said in str(refused.value)


def test_two_writers_by_patterns_are_told_where_supplies_are_known(tmp_path: Path) -> None:
    """Two groups, which have a supply in common."""
    shutil.copy(CONFIG, tmp_path)
    text = (CONFIGS / "sequence-elettra2.yaml").read_text()
    text = text.replace("supplies: [sr/ps/ch_s05]", 'supplies: ["sr/ps/*"]')
    text = text.replace(
        "{ramp: rf, to: base, in_s: 0.5}", "{ramp: rf, to: base, in_s: 0.5}, {set: ch, to: base}, {set: qf1, to: base}"
    )
    (tmp_path / "sequence-elettra2.yaml").write_text(text)
    with pytest.raises(SimulationError) as refused:
        simulate_sequence(tmp_path / "sequence.yaml", OVERLAY, "rf_sweep", tmp_path / "run")
    assert "moves" in str(refused.value)
    assert "expected one action for a supply in a state" in str(refused.value)
