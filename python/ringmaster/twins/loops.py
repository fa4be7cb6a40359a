# SPDX-License-Identifier: Apache-2.0
"""Feedbacks of a model: what the orbit feedback and the tune feedback would do to it, step by step in its own time.

The loops of the machine are far faster than a model is asked: what is left of their law between two looks is its
integral part. In a time T it takes away 1 - exp(-2π f T) of what there is, f being its bandwidth times the gain.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringmaster.feedback.matrix import Matrix
from ringmaster.tunefeedback.matrix import seen_tunes
from ringmaster.twin.twin import Twin
from ringmaster.twins.strengths import SupplyMap
from ringmaster.twins.supplies import chosen

Floats = NDArray[np.float64]
TUNE_STEP = 0.01
"""Of a family's supplies, in their unit, up and down, between which the tunes' slope is taken."""
LEAST_SLOPE = 1e-8
"""Tune per unit that is more than rounding."""
LEAST_SHARE = 1e-4
"""Of the stronger of both directions of the tunes, that the weaker one must have."""


@dataclass(frozen=True)
class OrbitLoop:
    """What an instance's file says of its orbit feedback."""

    supplies: tuple[str, ...]
    integral_hz: float
    gain: float = 1.0
    on: bool = True
    tikhonov: float = 0.0
    """Of the largest singular value of a plane, as in the feedback's own file."""
    modes: int = 0
    """Of a plane; 0: all."""
    matrix: str | None = None
    """The feedback's response matrix; without it the lattice's own."""


@dataclass(frozen=True)
class TuneLoop:
    """And of its tune feedback."""

    families: Mapping[str, str]
    """Patterns of supplies, each moved as one."""
    integral_hz: float
    gain: float = 1.0
    on: bool = True
    tunes: tuple[float, float] | None = None
    """Fractional, below a half, x and y; None: the model's own, when it begins."""


class Integrator:
    """Supplies that take away a part of an error, step by step. ``solution`` is (supplies, errors)."""

    def __init__(self, solution: Floats, places: Sequence[int], hz: float, gain: float, on: bool) -> None:
        self.solution, self.places, self.hz = solution, np.array(places, np.intp), hz
        self.gain, self.on = gain, on
        self.moved = np.zeros(len(places))
        """What it has added to where its supplies stood."""

    def step(self, error: Floats, elapsed_s: float) -> None:
        """After so much time with this error; NaN of it counts as none."""
        if self.on:
            share = -np.expm1(-2 * np.pi * self.hz * self.gain * elapsed_s)
            self.moved -= share * (self.solution @ np.nan_to_num(error))


def orbit_solution(matrix: Matrix, loop: OrbitLoop, rows: Sequence[str], places: Sequence[str]) -> Floats:
    """(supplies, rows): by plane, from nm to the supplies' units. Raises ValueError for names the matrix has not."""
    row_at, column_at = ({name: i for i, name in enumerate(names)} for names in (matrix.rows, matrix.columns))
    for what, names, known in (("row", rows, row_at), ("supply", places, column_at)):
        unknown = next((name for name in names if name not in known), None)
        if unknown is not None:
            raise ValueError(f"the orbit feedback's matrix has no {what} {unknown!r}")
    solution = np.zeros((len(places), len(rows)))
    for plane in "xy":
        own_rows, own_columns = matrix.plane_of_rows(plane), matrix.plane_of_columns(plane)
        at_rows = [i for i, name in enumerate(rows) if own_rows[row_at[name]]]
        at_places = [i for i, name in enumerate(places) if own_columns[column_at[name]]]
        if at_rows and at_places:
            part = matrix.values[np.ix_([row_at[rows[i]] for i in at_rows], [column_at[places[i]] for i in at_places])]
            solution[np.ix_(at_places, at_rows)] = _solved(part, loop)
    return solution


def _solved(part: Floats, loop: OrbitLoop) -> Floats:
    u, s, v = np.linalg.svd(part, full_matrices=False)
    kept = min(loop.modes or len(s), int(np.count_nonzero(s > 1e-12 * s[0])))
    inverse = np.zeros_like(s)
    inverse[:kept] = s[:kept] / (s[:kept] ** 2 + (loop.tikhonov * s[0]) ** 2)
    return np.asarray((v.T * inverse) @ u.T, np.float64)


def tune_solution(twin: Twin, knobs: SupplyMap, loop: TuneLoop) -> tuple[Floats, list[int]]:
    """(supplies, 2) and their places: from tunes to the supplies' units, each family as one."""
    families = [chosen(pattern, knobs.supplies) for pattern in loop.families.values()]
    columns = []
    for places in families:
        values = np.zeros(len(knobs.supplies))
        tunes = []
        for sign in (1.0, -1.0):
            values[places] = sign * TUNE_STEP
            knobs.set(values)
            tunes.append(seen_tunes(twin))
        columns.append((tunes[0] - tunes[1]) / (2 * TUNE_STEP))
    knobs.set(np.zeros(len(knobs.supplies)))
    response = np.array(columns).T
    strong, *_, weak = np.linalg.svd(response, compute_uv=False)
    if len(families) < 2 or weak < max(LEAST_SLOPE, LEAST_SHARE * strong):
        raise ValueError(f"the families {', '.join(loop.families)} do not move both tunes")
    inverse = np.linalg.pinv(response)
    return np.repeat(inverse, [len(places) for places in families], axis=0), [i for it in families for i in it]
