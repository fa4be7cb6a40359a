# SPDX-License-Identifier: Apache-2.0
"""What regularisation leaves of a mode: apps/feedback/matrix/solve.h."""

import numpy as np
from numpy.typing import NDArray


def mode_gain(singular: NDArray[np.float64], mode: int, tikhonov: float) -> float:
    """Of a number in the reading ``singular``, where parts stand one after the other, each from its largest down."""
    if mode >= len(singular) or not singular[mode] > 0:
        raise ValueError(f"mode {mode} is not among those in use: see `ringmaster get feedback/singular`")
    first = mode
    while first > 0 and singular[first - 1] >= singular[first] > 0:
        first -= 1
    return float(singular[mode] ** 2 / (singular[mode] ** 2 + (tikhonov * singular[first]) ** 2))
