# SPDX-License-Identifier: Apache-2.0
"""The covariance of noise in rows: electronics, what moves the orbit all the time, and what rows share.

    C = T^½ (1 + few patterns) T^½        T = Σ w_r e_r e_rᵀ + Σ c_j Q_j Q_jᵀ

e_r [row] is a reading, and Q_j [row, source] what sources of one kind do, all alike and each by itself: magnets that
move, correctors' noise, the beam's energy. The w_r and c_j are those of the largest likelihood. Behind T the rows share
no more than chance makes of so many records, but for few patterns (V. Marchenko, L. Pastur, Math. USSR Sbornik 1, 457,
1967).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

Floats = npt.NDArray[np.float64]
ROUNDS = 6
EDGE = 1.1
"""Relative to the largest variance that chance gives to a pattern of white noise."""
LEAST_SHARE = 1e-3
"""Of the usual noise of a reading."""
LOUDER = 10.0 ** np.arange(-3.0, 4.1, 0.25)
"""Tried: how much more the ground moves, relative to the noise of the electronics in its largest pattern."""


@dataclass(frozen=True)
class Sources:
    """Of noise, as rows see them: columns [row, k]."""

    readings: Floats
    """Each with a variance of its own: the noise of electronics."""
    ground: Floats
    """Magnets that are displaced, all by as much."""
    correctors: Floats
    """All with the same noise."""
    energy: Floats
    """Its motion, which has frequencies of its own."""

    @property
    def moving(self) -> tuple[Floats, ...]:
        """What moves the orbit, by kinds."""
        return tuple(one for one in (self.ground, self.correctors, self.energy) if one.any())

    def of(self, rows: slice, noise: Floats) -> "Sources":
        """Those rows, divided by their noise."""
        return self.seen(np.diag(1 / noise)[rows])

    def seen(self, transform: Floats) -> "Sources":
        """As rows see them that are so made of these, [row, row of these]."""
        return Sources(*(transform @ one for one in (self.readings, self.ground, self.correctors, self.energy)))

    def axes(self, transform: Floats) -> tuple[Floats, Floats, int]:
        """Orthonormal axes [row, axis] along which all that moves is independent, seen so: the energy's come first.

        And the variance that the ground gives to each, of no unit, and how many are the energy's.
        """
        seen = self.seen(transform)
        own, length, _ = np.linalg.svd(seen.energy, full_matrices=False)
        own = own[:, length > 0]
        count, rows = own.shape[1], len(own)
        rest = np.linalg.svd(np.eye(rows) - own @ own.T)[0][:, : rows - count]
        moved = rest.T @ seen.ground
        shape, turned = np.linalg.eigh(moved @ moved.T)
        return np.hstack([own, rest @ turned]), np.concatenate([np.zeros(count), np.maximum(shape, 0.0)]), count


def noise_root(left: Floats, sources: Sources | None) -> Floats:
    """The symmetric root of the inverse covariance of rows [record, row]. Without sources they have a variance of 1."""
    count, rows = left.shape
    if rows < 2:
        return np.eye(rows)
    seen = left.T @ left / count
    root, inverse = _roots(np.eye(rows) if sources is None else _target(seen, sources))
    values, vectors = np.linalg.eigh(inverse @ seen @ inverse)
    large = values > EDGE * (1 + np.sqrt(rows / count)) ** 2
    rest = values[~large].mean() if (~large).any() else 1.0
    shared = (vectors * np.where(large, values, rest)) @ vectors.T
    result: Floats = _roots(root @ shared @ root)[1]
    return result


def loudness(power: Floats, windows: int, shape: Floats) -> Floats:
    """Variances [mode, row] of the largest likelihood, a (1 + g · shape) with an a and a g of each mode.

    ``power`` [mode, row] is the mean square of so many windows; ``shape`` [row] what the ground's motion gives to each.
    """
    if not shape.any() or not windows:
        return np.broadcast_to(power.sum(axis=1, keepdims=True) / max(power.shape[1], 1), power.shape)
    tried = 1 + np.concatenate([[0.0], LOUDER])[:, None] * shape / shape.max()  # [g, row]
    white = power @ (1 / tried).T / power.shape[1]  # [mode, g]
    log_likelihood = -np.log(tried).sum(axis=1) - power.shape[1] * np.log(white)
    best = log_likelihood.argmax(axis=1)
    result: Floats = white[np.arange(len(power)), best][:, None] * tried[best]
    return result


def _target(seen: Floats, sources: Sources) -> Floats:
    """T: by least squares, weighed with its own inverse, again and again (Fisher's scoring)."""
    readings, moving = sources.readings, sources.moving
    count = readings.shape[1]
    target = np.eye(len(seen)) * np.trace(seen) / len(seen)
    for _ in range(ROUNDS):
        root = _roots(target)[1]
        single = root @ readings
        kinds = [(half := root @ one) @ half.T for one in moving]
        scale = np.array([np.linalg.norm(one) for one in kinds])
        data = root @ seen @ root
        products = np.empty((count + len(kinds),) * 2)
        wanted = np.empty(count + len(kinds))
        products[:count, :count] = (single.T @ single) ** 2
        wanted[:count] = np.einsum("rk,rs,sk->k", single, data, single, optimize=True)
        for j, kind in enumerate(kinds):
            kind = kind / scale[j]
            products[count + j, :count] = products[:count, count + j] = np.einsum(
                "rk,rs,sk->k", single, kind, single, optimize=True
            )
            products[count + j, count:] = [np.sum(kind * other) / scale[i] for i, other in enumerate(kinds)]
            wanted[count + j] = np.sum(kind * data)
        weight = nnls(products, wanted)[0]
        least = LEAST_SHARE * np.median(weight[:count])
        target = np.asarray((readings * np.maximum(weight[:count], least)) @ readings.T, np.float64)
        for j, one in enumerate(moving):
            target += weight[count + j] / scale[j] * (one @ one.T)
    result: Floats = target
    return result


def _roots(matrix: Floats) -> tuple[Floats, Floats]:
    """Symmetric: the root, and its inverse."""
    values, vectors = np.linalg.eigh(matrix)
    length = np.sqrt(np.maximum(values, 1e-30))
    root: Floats = (vectors * length) @ vectors.T
    inverse: Floats = (vectors / length) @ vectors.T
    return root, inverse
