# SPDX-License-Identifier: Apache-2.0
"""A threshold that is crossed so often and no more, from how a level was distributed while nothing happened.

The largest level of each block of time (blocks.py) is taken for independent of the other blocks'. Of n blocks the 4 √n
largest, a tenth at most, lie above u, and how far above is fitted by a generalized Pareto distribution,

    P(x > u + y | x > u) = (1 + ξ y / σ)^(−1/ξ)

which is what tails of nearly all distributions become (J. Pickands, Annals of Statistics 3, 119, 1975), by the method
of probability-weighted moments (J. R. M. Hosking, J. R. Wallis, Technometrics 29, 339, 1987). So with B blocks a day,
of which the share ζ lies above u, the threshold of r false alarms a day is

    θ = u + σ/ξ ((ζ B / r)^ξ − 1)

Its uncertainty, and that of the rate that comes of it, are those of the fit to resampled excesses (bootstrap). What
that assumes: nothing happened in the recording, the machine will be as quiet as it was, and the tail goes on as it
begins.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
DAY_S = 86400.0
TAIL_MOST = 0.1
"""Share of the blocks that is fitted, at most."""
TAIL_ROOTS = 4.0
"""Times the root of their number: more, and what is fitted is not the tail; fewer, and the fit is uncertain."""
LEAST_EXCESSES = 50
MOST_AHEAD = 10.0
"""The time between two false alarms may be so many times the recording's."""
RESAMPLED = 400
INSIDE = 0.9
"""Share of the resampled fits that an interval holds."""
QUARTERS_MOST = 16.27
"""Chi-square of three degrees of freedom that one recording in a thousand exceeds when it is stationary."""


class TooFewError(ValueError):
    """The recording does not say what was asked for."""


@dataclass(frozen=True)
class Threshold:
    """Of one detector."""

    threshold: float
    low: float
    high: float
    """Between ``low`` and ``high`` it lies with 90 % confidence."""
    rate_low_per_day: float
    rate_high_per_day: float
    """So often it is crossed, with 90 % confidence."""
    largest: float
    """Level of the recording."""
    blocks: int
    excesses: int
    shape: float
    """ξ: below 0 the tail ends, at 0 it is exponential, above 0 it is heavy."""
    stationary: bool
    """Whether the largest blocks are spread evenly over the recording, as far as chance allows."""


def fit(excess: Floats) -> tuple[Floats, Floats]:
    """σ and ξ of excesses along the last axis."""
    ordered = np.sort(excess, axis=-1)
    count = ordered.shape[-1]
    left = 1 - (np.arange(1, count + 1) - 0.35) / count
    mean, weighted = ordered.mean(axis=-1), (ordered * left).mean(axis=-1)
    below = np.maximum(mean - 2 * weighted, 1e-12 * mean)
    return 2 * mean * weighted / below, 2 - mean / below


def level_of(beyond: float, scale: Floats, shape: Floats) -> Floats:
    """Height above u that is exceeded by one in ``beyond``."""
    flat = np.abs(shape) < 1e-9
    safe = np.where(flat, 1.0, shape)
    result: Floats = np.where(flat, scale * np.log(beyond), scale / safe * np.expm1(safe * np.log(beyond)))
    return result


def share_beyond(height: float, scale: Floats, shape: Floats) -> Floats:
    """Share of the excesses that are higher."""
    flat = np.abs(shape) < 1e-9
    safe = np.where(flat, 1.0, shape)
    inside = np.maximum(1 + safe * height / scale, 0.0)
    with np.errstate(divide="ignore"):
        result: Floats = np.where(flat, np.exp(-height / scale), inside ** (-1 / safe))
    return np.where((safe < 0) & (inside == 0), 0.0, result)


def is_stationary(tail: npt.NDArray[np.bool_]) -> bool:
    """Whether the blocks of the tail are spread over the quarters as independent ones would be."""
    counts = np.array([part.sum() for part in np.array_split(tail, 4)], float)
    expected = counts.sum() / 4
    return bool(((counts - expected) ** 2 / expected).sum() <= QUARTERS_MOST)


def threshold(largest: Floats, block_s: float, per_day: float, seed: int = 1) -> Threshold:
    """Of the largest levels of blocks, NaN where there were none. Raises TooFewError."""
    levels = largest[np.isfinite(largest)]
    days = len(levels) * block_s / DAY_S
    _check(levels, days, per_day)
    begin = float(np.quantile(levels, 1 - min(TAIL_MOST, TAIL_ROOTS / len(levels) ** 0.5)))
    excess = levels[levels > begin] - begin
    if len(excess) < LEAST_EXCESSES:
        raise TooFewError(
            f"its {len(levels)} blocks have {len(np.unique(levels))} different levels, {levels.max():g} at most: there "
            "is no tail to fit; keep a threshold above it that physics gives"
        )
    per_excess = len(excess) / days / per_day
    random = np.random.default_rng(seed)
    drawn = excess[random.integers(0, len(excess), (RESAMPLED, len(excess)))]
    scale, shape = fit(np.concatenate([excess[None], drawn]))
    heights = level_of(per_excess, scale, shape)
    rates = share_beyond(float(heights[0]), scale[1:], shape[1:]) * len(excess) / days
    ends = (0.5 - INSIDE / 2, 0.5 + INSIDE / 2)
    low, high = (float(begin + end) for end in np.quantile(heights[1:], ends))
    rate_low, rate_high = (float(rate) for rate in np.quantile(rates, ends))
    return Threshold(
        threshold=float(begin + heights[0]),
        low=low,
        high=high,
        rate_low_per_day=rate_low,
        rate_high_per_day=rate_high,
        largest=float(levels.max()),
        blocks=len(levels),
        excesses=len(excess),
        shape=float(shape[0]),
        stationary=is_stationary(largest > begin),
    )


def _check(levels: Floats, days: float, per_day: float) -> None:
    if len(levels) * TAIL_MOST < LEAST_EXCESSES:
        raise TooFewError(
            f"{len(levels)} blocks are too few, expected {LEAST_EXCESSES / TAIL_MOST:.0f} at least: record for longer, "
            "or take shorter blocks if the detector is faster"
        )
    if days * per_day * MOST_AHEAD < 1:
        raise TooFewError(
            f"{days * 24:.3g} h do not say what happens {per_day:g} times a day, expected "
            f"{24 / per_day / MOST_AHEAD:.3g} h at least: record for longer, or ask for "
            f"{1 / days / MOST_AHEAD:.2g} a day"
        )
