# SPDX-License-Identifier: Apache-2.0
"""BPMs that are wrong, by what they say of the betatron motion beside all others."""

from dataclasses import dataclass

import numpy as np

from ringmaster.optics.lines import Complexes, Floats
from ringmaster.optics.model import Model

NOISY = 5.0
"""So many times the median of the noise."""
DEAD = 0.05
"""Of the amplitude that its β would give."""
FAR_RAD = 0.7
"""From what the model says: a phase that is wrong."""
NEAR_RAD = 0.35
"""From what a wrong sign or a whole turn would make: that is it."""
MOST_TURNS = 8


@dataclass(frozen=True)
class Fault:
    """What is wrong with one BPM."""

    bpm: str
    what: str
    """"dead", "noisy", "planes swapped", "sign of x", "sign of y", "turns: +1", "phase"."""

    def __str__(self) -> str:
        return f"{self.bpm}: {self.what}"


def find_faults(lines: Complexes, sigma: Floats, model: Model) -> tuple[Fault, ...]:
    """Of lines [seen in plane, of the tune of plane, BPM] and their errors [plane, BPM]."""
    found = []
    expected = np.sqrt(model.beta_m.T)  # [plane, BPM], but for a common factor
    own = np.abs(np.stack([lines[0, 0], lines[1, 1]]))
    scale = np.nanmedian(own / expected, axis=1)
    noise = np.nanmedian(sigma, axis=1)
    error = np.stack([_phase_error(lines[p, p], model.phase_rad[:, p]) for p in (0, 1)])
    for bpm, name in enumerate(model.names):
        what = _fault(
            own[:, bpm] / (expected[:, bpm] * scale),
            np.abs(lines[[0, 1], [1, 0], bpm]) / (expected[[1, 0], bpm] * scale[[1, 0]]),
            sigma[:, bpm] / noise,
            error[:, bpm],
            model.tune,
        )
        if what:
            found.append(Fault(name, what))
    return tuple(found)


def _phase_error(line: Complexes, phase: Floats) -> Floats:
    """Measured less the model's, around what most BPMs say."""
    turned = np.exp(1j * (np.angle(line) - phase))
    candidates = np.linspace(-np.pi, np.pi, 64, endpoint=False)
    near = [np.nansum(np.abs(np.angle(turned * np.exp(-1j * c))) < NEAR_RAD) for c in candidates]
    offset = candidates[int(np.argmax(near))]
    close = np.abs(np.angle(turned * np.exp(-1j * offset))) < 2 * NEAR_RAD
    offset += np.angle(np.nanmean(np.where(close, turned, np.nan) * np.exp(-1j * offset)))
    return np.asarray(np.angle(turned * np.exp(-1j * offset)))


def _fault(own: Floats, other: Floats, noise: Floats, error: Floats, tune: Floats) -> str:
    if not np.isfinite(own).all():
        return "dead"
    if (other > 3 * own).all() and (other > 0.3).all():
        return "planes swapped"
    if (own < DEAD).any():
        return "dead"
    if (noise > NOISY).any():
        return "noisy"
    far = np.abs(error) > FAR_RAD
    if not far.any():
        return ""
    turned = np.pi - np.abs(error) < NEAR_RAD
    wrong = [plane for plane in (0, 1) if far[plane]]
    shifts = [n for n in range(-MOST_TURNS, MOST_TURNS + 1) if n and _is_near(error, 2 * np.pi * tune * n)]
    if shifts:
        return f"turns: {min(shifts, key=abs):+d}"
    if all(turned[plane] for plane in wrong):
        return "sign of " + " and ".join("xy"[plane] for plane in wrong)
    return "phase"


def _is_near(error: Floats, expected: Floats) -> bool:
    return bool((np.abs(np.angle(np.exp(1j * (error - expected)))) < NEAR_RAD).all())
