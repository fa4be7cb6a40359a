# SPDX-License-Identifier: Apache-2.0
"""What a twin with changed gradients, and BPMs and correctors with errors, would answer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ringmaster.loco.gradients import Gradient
from ringmaster.twin import Twin, get_mcf, orbit_response, response_factors
from ringmaster.twin.lattice import LIGHT_M_S

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Column:
    """A corrector of the measured response."""

    supply: str
    element: int
    plane: int
    rad_per_unit: float


@dataclass
class State:
    """The values of all parameters."""

    gradients: Floats
    """Differences from the design, 1/m²."""
    own: Floats
    """[2 · BPMs] what a reading has of its own plane: x of all BPMs, then y of all."""
    cross: Floats
    """[2 · BPMs] what it has of the other plane."""
    gain: Floats
    """[columns] kick over the one that the mapping says."""
    roll: Floats
    """[columns] kick of the other plane over the own."""
    energy: Floats
    """[columns] relative momentum per unit of the supply; beyond what the twin has."""

    @staticmethod
    def ideal(gradients: int, bpms: int, columns: int) -> "State":
        """Of a machine as designed."""
        one, zero = np.ones, np.zeros
        return State(zero(gradients), one(2 * bpms), zero(2 * bpms), one(columns), zero(columns), zero(columns))

    @property
    def vector(self) -> Floats:
        """All of it, in this order."""
        return np.concatenate([self.gradients, self.own, self.cross, self.gain, self.roll, self.energy])

    def changed(self, step: Floats) -> "State":
        """By a step of the vector."""
        parts = np.split(self.vector + step, np.cumsum([len(part) for part in self._parts])[:-1])
        return State(*parts)

    @property
    def _parts(self) -> tuple[Floats, ...]:
        return self.gradients, self.own, self.cross, self.gain, self.roll, self.energy

    def with_gradients(self, gradients: Floats) -> "State":
        """The same BPMs and correctors at other gradients."""
        return replace(self, gradients=gradients)


@dataclass(frozen=True)
class Answers:
    """A response taken apart, for the derivatives. Rows: x of all BPMs, y of all; columns: supplies, and the RF."""

    main: Floats
    """[row, column] m per unit of a kick of the own plane; without errors of BPMs and correctors."""
    other: Floats
    """The same of the other plane."""
    rf: Floats
    """[row] m/Hz, or m of δ in 4D."""


class Model:
    """A twin of its own, whose gradients are set and whose response is asked."""

    def __init__(
        self,
        twin: Twin,
        bpms: Sequence[int],
        columns: Sequence[Column],
        gradients: Sequence[Gradient],
        vertical_path: bool = True,
        rf_step_hz: float | None = None,
    ) -> None:
        """A 6D twin keeps the path's length, so kicks at dispersion change the energy; a 4D one keeps the energy.

        ``vertical_path``: False leaves out what vertical kicks do so, as MATLAB's LOCO does. ``rf_step_hz``: dispersion
        is what steps of the RF of plus and minus so much do; without it, its limit for small ones.
        """
        self.twin, self.bpms, self.columns, self.gradients = twin.copy(), tuple(bpms), tuple(columns), tuple(gradients)
        self._vertical_path, self._rf_step_hz = vertical_path, rf_step_hz
        self.steerers = [(one.element, one.plane) for one in columns] + [
            (one.element, 1 - one.plane) for one in columns
        ]
        self._units = np.array([one.rad_per_unit for one in columns])
        self._design = {
            (one.component, i): self._field(one.component, i) for one in self.gradients for i in one.elements
        }
        self._set = np.zeros(len(self.gradients))

    def _field(self, component: str, element: int) -> float:
        polynom = getattr(self.twin[element], f"Polynom{component}")
        return float(polynom[1]) if len(polynom) > 1 else 0.0

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, columns without the RF's."""
        return 2 * len(self.bpms), len(self.columns)

    def put(self, gradients: Floats) -> None:
        """Sets the twin's gradients to the design's and these."""
        for at in np.flatnonzero(gradients != self._set):
            self._put(self.gradients[at], float(gradients[at]))
        self._set = gradients.copy()

    def _put(self, gradient: Gradient, by: float) -> None:
        for element in gradient.elements:
            design = self._design[gradient.component, element]
            self.twin.set_polynom(element, gradient.component, 1, design + by)

    def answers(self, gradients: Floats) -> Answers:
        """Of the twin at these gradients."""
        self.put(gradients)
        rows, columns = self.shape
        found = orbit_response(self.twin, self.bpms, self.steerers).reshape(rows, -1)
        rf = found[:, -1] * self._rf_scale()
        if not self._vertical_path and self.twin.is_6d:
            self._without_vertical_path(found, rf)
        if self._rf_step_hz is not None and self.twin.is_6d:
            stepped = orbit_response(self.twin, self.bpms, [], tracked=True, rf_step=self._rf_step_hz)
            rf = stepped.reshape(rows)
        main, other = found[:, :columns] * self._units, found[:, columns : 2 * columns] * self._units
        return Answers(main, other, rf)

    def _without_vertical_path(self, found: Floats, rf: Floats) -> None:
        """A kick θ changes δ by −θ D / (L α), with D at the kick; per Hz of the RF orbits change by −D / (α f)."""
        at, ends = self._vertical
        points, where = np.unique(ends, return_inverse=True)
        everywhere = orbit_response(self.twin, points, [])[1, :, 0]
        found[:, at] += np.outer(rf, self._per_hz() * _mean_of_ends(everywhere[where]))

    @property
    def _vertical(self) -> tuple[list[int], list[int]]:
        """Which steerers are vertical, and both ends of each."""
        at = [i for i, (_, plane) in enumerate(self.steerers) if plane == 1]
        return at, [end for i in at for end in (self.steerers[i][0], self.steerers[i][0] + 1)]

    def _per_hz(self) -> float:
        return float(get_mcf(self._flat()) * self.twin.rf_frequency**2 / self.twin.lattice.circumference)

    def _flat(self) -> Twin:
        twin = self.twin.copy()
        twin.disable_6d()
        return twin

    def factors(self, state: State) -> "Factors":
        """Derivatives of the reading by the gradients at which the twin stands, as products."""
        left, right, owner = [], [], []
        for component in "BA":
            of_it = [at for at, one in enumerate(self.gradients) if one.component == component]
            pieces = [(at, element) for at in of_it for element in self.gradients[at].elements]
            if not pieces:
                continue
            elements = [element for _, element in pieces]
            one, two = self._factors_of(elements, component)
            left.append(one)
            right.append(two)
            owner += [at for at, _ in pieces]
        order = np.argsort(owner, kind="stable")
        scale = self._rf_scale()
        return Factors.made(
            np.concatenate(left)[order] if left else np.zeros((0, self.shape[0], 6)),
            np.concatenate(right)[order] if right else np.zeros((0, 6, 2 * self.shape[1] + 1)),
            np.asarray(owner, np.intp)[order],
            state,
            self._units,
            scale,
        )

    def _factors_of(self, elements: list[int], component: str) -> tuple[Floats, Floats]:
        count = len(self.bpms)
        if self._vertical_path or not self.twin.is_6d:
            one, two = response_factors(self.twin, elements, self.bpms, self.steerers, component=component)
            return one.reshape(len(elements), self.shape[0], -1), two
        at, ends = self._vertical
        points, where = np.unique([*self.bpms, *ends], return_inverse=True)
        here, there = where[:count], where[count:]
        all_rf = orbit_response(self.twin, points, [])[..., 0]
        one, two = response_factors(self.twin, elements, points, self.steerers, component=component)
        by_rf = (one @ two[:, None, :, -1:])[..., 0]
        left = np.zeros((len(elements), self.shape[0], 8))
        right = np.zeros((len(elements), 8, two.shape[2]))
        left[..., :6], right[:, :6] = one[:, :, here].reshape(len(elements), self.shape[0], -1), two
        left[..., 6], left[..., 7] = all_rf[:, here].reshape(-1), by_rf[:, :, here].reshape(len(elements), -1)
        right[:, 6, at] = self._per_hz() * _mean_of_ends(by_rf[:, 1, there])
        right[:, 7, at] = self._per_hz() * _mean_of_ends(all_rf[1, there])
        return left, right

    def _rf_scale(self) -> float:
        """Of the last column: 4D has it per δ. The compaction's own derivative is left out."""
        if self.twin.is_6d:
            return 1.0
        frequency = self.twin.lattice.harmonic_number * LIGHT_M_S / self.twin.lattice.circumference
        return float(-1 / (get_mcf(self.twin) * frequency))


