# SPDX-License-Identifier: Apache-2.0
"""Which reading and which supply is where in the lattice, and what the orbit does when one of them acts.

A description, as the feedback's key `lattice` (ringmaster.machine.mapping), with four keys more::

    lattice: elettra2_like
    bpms: "BPM_S*_0[1-8]"
    rows: "bpm[01-96]/{x,y}"
    correctors:
      - {elements: "CS_S0[1-5]_[01][13579]", plane: x, actuators: "sr/ps/ch_01_[01-35]", urad_per_unit: 10}
    more_bpms: [{bpms: "BPM_S01_*", rows: "tbt[01-07]/{x1,y1,x2,y2}"}]   # other electronics
    magnets: [{name: sr/ps/qf1_01, elements: "QF1_S01_*"}]               # one supply each, that kicks as it can
    kickers: [{name: injection kicker, element: start}]                  # or the name of an element
    plant: {bandwidth_hz: 1000, delay_us: 22}                            # how correctors follow their setpoints
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ringmaster.machine.mapping import names_of, resolve
from ringmaster.postmortem.ground import orbits_of_ground
from ringmaster.twin import Twin, load_lattice
from ringmaster.twin.response import orbit_response

Floats = npt.NDArray[np.float64]
Complex = npt.NDArray[np.complex128]
START = "start"
NM_PER_M = 1e9
MODES = 2
"""Betatron modes."""


@dataclass(frozen=True)
class Place:
    """What one reading is of."""

    element: int
    plane: int
    """0: x, 1: y."""


@dataclass(frozen=True)
class Actor:
    """A supply: the elements that it kicks together, and in which planes."""

    name: str
    elements: tuple[int, ...]
    planes: tuple[int, ...]
    """(0,), (1,); or both, where the direction of its kick is not known."""
    rad_per_unit: float = 0.0
    """0: not known."""


@dataclass(frozen=True)
class Kicker:
    """A place from which a beam may be kicked within one turn."""

    name: str
    element: int


@dataclass(frozen=True)
class Plant:
    """How the orbit follows a corrector's setpoint."""

    bandwidth_hz: float = 1000.0
    delay_us: float = 0.0


@dataclass(frozen=True)
class Modes:
    """The betatron motion at some readings, per mode: reading(n) = Re Σ_u at[row, u] a_u e^{2πi n tune}."""

    at: Complex
    """[row, mode], nm per unit of a."""
    tune: Floats
    """[mode], as in the twin."""


