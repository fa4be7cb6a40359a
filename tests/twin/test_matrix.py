# SPDX-License-Identifier: Apache-2.0
"""One-turn matrices against pyAT's differences, and their own proof that they are exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from library import ffi
from rings import FOUR_D, SIX_D, Twin, at, doubles, far, quietly, ring_4d, ring_6d, some_points

OMEGA = np.kron(np.eye(3), [[0.0, 1.0], [-1.0, 0.0]])


@pytest.mark.parametrize("name", FOUR_D)
def test_4d(name: str) -> None:
    ring = ring_4d(name)
    m66, matrices = Twin(ring).find_m66(some_points(ring))
    orbit, _ = quietly(ring.find_orbit4)
    reference, references = ring.find_m66(some_points(ring), orbit=orbit)
    assert far(m66, reference) < 2e-7
    assert far(matrices, references) < 2e-7


@pytest.mark.parametrize("name", SIX_D)
def test_6d(name: str) -> None:
    ring = ring_6d(name)
    m66, matrices = Twin(ring).find_m66(some_points(ring))
    orbit, _ = quietly(ring.find_orbit6)
    reference, references = ring.find_m66(some_points(ring), orbit=orbit)
    assert far(m66, reference) < 2e-7
    assert far(matrices, references) < 2e-7


@pytest.mark.parametrize("name", FOUR_D)
def test_symplectic(name: str) -> None:
    """Which a matrix of differences is to 1e-8 only.

    At fixed momentum, since AT's fringe fields, which weaken with it, move no path length; and to second order in the
    edges where they are those of AT's E2 bend.
    """
    ring = ring_4d(name)
    m44 = Twin(ring).find_m66([0])[0][:4, :4]
    omega = OMEGA[:4, :4]
    exact = not any("E2" in element.PassMethod for element in ring)
    assert np.max(np.abs(m44.T @ omega @ m44 - omega)) < (1e-11 if exact else 1e-4) * np.max(np.abs(m44)) ** 2


def wiggler(name: str, method: int) -> Any:
    by = np.array([[1, 0.9, 0.3, np.hypot(0.3, 1), 1, 0.2], [3, 0.1, 0, 3, 3, 0]]).T
    bx = np.array([[1, 0.5, np.hypot(0.2, 1), 0.2, 1, 0.1]]).T
    return at.Wiggler("wiggler", 0.4, 0.1, 1.2, By=by, Bx=bx, Nstep=6, Nmeth=method, Energy=3e9, PassMethod=name)


def test_rare_passes() -> None:
    """Each alone, off axis and off momentum, against differences of pyAT's own pass."""
    length, orbit = 0.4, np.array([1e-3, 2e-4, -5e-4, 3e-4, 4e-3, 1e-3])
    bend = {"EntranceAngle": 0.05, "ExitAngle": 0.07, "FullGap": 0.04, "FringeInt1": 0.6, "FringeInt2": 0.5}
    elements = [
        at.Drift("exact", length, PassMethod="ExactDriftPass"),
        at.Quadrupole("lens", length, 1.7, PassMethod="QuadLinearPass"),
        at.Quadrupole("lens", length, -1.7, PassMethod="QuadLinearPass"),
        at.Quadrupole("fringe", length, 1.7, FringeQuadEntrance=1, FringeQuadExit=1),
        at.Dipole("sector", length, 0.2, 0.6, PassMethod="BendLinearPass", **bend),
        at.Dipole("sector", length, 0.2, -0.6, PassMethod="BendLinearPass", **bend),
        at.Dipole("sector", length, 0.2, 0.0, PassMethod="BendLinearPass"),
        at.Dipole("e2", length, 0.2, -0.6, H1=0.3, H2=-0.2, PassMethod="BndMPoleSymplectic4E2Pass", **bend),
        at.Dipole("e2", length, 0.2, -0.6, PassMethod="BndMPoleSymplectic4E2RadPass", **bend),
        at.Dipole("straight", length, 0.2, 0.6, X0ref=1e-3, PassMethod="BndStrMPoleSymplectic4Pass", **bend),
        wiggler("GWigSymplecticPass", 2),
        wiggler("GWigSymplecticPass", 4),
        wiggler("GWigSymplecticRadPass", 4),
        at.Dipole("soleil", length, 0.2, 0.6, FringeBendEntrance=2, FringeBendExit=2, **bend),
        at.Dipole("thomx", length, 0.2, 0.6, FringeBendEntrance=3, FringeBendExit=3, **bend),
        at.Dipole("radiating", length, 0.2, 0.6, PassMethod="BndMPoleSymplectic4RadPass", **bend),
        at.Corrector("corrector", length, [1e-3, -2e-3]),
        at.Element("solenoid", Length=length, K=0.8, PassMethod="SolenoidLinearPass"),
        at.ThinMultipole("thin", [0, 0.1, 3.0], [0, 0.2, 5.0]),
        at.Multipole("octupole", length, [0, 0, 0, 900.0], [0, 1, 20, 2000.0], PassMethod="StrMPoleSymplectic4RadPass"),
    ]  # fmt: skip
    for element in elements:
        ring = at.Lattice([element], energy=3e9, particle="relativistic")
        exact = one_pass(ring, orbit)
        reference = at.find_elem_m66(element, orbit.copy(), XYStep=3e-6, energy=3e9, particle=ring.particle)
        assert far(exact, reference) < 3e-9, f"{element.FamName}: {element.PassMethod}"


def one_pass(ring: Any, orbit: Any) -> Any:
    """The matrix about an orbit that need not close."""
    twin, m66 = Twin(ring), np.zeros((6, 6))
    twin.call("rm_twin_find_m66", ffi.NULL, doubles(orbit), doubles(m66), ffi.NULL, 0, ffi.NULL)
    return m66
