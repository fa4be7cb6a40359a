# SPDX-License-Identifier: Apache-2.0
"""What no orbit feedback can take away.

Magnets move, each by itself. Correctors can take away what lies in the space of their orbits; the rest is the floor:
the RMS orbit at all BPMs that is left, over the one without feedback. For each family of correctors, and each set of
magnets that move.
"""

import argparse
import math
import re
import sys
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ringmaster.errors import TwinError
from ringmaster.twin import Element, Kind, Lattice, Twin, load_lattice, orbit_response
from ringmaster.twin.shipped import lattice_path

Floats = npt.NDArray[np.float64]
FAMILIES = ("all=CS_*,CL_*,CF_*", "fast=CF_*", "slow=CS_*")
"""Of the lattice that we ship."""
ZERO = 1e-9
"""Singular values below this share of the largest reach nothing."""
NOTHING_DB = -200.0
"""What is left below this is rounding."""
SETS = {
    "quadrupoles": (Kind.QUADRUPOLE,),
    "gradient dipoles and reverse bends": (Kind.DIPOLE,),
    "all of them": (Kind.QUADRUPOLE, Kind.DIPOLE),
}


def _gradient(element: Element) -> float:
    polynom = np.asarray(getattr(element, "PolynomB", [0.0]), float)
    return float(polynom[1] * element.Length) if len(polynom) > 1 else 0.0


def magnets(lattice: Lattice, kinds: tuple[Kind, ...]) -> list[list[int]]:
    """Elements with a gradient, those together that touch and are of one kind: the pieces of one magnet."""
    found: list[list[int]] = []
    last = -1
    for index, element in enumerate(lattice):
        if getattr(element, "Length", 0.0) == 0:
            continue
        if element.kind in kinds:
            if last < 0 or lattice[last].kind != element.kind:
                found.append([])
            found[-1].append(index)
            last = index
        else:
            last = -1
    return [kept for pieces in found if (kept := [i for i in pieces if _gradient(lattice[i]) != 0])]


def motion(twin: Twin, lattice: Lattice, bpms: list[int], sets: list[list[int]]) -> list[Floats]:
    """Of each plane: the orbit at the BPMs (rows) of a metre of each magnet (columns), in that plane."""
    orbits = []
    for plane, sign in enumerate((1.0, -1.0)):
        steerers = [(piece, plane) for pieces in sets for piece in pieces]
        strength = np.array([sign * _gradient(lattice[piece]) for pieces in sets for piece in pieces])
        response = orbit_response(twin, np.array(bpms, np.uint32), steerers)[plane, :, :-1] * strength
        starts = np.cumsum([0] + [len(pieces) for pieces in sets])
        orbits.append(np.stack([response[:, a:b].sum(axis=1) for a, b in pairwise(starts)], axis=1))
    return orbits


def left_by(correctors: Floats, moved: Floats) -> Floats:
    """Of orbits, what these correctors cannot take away."""
    left, values, _ = np.linalg.svd(correctors, full_matrices=False)
    basis = left[:, values > ZERO * values[0]]
    rest: Floats = moved - basis @ (basis.T @ moved)
    return rest


def floor_db(correctors: Floats, moved: Floats) -> float:
    """What a projection on the correctors' orbits leaves, of the RMS over BPMs and all motions."""
    rest = left_by(correctors, moved)
    return 20 * math.log10(max(float(np.linalg.norm(rest) / np.linalg.norm(moved)), 1e-15))


def _said(floor: float) -> str:
    return "nothing" if floor < NOTHING_DB else f"{floor:5.1f} dB"


def find(lattice: Lattice, patterns: str) -> list[int]:
    """Elements by their names; ends the program where a pattern matches none."""
    found: list[int] = []
    for pattern in patterns.split(","):
        matched = [int(i) for i in lattice.find(pattern)]
        if not matched:
            names = sorted({re.sub("[0-9].*", "*", element.FamName) for element in lattice})
            sys.exit(f"no element of the lattice matches {pattern}; there are {', '.join(names)}")
        found += matched
    return found


def _tell_of_rest(lattice: Lattice, bpms: list[int], family: str, correctors: list[int]) -> None:
    """The horizontal closed orbit that losing energy along the ring makes, and what a family leaves of it."""
    twin = Twin(lattice)
    twin.enable_6d()
    _, orbit = twin.find_orbit(np.array(bpms, np.uint32))
    steerers = [(i, 0) for i in correctors]
    response = orbit_response(twin, np.array(bpms, np.uint32), steerers)[0, :, :-1]
    left = left_by(response, orbit[:, 0])
    rms, rest = (1e6 * float(np.linalg.norm(x)) / len(bpms) ** 0.5 for x in (orbit[:, 0], left))
    print(
        f"{len(bpms)} BPMs; at rest, with radiation: {rms:.2f} µm RMS in x, "
        f"of which {family} correctors leave {rest:.2f}"
    )


def options() -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "lattice", nargs="?", default="elettra2_like", help="a file, or a lattice that we ship [%(default)s]"
    )
    parser.add_argument(
        "--bpms", default="BPM_*", metavar="PATTERNS", help="names of its BPMs, by commas [%(default)s]"
    )
    parser.add_argument(
        "--family",
        action="append",
        metavar="NAME=PATTERNS",
        help=f"a family of correctors, by the names of its elements; more than once for more [{' '.join(FAMILIES)}]",
    )
    return parser.parse_args()


def print_floors(lattice: Lattice, bpms: list[int], families: dict[str, list[int]]) -> None:
    """The table."""
    twin = Twin(lattice)
    last = "fast" if "fast" in families else list(families)[-1]
    _tell_of_rest(lattice, bpms, last, families[last])
    for name, kinds in SETS.items():
        sets = magnets(lattice, kinds)
        moved = motion(twin, lattice, bpms, sets)
        by = [np.linalg.norm(plane) / np.sqrt(len(bpms)) for plane in moved]
        print(f"{name}: {len(sets)} move, the orbit by {by[0]:.0f} (x) and {by[1]:.0f} (y) of their RMS")
        for family, elements in families.items():
            floors = []
            for plane in (0, 1):
                steerers = [(element, plane) for element in elements]
                response = orbit_response(twin, np.array(bpms, np.uint32), steerers)[plane, :, :-1]
                floors.append(floor_db(response, moved[plane]))
            print(f"  {len(elements):3} correctors ({family}): {_said(floors[0])} x, {_said(floors[1])} y")


def main() -> None:
    """Of the lattice that is asked for."""
    asked = options()
    try:
        lattice = load_lattice(lattice_path(asked.lattice))
        families = {}
        for family in asked.family or FAMILIES:
            name, equals, patterns = family.partition("=")
            if not equals:
                sys.exit(f"--family {family}: expected NAME=PATTERNS, such as {FAMILIES[1]}")
            families[name] = find(lattice, patterns)
        print_floors(lattice, find(lattice, asked.bpms), families)
    except TwinError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
