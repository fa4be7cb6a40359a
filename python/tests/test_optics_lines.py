# SPDX-License-Identifier: Apache-2.0
"""Lines by name: of signals whose lines are known, and of measured turns of LHC, whose lines were published."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import ringmaster
from numpy.typing import NDArray

from ringmaster.optics.windows import DRIVEN, FREE, OTHER, Expected, lines_of

TBT = Path(__file__).parents[2] / "../shared/data/tbt"
DRIVEN_TUNES, FREE_TUNES = (0.26999, 0.32198), (0.27998, 0.31000)
"""Published with the data (pylhc/turn_by_turn and pylhc/omc3, MIT)."""
KNOWN = ("--driven", "0.27", "0.322", "--free", "0.28", "0.31")
WINDOW = 4096
Floats = NDArray[np.float64]


def wandering(tune: float, count: int, memory: float, rng: np.random.Generator) -> Floats:
    """A resonance that noise drives, with an RMS of 1."""
    made, state, keep = np.empty(count), 0j, np.exp(-1 / memory + 2j * np.pi * tune)
    kicks = (rng.standard_normal(count) + 1j * rng.standard_normal(count)) * np.sqrt(1 / memory)
    for i in range(count):
        state = keep * state + kicks[i]
        made[i] = state.real
    return np.asarray(made / made.std())


def test_lines_have_names_window_by_window() -> None:
    rng, turn = np.random.default_rng(1), np.arange(2 * WINDOW)
    drive = np.where(turn < WINDOW, 100 * np.cos(2 * np.pi * 0.27 * turn), 0.0)
    values = drive + 2 * np.cos(2 * np.pi * 0.2803 * turn) + np.cos(2 * np.pi * 0.29 * turn)
    values += 0.5 * rng.standard_normal(len(turn))
    values[rng.random(len(turn)) < 0.05] = np.nan
    found = [(one.first_turn, one.name) for one in lines_of(values, Expected(0.27, 0.28), WINDOW)]
    assert found == [(0, DRIVEN), (0, FREE), (0, OTHER), (WINDOW, FREE), (WINDOW, OTHER)]
    assert list(lines_of(np.zeros(WINDOW), Expected(0.27, 0.28))) == []
    assert list(lines_of(rng.standard_normal(WINDOW), Expected(0.27, 0.28))) == []


def test_the_error_of_a_line_that_noise_drives_is_honest() -> None:
    """As a sine in white noise its error would be too small, by far: its phase wanders."""
    rng = np.random.default_rng(2)
    off, said = [], []
    for _ in range(60):
        values = wandering(0.28, 2048, 4000, rng) + 0.1 * rng.standard_normal(2048)
        one = next(iter(lines_of(values, Expected(None, 0.28))))
        off.append(one.line.tune - 0.28)
        said.append(one.line.sigma_tune)
    assert 0.6 < 1.48 * np.median(np.abs(np.array(off) / np.array(said))) < 1.8


def measured(file: str, *options: str) -> list[dict[str, Any]]:
    """Lines of measured turns."""
    path = TBT / file
    if not path.exists():
        pytest.skip("NO MEASURED DATA HERE")
    found: list[dict[str, Any]] = json.loads(ringmaster("optics", "lines", str(path), *options, "--json").stdout)[
        "lines"
    ]
    return found


def test_two_beams_of_lhc_have_their_own_windows() -> None:
    """Three BPMs, each by itself: beam 1 is driven at the beginning, beam 2 from turn 13 000 on; else they are free."""
    windows: dict[tuple[str, str, str], set[int]] = defaultdict(set)
    tunes: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for line in measured("lhc_doros_50000turns.h5", *KNOWN, "--window", str(WINDOW)):
        plane = line["lane"][0]
        windows[line["instrument"], plane, line["name"]].add(line["first_turn"] // WINDOW)
        tunes[plane, line["name"]].append((line["tune"], line["tune_sigma"]))
    assert {key[2] for key in windows} == {DRIVEN, FREE}
    for bpm, driven in (("lhc_bpm_1l1_b1", {0, 1}), ("lhc_bpm_1l2_b1", {0, 1}), ("lhc_bpm_1l1_b2", {3, 4, 5})):
        for plane in "xy":
            assert windows[bpm, plane, DRIVEN] == driven
        assert set(range(6, 12)) <= windows[bpm, "x", FREE]
    for plane, forced, free in zip("xy", DRIVEN_TUNES, FREE_TUNES, strict=True):
        for name, published, least in ((DRIVEN, forced, 1e-5), (FREE, free, 4e-5)):
            tune, sigma = np.array(tunes[plane, name]).T
            assert np.all(np.abs(tune - published) < least + 3 * sigma), (plane, name)


def test_250_turns_tell_their_tunes_and_no_more() -> None:
    """536 BPMs of one beam: errors are as large as the BPMs scatter; nothing but the driven line can be named."""
    found = measured("lhc_b1_250turns.sdds", "--driven", "0.27", "0.322")
    for plane, published in zip("xy", DRIVEN_TUNES, strict=True):
        driven = [line for line in found if line["lane"] == plane and line["name"] == DRIVEN]
        tune, sigma = (np.array([line[key] for line in driven]) for key in ("tune", "tune_sigma"))
        assert len(driven) > 500
        assert np.median(tune) == pytest.approx(published, abs=2e-5)
        assert 0.6 < 1.48 * np.median(np.abs(tune - np.median(tune)) / sigma) < 1.5


def test_the_command_says_it_in_words(tmp_path: Path) -> None:
    turn = np.arange(1024)
    np.savez(tmp_path / "turns.npz", **{"bpm01/x1": np.cos(2 * np.pi * 0.27 * turn).astype(np.float32)})
    said = ringmaster("optics", "lines", str(tmp_path / "turns.npz"), "--driven", "0.27", "0.322").stdout
    assert "bpm01/x1  turns 0 to 1023  driven  0.270000 ±" in said
