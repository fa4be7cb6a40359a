# SPDX-License-Identifier: Apache-2.0
"""Tune and orbit."""

import struct
from pathlib import Path

import fabric
import numpy as np
import pytest
from conftest import MakeOwner
from hypothesis import given, settings
from hypothesis import strategies as st

import ringmaster
from ringmaster.beam.tune import find_tune, spectrum
from ringmaster.fabric.layout import InstrumentKind, LaneType
from ringmaster.recordings import doros

DOROS = Path(__file__).parents[2] / "../shared/data/tbt/lhc_doros_50000turns.h5"


@settings(deadline=None)
@given(st.floats(0.02, 0.48), st.floats(0, 6.28))
def test_the_tune_of_a_clean_line_is_found_between_bins(tune: float, phase: float) -> None:
    turn = np.arange(8192)
    assert find_tune(1000 + 5 * np.cos(2 * np.pi * tune * turn + phase)) == pytest.approx(tune, abs=2e-6)


def test_the_tune_is_found_in_noise_and_with_missing_turns() -> None:
    noise = np.random.default_rng(1)
    turn = np.arange(8192)
    signals = [np.cos(2 * np.pi * 0.2042 * turn + k) + noise.normal(0, 2, turn.size) for k in range(4)]
    for signal in signals:
        signal[noise.integers(0, turn.size, 80)] = np.nan
    assert find_tune(*signals) == pytest.approx(0.2042, abs=2e-5)


def test_a_range_chooses_between_lines() -> None:
    turn = np.arange(4096)
    signal = 5 * np.sin(2 * np.pi * 0.27 * turn) + np.sin(2 * np.pi * 0.31 * turn)
    assert find_tune(signal) == pytest.approx(0.27, abs=1e-5)
    assert find_tune(signal, low=0.3, high=0.33) == pytest.approx(0.31, abs=1e-5)


def test_the_spectrum_shows_amplitudes_and_no_mean() -> None:
    frequency, amplitude = spectrum(7 + 3 * np.sin(2 * np.pi * 0.25 * np.arange(1024)))
    assert frequency[np.argmax(amplitude)] == 0.25
    assert amplitude.max() == pytest.approx(3, rel=1e-6)
    assert amplitude[0] < 1e-9


def test_missing_turns_have_no_part_in_a_spectrum() -> None:
    signal = 7 + 3 * np.sin(2 * np.pi * 0.25 * np.arange(1024))
    signal[np.random.default_rng(1).random(1024) < 0.3] = np.nan
    frequency, amplitude = spectrum(signal)
    assert frequency[np.argmax(amplitude)] == 0.25
    assert amplitude.max() == pytest.approx(3, rel=1e-6)
    signal[::2] = np.nan
    with pytest.raises(ValueError, match="of 1024 turns have a value; a spectrum takes half"):
        spectrum(signal)


def test_impossible_tunes_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 16"):
        find_tune(np.zeros(15))
    with pytest.raises(ValueError, match="no bin"):
        find_tune(np.zeros(64), low=0.301, high=0.302)


def fill_orbit(owner: fabric.Owner, name: str, turns: range, *lanes: int) -> None:
    for turn in turns:
        owner.store(name, turn, struct.pack(f"<{len(lanes)}i", *lanes))
    owner.publish(name, turns[-1], first=turns[0])


def test_the_orbit_is_the_mean_of_all_bpms_over_the_same_turns(make_owner: MakeOwner) -> None:
    two = tuple((name, "nm", LaneType.I32) for name in ("x1", "y1", "x2", "y2"))
    owner = make_owner(
        [
            fabric.stream("bpm01/turn"),
            fabric.stream("bpm02/turn", lanes=two),
            fabric.stream("bpm03/turn"),
            fabric.stream("blm01/turn", kind=InstrumentKind.BLM),
            fabric.stream("bpm01/fast", period=12),
        ]
    )
    with ringmaster.attach("demo") as ws:
        with pytest.raises(ValueError, match="no BPM has sent"):
            ringmaster.read_orbit(ws)
        fill_orbit(owner, "bpm01/turn", range(100, 120), 100, -100)
        fill_orbit(owner, "bpm02/turn", range(100, 118), 20, -20, 30, -30)
        orbit = ringmaster.read_orbit(ws, turns=8)
    assert orbit.names == ("bpm01", "bpm02.1", "bpm02.2", "bpm03")
    assert (orbit.turn, orbit.turns, orbit.unit) == (117, 8, "nm")
    np.testing.assert_array_equal(orbit.x, [100, 20, 30, np.nan])
    np.testing.assert_array_equal(orbit.y, [-100, -20, -30, np.nan])
    assert orbit.rms[0] == pytest.approx(np.sqrt((100**2 + 20**2 + 30**2) / 3))


