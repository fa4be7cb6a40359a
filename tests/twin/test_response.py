# SPDX-License-Identifier: Apache-2.0
"""The orbit's response: analytic against tracked, ours against pyAT's, and its derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from library import library
from rings import SIX_D, Twin, at, far, quietly, ring_4d, ring_6d

KICK_RAD = 1e-7


def points_of(ring: Any) -> Any:
    monitors = at.get_uint32_index(ring, at.Monitor)[:40]
    return monitors if len(monitors) else np.arange(0, len(ring), max(1, len(ring) // 20))


def steerers_of(ring: Any, most: int = 4) -> list[tuple[int, int]]:
    """Correctors, and magnets that take a kick."""
    correctors = [i for i, element in enumerate(ring) if element.PassMethod == "CorrectorPass"][:most]
    magnets = [i for i, e in enumerate(ring) if isinstance(e, at.Quadrupole) and e.PassMethod.startswith("StrMPole")]
    return [(i, plane) for i in correctors + magnets[:most] for plane in (0, 1)]


def changed(ring: Any, index: int, **fields: Any) -> Any:
    made = ring.copy()
    made[index] = ring[index].deepcopy()
    for name, (position, by) in fields.items():
        values = np.array(getattr(made[index], name, np.zeros(2)), dtype=float)
        values[position] += by
        setattr(made[index], name, values)
    return made


def orbit_of(ring: Any, refpts: Any) -> Any:
    found = quietly(ring.find_orbit6, refpts) if ring.is_6d else quietly(ring.find_orbit4, refpts=refpts)
    return found[1][:, [0, 2]].T


@pytest.mark.parametrize("dimensions", [4, 6])
@pytest.mark.parametrize("name", SIX_D)
def test_analytic_and_tracked(name: str, dimensions: int) -> None:
    ring = ring_6d(name) if dimensions == 6 else ring_4d(name)
    refpts, steerers, twin = points_of(ring), steerers_of(ring), Twin(ring)
    analytic = twin.response("response", refpts, steerers)
    tracked = twin.response("response_tracked", refpts, steerers)
    assert far(analytic[..., :-1], tracked[..., :-1]) < 1e-5
    assert far(analytic[..., -1], tracked[..., -1]) < 1e-5
    for k in (0, len(steerers) - 1):
        index, plane = steerers[k]
        up, down = (orbit_of(changed(ring, index, KickAngle=(plane, by)), refpts) for by in (KICK_RAD, -KICK_RAD))
        assert far(analytic[..., k], (up - down) / (2 * KICK_RAD)) < 1e-5, ring[index].FamName


@pytest.mark.parametrize("component", ["RM_NORMAL", "RM_SKEW"])
def test_derivative(component: str) -> None:
    ring = ring_6d("soleil.m")
    refpts, steerers = points_of(ring), steerers_of(ring)
    magnet = [i for i, element in enumerate(ring) if isinstance(element, at.Quadrupole)][3]
    made = Twin(ring).response("response_derivative", refpts, steerers, magnet, getattr(library, component))
    field, step = "PolynomB" if component == "RM_NORMAL" else "PolynomA", 1e-4
    up, down = (
        Twin(changed(ring, magnet, **{field: (1, by)})).response("response", refpts, steerers) for by in (step, -step)
    )
    assert far(made, (up - down) / (2 * step)) < 1e-6


def test_what_takes_no_kick() -> None:
    ring = ring_4d("hmba.mat")
    drift = next(i for i, element in enumerate(ring) if element.PassMethod == "DriftPass")
    with pytest.raises(RuntimeError, match=ring[drift].FamName):
        Twin(ring).response("response", [0], [(drift, 0)])
