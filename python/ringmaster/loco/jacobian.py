# SPDX-License-Identifier: Apache-2.0
"""Derivatives of a response by all gradients: computed, compared with tracking, and kept in a file."""

from dataclasses import dataclass
from pathlib import Path
from time import process_time

import h5py
import numpy as np

from ringmaster.loco.data import columns_of
from ringmaster.loco.gradients import usual
from ringmaster.loco.model import Floats, Model
from ringmaster.machine.mapping import Mapping
from ringmaster.twin import Twin, orbit_response, response_factors

STEP_PER_M2 = 1e-4
"""Of a tracked difference."""
LEAST = 2
"""Times it is computed: the first is slower, as memory is new."""


@dataclass(frozen=True)
class Jacobian:
    """All of it."""

    model: Model
    values: Floats
    """[gradient, row, column + RF] m per unit and per 1/m²; rows: x of all BPMs, then y."""
    rows: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class Beside:
    """Some derivatives by tracking."""

    seconds: float
    """All of them would take."""
    ratio: float
    difference: float
    """Of the largest element of each derivative, at most."""


def computed(twin: Twin, mapping: Mapping, skew: bool = True) -> Jacobian:
    """Of the usual gradients of a machine without errors."""
    columns = tuple(columns_of(mapping).values())
    model = Model(twin, mapping.bpms, columns, usual(twin.lattice, skew=skew))
    rows = (*mapping.rows[0::2], *mapping.rows[1::2])
    values, seconds = timed(model)
    return Jacobian(model, values, rows, seconds)


def timed(model: Model) -> tuple[Floats, float]:
    """All derivatives, and the least time of a core that they took."""
    steerers = [(one.element, one.plane) for one in model.columns]
    units = np.array([*(one.rad_per_unit for one in model.columns), 1.0])
    made = np.zeros((len(model.gradients), model.shape[0], model.shape[1] + 1))
    least = np.inf
    for _ in range(LEAST):
        begin = process_time()
        for component in "BA":
            _fill(model, steerers, units, component, made)
        least = min(least, process_time() - begin)
    return made, float(least)


def products_seconds(model: Model) -> float:
    """The least time of a core that they take as products."""
    steerers = [(one.element, one.plane) for one in model.columns]
    least = np.inf
    for _ in range(LEAST):
        begin = process_time()
        for component in "BA":
            pieces = [i for one in model.gradients if one.component == component for i in one.elements]
            if pieces:
                response_factors(model.twin, pieces, model.bpms, steerers, component=component)
        least = min(least, process_time() - begin)
    return float(least)


def _fill(model: Model, steerers: list[tuple[int, int]], units: Floats, component: str, made: Floats) -> None:
    """The derivatives by one component: each the sum over the pieces of its magnet, as one product."""
    of_it = [(at, one.elements) for at, one in enumerate(model.gradients) if one.component == component]
    if not of_it:
        return
    pieces = [element for _, elements in of_it for element in elements]
    left, right = response_factors(model.twin, pieces, model.bpms, steerers, component=component)
    left = left.reshape(len(pieces), model.shape[0], -1)
    right *= units
    first = 0
    for at, elements in of_it:
        some = slice(first, first + len(elements))
        np.matmul(np.concatenate(list(left[some]), axis=1), right[some].reshape(-1, len(units)), out=made[at])
        first += len(elements)


def compared(jacobian: Jacobian, count: int) -> Beside:
    """With closed orbits of plus and minus a kick, at gradients of plus and minus a step."""
    model = jacobian.model
    some = np.unique(np.linspace(0, len(model.gradients) - 1, count).astype(int))
    worst, begin = 0.0, process_time()
    for at in some:
        by_tracking = tracked(model, int(at))
        off = np.abs(jacobian.values[at][:, :-1] - by_tracking[:, :-1]).max()
        worst = max(worst, float(off / np.abs(by_tracking[:, :-1]).max()))
    seconds = (process_time() - begin) / len(some) * len(model.gradients)
    return Beside(seconds, seconds / jacobian.seconds, worst)


def tracked(model: Model, at: int) -> Floats:
    """[row, column + RF] the derivative by one gradient."""
    steerers = [(one.element, one.plane) for one in model.columns]
    units = np.array([*(one.rad_per_unit for one in model.columns), 1.0])
    sides = []
    for by in (STEP_PER_M2, -STEP_PER_M2):
        gradients = np.zeros(len(model.gradients))
        gradients[at] = by
        model.put(gradients)
        sides.append(orbit_response(model.twin, model.bpms, steerers, tracked=True))
    model.put(np.zeros(len(model.gradients)))
    return np.asarray((sides[0] - sides[1]).reshape(model.shape[0], -1) / (2 * STEP_PER_M2) * units, np.float64)


def save(path: Path, jacobian: Jacobian) -> None:
    """Writes the file, HDF5; one that is there is replaced whole."""
    part = path.with_name(path.name + ".part")
    text = h5py.string_dtype()
    with h5py.File(part, "w") as file:
        file.attrs["kind"] = "ringmaster loco jacobian 1"
        file.create_dataset("jacobian", data=jacobian.values)
        file.create_dataset("gradients", data=[one.label for one in jacobian.model.gradients], dtype=text)
        file.create_dataset("readings", data=list(jacobian.rows), dtype=text)
        file.create_dataset("correctors", data=[one.supply for one in jacobian.model.columns], dtype=text)
    part.replace(path)
