# SPDX-License-Identifier: Apache-2.0
"""What `ringmaster twin` says of a ring: its parameters, its optics at named elements, and curves to be drawn."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ringmaster.twin._library import Floats, Points
from ringmaster.twin.elements import Kind
from ringmaster.twin.envelope import ohmi_envelope
from ringmaster.twin.optics import linopt6
from ringmaster.twin.parameters import RingParameters, envelope_parameters, radiation_parameters
from ringmaster.twin.points import All
from ringmaster.twin.twin import Twin


@dataclass(frozen=True)
class Curves:
    """Along the ring, at every element and the end: (points,) or (points, plane)."""

    s_m: Floats
    beta_m: Floats
    alpha: Floats
    phase_turns: Floats
    dispersion_m: Floats
    dispersion_slope: Floats
    orbit_m: Floats
    orbit_slope: Floats
    square_size_m2: Floats | None
    """Of the beam, one standard deviation, squared; None without radiation."""
    square_size_slope_m: Floats | None

    @property
    def size_m(self) -> Floats | None:
        """Of the beam, one standard deviation; None without radiation."""
        return None if self.square_size_m2 is None else np.asarray(np.sqrt(self.square_size_m2), np.float64)


@dataclass(frozen=True)
class Report:
    """All of it; what a 4D ring does not have is None."""

    twin: Twin
    integrals: RingParameters
    envelope: RingParameters | None
    curves: Curves

    @classmethod
    def of(cls, twin: Twin) -> "Report":
        """Computes it. A 6D twin has its radiation on."""
        integrals = radiation_parameters(_flat(twin))
        envelope = envelope_parameters(twin) if twin.is_6d else None
        return cls(twin, integrals, envelope, _curves(twin))

    def as_json(self, chosen: Points) -> dict[str, Any]:
        """Numbers in SI units, angles in rad; ``at`` the chosen elements."""
        lattice = self.twin.lattice
        kinds = {kind.name.lower(): len(lattice.find(kind=kind)) for kind in Kind}
        return {
            "lattice": {
                "name": lattice.name,
                "particle": lattice.particle,
                "energy_ev": lattice.energy,
                "circumference_m": lattice.circumference,
                "periodicity": lattice.periodicity,
                "harmonic_number": lattice.harmonic_number,
                "revolution_frequency_hz": lattice.revolution_frequency,
                "elements": len(lattice),
                "kinds": {name: count for name, count in kinds.items() if count},
            },
            "is_6d": self.twin.is_6d,
            "integrals": _plain(self.integrals),
            "envelope": None if self.envelope is None else _plain(self.envelope),
            "at": [self.point(int(i)) for i in chosen],
        }

    def point(self, index: int) -> dict[str, Any]:
        """The optics at the entrance of an element."""
        c = self.curves
        planes: dict[str, Any] = {
            "beta_m": c.beta_m,
            "alpha": c.alpha,
            "phase_turns": c.phase_turns,
            "dispersion_m": c.dispersion_m,
            "orbit_m": c.orbit_m,
            "size_m": c.size_m,
        }
        at = {name: None if value is None else value[index].tolist() for name, value in planes.items()}
        return {"index": index, "name": self.twin.lattice.names[index], "s_m": float(c.s_m[index])} | at

    def named(self, patterns: Iterable[str]) -> Points:
        """Indices of the elements of these names."""
        wanted = list(patterns)
        return self.twin.get_uint32_index(wanted if wanted else None)


def _flat(twin: Twin) -> Twin:
    flat = twin.copy()
    flat.disable_6d()
    return flat


def _plain(parameters: RingParameters) -> dict[str, Any]:
    given = {name: value for name, value in asdict(parameters).items() if value is not None}
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in given.items()}


def _curves(twin: Twin) -> Curves:
    _, _, optics = linopt6(twin, All)
    square = slope = None
    if twin.is_6d:
        _, _, beam = ohmi_envelope(twin, All)
        square, slope = np.maximum(beam.r66[:, [0, 2], [0, 2]], 0.0), 2.0 * beam.r66[:, [0, 2], [1, 3]]
    return Curves(
        s_m=optics.s_pos,
        beta_m=optics.beta,
        alpha=optics.alpha,
        phase_turns=optics.mu[:, :2] / (2 * np.pi),
        dispersion_m=optics.dispersion[:, [0, 2]],
        dispersion_slope=optics.dispersion[:, [1, 3]],
        orbit_m=optics.closed_orbit[:, [0, 2]],
        orbit_slope=optics.closed_orbit[:, [1, 3]],
        square_size_m2=square,
        square_size_slope_m=slope,
    )
