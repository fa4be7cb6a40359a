# SPDX-License-Identifier: Apache-2.0
"""Which quadrupole fields of a lattice may differ from the design, and by how much they are expected to."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np

from ringmaster.twin import Kind

if TYPE_CHECKING:
    from ringmaster.twin import Lattice

WEAK = 1e-3
"""1/m²: a dipole of less is no gradient magnet."""


@dataclass(frozen=True)
class Gradient:
    """One parameter: a field of one magnet, or of several that change alike."""

    name: str
    """The magnet's: "QF1_S01_01"."""
    component: str
    """ "B": normal, "A": skew."""
    elements: tuple[int, ...]
    length_m: float
    design: float
    """1/m², the mean over its length."""
    sigma: float
    """Prior width of what it may differ by, 1/m². inf: none."""

    @property
    def label(self) -> str:
        """As people read it: "QF1_S01_01" or "skew SD1_S01_01"."""
        return self.name if self.component == "B" else f"skew {self.name}"


@dataclass(frozen=True)
class Priors:
    """Widths of what magnets may differ by, RMS."""

    gradient: float = 0.005
    """Of quadrupoles and gradient dipoles, relative."""
    skew_per_m: float = 0.001
    """Integrated skew gradient of a quadrupole, 1/m."""
    feed_down_m: float = 50e-6
    """Distance of the beam from a sextupole's centre."""


def magnets(lattice: "Lattice", pattern: str, kinds: Iterable[Kind]) -> list[tuple[int, ...]]:
    """Elements by pattern, magnet by magnet: pieces of one name with no drift between them are one magnet."""
    wanted = set(kinds)
    found: list[list[int]] = []
    for i, name in enumerate(lattice.names):
        if not fnmatchcase(name, pattern) or lattice[i].kind not in wanted:
            continue
        if found and lattice.names[found[-1][-1]] == name and not _drift_between(lattice, found[-1][-1], i):
            found[-1].append(i)
        else:
            found.append([i])
    return [tuple(one) for one in found]


def _drift_between(lattice: "Lattice", first: int, last: int) -> bool:
    return any(lattice[i].kind == Kind.DRIFT and lattice[i].Length > 0 for i in range(first + 1, last))


def _made(lattice: "Lattice", elements: tuple[int, ...], component: str, sigma: float) -> Gradient:
    lengths = np.array([float(lattice[i].Length) for i in elements])
    field = "PolynomB" if component == "B" else "PolynomA"
    strengths = np.array([_coefficient(getattr(lattice[i], field), 1) for i in elements])
    length = float(lengths.sum())
    mean = float(strengths @ lengths) / length if length else float(strengths.mean())
    return Gradient(_name(lattice, elements), component, elements, length, mean, sigma)


def _name(lattice: "Lattice", elements: tuple[int, ...]) -> str:
    """Where several magnets have one name, with the number of the element."""
    name = lattice.names[elements[0]]
    alone = len(lattice.families[name]) == len(elements)
    return name if alone else f"{name}#{elements[0]}"


def _coefficient(polynom: Sequence[float], order: int) -> float:
    return float(polynom[order]) if len(polynom) > order else 0.0


def usual(lattice: "Lattice", priors: Priors | None = None, skew: bool = True) -> list[Gradient]:
    """Of each quadrupole and gradient dipole the gradient, of each sextupole what it feeds down; and the skew of all.

    Dipoles without a gradient have none to fit.
    """
    priors = priors or Priors()
    found: list[Gradient] = []
    for elements in magnets(lattice, "*", (Kind.QUADRUPOLE, Kind.DIPOLE)):
        normal = _made(lattice, elements, "B", 0.0)
        if abs(normal.design) < WEAK:
            continue
        found.append(_made(lattice, elements, "B", priors.gradient * abs(normal.design)))
        if skew and lattice[elements[0]].kind == Kind.QUADRUPOLE:
            found.append(_made(lattice, elements, "A", priors.skew_per_m / normal.length_m))
    for elements in magnets(lattice, "*", (Kind.SEXTUPOLE,)):
        strength = max(abs(_coefficient(lattice[i].PolynomB, 2)) for i in elements)
        if strength > 0 and priors.feed_down_m > 0:
            sigma = 2 * strength * priors.feed_down_m
            found += [_made(lattice, elements, component, sigma) for component in ("BA" if skew else "B")]
    return sorted(found, key=lambda one: one.component == "A")


def chosen(lattice: "Lattice", pattern: str, component: str, sigma: float) -> list[Gradient]:
    """Of all magnets by pattern. ``sigma``: relative for gradients, 1/m² for skew. Raises ValueError for none."""
    kinds = (Kind.QUADRUPOLE, Kind.DIPOLE, Kind.SEXTUPOLE)
    found = magnets(lattice, pattern, kinds)
    if not found:
        raise ValueError(f"no quadrupole, dipole or sextupole of {lattice.name} is named {pattern}")
    made = [_made(lattice, elements, component, sigma) for elements in found]
    if component == "A":
        return made
    return [Gradient(one.name, "B", one.elements, one.length_m, one.design, sigma * abs(one.design)) for one in made]
