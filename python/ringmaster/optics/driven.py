# SPDX-License-Identifier: Apache-2.0
"""From the motion that an exciter drives to the free motion that it stands for.

A beam that one exciter drives at the tune Q_d, near its own Q, moves as if a quadrupole stood at the exciter. With
λ = sin π(Q_d − Q) ÷ sin π(Q_d + Q), and ψ, ψ_d the free and the driven phase from the exciter on, less πQ and πQ_d,

    tan ψ_d = (1 + λ)/(1 − λ) · tan ψ        β_d/β = (1 + λ² − 2 λ cos 2ψ) ÷ (1 − λ²)

(R. Miyamoto, S. Kopp, A. Jansson, M. Syphers, PRST-AB 11, 084002 (2008)).
"""

from dataclasses import dataclass

import numpy as np

from ringmaster.optics.lines import Complexes, Floats
from ringmaster.optics.model import Model, whole_tune


@dataclass(frozen=True)
class Drive:
    """An exciter, and how it drives both planes."""

    tune: tuple[float, float]
    """Fractional, 0 to 0.5, as the spectrum shows them."""
    phase_rad: tuple[float, float]
    """The model's at the exciter, from the start of the ring."""

    def free(self, line: Complexes, model: Model, plane: int) -> Complexes:
        """The free line for the driven one, at all BPMs of the ring; those before the exciter are a turn behind it."""
        tune = float(model.tune[plane])
        driven = whole_tune(self.tune[plane], tune)
        phase = model.phase_rad[:, plane] - self.phase_rad[plane]
        before = phase < 0
        turn, driven_turn = np.exp(2j * np.pi * tune), np.exp(2j * np.pi * driven)
        free = free_line(np.where(before, line * driven_turn, line), phase + before * 2 * np.pi * tune, tune, driven)
        return np.where(before, free / turn, free)


def asymmetry(driven: float, free: float) -> float:
    """λ, of the tunes with their whole turns, or of their fractions alone."""
    return float(np.sin(np.pi * (driven - free)) / np.sin(np.pi * (driven + free)))


def free_line(line: Complexes, phase_rad: Floats, tune: float, driven: float) -> Complexes:
    """The free line for the driven one, both with phases that grow along the ring.

    ``phase_rad`` is the model's at each BPM from the exciter on, 0 to 2π × tune. The exciter's own phase is not known:
    it is taken such that the free phases are nearest to the model's. ``tune`` and ``driven`` have their whole turns.
    """
    ratio = asymmetry(driven, tune)
    psi = phase_rad - np.pi * tune
    expected = np.arctan2((1 + ratio) * np.sin(psi), (1 - ratio) * np.cos(psi))
    turned = np.exp(1j * (np.angle(line) - expected))
    offset = np.angle(np.nanmean(turned))
    driven_psi = np.angle(line * np.exp(-1j * offset))
    free_psi = np.arctan2((1 - ratio) * np.sin(driven_psi), (1 + ratio) * np.cos(driven_psi))
    growth = (1 + ratio**2 - 2 * ratio * np.cos(2 * free_psi)) / (1 - ratio**2)
    return np.asarray(np.abs(line) / np.sqrt(growth) * np.exp(1j * free_psi))
