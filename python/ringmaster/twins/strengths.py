# SPDX-License-Identifier: Apache-2.0
"""All supplies of a mapping into a twin by one call: what Knobs does one by one."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ringmaster.machine.mapping import Group, Mapping
from ringmaster.machine.mapping import Strengths as Magnets
from ringmaster.twin.elements import Kind
from ringmaster.twin.machine import Strengths
from ringmaster.twin.twin import Twin

Floats = NDArray[np.float64]
Place = tuple[int, str, int]
"""Element, what of it, order: as Twin.set_strengths takes it."""


@dataclass(frozen=True)
class Term:
    """What one supply adds to one strength, per its unit."""

    place: Place
    supply: int
    per_unit: float


class SupplyMap:
    """strength = base + Σ per_unit · supply, of a twin as it stood when this was made. All terms of a strength add."""

    def __init__(self, twin: Twin, mapping: Mapping) -> None:
        self.twin, self.supplies = twin, mapping.supplies
        terms = list(_terms(twin, mapping))
        places = list(dict.fromkeys(term.place for term in terms))
        at = {place: i for i, place in enumerate(places)}
        rows, columns = [at[term.place] for term in terms], [term.supply for term in terms]
        shape = (len(places), len(self.supplies))
        self._matrix = scipy.sparse.csr_array(([term.per_unit for term in terms], (rows, columns)), shape=shape)
        self._where = Strengths(places)
        self._base = np.array([_now(twin, place) for place in places])

    def set(self, values: Floats) -> None:
        """Of all supplies, in the mapping's order and their units."""
        self.twin.set_strengths(self._where, self._base + self._matrix @ values)


def _terms(twin: Twin, mapping: Mapping) -> Iterator[Term]:
    first = 0
    for group in mapping.groups:
        yield from _of_correctors(group, first)
        first += len(group.elements)
    if mapping.rf is not None:
        for cavity in twin.lattice.get_cavities():
            yield Term((int(cavity), "Frequency", 0), first, mapping.rf[1])
        first += 1
    for entry in mapping.strengths:
        for i, magnet in enumerate(entry.magnets):
            for element in magnet:
                yield from _of_magnet(twin, entry, magnet, element, first + i)
        first += len(entry.magnets)


def _of_correctors(group: Group, first: int) -> Iterator[Term]:
    for i, element in enumerate(group.elements):
        yield Term((element, group.plane, 0), first + i, group.rad_per_unit)


def _of_magnet(twin: Twin, entry: Magnets, magnet: tuple[int, ...], element: int, supply: int) -> Iterator[Term]:
    it = twin[element]
    if entry.change == "skew":
        length = sum(float(twin[i].Length) for i in magnet)
        yield Term((element, "A", 1), supply, entry.per_unit / length)
        return
    order = 1 if entry.change == "gradient" else 2
    yield Term((element, "B", order), supply, entry.per_unit * float(it.PolynomB[order]))
    if order == 1 and twin.lattice[element].kind == Kind.DIPOLE:
        yield Term((element, "B", 0), supply, entry.per_unit * float(it.BendingAngle) / float(it.Length))


def _now(twin: Twin, place: Place) -> float:
    element, kind, order = place
    it = twin[element]
    if kind == "Frequency":
        return float(it.Frequency)
    if kind in "xy":
        return float(it.KickAngle["xy".index(kind)])
    return float((it.PolynomB if kind == "B" else it.PolynomA)[order])
