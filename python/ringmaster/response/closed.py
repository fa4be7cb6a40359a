# SPDX-License-Identifier: Apache-2.0
"""The response while a loop is closed: it answers to the excitation, by supplies of its own.

At each line k all supplies move, those that are excited and those of the loop. The orbit is the sum of what they do:

    y_k = Σ_j R_j H_j(f_k) θ_jk

R is real. So the real and the imaginary parts of all lines are two equations for each row, for as many unknowns as
there are supplies: they are solved by least squares, with the loop's supplies as further columns. The loop's
sensitivity has no part in it. What it has is that the loop makes y small: lines are best above its bandwidth, where it
answers late, and so tells itself from what it answers to.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]
SINGULAR = 1e-10
"""Of the normal matrix's largest eigenvalue: below, the lines do not tell supplies apart."""


@dataclass(frozen=True)
class Solved:
    """Of the excited supplies."""

    values: Floats
    """[row, supply]"""
    sigma: Floats
    imaginary: Floats
    """[row, line] imaginary part of what is left over, in the units of ``values``."""
    loop: Floats
    """[row, supply of the loop]"""


def solve(ratio: Complexes, variance: Floats, transfer: Complexes, loop: Complexes) -> Solved:
    """``ratio``: [row, line] readings over the amplitude of that line's own supply; ``loop``: [supply of the loop,
    line] the same of what they moved, their plants in it. Raises ValueError where lines are too few.
    """
    lines = ratio.shape[1]
    matrix = np.concatenate([np.diag(transfer), loop])
    if 2 * lines < len(matrix):
        raise ValueError(
            f"{lines} lines are two equations each for {len(matrix)} supplies, {len(loop)} of which are the loop's: "
            f"excite more supplies, or open the loop"
        )
    good = np.isfinite(ratio).all(axis=1)
    if not good.any():
        raise ValueError("no row has all of its records")
    shape = np.median(variance[good], axis=0)
    weight = np.concatenate([1 / np.sqrt(shape)] * 2)
    both = np.concatenate([matrix.real, matrix.imag], axis=1) * weight
    right = np.concatenate([ratio.real, ratio.imag], axis=1) * weight
    scale = 1 / np.sqrt(np.square(both).sum(axis=1))
    scaled = both * scale[:, None]
    gram = scaled @ scaled.T
    eigenvalues = np.linalg.eigvalsh(gram)
    if eigenvalues[0] < SINGULAR * eigenvalues[-1]:
        raise ValueError(
            "the loop answers the excitation so fast that its supplies are not told apart from those that are excited: "
            "take lines above its bandwidth by --band, or open the loop"
        )
    factor = linalg.cho_factor(gram)
    values = np.full((len(ratio), len(matrix)), np.nan)
    values[good] = linalg.cho_solve(factor, scaled @ right[good].T).T * scale
    covariance = np.diag(linalg.cho_solve(factor, np.eye(len(matrix)))) * scale**2
    size = np.sqrt(np.mean(variance / shape, axis=1))
    sigma = size[:, None] * np.sqrt(covariance)[None, :]
    left = ratio - values @ matrix
    return Solved(
        values[:, :lines],
        sigma[:, :lines],
        left.imag * (sigma[:, :lines] / np.sqrt(variance)),
        values[:, lines:],
    )
