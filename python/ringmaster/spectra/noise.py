# SPDX-License-Identifier: Apache-2.0
"""The covariance of noise between readings at one frequency, from the frequencies beside it.

A covariance takes several times more samples than readings. So it is taken of the few patterns that sources can make.
Ground motion falls steeply with frequency, and noise of electronics does not. So one covariance is found below the
frequency and one above it. In the directions in which both are diagonal, power is a smooth function of frequency: a
parabola in logarithms, of all bins, says what it is at the one that is asked for.
"""

import numpy as np

from ringmaster.spectra.cross import Complexes
from ringmaster.spectra.density import Floats

NEAR, BESIDE = 3, 20
"""Bins on each side that noise is taken from: twenty, from the third on, where a line has no foot."""
BLANKS = 4
"""Of them, on each side, in which noise is looked at as if a line were there."""
QUIET = 3.0
"""Times the median power of those of one side: what has more is a line."""
LEAST_BINS = 2
"""Of one side."""
SAMPLES = 4
"""For each pattern, at least, on each side."""
ORBITS = 0.99
"""Of the power of all sources is made by the patterns that are kept."""


def orbits(response: Floats, samples: int) -> Floats:
    """Orthonormal patterns that make up the responses, shape (readings, patterns); no more than samples can tell of."""
    left, singular, _ = np.linalg.svd(response, full_matrices=False)
    made = np.cumsum(singular**2) / np.sum(singular**2)
    enough = int(np.searchsorted(made, ORBITS)) + 1
    return np.asarray(left[:, : max(1, min(enough, samples // SAMPLES))])


def noise_beside(motion: Complexes, at: int, *others: int) -> Floats:
    """At bin ``at`` of amplitudes, shape (pieces, readings, bins), from both sides; without what is near ``others``."""
    sides = [beside(motion, at, side, others) for side in (-1, 1)]
    if min(map(len, sides)) < LEAST_BINS:
        least, most = NEAR + LEAST_BINS, motion.shape[2] - NEAR - LEAST_BINS + 1
        raise ValueError(
            f"noise is taken from both sides of a frequency: expected one of {least} to {most} steps of this span's "
            f"{motion.shape[2]}, found {at + 1}; take a longer span, or a stream of another rate"
        )
    directions = _diagonal(*(covariance_of(_samples(motion, bins)) for bins in sides))
    bins = [*sides[0], *sides[1]]
    power = np.mean(np.abs(np.einsum("dr,krb->kdb", np.linalg.inv(directions), motion[:, :, bins])) ** 2, axis=0)
    place = np.log(np.array(bins) + 1) - np.log(at + 1)
    terms = np.stack([np.ones_like(place), place, place**2])
    fitted = np.linalg.lstsq(terms.T, np.log(power).T, rcond=None)[0][0]
    return np.asarray((directions * np.exp(fitted)) @ directions.T)


def blank_bins(motion: Complexes, at: int) -> list[int]:
    """Some bins on both sides that have no line, and noise beside them."""
    both = [*beside(motion, at, -1)[:BLANKS], *beside(motion, at, 1)[:BLANKS]]
    return [one for one in both if min(len(beside(motion, one, side, (at,))) for side in (-1, 1)) >= LEAST_BINS]


def beside(motion: Complexes, at: int, side: int, others: tuple[int, ...] = ()) -> list[int]:
    """Quiet bins on one side, the nearest first."""
    near = [at + side * step for step in range(NEAR, NEAR + BESIDE)]
    return quiet_bins(motion, [one for one in near if all(abs(one - other) >= NEAR for other in others)])


def _samples(motion: Complexes, bins: list[int]) -> Complexes:
    return motion[:, :, bins].transpose(0, 2, 1).reshape(-1, motion.shape[1])


def _diagonal(first: Floats, second: Floats) -> Floats:
    """Directions, as columns, in which two covariances are diagonal."""
    root = np.linalg.cholesky(first)
    back = np.linalg.inv(root)
    return np.asarray(root @ np.linalg.eigh(back @ second @ back.T)[1])


def quiet_bins(motion: Complexes, bins: list[int]) -> list[int]:
    """Those of ``bins`` that are there and have no line of their own: another harmonic of the mains is no noise."""
    there = [each for each in bins if 0 <= each < motion.shape[2]]
    power = np.sum(np.abs(motion[:, :, there]) ** 2, axis=(0, 1))
    return [each for each, one in zip(there, power, strict=True) if one <= QUIET * np.median(power)]


def covariance_of(noise: Complexes) -> Floats:
    """Of samples, shape (samples, readings): real, for noise has no phase."""
    return np.asarray(np.real(noise.conj().T @ noise)) / len(noise)
