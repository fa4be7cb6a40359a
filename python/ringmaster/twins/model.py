# SPDX-License-Identifier: Apache-2.0
"""One model: a lattice with its changes, supplies that are not ideal, and feedbacks of its own."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ringmaster.errors import TwinNoAnswer
from ringmaster.feedback.from_twin import twin_matrix
from ringmaster.feedback.matrix import load_csv
from ringmaster.machine.mapping import read_mapping, resolve
from ringmaster.twin import Twin, load_lattice
from ringmaster.twin.state import StateFinder
from ringmaster.twins.changes import change, moves_of
from ringmaster.twins.instance import Instance
from ringmaster.twins.loops import Integrator, orbit_solution, tune_solution
from ringmaster.twins.strengths import SupplyMap
from ringmaster.twins.supplies import Felt, SupplyErrors, chosen

Floats = NDArray[np.float64]
UM = 1e6


@dataclass(frozen=True)
class Answer:
    """What a model is at one moment; at its BPMs, (BPMs, 2) in x and y."""

    orbit_um: Floats
    beta_m: Floats
    phase_rad: Floats
    dispersion_m: Floats
    tune: Floats
    """Fractional, (3,); the last is NaN without cavities."""
    chromaticity: Floats
    """x and y; of the last update that asked for it."""
    size_um: Floats
    """RMS; NaN without cavities, as all that follows."""
    emittance_m: Floats
    """Of the three modes, m rad."""
    energy_spread: float
    bunch_length_m: float
    energy_loss_ev: float
    stands: Floats
    """What each supply of the mapping stands at in the model: commanded, with the model's own feedbacks."""


