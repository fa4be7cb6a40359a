# SPDX-License-Identifier: Apache-2.0
"""Derivatives of the orbit's response as products, against differences of exact matrices."""

import numpy as np
import pytest

from ringmaster.twin import (
    Kind,
    Radiation,
    Twin,
    TwinArgument,
    load_lattice,
    orbit_response,
    response_derivative,
    response_factors,
)
from ringmaster.twin.response import Steerer


def ring(dimensions: int) -> Twin:
    """With errors of the magnets, without radiation: nothing moves the orbit when a field changes."""
    twin = Twin(load_lattice("elettra2_like"))
    if dimensions == 6:
        twin.enable_6d()
        twin.set_radiation(lambda element: "Rad" in element.PassMethod, Radiation.NONE)
    rng = np.random.default_rng(1)
    for quadrupole in twin.lattice.find(kind=Kind.QUADRUPOLE):
        element = twin[int(quadrupole)]
        twin.set_polynom(int(quadrupole), "B", 1, element.PolynomB[1] * (1 + 3e-4 * rng.standard_normal()))
        twin.set_polynom(int(quadrupole), "A", 1, 3e-3 * rng.standard_normal())
    return twin


def magnets_of(twin: Twin) -> list[int]:
    """One of each kind, a thick one that is a steerer, too, among them."""
    find = twin.lattice.find
    return [int(find("QF1*")[5]), int(find("SF1*")[11]), int(find("RB2*")[3]), int(find("B2L*")[3])]


def steerers_of(twin: Twin) -> list[Steerer]:
    """The first two of them are in a magnet whose field changes."""
    correctors = [int(i) for i in twin.lattice.get_correctors()[::9]]
    return [(at, plane) for at in (magnets_of(twin)[0], *correctors) for plane in (0, 1)]


@pytest.mark.parametrize("component", ["B", "A"])
@pytest.mark.parametrize("dimensions", [4, 6])
def test_product_is_the_derivative(dimensions: int, component: str) -> None:
    twin = ring(dimensions)
    magnets, steerers = magnets_of(twin), steerers_of(twin)
    left, right = response_factors(twin, magnets, steerers=steerers, component=component)
    for k, magnet in enumerate(magnets):
        exact = response_derivative(twin, magnet, steerers=steerers, component=component)
        found = left[k] @ right[k]
        for part in (np.s_[..., :2], np.s_[..., 2:-1], np.s_[..., -1]):
            assert np.abs(found[part] - exact[part]).max() < 1e-6 * np.abs(exact[part]).max(), (magnet, part)


def test_against_tracking() -> None:
    twin = ring(6)
    magnet, steerers, step = magnets_of(twin)[0], steerers_of(twin), 1e-4
    left, right = response_factors(twin, [magnet], steerers=steerers)
    field = float(twin[magnet].PolynomB[1])
    sides = []
    for by in (step, -step):
        twin.set_polynom(magnet, "B", 1, field + by)
        sides.append(orbit_response(twin, steerers=steerers, tracked=True))
    exact = (sides[0] - sides[1]) / (2 * step)
    assert np.abs(left[0] @ right[0] - exact).max() < 1e-4 * np.abs(exact).max()


def test_radiation_moves_the_orbit_little() -> None:
    twin = Twin(load_lattice("elettra2_like"))
    twin.enable_6d()
    magnet, steerers = magnets_of(twin)[0], steerers_of(twin)
    left, right = response_factors(twin, [magnet], steerers=steerers)
    exact = response_derivative(twin, magnet, steerers=steerers)
    assert np.abs(left[0] @ right[0] - exact)[..., :-1].max() < 1e-3 * np.abs(exact[..., :-1]).max()


def test_what_has_no_field() -> None:
    twin = Twin(load_lattice("elettra2_like"))
    with pytest.raises(TwinArgument, match="no quadrupole field"):
        response_factors(twin, [int(twin.lattice.find("CS*")[0])], steerers=[])
    with pytest.raises(TwinArgument, match="elements"):
        response_factors(twin, [len(twin.lattice)], steerers=[])