def test_a_bpm_that_stopped_does_not_hold_the_orbit(make_owner: MakeOwner) -> None:
    owner = make_owner([fabric.stream("bpm01/turn"), fabric.stream("bpm02/turn")])
    fill_orbit(owner, "bpm01/turn", range(10, 20), 1, 1)
    fill_orbit(owner, "bpm02/turn", range(100, 120), 5, 5)
    with ringmaster.attach("demo") as ws:
        orbit = ringmaster.read_orbit(ws, turns=8)
    np.testing.assert_array_equal(orbit.x, [np.nan, 5])


def test_bpms_of_other_periods_are_in_the_orbit_over_the_same_turns(make_owner: MakeOwner) -> None:
    owner = make_owner(
        [
            fabric.stream("bpm01/turn", capacity=2048),
            fabric.stream("bpm02/raw", period=116),
            fabric.stream("bpm02/slow", period=116000),
            fabric.stream("bpm03/raw", period=5000),
            fabric.stream("bpm04/raw", period=116),
        ]
    )
    fill_orbit(owner, "bpm01/turn", range(9000, 10_101), 10, -10)
    for turn in range(8004, 10_093, 116):  # the newest, 10 092, is followed by one at 10 208: none is missing
        owner.store("bpm02/raw", turn, struct.pack("<ii", turn, -turn))
    owner.publish("bpm02/raw", 10_092, first=8004)
    fill_orbit(owner, "bpm03/raw", range(0, 10_001, 5000), 7, -7)
    fill_orbit(owner, "bpm04/raw", range(0, 8005, 116), 1, 1)  # has stopped
    with ringmaster.attach("demo") as ws:
        orbit = ringmaster.read_orbit(ws)
    assert orbit.names == ("bpm01", "bpm02", "bpm03", "bpm04")
    assert (orbit.turn, orbit.turns) == (10_100, 1024)
    inside = [turn for turn in range(8004, 10_093, 116) if turn > 10_100 - 1024]
    np.testing.assert_array_equal(orbit.x, [10, np.mean(inside), 7, np.nan])
    np.testing.assert_array_equal(orbit.y, [-10, -np.mean(inside), -7, np.nan])


def test_a_ring_without_turn_by_turn_bpms_has_an_orbit_and_no_tune(make_owner: MakeOwner) -> None:
    owner = make_owner([fabric.stream(f"bpm0{i}/raw", period=116) for i in (1, 2)])
    fill_orbit(owner, "bpm01/raw", range(0, 5801, 116), 3, -3)
    fill_orbit(owner, "bpm02/raw", range(0, 5685, 116), 4, -4)  # one record behind
    with ringmaster.attach("demo") as ws:
        orbit = ringmaster.read_orbit(ws)
        with pytest.raises(ValueError, match="no turn-by-turn BPMs"):
            ringmaster.read_tunes(ws)
    assert orbit.turn == 5684 + 115
    np.testing.assert_array_equal(orbit.x, [3, 4])
    np.testing.assert_array_equal(orbit.y, [-3, -4])


@pytest.mark.skipif(not DOROS.exists(), reason=f"measured beam data not present at {DOROS}")
def test_measured_beam_shows_the_published_tunes() -> None:
    bpm = next(bpm for bpm in doros.read(DOROS) if bpm.name == "lhc_bpm_1l1_b1")
    x, y = bpm.lane("x_oscillation"), bpm.lane("y_oscillation")
    assert find_tune(x[:8192]) == pytest.approx(0.26999, abs=5e-5)
    assert find_tune(y[:8192]) == pytest.approx(0.32198, abs=5e-5)
    assert find_tune(x, low=0.275, high=0.285) == pytest.approx(0.27998, abs=5e-5)
    assert find_tune(y, low=0.305, high=0.315) == pytest.approx(0.31000, abs=5e-5)