class Machine:
    """A lattice as the twin has it, and what is where in it."""

    def __init__(
        self,
        twin: Twin,
        places: Mapping[str, Place],
        actors: Iterable[Actor] = (),
        kickers: Iterable[Kicker] = (),
        has_rf: bool = True,
        plant: Plant | None = None,
    ) -> None:
        self.twin = twin
        if has_rf and not twin.is_6d:
            twin.enable_6d()
        self.places = dict(places)
        """By reading: "bpm01/x"."""
        self.actors = tuple(actors)
        self.kickers = tuple(kickers)
        self.has_rf = has_rf
        self.plant = plant or Plant()

    @classmethod
    def from_description(cls, given: Mapping[str, Any], lattice: str | None = None) -> "Machine":
        """Of the description above. Raises ValueError, LatticeAbsent, LatticeInvalid, TwinError."""
        ring = load_lattice(str(lattice or given["lattice"]))
        mapping = resolve(ring, given)
        places = _places(mapping.bpms, mapping.rows)
        for more in given.get("more_bpms") or []:
            other = resolve(ring, {"bpms": more["bpms"], "rows": more["rows"]})
            places |= _places(other.bpms, other.rows)
        actors = [
            Actor(name, (element,), (0 if group.plane == "x" else 1,), group.rad_per_unit)
            for group in mapping.groups
            for element, name in zip(group.elements, group.actuators, strict=True)
        ]
        for magnet in given.get("magnets") or []:
            elements = tuple(int(i) for i in ring.find(str(magnet["elements"])))
            if not elements:
                raise ValueError(f"magnets: no element of {ring.name} is named {magnet['elements']}")
            actors += [Actor(name, elements, (0, 1)) for name in names_of(str(magnet["name"]))]
        kickers = [_kicker(ring, entry) for entry in given.get("kickers") or [{"name": "injection", "element": START}]]
        return cls(Twin(ring), places, actors, kickers, plant=Plant(**(given.get("plant") or {})))

    @cached_property
    def _elements(self) -> list[int]:
        return sorted({place.element for place in self.places.values()})

    @cached_property
    def _steerers(self) -> list[tuple[int, int]]:
        return [(element, plane) for actor in self.actors for plane in actor.planes for element in actor.elements]

    @cached_property
    def _response(self) -> Floats:
        """(plane, element of a BPM, steerer, and the RF's frequency last), m/rad and m/Hz."""
        return orbit_response(self.twin, np.array(self._elements, np.uint32), self._steerers)

    def _rows(self, readings: Iterable[str]) -> tuple[list[int], list[int]]:
        places = [self.places[reading] for reading in readings]
        index = {element: i for i, element in enumerate(self._elements)}
        return [place.plane for place in places], [index[place.element] for place in places]

    def columns(self, readings: Iterable[str]) -> list[Floats]:
        """Of each actor: [reading, plane], nm/rad, of the closed orbit."""
        planes, elements = self._rows(readings)
        here = self._response[planes, elements] * NM_PER_M
        columns, at = [], 0
        for actor in self.actors:
            made = []
            for _ in actor.planes:
                made.append(here[:, at : at + len(actor.elements)].sum(axis=1))
                at += len(actor.elements)
            columns.append(np.stack(made, axis=1))
        return columns

    def energy(self, readings: Iterable[str]) -> Floats:
        """[reading, 1]: the orbit that a change of the beam's energy makes, nm per Hz of the RF."""
        planes, elements = self._rows(readings)
        result: Floats = self._response[planes, elements, -1][:, None] * NM_PER_M
        return result

    @cached_property
    def _ground(self) -> Floats:
        return orbits_of_ground(self.twin, self._elements)

    def ground(self, readings: Iterable[str]) -> Floats:
        """[reading, displacement]: the orbit that each magnet makes that is displaced in x or in y, nm per m."""
        planes, elements = self._rows(readings)
        result: Floats = self._ground[planes, elements] * NM_PER_M
        return result

    @cached_property
    def _turn(self) -> tuple[Floats, dict[int, Floats]]:
        """The one-turn matrix, and those from the start to each element with a BPM."""
        places = [kicker.element for kicker in self.kickers]
        places += [element for actor in self.actors for element in actor.elements]
        elements = sorted({*self._elements, *places})
        whole, parts = self.twin.find_m66(np.array(elements, np.uint32))
        return whole, dict(zip(elements, parts, strict=True))

    def displaced(self, readings: Iterable[str]) -> list[Floats]:
        """Of each actor: [reading, plane], nm/m, the orbit that closes where the beam is set aside at its place.

        That is its orbit a quarter of an oscillation further: by so much of it a phase of the machine changes it.
        """
        planes, elements = self._rows(readings)
        size = 6 if self.twin.is_6d else 4
        whole, parts = self._turn[0][:size, :size], {at: one[:size, :size] for at, one in self._turn[1].items()}
        here = np.stack([parts[element] for element in self._elements])
        closing = np.linalg.inv(np.eye(size) - whole)
        columns = []
        for actor in self.actors:
            made = np.zeros((len(planes), len(actor.planes)))
            for k, plane in enumerate(actor.planes):
                for element in actor.elements:
                    jump = np.linalg.inv(parts[element])[:, 2 * plane]
                    start = closing @ whole @ jump
                    beyond = np.array(self._elements)[:, None] > element
                    orbit = np.einsum("bij,bj->bi", here, start + beyond * jump)
                    made[:, k] += orbit[elements, 2 * np.array(planes)]
            columns.append(made * NM_PER_M)
        return columns

    @cached_property
    def _eigen(self) -> tuple[Complex, Complex, list[int]]:
        """Eigenvalues and vectors of a turn, and which two are the betatron modes, x first."""
        values, vectors = np.linalg.eig(self._turn[0])
        upper = [i for i in range(6) if values[i].imag > 0]
        longitudinal = max(
            upper, key=lambda i: float(np.sum(np.abs(vectors[4:, i]) ** 2) / np.sum(np.abs(vectors[:, i]) ** 2))
        )
        rest = [i for i in upper if i != longitudinal]
        rest.sort(key=lambda i: -float(abs(vectors[0, i])))
        return values, vectors, rest

    def modes(self, readings: Iterable[str]) -> Modes:
        """The betatron motion at readings."""
        values, vectors, which = self._eigen
        names = list(readings)
        rows = np.array([self._turn[1][self.places[n].element][2 * self.places[n].plane] for n in names])
        return Modes(rows @ vectors[:, which] * NM_PER_M, np.angle(values[which]) / (2 * np.pi))

    def kick(self, kicker: Kicker, readings: Iterable[str], turns: int, tune: Floats | None = None) -> Floats:
        """[turn, reading, plane of the kick], nm/rad: what a kick at one place does from its own turn on.

        BPMs before the place see it one turn later. ``tune``: that of the machine, where it is known better.
        """
        values, vectors, which = self._eigen
        inverse = np.linalg.inv(vectors)
        kicks = np.zeros((6, 2))
        kicks[1, 0] = kicks[3, 1] = 1.0
        start = inverse @ np.linalg.solve(self._turn[1][kicker.element], kicks)
        tunes = np.angle(values[which]) / (2 * np.pi) if tune is None else tune
        names = list(readings)
        modes = self.modes(names)
        advance = np.abs(values[which]) * np.exp(2j * np.pi * tunes)
        powers = advance[None, :] ** np.arange(turns)[:, None]
        made = 2 * np.real(np.einsum("ru,tu,uk->trk", modes.at, powers, start[which]))
        made[0, self.early(kicker, names)] = 0.0
        result: Floats = made
        return result

    def early(self, kicker: Kicker, readings: Iterable[str]) -> list[int]:
        """Which readings are before the place of a kick, and see it one turn later."""
        return [i for i, name in enumerate(readings) if self.places[name].element < kicker.element]


def _places(bpms: Iterable[int], rows: Iterable[str]) -> dict[str, Place]:
    elements = [element for element in bpms for _ in range(2)]
    return {row: Place(element, i % 2) for i, (row, element) in enumerate(zip(rows, elements, strict=True))}


def _kicker(ring: Any, entry: Mapping[str, Any]) -> Kicker:
    element = str(entry["element"])
    if element == START:
        return Kicker(str(entry["name"]), 0)
    found = ring.find(element)
    if not len(found):
        raise ValueError(f"kickers: no element of {ring.name} is named {element}")
    return Kicker(str(entry["name"]), int(found[0]))
