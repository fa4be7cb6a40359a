# SPDX-License-Identifier: Apache-2.0
"""A session on paper: the same finding and correcting, of what a ring of a seed would read. It takes no ring that runs,
so many seeds are tried; what it assumes of measurements is said with it (paper.py).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ringmaster.commissioning.paper import Paper
from ringmaster.commissioning.results import wiring_of
from ringmaster.commissioning.running import TRUTH, Ring
from ringmaster.commissioning.score import Score, score
from ringmaster.commissioning.truth import Truth, load
from ringmaster.loco.correct import correct
from ringmaster.loco.result import result_of
from ringmaster.loco.session import run as fit_response
from ringmaster.machine.mapping import read_mapping, resolve
from ringmaster.orbit.solve import Problem, Regularisation, solve
from ringmaster.orbit.static import matrix_of
from ringmaster.places import CONFIGS
from ringmaster.response.measured import MeasuredResponse
from ringmaster.simulation import simulate
from ringmaster.twin import Twin

Floats = NDArray[np.float64]
ROUNDS = 3
"""Of the orbit's correction."""
LIMIT = 10.0
"""Of a corrector, in its unit; the RF's is 200 times as much."""
DRAWN_S = 0.001
Say = Callable[[str, Score], None]


@dataclass(frozen=True)
class Assumed:
    """Of the steps."""

    alignment_um: float = 5.0
    """Error of the centres, RMS."""
    cut: float = 1e-2
    """Of singular values, of the orbit's correction."""


def draw(ring: Ring, seed: int, folder: Path) -> Truth:
    """The errors of a ring of this seed, by a simulation of a moment."""
    folder.mkdir(parents=True, exist_ok=True)
    overlay = re.sub(r"^(  seed: )\d+", rf"\g<1>{seed}", (CONFIGS / ring.overlay).read_text(), flags=re.MULTILINE)
    path = folder / "ring.yaml"
    path.write_text(overlay)
    truth = folder / TRUTH
    simulate(CONFIGS / ring.server, path, "excite", folder / "drawn", seconds=DRAWN_S, truth=str(truth))
    return load(truth)


class Rehearsal:
    """Of one seed."""

    def __init__(self, ring: Ring, seed: int, folder: Path, assumed: Assumed, say: Say) -> None:
        truth = draw(ring, seed, folder)
        given = read_mapping(CONFIGS / ring.mapping)
        mapping = resolve(truth.lattice, given)
        wiring = wiring_of(CONFIGS / ring.server, CONFIGS / ring.mapping)
        self.paper = Paper(truth, wiring, mapping, np.random.default_rng(seed))
        self.design = Twin(truth.lattice)
        self.design.enable_6d()
        self.assumed = assumed
        self.states: dict[str, Score] = {}
        self._say = say
        self._supplies = [name for name in mapping.actuators if re.search(r"/c[sl][xy]_", name)]

    def run(self) -> dict[str, Score]:
        """The steps of a session; where it stood after each, as it was truly."""
        self._keep("before")
        response = self._optics(1)
        target = self.paper.centres_nm(1e3 * self.assumed.alignment_um)
        self._steer(response, target, "orbit-1")
        for number in (2, 3):
            self._steer(self._optics(number), target, f"orbit-{number}")
        return self.states

    def _keep(self, name: str) -> None:
        self.states[name] = score(self.paper.truth, self.paper.twin())
        self._say(name, self.states[name])

    def _optics(self, number: int) -> MeasuredResponse:
        measured = self.paper.response(self._supplies)
        fitted, faults = fit_response(self.design.copy(), self.paper.mapping, measured)
        found = correct(result_of(fitted, faults, "", "", ""), self.design, self.paper.mapping)
        self.paper.move(found.values)
        self._keep(f"optics-{number}")
        return measured

    def _steer(self, measured: MeasuredResponse, target_nm: Floats, name: str) -> None:
        rf = self.paper.mapping.rf
        matrix = matrix_of(measured, rf)
        limit = np.array([200 * LIMIT if name == matrix.rf else LIMIT for name in matrix.columns])
        for _ in range(ROUNDS):
            stands = np.array([self.paper.values.get(name, 0.0) for name in matrix.columns])
            error = self.paper.orbit_nm() - target_nm
            at = None if matrix.rf is None else matrix.columns.index(matrix.rf)
            found = solve(
                Problem(matrix.values, error, -limit - stands, limit - stands, at), Regularisation(self.assumed.cut)
            )
            self.paper.move(dict(zip(matrix.columns, found.change.tolist(), strict=True)))
        self._keep(name)
