# SPDX-License-Identifier: Apache-2.0
"""What moves the orbit all the time, as the twin knows it: magnets that move with the ground, and noise of correctors.

A quadrupole that is displaced by d kicks by its gradient times its length times d; so does a dipole that has a
gradient. Their orbits are few patterns, with which the noise of the readings is described (``covariance``).
"""

import numpy as np
import numpy.typing as npt

from ringmaster.twin import Kind, Lattice, Twin
from ringmaster.twin.response import orbit_response

Floats = npt.NDArray[np.float64]
MOVED = (Kind.QUADRUPOLE, Kind.DIPOLE)


def moved_magnets(lattice: Lattice) -> list[tuple[int, float]]:
    """Index and gradient times length, 1/m, of all elements that kick where they are displaced."""
    made = []
    for i, element in enumerate(lattice):
        if element.kind in MOVED and element.Length > 0 and len(element.PolynomB) > 1:
            gradient = float(element.PolynomB[1]) * float(element.Length)
            if gradient:
                made.append((i, gradient))
    return made


def orbits_of_ground(twin: Twin, elements: list[int]) -> Floats:
    """(plane, element of a BPM, displacement), m/m: of each magnet in x, then of each in y."""
    moved = moved_magnets(twin.lattice)
    steerers = [(element, plane) for plane in (0, 1) for element, _ in moved]
    if not steerers:
        return np.zeros((2, len(elements), 0))
    gradient = np.array([one for _, one in moved])
    response = orbit_response(twin, np.array(elements, np.uint32), steerers)[:, :, :-1]
    result: Floats = response * np.concatenate([gradient, -gradient])
    return result
