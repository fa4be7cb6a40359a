# SPDX-License-Identifier: Apache-2.0
"""What a lattice says: the orbit that a kick in a magnet induces, and how a swing passes BPMs and magnets."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ringmaster.bba.lines import Complexes
from ringmaster.bba.magnets import Target
from ringmaster.bba.plant import Floats, Sine
from ringmaster.machine.mapping import Mapping
from ringmaster.twin.elements import MAGNETS
from ringmaster.twin.response import orbit_response
from ringmaster.twin.twin import Twin


@dataclass(frozen=True)
class Passing:
    """The swing at the BPMs, in the magnets of targets, and in all sextupoles."""

    at_bpms: Complexes
    """[bpm, plane, swing]: phasors, m; the first swing is that of x."""
    in_magnets: Complexes
    """[target, plane, swing]."""
    in_sextupoles: Complexes
    """[sextupole, plane, swing]."""


@dataclass(frozen=True)
class Fields:
    """All elements with a gradient, or all with a sextupole field."""

    elements: tuple[int, ...]
    strength: Floats
    """[element] K L, or B₂ L."""
    columns: Floats
    """[plane, bpm, element] m per rad of a kick there in that plane."""


class Model:
    """Of one lattice as it stands, with a mapping. Orbits of one plane by kicks of the other are left out."""

    def __init__(self, twin: Twin, mapping: Mapping) -> None:
        self.twin, self.mapping = twin, mapping
        self.bpms = list(mapping.bpms)

    @cached_property
    def correctors(self) -> dict[str, tuple[int, str, float]]:
        """Element, plane and rad per unit, by supply."""
        return {
            name: (element, group.plane, group.rad_per_unit)
            for group in self.mapping.groups
            for element, name in zip(group.elements, group.actuators, strict=True)
        }

    @cached_property
    def gradients(self) -> Fields:
        """Quadrupoles, gradient dipoles, reverse bends: what shakes, and whose errors change patterns."""
        return self._fields(1)

    @cached_property
    def sextupoles(self) -> Fields:
        """Where an orbit changes the gradients."""
        return self._fields(2)

    def beta_in(self, element: int) -> Floats:
        """β_x and β_y at its entrance, m."""
        return np.asarray(self._beta[element], np.float64)

    def columns(self, elements: Sequence[int]) -> Floats:
        """[plane, bpm]: m per rad of a kick in that plane, spread over these elements of a magnet."""
        return np.asarray(self.response(self.bpms, elements).mean(axis=2), np.float64)

    def response(self, points: Sequence[int], elements: Sequence[int]) -> Floats:
        """[plane, point, element] m per rad of a kick in an element, of the same plane. Points in any order."""
        ascending = sorted(set(points))
        steerers = [(i, plane) for plane in (0, 1) for i in elements]
        both = orbit_response(self.twin, ascending, steerers)[:, :, :-1]
        place = [ascending.index(point) for point in points]
        count = len(elements)
        return np.stack([both[0, place, :count], both[1, place, count:]])

    def swing(self, sines: Sequence[Sine], targets: Sequence[Target]) -> Passing:
        """Of the planes' sines at their two frequencies; those of x first."""
        inside = {i for target in targets for i in (target.magnet.elements[0], target.magnet.elements[-1] + 1)}
        points = sorted({*self.bpms, *inside, *self.sextupoles.elements})
        steerers = [self.correctors[sine.supply] for sine in sines]
        response = orbit_response(self.twin, points, [(element, plane) for element, plane, _ in steerers])[:, :, :-1]
        waves = np.array(
            [
                -1j * sine.amplitude * np.exp(1j * sine.phase_rad) * scale
                for sine, (_, _, scale) in zip(sines, steerers, strict=True)
            ]
        )
        of_x = np.array([plane == "x" for _, plane, _ in steerers])
        both = np.stack([response @ (waves * of_x), response @ (waves * ~of_x)], axis=-1)  # [plane, point, swing]
        place = {point: k for k, point in enumerate(points)}

        def at(chosen: Sequence[int]) -> Complexes:
            return both[:, [place[i] for i in chosen]].transpose(1, 0, 2)

        entrances = at([target.magnet.elements[0] for target in targets])
        exits = at([target.magnet.elements[-1] + 1 for target in targets])
        return Passing(at(self.bpms), (entrances + exits) / 2, at(self.sextupoles.elements))

    @cached_property
    def _beta(self) -> Floats:
        _, _, optics = self.twin.linopt6(range(len(self.twin)))
        return np.asarray(optics.beta[:, :2], np.float64)

    def _fields(self, order: int) -> Fields:
        lattice = self.twin.lattice
        strengths = {i: self._strength(i, order) for i in range(len(lattice)) if lattice[i].kind in MAGNETS}
        chosen = tuple(i for i, strength in strengths.items() if strength)
        return Fields(chosen, np.array([strengths[i] for i in chosen]), self.response(self.bpms, chosen))

    def _strength(self, element: int, order: int) -> float:
        polynom = self.twin[element].PolynomB
        return float(polynom[order]) * float(self.twin[element].Length) if len(polynom) > order else 0.0