class Model:
    """Set what the machine's supplies stand at, and ask. One thread's."""

    def __init__(self, instance: Instance, rows: Sequence[str] = (), known: Sequence[str] = ()) -> None:
        """``rows``, ``known``: readings of BPMs and supplies of the server, for patterns of the mapping.

        Raises ValueError where lattice, mapping and instance do not fit each other, TwinError, OSError.
        """
        self.instance = instance
        self.twin = Twin(load_lattice(instance.lattice))
        if instance.flat or not len(self.twin.lattice.get_cavities()):
            self.twin.disable_6d()
        else:
            self.twin.enable_6d()
        self.mapping = resolve(self.twin.lattice, read_mapping(Path(instance.mapping)), rows, known)
        ideal = self.twin.copy()
        self.words = [change(self.twin, text) for text in instance.changes]
        self.knobs = SupplyMap(self.twin, self.mapping)
        self.offsets = self._of_files()
        self.felt = Felt(self.mapping.supplies, instance.supplies)
        points = np.array(self.mapping.bpms, np.uint32)
        self.points, self._bpms = np.unique(np.append(points, 0), return_inverse=True)
        self._bpms = self._bpms[:-1]
        self._finder = StateFinder(self.twin, self.points) if self.twin.is_6d else None
        self._guess: Floats | None = None
        self._chromaticity = np.full(2, np.nan)
        self._asked = 0
        self.orbit = self._orbit_loop(ideal)
        self.tune, self.target = self._tune_loop()
        self._first: Floats | None = None

    def _of_files(self) -> Floats:
        """What changes in files add to supplies."""
        offsets = np.zeros(len(self.mapping.supplies))
        at = {name: i for i, name in enumerate(self.mapping.supplies)}
        for names, sign in ((self.instance.apply, 1.0), (self.instance.undo, -1.0)):
            for name in names:
                moves = {supply: by for supply, by in moves_of(Path(name)).items() if supply in at}
                if not moves:
                    raise ValueError(f"{name}: none of its moves is of a supply of {self.instance.mapping}")
                for supply, by in moves.items():
                    offsets[at[supply]] += sign * by
                self.words.append(f"{Path(name).name} {'applied' if sign > 0 else 'undone'} ({len(moves)} supplies)")
        return offsets

    def _orbit_loop(self, ideal: Twin) -> Integrator | None:
        loop = self.instance.orbit
        if loop is None:
            return None
        places = list(dict.fromkeys(i for text in loop.supplies for i in chosen(text, self.mapping.supplies)))
        names = [self.mapping.supplies[i] for i in places]
        foreign = next((name for name in names if name not in self.mapping.actuators), None)
        if foreign is not None:
            raise ValueError(f"{self.instance.name}: feedbacks.orbit.supplies: {foreign!r} is no corrector")
        matrix = twin_matrix(ideal, self.mapping) if loop.matrix is None else load_csv(Path(loop.matrix))
        solution = orbit_solution(matrix, loop, self.mapping.rows, names)
        return Integrator(solution, places, loop.integral_hz, loop.gain, loop.on)

    def _tune_loop(self) -> tuple[Integrator | None, Floats | None]:
        loop = self.instance.tune
        if loop is None:
            return None, None
        solution, places = tune_solution(self.twin, self.knobs, loop)
        target = None if loop.tunes is None else np.array(loop.tunes)
        return Integrator(solution, places, loop.integral_hz, loop.gain, loop.on), target

    def answer(self, currents: Floats, elapsed_s: float) -> Answer:
        """Of supplies that stand so, so long after the last time. Its feedbacks act on what comes after.

        Raises TwinNoAnswer where there is no stable motion; then feedbacks stay as they were.
        """
        stands = self._stands(currents)
        self.knobs.set(self.felt.felt(stands, elapsed_s) + self.offsets)
        every = self.instance.chromaticity_every
        chromaticity = every > 0 and (self._asked % every == 0 or not np.isfinite(self._chromaticity).all())
        made = self._found(chromaticity, stands)
        self._asked += 1
        if self.orbit is not None:
            self.orbit.step(made.orbit_um.ravel() * 1e3, elapsed_s)
        if self.tune is not None:
            seen = np.minimum(made.tune[:2], 1.0 - made.tune[:2])
            self.target = seen if self.target is None else self.target
            self.tune.step(seen - self.target, elapsed_s)
        return made

    def _stands(self, currents: Floats) -> Floats:
        """The machine's, and where a feedback of the model's own has them: from where they stood when it began."""
        if self._first is None:
            self._first = currents.copy()
        stands = currents.copy()
        for loop in (self.orbit, self.tune):
            if loop is not None:
                stands[loop.places] = self._first[loop.places] + loop.moved
        return stands

    def _found(self, chromaticity: bool, stands: Floats) -> Answer:
        find = self._flat if self._finder is None else self._full
        if self._guess is None:
            return find(None, chromaticity, stands)
        try:
            return find(self._guess, chromaticity, stands)
        except TwinNoAnswer:  # the last orbit may lead astray
            self._guess = None
            return find(None, chromaticity, stands)

    def _full(self, guess: Floats | None, chromaticity: bool, stands: Floats) -> Answer:
        assert self._finder is not None
        state = self._finder.find(guess, chromaticity, self.instance.convergence)
        self._guess = state.orbit_at_start
        if chromaticity:
            self._chromaticity = state.chromaticity[:2]
        optics, beam = state.optics[self._bpms], state.beam[self._bpms]
        return Answer(
            optics["closed_orbit"][:, [0, 2]] * UM,
            optics["beta"],
            optics["mu"][:, :2],
            optics["dispersion"][:, [0, 2]],
            state.tune,
            self._chromaticity,
            np.sqrt(np.maximum(beam["r66"][:, [0, 2], [0, 2]], 0.0)) * UM,
            state.emittance,
            state.energy_spread,
            state.bunch_length,
            state.energy_loss,
            stands,
        )

    def _flat(self, guess: Floats | None, chromaticity: bool, stands: Floats) -> Answer:
        start, ring, optics = self.twin.linopt6(self.points, orbit=guess, get_chrom=chromaticity)
        self._guess = np.asarray(start.closed_orbit, np.float64)
        if chromaticity:
            self._chromaticity = np.asarray(ring.chromaticity, np.float64)
        at = optics[self._bpms]
        nothing = np.full((len(self._bpms), 2), np.nan)
        return Answer(
            at.closed_orbit[:, [0, 2]] * UM,
            at.beta,
            at.mu,
            at.dispersion[:, [0, 2]],
            np.append(ring.tune, np.nan),
            self._chromaticity,
            nothing,
            np.full(3, np.nan),
            np.nan,
            np.nan,
            np.nan,
            stands,
        )


def bare(instance: Instance) -> Instance:
    """The same without memory: fields follow at once, no feedbacks; for what would be in the end."""
    kept = tuple(replace(it, delay_ms=0.0, bandwidth_hz=0.0, hysteresis=0.0) for it in instance.supplies.mismatches)
    errors = SupplyErrors(kept, instance.supplies.crosstalk, instance.supplies.neighbours)
    return replace(instance, supplies=errors, orbit=None, tune=None)
