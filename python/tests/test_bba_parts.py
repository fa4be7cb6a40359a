# SPDX-License-Identifier: Apache-2.0
"""Parts of the alignment: lines, patterns, groups, centres of magnets from kicks, tables, files."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ringmaster.bba import store
from ringmaster.bba.analyse import Offset, odd, scatter
from ringmaster.bba.centres import Stepped, of_quadrupole, of_sextupole
from ringmaster.bba.correct import table
from ringmaster.bba.kicks import Doubt, Others, solve
from ringmaster.bba.lines import DIFFERENCE, LINES, REST, SUM, SWING_X, SWING_Y, TWICE_X, TWICE_Y, Swing, phasors
from ringmaster.bba.measure import Taken
from ringmaster.bba.plan import Settings, check_times
from ringmaster.bba.plant import Readings
from ringmaster.bba.swing import _fault

SWING = Swing((30.0, 37.5))
ROWS = ("bpm01/x1", "bpm01/y1", "bpm01/x2", "bpm01/y2")


def offset(bpm: int = 0, x_nm: float = 12000.0, y_nm: float = -34000.0) -> Offset:
    systematic = {"angle": (3.0, 4.0)}
    errors = (1.0, 1.0)
    return Offset(bpm, "QD1", "quadrupole", "q", 0.1, (x_nm, y_nm), errors, systematic, (0.0, 0.0), 1.0, 1.0, "", 0)


def test_lines_are_told_apart_with_a_drift_and_with_records_missing() -> None:
    time_s = np.arange(0, 0.4, 1 / 9642)
    wanted = np.array([100.0, 3 + 4j, -5j, 1.0, 2j, -1.0, 0.5])
    signal = (wanted[:, None] * np.exp(2j * np.pi * SWING.lines_hz[:, None] * time_s)).real.sum(axis=0)
    drifting = signal + 50 * (time_s - time_s.mean())
    some = signal.copy()
    some[100:900] = np.nan
    most = np.full(len(time_s), np.nan)
    found = phasors(Readings(time_s, np.array([drifting, some, most]), np.zeros(3)), SWING)
    assert found[0] == pytest.approx(wanted, abs=0.02)
    assert found[1] == pytest.approx(wanted, abs=1e-9)
    assert np.isnan(found[2]).all()


def test_odd_states_have_neither_a_drift_nor_what_is_even() -> None:
    signs = np.array([1, -1, -1, 1])
    states = (7.0 * signs + 3.0 * np.arange(4) + 11.0 * signs**2).reshape(4, 1, 1).astype(np.complex128)
    assert odd(states)[0, 0] == pytest.approx(7.0)
    steady = states - 3.0 * np.arange(4).reshape(4, 1, 1)
    assert scatter(steady)[0, 0] == pytest.approx(0.0)


def test_what_a_neighbour_kicks_by_is_not_taken_for_the_magnet_that_stepped() -> None:
    random = np.random.default_rng(1)
    columns, others = random.normal(size=(80, 2)), random.normal(size=(80, 30))
    truth = np.array([1e-6, -2e-6], np.complex128)
    signal = columns @ truth + others @ random.normal(0, 3e-7, 30) + random.normal(0, 1e-9, 80)
    doubtful = Others(others, np.full(30, 3e-7), np.zeros((30, 2)))
    blind = Others(others, np.full(30, 1e-12), np.zeros((30, 2)))
    noise = np.full(80, 1e-9)
    with_others = solve(signal, columns, noise, 1.0, doubtful, Doubt(gain=0.0))
    without = solve(signal, columns, noise, 1.0, blind, Doubt(gain=0.0))
    assert np.abs(with_others.value - truth).max() < 0.1 * np.abs(without.value - truth).max()
    assert np.abs(with_others.value - truth).max() < 4 * with_others.sigma.max()
    assert 0.5 < with_others.chi2 < 2


def stepped(kick: np.ndarray[tuple[int, ...], np.dtype[np.complex128]], step: float) -> Stepped:
    inside = np.array([[60e-6 * np.exp(0.3j), 2e-6], [1e-6j, 50e-6 * np.exp(-1j)]])
    return Stepped(kick, np.full((2, LINES), 1e-10), np.full((2, LINES), 1e-10), step, inside)


def kicks_by_time(step: float, place: tuple[float, float], order: int) -> Stepped:
    """Of a magnet with the beam at ``place``, by the fields themselves."""
    empty = stepped(np.zeros((2, LINES), np.complex128), step)
    time_s = np.arange(0, 0.4, 1 / 1000)
    waves = np.exp(2j * np.pi * np.array(SWING.hz)[:, None] * time_s)
    x, y = (np.array(place)[:, None] + (empty.inside @ waves).real) if order else (0, 0)
    kick = np.array([-step * x, step * y]) if order == 1 else np.array([-step * (x**2 - y**2), 2 * step * x * y])
    found = phasors(Readings(time_s, kick, np.zeros(2)), SWING)
    return replace(empty, kick=found)


def test_centres_are_found_from_kicks() -> None:
    place = (35e-6, -80e-6)
    away = of_quadrupole(kicks_by_time(0.01, place, 1), Doubt())
    assert away.value == pytest.approx(place, rel=1e-3)
    away = of_sextupole(kicks_by_time(-7.0, place, 2), Doubt())
    assert away.value == pytest.approx(place, rel=1e-3)
    assert away.strength == pytest.approx(1.0, abs=1e-3)


def test_a_step_of_another_strength_gives_the_same_centre() -> None:
    """Of a quadrupole by the swing, of a sextupole by sums and differences."""
    place = (35e-6, -80e-6)
    for step, order, of in ((0.01, 1, of_quadrupole), (-7.0, 2, of_sextupole)):
        one = kicks_by_time(step, place, order)
        weaker = of(replace(one, kick=0.9 * one.kick), Doubt())
        assert weaker.value == pytest.approx(place, rel=5e-3)
        assert weaker.strength == pytest.approx(0.9, abs=5e-3)


def test_lines_that_would_leak_are_refused() -> None:
    check_times(Settings())
    for hz, read_s, word in (
        ((15.0, 20.0), 0.1, "apart"),
        ((20.0, 15.0), 0.4, "below"),
        ((15.0, 30.0), 0.4, "apart"),
        ((15.1, 20.0), 0.4, "periods"),
    ):
        with pytest.raises(ValueError, match=word):
            check_times(Settings(hz=hz, read_s=read_s))


def test_a_new_table_has_millimetres() -> None:
    lines = table(None, [offset(0), offset(1, 1000.0, 2000.0)], ROWS).splitlines()
    assert lines[0] == "instrument,bpm,x.gain [mm/nm],y.gain [mm/nm],x.mechanical_offset [mm],y.mechanical_offset [mm]"
    assert lines[1:] == ["bpm01,1,1e-6,1e-6,0.012000,-0.034000", "bpm01,2,1e-6,1e-6,0.001000,0.002000"]


def test_a_table_keeps_what_it_had_and_counts_offsets_as_its_other_steps_leave_them() -> None:
    before = (
        "# ours\n"
        "instrument,bpm,x.gain [mm/nm],y.gain [mm/nm],x.electrical_offset [mm],x.mechanical_offset [mm],"
        "y.mechanical_offset [mm]\nbpm01,1,2e-6,1e-6,0.004,7,8\nbpm02,1,1e-6,1e-6,,5,6\n"
    )
    lines = table(before, [offset()], ROWS).splitlines()
    assert lines[0] == "# ours"
    assert lines[2] == "bpm01,1,2e-6,1e-6,0.004,0.02,-0.034"
    assert lines[3] == "bpm02,1,1e-6,1e-6,,5,6"
    with pytest.raises(ValueError, match="no row of bpm01, bpm 2"):
        table(before, [offset(1)], ROWS)
    with pytest.raises(ValueError, match="unit of x"):
        table("instrument,bpm\nbpm01,1\n", [offset()], ROWS)


def test_a_file_has_each_group_as_soon_as_it_is_done(tmp_path: Path) -> None:
    path = tmp_path / "bba.h5"
    store.begin(path, {"lattice": "l"}, ROWS)
    assert store.load(path).taken == ()
    states = np.arange(4 * 4 * LINES).reshape(4, 4, LINES) * np.complex128(1 + 1j)
    store.add(path, Taken(3, ("q1",), np.array([2.0]), states, np.ones(4), ("q2: tripped",), 2.5))
    read = store.load(path)
    assert read.about == {"lattice": "l"}
    assert read.taken[0].supplies == ("q1",)
    assert read.taken[0].failed == ("q2: tripped",)
    assert (read.taken[0].states == states).all()
    assert read.machine_s == 2.5
    (tmp_path / "other.h5").write_bytes(b"no")
    with pytest.raises(ValueError, match="no measurement"):
        store.load(tmp_path / "other.h5")


def test_places_of_lines() -> None:
    assert len({REST, SWING_X, SWING_Y, SUM, DIFFERENCE, TWICE_X, TWICE_Y}) == LINES


def test_a_bpm_that_reads_the_other_plane_is_told_so() -> None:
    """On a ring with coupling the gains of its own planes are right: they are not what is told."""
    assert _fault(np.array([[1.02, 0.03], [0.2, 0.97]])) == ""
    assert _fault(np.array([[1.0, 0.01], [-0.65, 1.0]])).startswith("y reads -0.65 of the swing in x: it is rolled, or")
    assert _fault(np.array([[1.0, 0.3], [0.4, 1.0]])).startswith(
        "x reads 0.30 of the swing in y and y reads 0.40 of the swing in x: "
    )
    assert _fault(np.array([[0.1, 0.0], [0.0, 1.0]])) == "reads 0.1 and 1 times the swing"
