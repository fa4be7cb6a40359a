# SPDX-License-Identifier: Apache-2.0
"""The true machine of a truth file as it would be measured: readings and responses with noise, on paper alone.

A session takes minutes on a ring, and seconds here: so steps are tried on many machines.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ringmaster.commissioning.truth import Truth, Wiring, true_twin
from ringmaster.machine.mapping import Mapping as MachineMapping
from ringmaster.response.measured import MeasuredResponse
from ringmaster.twin import Twin, orbit_response

Floats = NDArray[np.float64]
NM_PER_M = 1e9
MACHINE_NOISE = 3e-3
"""Error of a response in machine mode, ten seconds: of the RMS of its plane."""
DISPERSION_NOISE_NM = 2e-3
"""Per Hz of the RF."""
READING_NM = 20.0
"""Of an orbit that was averaged."""


@dataclass
class Paper:
    """A machine, and where its supplies stand."""

    truth: Truth
    wiring: Wiring
    mapping: MachineMapping
    rng: np.random.Generator
    values: dict[str, float] = field(default_factory=dict)

    def twin(self) -> Twin:
        """As it truly is now."""
        return true_twin(self.truth, self.wiring, self.values)

    def move(self, changes: Mapping[str, float]) -> None:
        """By so much."""
        for name, change in changes.items():
            self.values[name] = self.values.get(name, 0.0) + change

    def orbit_nm(self) -> Floats:
        """[row] what the BPMs read."""
        orbit = self.twin().find_orbit(self.truth.bpms)[1][:, [0, 2]]
        read = NM_PER_M * self.truth.readings_m(orbit).ravel()
        return np.asarray(read + READING_NM * self.rng.standard_normal(read.shape))

    def centres_nm(self, sigma_nm: float) -> Floats:
        """[row] what alignment finds: what the BPMs read where the beam goes through the centres of their magnets."""
        centres = [[bpm["magnet_x_m"], bpm["magnet_y_m"]] for bpm in self.truth.drawn["bpms"]]
        read = NM_PER_M * np.array(centres).ravel()
        return np.asarray(read + sigma_nm * self.rng.standard_normal(read.shape))

    def response(self, supplies: Sequence[str]) -> MeasuredResponse:
        """As `response measure` finds it in machine mode."""
        at = {self.wiring.supply(entry): entry for entry in self.truth.drawn["correctors"]}
        steerers = [(int(at[name]["element"]), plane) for name in supplies for plane in "xy"]
        found = orbit_response(self.twin(), self.truth.bpms, steerers)
        per_unit = np.array([[at[name]["x_rad_per_unit"], at[name]["y_rad_per_unit"]] for name in supplies])
        kicked = (found[:, :, :-1].reshape(2, len(self.truth.bpms), len(supplies), 2) * per_unit).sum(axis=-1)
        values = NM_PER_M * self._read(kicked)
        dispersion = NM_PER_M * self._read(found[:, :, -1:])[:, 0]
        sigma = np.empty_like(values)
        for plane in (0, 1):
            of_plane = np.square(values[plane::2]).sum(axis=0) > np.square(values[1 - plane :: 2]).sum(axis=0)
            if of_plane.any():
                sigma[:, of_plane] = MACHINE_NOISE * np.sqrt(np.mean(np.square(values[plane::2][:, of_plane])))
        rows = np.ones(len(values))
        return MeasuredResponse(
            self.mapping.rows,
            tuple(supplies),
            values + sigma * self.rng.standard_normal(values.shape),
            sigma,
            dispersion + DISPERSION_NOISE_NM * self.rng.standard_normal(dispersion.shape),
            DISPERSION_NOISE_NM * rows,
            200 * rows,
            self.orbit_nm(),
            {"mode": "machine", "feedback": "open"},
        )

    def _read(self, orbits_m: Floats) -> Floats:
        """[row, …] readings, without offsets, of orbits (plane, bpm, …)."""
        matrix = self.truth.reading_matrices()
        return np.asarray(np.einsum("bij,jbk->bik", matrix, orbits_m).reshape(2 * len(matrix), -1))
