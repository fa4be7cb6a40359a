# SPDX-License-Identifier: Apache-2.0
"""What a closed bump of 1 mm needs of its correctors.

Three correctors move the beam at one point, four at two points, and nowhere outside.
"""

import argparse
import sys

import numpy as np
import numpy.typing as npt

from ringmaster.errors import TwinError
from ringmaster.twin import Lattice, Twin, load_lattice, orbit_response
from ringmaster.twin.shipped import lattice_path

Floats = npt.NDArray[np.float64]
CLOSED = 1e-6
"""What is left outside, as a share of the bump."""


def one(lattice: Lattice, name: str) -> int:
    """The element of that name."""
    found = [int(index) for index in lattice.find(name)]
    if not found:
        sys.exit(f"{name}: no element of {lattice.name} is named so")
    return found[0]


def bump(twin: Twin, correctors: list[int], points: list[int], plane: str) -> Floats:
    """Kicks in rad, in the order of the correctors, for 1 mm at the points."""
    outside = [i for i in range(len(twin.lattice)) if i <= correctors[0] or i > correctors[-1]]
    places = sorted({*outside, *points})
    answers = orbit_response(twin, places, [(element, plane) for element in correctors])
    response = answers["xy".index(plane), :, : len(correctors)]
    far = response[[places.index(i) for i in outside]]
    closed = np.linalg.svd(far, full_matrices=True)[2][2:].T  # two numbers, place and angle, are 0 behind the last one
    near = response[[places.index(i) for i in points]]
    kicks: Floats = closed @ np.linalg.solve(near @ closed, np.full(len(points), 1e-3))
    left = np.abs(far @ kicks).max()
    if left > CLOSED * 1e-3:
        sys.exit(f"{left * 1e6:.3g} µm of 1 mm are left outside: these correctors close no bump")
    return kicks


def main() -> None:
    """Of the lattice that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lattice", help="one that comes with Ringmaster, or a file")
    parser.add_argument("correctors", nargs="+", help="their elements, along the beam")
    parser.add_argument("--at", nargs="+", required=True, help="elements where it is 1 mm, two fewer than correctors")
    parser.add_argument("--plane", choices=("x", "y"), default="x")
    parser.add_argument("--urad-per-unit", type=float, default=1.0, metavar="URAD", help="of the supplies [1]")
    asked = parser.parse_args()
    if len(asked.at) != len(asked.correctors) - 2:
        parser.error(f"{len(asked.correctors)} correctors move the beam at {len(asked.correctors) - 2} points")
    try:
        twin = Twin(load_lattice(lattice_path(asked.lattice)))
        twin.disable_6d()
        correctors = [one(twin.lattice, name) for name in asked.correctors]
        kicks = bump(twin, correctors, [one(twin.lattice, name) for name in asked.at], asked.plane)
    except TwinError as error:
        sys.exit(str(error))
    for name, kick in zip(asked.correctors, kicks, strict=True):
        print(f"{name:<12} {kick * 1e6:9.2f} µrad per mm   {kick * 1e6 / asked.urad_per_unit:8.4f} units per mm")


if __name__ == "__main__":
    main()
