# SPDX-License-Identifier: Apache-2.0
"""What the supplies of a mapping do to a twin: kicks, gradients, skew gradients, sextupoles, the RF's frequency."""

from collections.abc import Callable, Mapping, Sequence

from ringmaster.machine.mapping import Mapping as MachineMapping
from ringmaster.machine.mapping import Strengths
from ringmaster.twin.elements import Kind
from ringmaster.twin.twin import Twin


class Knobs:
    """The supplies of one twin. Values count from the lattice as it stood when this was made: at 0 it stands so again.

    A kick is added by the correctors' calibration. One current makes the gradient of a bend and its angle: a relative
    change ε of a bend of curvature h adds the dipole field ε h, as a reverse bend's kick. With ``orbit_held`` it adds
    none: correctors beside the bend take it back, and so the orbit stays, and what sextupoles feed down.
    """

    def __init__(self, twin: Twin, mapping: MachineMapping, *, orbit_held: bool = False) -> None:
        self.twin = twin
        self._bends = not orbit_held
        self._knob: dict[str, Callable[[float], None]] = {}
        for group in mapping.groups:
            for element, name in zip(group.elements, group.actuators, strict=True):
                self._knob[name] = self._kick(element, group.plane, group.rad_per_unit)
        if mapping.rf is not None:
            self._knob[mapping.rf[0]] = self._frequency(mapping.rf[1])
        for entry in mapping.strengths:
            for magnet, name in zip(entry.magnets, entry.supplies, strict=True):
                self._knob[name] = self._strength(entry, magnet)

    def __contains__(self, supply: str) -> bool:
        return supply in self._knob

    def set(self, values: Mapping[str, float]) -> None:
        """Of these supplies, in their units; the others stay. Raises KeyError for a supply that the mapping has not."""
        for name, value in values.items():
            self._knob[name](value)

    def _kick(self, element: int, plane: str, rad_per_unit: float) -> Callable[[float], None]:
        at = "xy".index(plane)
        base = float(self.twin[element].KickAngle[at])

        def set_kick(value: float) -> None:
            kick = base + value * rad_per_unit
            self.twin.set_kick(element, **{("horizontal", "vertical")[at]: kick})

        return set_kick

    def _frequency(self, hz_per_unit: float) -> Callable[[float], None]:
        base = self.twin.rf_frequency if len(self.twin.lattice.get_cavities()) else 0.0

        def set_frequency(value: float) -> None:
            self.twin.set_cavity(Frequency=base + value * hz_per_unit)

        return set_frequency

    def _strength(self, entry: Strengths, magnet: Sequence[int]) -> Callable[[float], None]:
        if entry.change == "skew":
            return self._skew(magnet, entry.per_unit)
        return self._relative(magnet, 1 if entry.change == "gradient" else 2, entry.per_unit)

    def _relative(self, magnet: Sequence[int], order: int, per_unit: float) -> Callable[[float], None]:
        base = {i: float(self.twin[i].PolynomB[order]) for i in magnet}
        bends = (
            {i: (float(self.twin[i].PolynomB[0]), self._curvature(i)) for i in magnet}
            if order == 1 and self._bends
            else {}
        )

        def set_relative(value: float) -> None:
            share = value * per_unit
            for i, strength in base.items():
                self.twin.set_polynom(i, "B", order, strength * (1 + share))
            for i, (field, curvature) in bends.items():
                if curvature:
                    self.twin.set_polynom(i, "B", 0, field + share * curvature)

        return set_relative

    def _curvature(self, element: int) -> float:
        it = self.twin[element]
        return float(it.BendingAngle) / float(it.Length) if self.twin.lattice[element].kind == Kind.DIPOLE else 0.0

    def _skew(self, magnet: Sequence[int], per_unit: float) -> Callable[[float], None]:
        length = sum(float(self.twin[i].Length) for i in magnet)
        base = {i: float(self.twin[i].PolynomA[1]) for i in magnet}

        def set_skew(value: float) -> None:
            for i, strength in base.items():
                self.twin.set_polynom(i, "A", 1, strength + value * per_unit / length)

        return set_skew
