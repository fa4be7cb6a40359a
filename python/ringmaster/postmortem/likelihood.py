# SPDX-License-Identifier: Apache-2.0
"""How much better a hypothesis explains what was not predicted than noise does.

A single cause has a pattern U across the rows (k columns, orthonormal) and any course in time. A course begins at the
onset with a step, and goes on as a random walk (or, for what is only noisy, is white): a Gaussian process of unknown
size q. Through the background's filter its covariance has the eigenvalues λ_i and eigenvectors v_i, and what was not
predicted, W [record, row], falls into independent z_i = v_i W with

    cov z_i = (1 + s ε²/R) 1 + s U Uᵀ        s = q λ_i, R rows

Of a supply U has what an error of the machine's phases makes of its orbit as a small column beside: a neighbour's orbit
looks like that, so neighbours are told apart only as far as the twin's phases are known. Noise is not the same in all
modes and rows: z_i is divided by its RMS there, and so are the rows of U.

ε says how far the machine's pattern may be from the twin's, relative to its size. *Unknown* has no U and ε = 1: any
pattern at all. So all hypotheses are alike, and a pattern that fits pays for none of the R directions that it does not
need. The ratio to noise alone has a closed form in |z_i|² and |Uᵀ z_i|². q and ε are not known, and integrated out over
grids (D. MacKay, Information Theory, Inference, and Learning Algorithms, 28).
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from ringmaster.postmortem.background import Background

Floats = npt.NDArray[np.float64]
SIZES = 10.0 ** np.arange(0.0, 9.1, 0.5)
"""q: from an event of the size of the noise to one 30 000 times as large."""
TWIN_ERRORS = (0.05, 0.12, 0.3)
"""ε: of patterns that the twin makes."""
PHASE_ERROR = 0.07
"""Radians, RMS: of the machine's betatron phases from the twin's, between a supply and the BPMs."""
STEP_SHARE = 1.0
WALK_SHARE = 1.0
"""Of a course: the variance of its first step, and of its walk over the whole window."""
WHITE_PRIOR = 0.1
"""That a course is white."""
LEAST_EIGENVALUE = 1e-5


@dataclass(frozen=True)
class Courses:
    """What a course of so many records may look like: its eigenvalues and eigenvectors behind the filter."""

    eigenvalue: Floats
    """[mode], the largest being 1."""
    vector: Floats
    """[mode, record]."""
    log_prior: float

    @classmethod
    def walking(cls, background: Background, records: int) -> Self:
        """A step, and a random walk."""
        steps = np.tril(np.ones((records, records)))  # column k: a unit step at record k
        weight = np.full(records, WALK_SHARE / records)
        weight[0] = STEP_SHARE
        return cls._of(background.course(steps * np.sqrt(weight)), np.log1p(-WHITE_PRIOR))

    @classmethod
    def white(cls, background: Background, records: int) -> Self:
        """Another value at each record."""
        return cls._of(background.course(np.eye(records)), np.log(WHITE_PRIOR))

    @classmethod
    def _of(cls, root: Floats, log_prior: float) -> Self:
        vectors, singular, _ = np.linalg.svd(root, full_matrices=False)
        value = singular**2 / singular[0] ** 2
        kept = value > LEAST_EIGENVALUE
        return cls(value[kept], np.ascontiguousarray(vectors[:, kept].T), float(log_prior))


@dataclass(frozen=True)
class Patterns:
    """Hypotheses of one kind at one rate: equally many columns each, orthogonal and whitened."""

    columns: Floats
    """[row, hypothesis, column]: of length 1, but those by which the machine may be off."""
    twin_errors: tuple[float, ...]
    """(0,) where the pattern is exact."""

    @classmethod
    def of(cls, columns: list[Floats], twin_errors: tuple[float, ...]) -> Self:
        """Of whitened columns [row, column] each."""
        return cls(np.stack([np.linalg.qr(one)[0] for one in columns], axis=1), twin_errors)

    def off_by(self, columns: list[Floats]) -> Self:
        """With as many columns [row, column] each, of any length, by which the machine's may be off."""
        made = []
        for own, other in zip(self.columns.transpose(1, 0, 2), columns, strict=True):
            rest = np.linalg.qr(other - own @ (own.T @ other))[0]
            made.append(np.hstack([own, PHASE_ERROR * rest]))
        return type(self)(np.stack(made, axis=1), self.twin_errors)

    def inside(self, z: Floats, noise: Floats) -> tuple[Floats, Floats]:
        """Of z [onset, mode, row] the square along each axis, [hypothesis, onset, mode · axis], and its length squared.

        In each mode the columns are divided by ``noise`` [mode, row], as z is. The axes are those in which they are
        orthogonal then; their length [hypothesis, mode · axis] is 1 where the noise is 1.
        """
        rows, count, width = self.columns.shape
        onsets, modes, _ = z.shape
        divided = (z / noise).reshape(-1, rows)
        along = (divided @ self.columns.reshape(rows, -1)).reshape(onsets, modes, count, width)
        products = np.einsum("rhk,rhl->rhkl", self.columns, self.columns).reshape(rows, -1)
        square, axes = np.linalg.eigh((noise**-2.0 @ products).reshape(modes, count, width, width))
        along = (along[..., None, :] @ axes)[..., 0, :]
        square = np.maximum(square, 1e-12)
        inside = (along**2 / square).transpose(2, 0, 1, 3).reshape(count, onsets, -1)
        return inside, square.transpose(1, 0, 2).reshape(count, -1)


