# SPDX-License-Identifier: Apache-2.0
"""The shipped tune on the shipped ring, in simulated time: every turn is given once, the tunes are the ring's, and a
replay of the recorded turns gives the same ones, to the bit.
"""

from pathlib import Path

import numpy as np
import pytest

from ringmaster.errors import SimulationError
from ringmaster.places import CONFIGS
from ringmaster.simulation import Simulation, replay, simulate

CONFIG = CONFIGS / "tune.yaml"
TUNES = {"x": 0.2994, "y": 0.1612}
"""Of configs/tune-ring.yaml."""
PERIOD_TURNS, WINDOW_TURNS, HEAD_BYTES, RECORD_BYTES = 576, 8192, 4096, 64
WHOLE = WINDOW_TURNS // PERIOD_TURNS + 2
"""Cycles until there is a whole window: the first one has one turn, that of the ring's beginning."""
CYCLES = 40
LOST_TURNS = 128
"""A bit of the quality."""


def run(folder: Path, *at: str) -> Simulation:
    return simulate(
        CONFIG,
        CONFIGS / "tune-ring.yaml",
        "tune",
        folder,
        cycles=CYCLES,
        at=at,
        refresh_ms=0,
        record="all,decisions",
    )


@pytest.fixture(scope="module")
def simulation(tmp_path_factory: pytest.TempPathFactory) -> Simulation:
    return run(tmp_path_factory.mktemp("tune") / "run")


def test_the_ring_s_tunes_come_from_a_whole_window_on(simulation: Simulation) -> None:
    told = simulation.stream("tune")
    assert simulation.cycles == CYCLES
    assert np.isnan(told["tune_x"][: WHOLE - 1]).all()
    for plane, tune in TUNES.items():
        whole = slice(WHOLE - 1, None)
        assert (np.abs(told[f"tune_{plane}"][whole] - tune) < 6 * told[f"sigma_{plane}"][whole] + 3e-8).all()
        assert (told[f"quality_{plane}"][whole] == 0).all()
    assert (told["lost_turns"] == 0).all()


def test_phases_advance_by_the_tune(simulation: Simulation) -> None:
    """From one record to the next, within what the phases say of themselves."""
    told, detail = simulation.stream("tune"), simulation.stream("detail")
    assert np.isnan(detail["phase_x"][: WHOLE - 1]).all()
    for plane, tune in TUNES.items():
        phase, sigma = (detail[f"{what}_{plane}"][WHOLE - 1 :].astype(float) for what in ("phase", "phase_sigma"))
        off = np.angle(np.exp(1j * (np.diff(phase) - 2 * np.pi * tune * PERIOD_TURNS)))
        assert (np.abs(off) < 6 * np.hypot(sigma[1:], sigma[:-1])).all()
        amplitude_sigma = told[f"amplitude_{plane}"][WHOLE - 1 :] / told[f"snr_{plane}"][WHOLE - 1 :]
        assert np.allclose(detail[f"amp_sigma_{plane}"][WHOLE - 1 :], amplitude_sigma, rtol=1e-5)
        assert (detail[f"other_ratio_{plane}"][WHOLE - 1 :] < 0.1).all()


def test_the_response_is_that_of_the_window(simulation: Simulation) -> None:
    """docs/tune.md has the same table."""
    assert simulation.final("response_hz").tolist() == [50.0, 100.0]
    assert np.allclose(simulation.final("response"), [0.937, 0.767], atol=5e-4)


def test_each_turn_is_recorded_once(simulation: Simulation) -> None:
    stored = (simulation.recorded / "bpm01.turn.records").read_bytes()[HEAD_BYTES:]
    turns = np.frombuffer(stored, dtype="<u8").reshape(-1, RECORD_BYTES // 8)[:, 0]
    first = simulation.summary["first_turn"]
    assert turns.tolist() == list(range(first, first + (CYCLES - 1) * PERIOD_TURNS + 1))


def test_a_replay_is_the_same(simulation: Simulation) -> None:
    again = replay(CONFIG, "tune", simulation.recorded)
    assert again.differs is None
    assert again.steps_same == CYCLES


def test_a_bit_in_the_midst_of_a_run_is_found(simulation: Simulation, tmp_path: Path) -> None:
    copy = tmp_path / "recorded"
    copy.mkdir()
    for file in simulation.recorded.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    records = bytearray((copy / "bpm01.turn.records").read_bytes())
    records[HEAD_BYTES + (20 * PERIOD_TURNS + 100) * RECORD_BYTES + 16] ^= 1
    (copy / "bpm01.turn.records").write_bytes(records)
    differs = replay(CONFIG, "tune", copy).differs
    assert differs is not None
    assert (differs.step, differs.what) == (21, "inputs")


def test_lost_turns_are_counted(tmp_path: Path) -> None:
    """The BPM is dead for three steps, of a window that has 8192 turns: it is left out, and comes back."""
    at = (20 * PERIOD_TURNS + 1) / 1157000
    told = run(tmp_path / "run", f"{at}:drop=bpm01", f"{at + 3 * PERIOD_TURNS / 1157000}:back=bpm01").stream("tune")
    assert told["quality_x"][19] == 0
    assert int(told["quality_x"][24]) & LOST_TURNS
    assert np.isnan(told["tune_x"][24])
    assert told["quality_x"][CYCLES - 1] == 0


def run_otherwise(folder: Path, key: str, cycles: int) -> Simulation:
    """With one more key in the application's file."""
    (folder / "bpms.yaml").write_text(f"{(CONFIGS / 'tune-bpms.yaml').read_text()}\n{key}\n")
    config = folder / "tune.yaml"
    config.write_text(CONFIG.read_text().replace("tune-bpms.yaml", "bpms.yaml"))
    ring = CONFIGS / "tune-ring.yaml"
    done = simulate(config, ring, "tune", folder / "run", cycles=cycles, refresh_ms=0, record="all,decisions")
    assert replay(config, "tune", done.recorded).differs is None
    return done


def test_a_steady_line_is_no_driven_one(simulation: Simulation, tmp_path: Path) -> None:
    """It is narrower than the windows resolve, and said to be; where nobody asks, nothing is said."""
    assert np.isnan(simulation.reported("driven_tune_x")).all()
    done = run_otherwise(tmp_path, "driven_windows: 2", 2 * WHOLE + 4)
    for plane, tune in TUNES.items():
        found = done.reported(f"driven_tune_{plane}")
        assert np.isnan(found[:WHOLE]).all()
        assert np.isnan(found[-1]) or abs(found[-1] - tune) < 2 / WINDOW_TURNS
        assert (done.reported(f"driven_resolved_{plane}") == 0).all()


def test_naff_s_tunes_are_the_ring_s(tmp_path: Path) -> None:
    """On request, of one BPM: within the same errors."""
    done = run_otherwise(tmp_path, "estimator: naff", WHOLE + 4)
    told = done.stream("tune")
    for plane, tune in TUNES.items():
        off = np.abs(done.reported(f"tune_{plane}")[WHOLE - 1 :] - tune)
        assert (off < 6 * told[f"sigma_{plane}"][WHOLE - 1 :]).all()


def test_a_folder_without_turns_is_no_replay(simulation: Simulation, tmp_path: Path) -> None:
    with pytest.raises(SimulationError, match="--archive"):
        simulate(CONFIG, CONFIGS / "tune-ring.yaml", "tune", tmp_path / "again", replay=simulation.folder)
