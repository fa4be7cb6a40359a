# SPDX-License-Identifier: Apache-2.0
"""What many lanes do together: modes with a course in time and a pattern in space.

The singular value decomposition gives patterns that are orthogonal and ordered by their share of the variance. Two
motions of the same strength come out mixed, for any two orthogonal mixtures of them are as good. Motions of different
spectra are told apart by their correlation over time: after whitening, the rotation is sought that makes the lagged
covariances diagonal, all lags at once (SOBI: Belouchrani, Abed-Meraim, Cardoso, Moulines, IEEE Trans. Signal Process.
45, 434 (1997); the joint diagonalisation by Jacobi angles: Cardoso, Souloumiac, SIAM J. Matrix Anal. 17, 161 (1996)).
"""

from dataclasses import dataclass

import numpy as np

from ringmaster.spectra.density import Floats

FILL_ROUNDS = 8
SWEEPS = 60
RANK = 1e-6
"""Of the strongest mode: what is weaker is the rounding of numbers."""
LAGS = 24


@dataclass(frozen=True)
class Modes:
    """Modes of ``values`` (series, n): the sum over modes of ``space[:, m]`` × ``time[m]`` is what they explain."""

    time: Floats
    """Shape (modes, n), each with an RMS of 1."""
    space: Floats
    """Shape (series, modes), in the unit of the series."""
    share: Floats
    """Shape (modes,): of the variance of all series."""
    missing: float


def svd(values: Floats, modes: int = 8) -> Modes:
    """The modes with the largest shares. Missing values (NaN) are what the modes themselves say of them.

    They begin as each series' mean, and are replaced by what the modes make of them, eight times over.
    """
    missing = ~np.isfinite(values)
    share_missing = float(missing.mean())
    if missing.all(axis=1).any():
        raise ValueError("a series has no value at all")
    centred = values - np.nanmean(values, axis=1, keepdims=True)
    filled = np.where(missing, 0.0, centred)
    modes = min(modes, *values.shape)
    for _ in range(FILL_ROUNDS if share_missing else 1):
        filled -= filled.mean(axis=1, keepdims=True)
        left, singular, right = _svd(filled)
        if share_missing:
            filled = np.where(missing, (left[:, :modes] * singular[:modes]) @ right[:modes], centred)
    modes = max(1, min(modes, int(np.sum(singular > RANK * singular[0]))))
    scale = np.sqrt(values.shape[1])
    total = max(float(np.sum(singular**2)), np.finfo(float).tiny)
    return Modes(
        right[:modes] * scale,
        left[:, :modes] * (singular[:modes] / scale),
        singular[:modes] ** 2 / total,
        share_missing,
    )


def _svd(filled: Floats) -> tuple[Floats, Floats, Floats]:
    """By the covariance of the series, of which there are far fewer than records."""
    value, vector = np.linalg.eigh(filled @ filled.T)
    order = np.argsort(-value)
    singular = np.sqrt(np.maximum(value[order], 0.0))
    left = vector[:, order]
    right = (left.T @ filled) / np.maximum(singular, np.finfo(float).tiny)[:, None]
    return left, singular, right


def separate(found: Modes, lags: int = LAGS) -> Modes:
    """The same motions, told apart by their spectra: modes whose lagged correlations are all diagonal."""
    time = found.time
    count = time.shape[1]
    covariances = []
    for lag in range(1, lags + 1):
        lagged = time[:, lag:] @ time[:, : count - lag].T / (count - lag)
        covariances.append((lagged + lagged.T) / 2)
    rotation = joint_diagonaliser(np.array(covariances))
    turned = rotation.T @ time
    space = found.space @ rotation
    strength = np.sum(space**2, axis=0)
    order = np.argsort(-strength)
    explained = float(found.share.sum())
    share = strength[order] / max(float(strength.sum()), np.finfo(float).tiny) * explained
    return Modes(turned[order], space[:, order], share, found.missing)


def joint_diagonaliser(matrices: Floats) -> Floats:
    """The orthogonal matrix V that makes Vᵀ M V as diagonal as can be for all symmetric M, shape (matrices, n, n)."""
    work = matrices.copy()
    size = work.shape[1]
    rotation = np.eye(size)
    for _ in range(SWEEPS):
        largest = 0.0
        for p in range(size - 1):
            for q in range(p + 1, size):
                angle = _jacobi_angle(work[:, p, p] - work[:, q, q], 2 * work[:, p, q])
                if abs(angle) < 1e-9:
                    continue
                largest = max(largest, abs(angle))
                turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
                work[:, :, [p, q]] = work[:, :, [p, q]] @ turn
                work[:, [p, q], :] = turn.T @ work[:, [p, q], :]
                rotation[:, [p, q]] = rotation[:, [p, q]] @ turn
        if largest < 1e-6:
            break
    return rotation


def _jacobi_angle(difference: Floats, twice_off: Floats) -> float:
    """That takes most out of the off-diagonal elements of all matrices."""
    on = float(difference @ difference - twice_off @ twice_off)
    off = float(2 * difference @ twice_off)
    return 0.25 * float(np.arctan2(off, on))
