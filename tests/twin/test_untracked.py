# SPDX-License-Identifier: Apache-2.0
"""What pyAT saved and the twin does not track is refused by its class, in whatever state it was saved."""

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ringmaster.errors import LatticeInvalid, TwinArgument
from ringmaster.twin import Twin, load_lattice, save_mat

at = pytest.importorskip("at")


def elements() -> list[Any]:
    """One of each class that pyAT's enable_6d() switches on and that the twin does not have."""
    from at.collective import LongResonatorElement, ResonatorElement, ResWallElement, WakeComponent, WakeElement

    ring = bare_ring()
    wake = at.collective.Wake.long_resonator(np.linspace(0, 0.1, 11), 1e9, 1.0, 1e3, 1.0)
    return [
        at.EnergyLoss("LOSS", 1e5),
        at.SimpleRadiation("RADIATES", taux=1e3, tauy=1e3, tauz=5e2, U0=1e5),
        at.SimpleQuantDiff("DIFFUSES", betax=1.0, betay=1.0, emitx=1e-9, taux=1e3),
        at.QuantumDiffusion("QUANTA", np.zeros((6, 6))),
        WakeElement("WAKE", ring, wake),
        LongResonatorElement("LONG", ring, np.linspace(0, 0.1, 11), 1e9, 1.0, 1e3),
        ResonatorElement("ACROSS", ring, np.linspace(0, 0.1, 11), WakeComponent.DX, 1e9, 1.0, 1e3),
        ResWallElement("WALL", ring, np.linspace(1e-3, 0.1, 11), WakeComponent.DX, 10.0, 0.01, 1e6),
    ]


def bare_ring(*more: Any) -> Any:
    cavity = at.RFCavity("RF", 0.0, 1e6, 1e8, 30, 1e9)
    drift = at.Drift("D", 299792458.0 / 1e8 * 30)
    return at.Lattice([drift, cavity, *more], energy=1e9, periodicity=1)


@pytest.fixture
def twin(tmp_path: Path) -> Twin:
    """In which a quadrupole is element 2."""
    path = tmp_path / "designed_here.mat"
    bare_ring(at.Quadrupole("Q", 0.5, 1.0), at.Sextupole("S", 0.1, 3.0)).save(str(path))
    made = Twin(load_lattice(path))
    made.disable_6d()
    return made


def class_names() -> list[str]:
    return [type(element).__name__ for element in elements()]


