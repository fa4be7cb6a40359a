# SPDX-License-Identifier: Apache-2.0
"""The poster's table of jitter: its bins, the shares that fall into them, and the quantiles it names."""

import numpy as np

from ringmaster.bench.groups import Floats
from ringmaster.report.published import JITTER_BOUNDS_US, JITTER_ROWS

MOST = 0.9995
"""The share of cycles of which the poster tells the bound."""


def counts(jitter_us: Floats) -> list[int]:
    """Values in each row of the table; a row holds what is in none above it."""
    row = np.searchsorted(JITTER_BOUNDS_US, jitter_us, side="right")
    return [int(count) for count in np.bincount(row, minlength=len(JITTER_ROWS))]


def shares(jitter_us: Floats) -> list[float]:
    """The same of all values, 0–1; of none, zeros."""
    return [count / max(1, len(jitter_us)) for count in counts(jitter_us)]


def share_words(share: float) -> str:
    """In percent, as the poster has it: two digits that say something, and "0%" for nothing at all."""
    if share == 0:
        return "0%"
    if share >= 0.0995:
        return f"{100 * share:.2f}%"
    return f"{100 * share:.2g}%"


def quantile(values: Floats, share: float) -> float | None:
    """The smallest value that this share of them do not exceed; None of nothing."""
    if len(values) == 0:
        return None
    rank = max(1, int(np.ceil(share * len(values) - 1e-9)))
    return float(np.partition(values, rank - 1)[rank - 1])