def log_ratio(z: Floats, courses: Courses, patterns: Patterns | None, noise: Floats) -> Floats:
    """Ln P(z | hypothesis) - ln P(z | noise), of z [onset, mode, row] that is divided by noise: [onset, hypothesis].

    Without patterns: *unknown*, one hypothesis.
    """
    rows = z.shape[2]
    energy = np.sum(z**2, axis=2)  # [onset, mode]
    s = SIZES[:, None] * courses.eigenvalue  # [size, mode]
    if patterns is None:
        a = 1 + s / rows
        made = -0.5 * rows * np.log(a).sum(axis=1) + 0.5 * energy @ (1 - 1 / a).T
        unknown: Floats = (logsumexp(made, axis=1) - np.log(len(SIZES)))[:, None]
        return unknown
    width = patterns.columns.shape[2]
    inside, square = patterns.inside(z, noise)
    of_axis = np.repeat(s, width, axis=1)  # [size, mode · axis]
    terms = []
    for error in patterns.twin_errors:
        a = 1 + s * error**2 / rows
        spread = 0.5 * energy @ (1 - 1 / a).T  # [onset, size]
        spread -= 0.5 * (rows - width) * np.log(a).sum(axis=1)
        of_rest = np.repeat(a, width, axis=1)
        full = of_rest + of_axis * square[:, None]  # [hypothesis, size, mode · axis]
        gained = inside @ (1 / of_rest - 1 / full).transpose(0, 2, 1)  # [hypothesis, onset, size]
        terms.append(0.5 * gained + spread - 0.5 * np.log(full).sum(axis=2)[:, None])
    result: Floats = logsumexp(np.stack(terms), axis=(0, 3)).T - np.log(len(SIZES) * len(terms))
    return result


def beyond_chance(usual: Floats) -> Floats:
    """Of logarithms of ratios [window, hypothesis] without an event: by how much they are larger than by chance.

    By chance one window of x has a ratio above x at most.
    """
    if not len(usual):
        return np.zeros(usual.shape[1])
    result: Floats = np.maximum(usual.max(axis=0) - np.log(len(usual)), 0.0)
    return result


def windows(left: Floats, courses: Courses, starts: npt.NDArray[np.int64]) -> Floats:
    """Z [onset, mode, row] of what was not predicted, of windows that begin at ``starts``."""
    records = courses.vector.shape[1]
    made = np.empty((len(starts), len(courses.eigenvalue), left.shape[1]))
    for i, start in enumerate(starts):
        made[i] = courses.vector @ left[start : start + records]
    return made
