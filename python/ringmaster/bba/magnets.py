# SPDX-License-Identifier: Apache-2.0
"""Which magnet each BPM is aligned to: the quadrupole beside it, or else the nearest sextupole."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ringmaster.machine.mapping import Mapping, Strengths
from ringmaster.twin.elements import Kind
from ringmaster.twin.twin import Twin

_FIELDS = {Kind.QUADRUPOLE, Kind.SEXTUPOLE, Kind.DIPOLE, Kind.MULTIPOLE}


@dataclass(frozen=True)
class Magnet:
    """One whose strength its own supply changes."""

    name: str
    supply: str
    kind: str
    """ "quadrupole" or "sextupole"."""
    elements: tuple[int, ...]
    centre_s_m: float
    strength: float
    """Integrated: K L (1/m) of a quadrupole, B₂ L (1/m²) of a sextupole."""
    per_unit: float
    """Relative change of it, per unit of the supply."""


@dataclass(frozen=True)
class Target:
    """A BPM, and the magnet whose centre is looked for."""

    bpm: int
    """Its rows are 2 bpm and 2 bpm + 1."""
    magnet: Magnet
    distance_m: float
    """From the BPM to the magnet's centre, downstream positive."""


def magnets_of(twin: Twin, mapping: Mapping) -> list[Magnet]:
    """Quadrupoles and sextupoles with a supply. Bends are none: their kick is that of their angle, which is 50 times
    what their gradient does to a beam 100 µm off.
    """
    found = []
    for entry in mapping.strengths:
        for elements, supply in zip(entry.magnets, entry.supplies, strict=True):
            kind = _kind_of(twin, entry, elements)
            if kind is not None:
                found.append(_magnet(twin, kind, elements, supply, entry.per_unit))
    return found


def _kind_of(twin: Twin, entry: Strengths, elements: Sequence[int]) -> str | None:
    kinds = {twin.lattice[i].kind for i in elements}
    if entry.change == "gradient" and kinds == {Kind.QUADRUPOLE}:
        return "quadrupole"
    if entry.change == "sextupole" and kinds == {Kind.SEXTUPOLE}:
        return "sextupole"
    return None


def _magnet(twin: Twin, kind: str, elements: tuple[int, ...], supply: str, per_unit: float) -> Magnet:
    order = 1 if kind == "quadrupole" else 2
    strength = sum(float(twin[i].PolynomB[order]) * float(twin[i].Length) for i in elements)
    ends = twin.lattice.get_s_pos([elements[0], elements[-1] + 1])
    return Magnet(twin.lattice.names[elements[0]], supply, kind, elements, float(np.mean(ends)), strength, per_unit)


def targets_of(twin: Twin, mapping: Mapping) -> tuple[list[Target], list[int]]:
    """One for each BPM that has such a magnet, and the BPMs that have none."""
    magnets = magnets_of(twin, mapping)
    by_element = {i: magnet for magnet in magnets for i in magnet.elements}
    sextupoles = [magnet for magnet in magnets if magnet.kind == "sextupole"]
    places = twin.lattice.get_s_pos(list(mapping.bpms))
    turn_m = float(twin.lattice.circumference)
    targets, without = [], []
    for bpm, (element, s_m) in enumerate(zip(mapping.bpms, places, strict=True)):
        beside = [by_element[i] for i in _beside(twin, element) if i in by_element]
        near = [magnet for magnet in beside if magnet.kind == "quadrupole"] or sextupoles
        if not near:
            without.append(bpm)
            continue
        away = [(magnet.centre_s_m - float(s_m) + turn_m / 2) % turn_m - turn_m / 2 for magnet in near]
        chosen = int(np.argmin(np.abs(away)))
        targets.append(Target(bpm, near[chosen], away[chosen]))
    return targets, without


def _beside(twin: Twin, element: int) -> Iterator[int]:
    """The first magnet on either side: between them nothing but drifts, correctors, markers."""
    count = len(twin.lattice)
    for step in (-1, 1):
        i = (element + step) % count
        while i != element:
            if twin.lattice[i].kind in _FIELDS:
                yield i
                break
            i = (i + step) % count
