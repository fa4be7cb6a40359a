# SPDX-License-Identifier: Apache-2.0
"""Closed orbits against pyAT's, whose own steps end at 1e-12 m."""

from __future__ import annotations

import numpy as np
import pytest
from rings import FOUR_D, SIX_D, Twin, far, quietly, ring_4d, ring_6d, some_points


@pytest.mark.parametrize("name", FOUR_D)
@pytest.mark.parametrize("dp", [0.0, 1e-3])
def test_orbit_at_a_momentum(name: str, dp: float) -> None:
    ring = ring_4d(name)
    start, orbit = Twin(ring).find_orbit(some_points(ring), dp=dp)
    reference, references = quietly(ring.find_orbit4, dp=dp, refpts=some_points(ring))
    assert np.max(np.abs(start - reference)) < 1e-10
    assert far(orbit, references) < 1e-7 or np.max(np.abs(orbit - references)) < 1e-10


@pytest.mark.parametrize("name", SIX_D)
def test_orbit_with_radiation(name: str) -> None:
    ring = ring_6d(name)
    start, orbit = Twin(ring).find_orbit(some_points(ring))
    reference, references = quietly(ring.find_orbit6, some_points(ring))
    assert np.max(np.abs(start - reference)) < 1e-9
    assert np.max(np.abs(orbit - references)) < 1e-9


def test_orbit_at_a_frequency() -> None:
    ring = ring_6d("soleil.m").deepcopy()
    start, _ = Twin(ring).find_orbit([0], rf_offset_hz=250.0)
    ring.set_rf_frequency(ring.get_rf_frequency() + 250.0)
    reference, _ = quietly(ring.find_orbit6)
    assert np.max(np.abs(start - reference)) < 1e-9


def test_it_closes() -> None:
    """Better than pyAT says: a turn brings it back to rounding."""
    ring = ring_6d("soleil.m")
    start, orbit = Twin(ring).find_orbit([0, len(ring)])
    tracked = np.squeeze(ring.track(start.reshape(6, 1))[0])
    assert np.max(np.abs(tracked[:5] - start[:5])) < 1e-14
    assert np.max(np.abs(orbit[1] - tracked)) < 1e-13


def test_strengths_that_are_no_numbers() -> None:
    ring = ring_4d("hmba.mat").deepcopy()
    bad = next(i for i, element in enumerate(ring) if hasattr(element, "PolynomB"))
    ring[bad].PolynomB[1] = np.nan
    with pytest.raises(RuntimeError, match=ring[bad].FamName):
        Twin(ring).find_orbit([0])


def test_no_orbit_names_an_element() -> None:
    ring = ring_4d("elettra2_s6bae.mat").deepcopy()
    corrector = next(i for i, element in enumerate(ring) if element.PassMethod == "CorrectorPass")
    ring[corrector].KickAngle = np.array([0.05, 0.05])
    with pytest.raises(RuntimeError, match=r"no closed orbit|element \d+"):
        Twin(ring).find_orbit([0])


def test_too_little_voltage() -> None:
    ring = ring_6d("soleil.m").deepcopy()
    ring.set_rf_voltage(1e5)
    with pytest.raises(RuntimeError, match="voltage"):
        Twin(ring).find_orbit([0])
