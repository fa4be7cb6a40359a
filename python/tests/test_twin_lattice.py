# SPDX-License-Identifier: Apache-2.0
"""Lattices and points: what a person can ask of them."""

import gc

import numpy as np
import pytest
from small_ring import CELL, CELLS, small_ring

from ringmaster.twin import All, End, Kind, Lattice, LatticeAbsent, Twin, TwinArgument, load_lattice


@pytest.fixture(scope="module")
def lattice() -> Lattice:
    return small_ring()


def test_a_lattice_says_what_it_is(lattice: Lattice) -> None:
    assert (lattice.name, lattice.particle, lattice.energy) == ("small", "relativistic", 1e9)
    assert len(lattice) == CELLS * len(CELL) + 1
    assert lattice.circumference == pytest.approx(CELLS * 5.2)
    assert lattice.revolution_frequency == pytest.approx(299792458.0 / lattice.circumference)
    assert "small" in repr(lattice)


def test_elements_have_the_attributes_of_their_kind_and_no_others(lattice: Lattice) -> None:
    quadrupole = lattice[2]
    assert (quadrupole.FamName, quadrupole.Class, quadrupole.kind) == ("QF", "Quadrupole", Kind.QUADRUPOLE)
    assert (quadrupole.K, quadrupole.Length, quadrupole.MaxOrder) == (1.6, 0.4, 1)
    np.testing.assert_array_equal(quadrupole.PolynomB, [0.0, 1.6])
    with pytest.raises(ValueError, match="read-only"):
        quadrupole.PolynomB[1] = 1.0
    with pytest.raises(AttributeError, match="QF has no Voltage; it has Class, FamName, "):
        _ = quadrupole.Voltage
    assert not hasattr(lattice[0], "PolynomB")
    assert lattice[-1].Voltage == 2e6
    assert "Voltage" in dir(lattice[-1])


def test_an_element_outlives_the_name_of_its_lattice() -> None:
    element = small_ring("short-lived")[2]
    gc.collect()
    assert element.FamName == "QF"


def test_indices_by_name_and_kind(lattice: Lattice) -> None:
    assert len(lattice.get_bpms()) == len(lattice.get_correctors()) == CELLS
    assert lattice.get_cavities().tolist() == [len(lattice) - 1]
    assert len(lattice.get_magnets()) == CELLS * 6
    assert lattice.find("Q?").tolist() == sorted([*lattice.families["QF"], *lattice.families["QD"]])
    assert lattice.find("*", Kind.MARKER).tolist() == []


POINTS = [
    (None, []),
    (3, [3]),
    (-1, [192]),
    ([0, 2], [0, 2]),
    (All, list(range(194))),
    (End, [193]),
    ("CAV", [192]),
    (["CAV", "BP*"], [*range(0, 192, 12), 192]),
    (Kind.CAVITY, [192]),
    (lambda element: element.FamName == "CAV", [192]),
    (np.array([True, False, True]), [0, 2]),
    ([], []),
]


@pytest.mark.parametrize(("refpts", "expected"), POINTS, ids=[str(i) for i in range(len(POINTS))])
def test_points_by_all_that_is_understood(lattice: Lattice, refpts: object, expected: list[int]) -> None:
    assert lattice.get_uint32_index(refpts).tolist() == expected  # type: ignore[arg-type]
    assert np.flatnonzero(lattice.get_bool_index(refpts)).tolist() == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("refpts", "message"),
    [
        (194, "outside 0…193"),
        (-194, "outside 0…193"),
        ([3, 2], "ascending"),
        ([3, 3], "ascending"),
        ("NOBODY*", "no element of small is named NOBODY"),
        ([1.5], "type float64"),
        (np.ones(200, bool), "200 booleans, expected at most 194"),
    ],
)
def test_points_that_there_are_not(lattice: Lattice, refpts: object, message: str) -> None:
    with pytest.raises(TwinArgument, match=message):
        lattice.get_uint32_index(refpts)  # type: ignore[arg-type]


def test_places(lattice: Lattice) -> None:
    assert lattice.get_s_pos([0, 3, 4]) == pytest.approx([0.0, 0.4, 0.6])
    assert lattice.get_s_pos(End) == pytest.approx([lattice.circumference])


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(LatticeAbsent, match="nowhere"):
        load_lattice("/nowhere/ring.mat")


def test_a_twin_changes_and_its_lattice_does_not(lattice: Lattice) -> None:
    twin = Twin(lattice)
    twin.set_value_refpts("QF", "K", 0.1, increment=True)
    twin.set_value_refpts("SF", "PolynomB", 4.0, index=2)
    twin.set_value_refpts(Kind.CORRECTOR, "KickAngle", np.arange(CELLS) * 1e-6, index=1)
    twin.set_cavity(Voltage=1e6)
    assert twin.get_value_refpts("QF", "K") == pytest.approx(np.full(CELLS, 1.7))
    assert twin.get_value_refpts(Kind.CORRECTOR, "KickAngle")[3].tolist() == [0.0, 3e-6]
    assert twin[twin.lattice.families["SF"][0]].H == 4.0
    assert twin.rf_voltage == 1e6
    assert twin.rf_frequency == lattice[-1].Frequency
    assert (lattice[2].K, lattice[-1].Voltage) == (1.6, 2e6)
    assert pytest.approx(1.7) == twin.copy()[2].K


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda twin: twin.set_value_refpts("D1", "K", 1.0), "D1"),
        (lambda twin: twin.set_value_refpts("QF", "Length", 1.0), "Length cannot be set"),
        (lambda twin: twin.set_value_refpts("QF", "PolynomB", 1.0), "index="),
        (lambda twin: twin.set_value_refpts("QF", "K", [1.0, 2.0]), "2 values for 16 elements"),
        (lambda twin: twin.set_value_refpts("QF", "K", np.nan), "QF"),
        (lambda twin: twin.set_value_refpts(End, "K", 1.0), "no element"),
        (lambda twin: twin.set_polynom("QF", "C", 1, 1.0), "'A' or 'B'"),
    ],
)
def test_strengths_that_there_are_not(lattice: Lattice, act: object, message: str) -> None:
    twin = Twin(lattice)
    with pytest.raises(TwinArgument, match=message):
        act(twin)  # type: ignore[operator]
    assert twin[2].K == 1.6
