# SPDX-License-Identifier: Apache-2.0
"""The kicks of several magnets told apart by the orbits that they induce: generalised least squares.

The induced orbit of a group is a sum of patterns, one for each magnet. What else is in it is given a covariance: noise
of the BPMs; magnets that the ground shakes; and errors of the patterns. A pattern is wrong because gradients are: an
error δK/K of a magnet acts on the induced orbit as one more kick there, K L δ times the orbit. So it has the pattern of
that magnet, and is told apart from a kick in the magnet that is looked at.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ringmaster.bba.lines import Complexes
from ringmaster.bba.plant import Floats


@dataclass(frozen=True)
class Doubt:
    """What is expected to be wrong; RMS."""

    gradient: float = 0.002
    """Relative, of all gradients."""
    gain: float = 0.01
    """Of a BPM's reading of an induced orbit, relative, the swing having calibrated it."""
    coupling: float = 0.05
    """Of a plane's kicks, that is taken for kicks of the other plane."""
    strength: float = 0.03
    """Of a magnet's step, relative, before it is measured."""
    mixing: float = 0.3
    """Of what sextupoles mix, which is taken away by the lattice."""
    angle_rad: float = 20e-6
    """Of the orbit between a BPM and its magnet."""


@dataclass(frozen=True)
class Others:
    """What acts besides the magnets that are looked at: all gradients of the lattice, in one plane."""

    columns: Floats
    """[bpm, gradient] m per rad of a kick there."""
    strength: Floats
    """[gradient] |K L|, 1/m."""
    inside: Floats
    """[gradient, magnet] orbit there, m per rad of a kick in a magnet that is looked at."""


@dataclass(frozen=True)
class Kicks:
    """Of a group, at one line, in one plane."""

    value: Complexes
    """[magnet] rad."""
    sigma: Floats
    """[magnet] of its real part, and of its imaginary part."""
    statistical: Floats
    """[magnet] what of it is noise and shaking, and not the patterns' errors."""
    chi2: float
    """Per degree of freedom, of what is left."""


def condition(columns: Floats) -> float:
    """Of the patterns, scaled to equal length: 1 where each stands by itself."""
    scaled = columns / np.linalg.norm(columns, axis=0)
    values = np.linalg.svd(scaled, compute_uv=False)
    return float(values[0] / values[-1])


def solve(induced: Complexes, columns: Floats, noise_m: Floats, shaken_m: float, others: Others, doubt: Doubt) -> Kicks:
    """Kicks from an induced orbit, [bpm] m. NaN: a reading that takes no part.

    ``noise_m``: [bpm] of its real part. ``shaken_m``: RMS by which magnets are displaced at this line.
    """
    good = np.isfinite(induced)
    matrix, signal = columns[good], induced[good]
    kicks = np.linalg.lstsq(matrix.astype(np.complex128), signal, rcond=None)[0]
    inside = np.abs(others.inside @ kicks) / np.sqrt(2)
    orbit = np.abs(matrix @ kicks) / np.sqrt(2)
    acting = others.columns[good] * others.strength
    random = (acting * shaken_m) @ acting.T * shaken_m + np.diag(noise_m[good] ** 2)
    wrong = (acting * (doubt.gradient * inside) ** 2) @ acting.T + np.diag((doubt.gain * orbit) ** 2)
    factor = cho_factor(random + wrong)
    weighted = cho_solve(factor, matrix)
    inverse = np.linalg.inv(matrix.T @ weighted)
    estimate = inverse @ weighted.T
    found = np.asarray(estimate @ signal, np.complex128)
    left = (signal - matrix @ found).real
    freedom = max(1, len(signal) - matrix.shape[1])
    statistical = np.sqrt(np.einsum("ij,jk,ik->i", estimate, random, estimate))
    return Kicks(found, np.sqrt(np.diag(inverse)), statistical, float(left @ cho_solve(factor, left)) / freedom)