@dataclass(frozen=True)
class Group:
    """Gradients of magnets that have as many pieces: d reading / d gradient = left · right."""

    at: NDArray[np.intp]
    """Which gradients."""
    left: Floats
    """[gradient, row, rank]"""
    right: Floats
    """[gradient, rank, column + RF]"""


@dataclass(frozen=True)
class Factors:
    """Derivatives by all gradients, with the errors of BPMs and correctors, as products."""

    groups: tuple[Group, ...]
    count: int
    """Gradients."""

    @staticmethod
    def made(left: Floats, right: Floats, owner: NDArray[np.intp], state: State, units: Floats, rf: float) -> "Factors":
        """From those of each piece, and of kicks of both planes."""
        half, columns = left.shape[1] // 2, len(units)
        swapped = np.concatenate([left[:, half:], left[:, :half]], axis=1)
        left = state.own[:, None] * left + state.cross[:, None] * swapped
        main, other = right[..., :columns], right[..., columns : 2 * columns]
        kicks = (units * state.gain) * (main + state.roll * other)
        by_rf = rf * right[..., -1:]
        right = np.concatenate([kicks + state.energy * by_rf, by_rf], axis=2)
        found, begins, counts = np.unique(owner, return_index=True, return_counts=True)
        return Factors(tuple(_group(left, right, found, begins, counts, n) for n in np.unique(counts)), len(found))

    def dense(self) -> Floats:
        """[gradient, row, column] the derivatives themselves."""
        first = self.groups[0]
        made = np.empty((self.count, first.left.shape[1], first.right.shape[2]))
        for group in self.groups:
            made[group.at] = group.left @ group.right
        return made


