# SPDX-License-Identifier: Apache-2.0
"""How much better a hypothesis explains what was not predicted than noise does.

A single cause has a pattern U across the rows (k columns, orthonormal) and any course in time. A course begins at the
onset with a step, and goes on as a random walk (or, for what is only noisy, is white): a Gaussian process of unknown
size q. Through the background's filter its covariance has the eigenvalues λ_i and eigenvectors v_i, and what was not
predicted, W [record, row], falls into independent z_i = v_i W with

    cov z_i = (1 + s ε²/R) 1 + s U Uᵀ        s = q λ_i, R rows

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
STEP_SHARE = 1.0
WALK_SHARE = 1.0
"""Of a course: the variance of its first step, and of its walk over the whole window."""
CHANCE = 2.0
"""So much of the largest logarithm that a hypothesis reached without an event is taken off."""
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
    """Hypotheses of one kind at one rate: equally many columns each, orthonormal and whitened."""

    columns: Floats
    """[row, hypothesis, column]."""
    twin_errors: tuple[float, ...]
    """(0,) where the pattern is exact."""

    @classmethod
    def of(cls, columns: list[Floats], twin_errors: tuple[float, ...]) -> Self:
        """Of whitened columns [row, column] each."""
        return cls(np.stack([np.linalg.qr(one)[0] for one in columns], axis=1), twin_errors)

    def inside(self, z: Floats) -> Floats:
        """Of z [onset, mode, row] what lies along each: [onset, mode, hypothesis]."""
        made = np.zeros((*z.shape[:2], self.columns.shape[1]))
        for column in range(self.columns.shape[2]):
            made += (z @ self.columns[:, :, column]) ** 2
        return made


def log_ratio(z: Floats, courses: Courses, patterns: Patterns | None) -> Floats:
    """Ln P(z | hypothesis) - ln P(z | noise), of z [onset, mode, row]: [onset, hypothesis].

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
    count = patterns.columns.shape[2]
    inside = patterns.inside(z)
    terms = []
    for error in patterns.twin_errors:
        a = 1 + s * error**2 / rows
        b = a + s
        fixed = -0.5 * (count * np.log(b) + (rows - count) * np.log(a)).sum(axis=1)
        spread = 0.5 * energy @ (1 - 1 / a).T  # [onset, size]
        gained = 0.5 * np.einsum("omh,sm->osh", inside, 1 / a - 1 / b, optimize=True)
        terms.append(gained + (fixed + spread)[:, :, None])
    result: Floats = logsumexp(np.stack(terms), axis=(0, 2)) - np.log(len(SIZES) * len(terms))
    return result


def windows(left: Floats, courses: Courses, starts: npt.NDArray[np.int64]) -> Floats:
    """Z [onset, mode, row] of what was not predicted, of windows that begin at ``starts``."""
    records = courses.vector.shape[1]
    made = np.empty((len(starts), len(courses.eigenvalue), left.shape[1]))
    for i, start in enumerate(starts):
        made[i] = courses.vector @ left[start : start + records]
    return made