@pytest.mark.parametrize("name", class_names())
def test_refuses_it_in_the_4d_state_of_a_mat_file(name: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SciPy leaves out the private fields of wakes
        refused(tmp_path / "ring.mat", name, name)


@pytest.mark.parametrize("name", class_names()[:4])
def test_refuses_it_in_the_4d_state_of_an_m_file(name: str, tmp_path: Path) -> None:
    refused(tmp_path / "ring.m", name, name.lower())


def refused(path: Path, name: str, told: str) -> None:
    element = next(e for e in elements() if type(e).__name__ == name)
    ring = bare_ring()
    ring.append(element)
    ring.disable_6d()
    assert ring[2].PassMethod == "IdentityPass"
    ring.save(str(path))
    place = f'{re.escape(path.name)}: .*"{element.FamName}" is of class {told}, which acts'
    with pytest.raises(LatticeInvalid, match=place):
        load_lattice(path)


def test_a_name_cannot_command_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "ring.madx"
    path.write_bytes(b"q: quadrupole, l=1, k1=1;\n\x1b[2J\x1b]0;mine\x07;\n")
    with pytest.raises(LatticeInvalid) as raised:
        load_lattice(path)
    assert "?[2J" in str(raised.value)
    assert str(raised.value).isprintable()
    mat = tmp_path / "ring.mat"
    bare_ring(at.Marker("\x1b[31mred")).save(str(mat))
    assert load_lattice(mat)[2].FamName == "?[31mred"


def test_attributes_of_elements_can_be_set(twin: Twin) -> None:
    before = twin.find_m44()[0].copy()
    twin[2].K = 1.25
    assert twin[2].PolynomB[1] == 1.25
    assert not np.array_equal(twin.find_m44()[0], before)
    twin[2].PolynomB = [0.0, 1.0]
    assert np.array_equal(twin.find_m44()[0], before)
    twin[2].KickAngle = (1e-5, -1e-5)
    assert list(twin[2].KickAngle) == [1e-5, -1e-5]
    twin[3].H = 5.0
    assert twin[3].PolynomB[2] == 5.0
    twin[1].Voltage = 5e5
    assert twin.rf_voltage == 5e5
    twin.turn = 5
    assert twin.turn == 5
    assert twin.lattice[2].K == 1.0


@pytest.mark.parametrize(
    ("do", "error", "words"),
    [
        (lambda t: setattr(t[2], "Length", 1.0), AttributeError, "Q: Length cannot be set; PolynomA, .* can"),
        (lambda t: setattr(t[0], "K", 1.0), AttributeError, "D has no K; it has"),
        (lambda t: setattr(t[2], "k", 1.0), AttributeError, "k cannot be set"),
        (lambda t: setattr(t, "energy", 2e9), AttributeError, "energy of a twin cannot be set. It belongs to"),
        (lambda t: setattr(t, "enrgy", 2e9), AttributeError, "enrgy of a twin cannot be set. Strengths"),
        (lambda t: setattr(t.lattice[2], "K", 1.0), AttributeError, "Q: a lattice is immutable; make a Twin"),
        (lambda t: setattr(t.lattice, "energy", 2e9), AttributeError, "energy"),
        (lambda t: setattr(t[2], "K", "nine"), TwinArgument, "found 'nine' for K, expected a finite number"),
        (lambda t: setattr(t[2], "K", np.nan), TwinArgument, "found nan for K"),
        (lambda t: setattr(t[2], "PolynomB", 9.0), TwinArgument, "for PolynomB, expected finite numbers"),
        (lambda t: setattr(t[2], "PolynomB", [0, 1, 0, 0, 0, 7]), TwinArgument, "found 6 values for PolynomB of Q"),
        (lambda t: setattr(t[2], "KickAngle", [1e-5]), TwinArgument, "found 1 values for KickAngle of Q, expected 2"),
        (lambda t: t[2].PolynomB.__setitem__(1, 9.0), ValueError, "read-only"),
    ],
)
def test_what_cannot_be_set_says_so(do: Callable[[Any], Any], error: type[Exception], words: str, twin: Twin) -> None:
    before = twin.find_m44()[0].copy()
    with pytest.raises(error, match=words):
        do(twin)
    assert np.array_equal(twin.find_m44()[0], before)


def test_a_loss_map_is_pyats(twin: Twin) -> None:
    ours = twin.track(np.array([[0, 2.0], *[[0, 0]] * 5], float), 2, losses=True)[2]["loss_map"]
    assert list(ours.islost) == [False, True]
    assert (ours.turn[0], ours.elem[0]) == (0, 0)
    assert not ours.coord[0].any()


def test_a_twin_saves_what_it_is_now(twin: Twin, tmp_path: Path) -> None:
    twin.set_value_refpts("Q", "K", 1.25)
    twin.set_misalignment("Q", x=1e-4)
    save_mat(twin, tmp_path / "now.mat")
    saved = at.load_mat(str(tmp_path / "now.mat"))
    at_q = next(e for e in saved if e.FamName == "Q")
    assert at_q.K == 1.25
    assert at_q.T2[0] == 1e-4
    assert Twin(load_lattice(tmp_path / "now.mat"))[2].K == 1.25
    save_mat(twin.lattice, tmp_path / "designed.mat")
    assert next(e for e in at.load_mat(str(tmp_path / "designed.mat")) if e.FamName == "Q").K == 1.0