def _group(
    left: Floats, right: Floats, owners: NDArray[np.intp], begins: NDArray[np.intp], counts: NDArray[np.intp], n: int
) -> Group:
    """Of the gradients that have n pieces: the pieces' products beside each other."""
    chosen = np.flatnonzero(counts == n)
    pieces = begins[chosen][:, None] + np.arange(n)
    rows, columns = left.shape[1], right.shape[2]
    return Group(
        owners[chosen],
        np.ascontiguousarray(left[pieces].transpose(0, 2, 1, 3).reshape(len(chosen), rows, -1)),
        np.ascontiguousarray(right[pieces].reshape(len(chosen), -1, columns)),
    )


def _mean_of_ends(values: Floats) -> Floats:
    """Of neighbours along the last axis, two by two."""
    return np.asarray((values[..., 0::2] + values[..., 1::2]) / 2, np.float64)


def reading(answers: Answers, state: State) -> Floats:
    """[row, column + RF] what BPMs with these errors read of kicks with these errors."""
    kicked = np.concatenate([beam(answers, state), answers.rf[:, None]], axis=1)
    return np.asarray(state.own[:, None] * kicked + state.cross[:, None] * partner(kicked), np.float64)


def beam(answers: Answers, state: State) -> Floats:
    """[row, column] what the beam does."""
    return np.asarray(
        state.gain * (answers.main + state.roll * answers.other) + np.outer(answers.rf, state.energy), np.float64
    )


def partner(rows: Floats) -> Floats:
    """The other plane of each row."""
    half = len(rows) // 2
    return np.concatenate([rows[half:], rows[:half]])
