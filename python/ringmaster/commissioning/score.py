# SPDX-License-Identifier: Apache-2.0
"""How good a machine is, by its truth: orbit against magnet centres, beta beating, dispersion, coupling."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ringmaster.commissioning.truth import Truth
from ringmaster.twin import Twin, linopt6, ohmi_envelope

TARGETS = {"orbit_um": 50.0, "beta_beating": 0.01, "dispersion_error_mm": 2.0}
"""What a commissioned machine reaches, of the larger plane."""


@dataclass(frozen=True)
class Score:
    """Of one machine. Pairs are x and y, RMS over the BPMs."""

    orbit_um: tuple[float, float]
    """Of the beam at a BPM from the centre of the magnet that it is aligned to."""
    beta_beating: tuple[float, float]
    """Relative to the design."""
    dispersion_error_mm: tuple[float, float]
    """From the design's."""
    tune: tuple[float, float]
    emittance_pm: tuple[float, float]
    """Of the two transverse modes."""

    @property
    def emittance_ratio(self) -> float:
        """Of the smaller mode to the larger one."""
        return min(self.emittance_pm) / max(self.emittance_pm)

    def misses(self) -> dict[str, float]:
        """Targets that it does not reach, and what it has."""
        worst = {name: max(getattr(self, name)) for name in TARGETS}
        return {name: value for name, value in worst.items() if not value <= TARGETS[name]}

    def as_json(self) -> dict[str, Any]:
        """All of it."""
        return {**asdict(self), "emittance_ratio": self.emittance_ratio, "misses": self.misses()}


def score(truth: Truth, twin: Twin) -> Score:
    """Of the twin as it stands."""
    design = Twin(truth.lattice)
    design.enable_6d()
    points = truth.bpms
    _, ring, now = linopt6(twin, points)
    _, _, wanted = linopt6(design, points)
    _, beam, _ = ohmi_envelope(twin)
    orbit = now.closed_orbit[:, [0, 2]] - truth.centres_m()
    beating = now.beta / wanted.beta - 1
    dispersion = now.dispersion[:, [0, 2]] - wanted.dispersion[:, [0, 2]]
    emittance = np.sort(np.abs(beam.mode_emittances))[::-1]  # the longitudinal one is the largest
    return Score(
        orbit_um=_rms(orbit, 1e6),
        beta_beating=_rms(beating, 1.0),
        dispersion_error_mm=_rms(dispersion, 1e3),
        tune=(float(ring.tune[0]), float(ring.tune[1])),
        emittance_pm=(float(emittance[1] * 1e12), float(emittance[2] * 1e12)),
    )


def _rms(values: Any, unit: float) -> tuple[float, float]:
    x, y = (float(np.sqrt(np.nanmean(np.square(values[:, plane])))) * unit for plane in (0, 1))
    return x, y
