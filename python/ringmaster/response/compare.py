# SPDX-License-Identifier: Apache-2.0
"""Two responses beside each other: which columns and rows have another sign or gain, are another's, or are dead.

A column of the one is projected on the same column of the other, and its direction compared with those of all columns.
Rows likewise.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringmaster.response.measured import MeasuredResponse

Floats = NDArray[np.float64]
ALIKE = 0.7
"""Cosine of two directions, from where they count as the same."""
OTHER = 0.15
"""By so much more another one's must fit."""
DEAD = 0.1
GAIN = 0.5
"""From here on a gain is told: optics that are off by some per cent make gains of 1.2."""
SIGMAS = 5.0


@dataclass(frozen=True)
class Finding:
    """Of one column or row."""

    what: str
    """ "supply" or "reading"."""
    name: str
    kind: str
    """ "dead", "sign", "other", "gain", "shape"."""
    words: str
    value: float


@dataclass(frozen=True)
class Comparison:
    """Of the rows and columns that both have."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    first: Floats
    second: Floats
    column_gain: Floats
    """The first over the second; NaN where one is not known."""
    row_gain: Floats
    relative: float
    """RMS of the difference over the RMS of the second."""
    pull: float
    """RMS of the difference over its standard error; NaN where none is known."""
    findings: tuple[Finding, ...]


def compare(first: MeasuredResponse, second: MeasuredResponse) -> Comparison:
    """Raises ValueError where they have nothing in common."""
    rows = tuple(row for row in first.rows if row in second.rows)
    columns = tuple(name for name in first.columns if name in second.columns)
    if not rows or not columns:
        raise ValueError("the two have no reading, or no supply, in common: are they of one machine?")
    a, sa = _part(first, rows, columns)
    b, sb = _part(second, rows, columns)
    sigma = np.sqrt(np.nan_to_num(sa) ** 2 + np.nan_to_num(sb) ** 2)
    both = np.isfinite(a) & np.isfinite(b)
    known = both & (sigma > 0)
    off = a - b
    by_column, column_gain = _directions(a, b, sigma, columns, "supply")
    by_row, row_gain = _directions(a.T, b.T, sigma.T, rows, "reading")
    return Comparison(
        rows,
        columns,
        a,
        b,
        column_gain,
        row_gain,
        float(np.sqrt(np.mean(off[both] ** 2) / np.mean(b[both] ** 2))) if both.any() else float("nan"),
        float(np.sqrt(np.mean((off[known] / sigma[known]) ** 2))) if known.any() else float("nan"),
        (*by_column, *by_row),
    )


def _part(of: MeasuredResponse, rows: Sequence[str], columns: Sequence[str]) -> tuple[Floats, Floats]:
    index = np.ix_([of.rows.index(row) for row in rows], [of.columns.index(name) for name in columns])
    return of.values[index], of.sigma[index]


def _directions(a: Floats, b: Floats, sigma: Floats, names: Sequence[str], what: str) -> tuple[list[Finding], Floats]:
    """Of the columns of ``a`` and ``b``."""
    known = np.isfinite(a) & np.isfinite(b)
    one, other = np.where(known, a, 0.0), np.where(known, b, 0.0)
    length_a, length_b = (np.sqrt(np.square(x).sum(axis=0)) for x in (one, other))
    with np.errstate(invalid="ignore", divide="ignore"):
        cosine = (one.T @ other) / (length_a[:, None] * length_b[None, :])
        gain = (one * other).sum(axis=0) / length_b**2
        gain_sigma = np.sqrt(np.square(other * np.where(known, sigma, 0.0)).sum(axis=0)) / length_b**2
    found = []
    for i, name in enumerate(names):
        if not known[:, i].any() or not length_b[i] > 0:
            continue
        judged = _judge(i, names, cosine, gain[i], gain_sigma[i], length_a[i] / length_b[i])
        if judged is not None:
            found.append(Finding(what, name, *judged))
    return found, np.where(known.any(axis=0), gain, np.nan)


def _judge(
    i: int, names: Sequence[str], cosine: Floats, gain: float, gain_sigma: float, size: float
) -> tuple[str, str, float] | None:
    """Kind, words and number; None where the two agree."""
    own = float(np.nan_to_num(cosine[i, i]))
    if size < DEAD:
        return "dead", f"answers {size:.2g} of what it should", size
    best = int(np.nanargmax(np.abs(cosine[i])))
    if best != i and abs(own) < ALIKE < abs(cosine[i, best]) - OTHER:
        mutual = bool(np.isfinite(cosine[best]).any()) and int(np.nanargmax(np.abs(cosine[best]))) == i
        return "other", f"is {'swapped with' if mutual else 'as'} {names[best]}", float(cosine[i, best])
    if own < -ALIKE:
        return "sign", f"has the other sign, gain {gain:.3f}", gain
    if own < ALIKE:
        return "shape", f"has another shape: the two have a cosine of {own:.2f}", own
    if abs(gain - 1) > max(GAIN, SIGMAS * gain_sigma):
        return "gain", f"has a gain of {gain:.3f} ± {gain_sigma:.2g}", gain
    return None


def of_lattice(rows: Sequence[str], columns: Sequence[str], matrix: Floats, dispersion: Floats) -> MeasuredResponse:
    """What a lattice ought to answer, in the form of a measured response without errors."""
    nothing = np.zeros(len(rows))
    return MeasuredResponse(
        tuple(rows), tuple(columns), matrix, np.zeros(matrix.shape), dispersion, nothing, nothing, nothing, {}
    )
