# SPDX-License-Identifier: Apache-2.0
"""Which source moves the beam at one frequency: by what each is predicted to do, not by coherence.

Every supply that hangs on the mains is coherent with every other, and the responses of neighbours are nearly alike. So
it is asked what a source *does*: its response times its readback, a complex number at each BPM. Let y[k] be the motion
at the frequency in piece k, one complex number for each BPM, R[j] the response to source j and r[k, j] what it read
back. Then

    y[k] = (1 + g) Σ r[k, j] (R[j] + e[j]) + x[k] + n[k]

n is noise with the covariance that the neighbouring frequencies have, up to a factor; g (σ of 10 %) is by how much
response and readback are wrong together, e (5 %) by how much one response is wrong at one BPM; x is what no readback
says. Three things may be:

    nothing        x = 0
    a source       x[k] = a[k] (R[h] + e[h]) of a source h that has no readback; a[k] is any complex number
    none of these  x[k] is any motion at all

All of it is Gaussian, so the likelihoods have a closed form. The size of x and the factor of the noise are not known,
and are integrated out on grids (D. MacKay, Information Theory, Inference, and Learning Algorithms, 28): a pattern that
fits pays nothing for its unknown size, and *any motion* pays for all the directions that it may take. Given each of
them, the source of the motion is the one whose own contribution is the largest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmaster.spectra.cross import Complexes, amplitudes, bin_of
from ringmaster.spectra.density import Floats, piece_size
from ringmaster.spectra.series import Series

NONE = "none of these"
NOTHING = "nothing above the noise"
MODEL_ERROR = 0.1
"""σ of g."""
PATTERN_ERROR = 0.05
"""σ of e, in parts of the response's RMS."""
SIZES = 10.0 ** np.arange(-1.5, 6.1, 0.25)
"""Power of x over that of the noise, at a BPM."""
NOISE_FACTORS = np.array([0.8, 1.0, 1.25, 1.6, 2.0])
"""By which the noise's power may be another than that of the neighbouring frequencies."""
PRIOR_SOURCE, PRIOR_NONE, PRIOR_NOTHING = 0.4, 0.2, 0.4
"""Before anything is seen."""
GROUP = 0.95
PIECES = 20
NEAR, BESIDE = 4, 10
"""Bins on each side that noise is taken from: ten, from the fourth on, where a line has no foot."""
QUIET = 3.0
"""Times the median power of them: what has more is a line."""
MOST_MISSING = 0.05
"""A series that lacks more is taken for none, for what one lacks is left out of all."""
FACTOR_ROUNDS = 4
LEAST_ALONE = 0.1
"""Of what the middle BPM does not share: a BPM that a mode seems to explain whole has noise of its own, too."""
DRAWS = 1000
"""Of the gains of the sources, for the chance that a contribution is the largest."""
VISIBLE = 9.0
"""Power of a contribution, over all BPMs and pieces, in units of the noise's at one: below it is lost in the noise."""


@dataclass(frozen=True)
class Contribution:
    """What is said of one source."""

    name: str
    probability: float
    """That the motion is mostly its own."""
    share: float
    """Of the motion's power that its prediction explains, by response times readback; NaN without a readback."""
    amplitude: float
    """Of the source, in its unit: as read back, or as the motion says; the mean over the pieces."""


@dataclass(frozen=True)
class Ranking:
    """The sources, the likeliest first."""

    ranked: list[Contribution]
    """Without those of which nothing speaks (below one in 10 000)."""
    none: float
    """Probability that it is none of these."""
    nothing: float
    """Probability that nothing but noise moved."""
    signal_to_noise: float
    """Power of the motion over that of the noise, over all BPMs and pieces; 1 for noise."""

    def as_json(self) -> dict[str, Any]:
        """For scripts."""
        return {"answer": self.answer, **asdict(self)}

    @property
    def answer(self) -> list[str]:
        """The smallest group of names that holds 95 %: one source, several that cannot be told apart, or NONE."""
        options = [(one.probability, one.name) for one in self.ranked]
        options += [(self.none, NONE), (self.nothing, NOTHING)]
        total, names = 0.0, []
        for probability, name in sorted(options, reverse=True):
            names.append(name)
            total += probability
            if total >= GROUP:
                break
        return names


def rank(
    motion: Complexes, noise: Complexes, response: Floats, readback: Complexes, names: Sequence[str], seed: int = 1
) -> Ranking:
    """Ranks the sources of a motion.

    ``motion`` is (pieces, BPMs); ``noise`` (samples, BPMs): amplitudes at the neighbouring frequencies of the same
    pieces; ``response`` (BPMs, sources), ``readback`` (pieces, sources), NaN in the columns of those without one.
    """
    whiten = _whitener(noise)
    y, columns = motion @ whiten.T, whiten @ response
    known = np.asarray(np.isfinite(readback).all(axis=0))
    read = np.where(known, readback, 0.0)
    hidden = np.flatnonzero(~known)
    weight = _posterior(_Evidence(y, read, columns), columns[:, hidden])
    largest, power = _largest(read, columns, np.random.default_rng(seed))
    residual = y - read @ columns.T
    probability = np.zeros(len(names))
    nothing = weight[0] * (1 - largest.sum())
    probability += weight[0] * largest
    none = 0.0
    for mass, extra, which in zip(
        weight[1:], _extra_powers(residual, columns[:, hidden]), [None, *hidden], strict=True
    ):
        if power > extra:
            probability += mass * largest
        elif which is None:
            none += mass
        else:
            probability[which] += mass
    return Ranking(
        _ranked(names, probability, y, read, columns, known),
        float(none),
        float(nothing),
        float(np.mean(np.abs(y) ** 2)),
    )


def rank_at(
    hz: float, series: Mapping[str, Series], rows: Sequence[str], sources: Sequence[str], response: Floats
) -> Ranking:
    """Ranks the sources of what ``rows`` do at a frequency. ``series`` are of the same records.

    Rows are INSTRUMENT/LANE, and a source's readback is the series whose lane has the last part of its name. Rows
    without a series are left out. The noise is what the neighbouring frequencies have.
    """
    series = {name: one for name, one in series.items() if one.missing <= MOST_MISSING}
    there = [row for row in rows if row in series]
    if not there:
        raise ValueError(f"no row has {1 - MOST_MISSING:.0%} of its records: `ringmaster top` shows why")
    lanes = {name.rpartition("/")[2]: one for name, one in series.items() if name not in rows}
    readbacks = [lanes.get(name.rpartition("/")[2]) for name in sources]
    chosen = [series[row] for row in there] + [one for one in readbacks if one is not None]
    size = piece_size(len(chosen[0]), PIECES)
    found, _ = amplitudes(np.array([one.values for one in chosen]), size)
    at = bin_of(hz, chosen[0].rate_hz, size)
    bins = _quiet(found[:, : len(there)], at)
    motion = found[:, : len(there), :]
    read = np.full((len(found), len(sources)), np.nan, np.complex128)
    read[:, [i for i, one in enumerate(readbacks) if one is not None]] = found[:, len(there) :, at]
    kept = np.array([row in series for row in rows])
    noise = motion[:, :, bins].transpose(0, 2, 1).reshape(-1, len(there))
    return rank(motion[:, :, at], noise, response[kept], read, sources)


def _quiet(found: Complexes, at: int) -> list[int]:
    """The bins beside one that have no line of their own: another harmonic of the mains is no noise."""
    beside = [at + side * step for side in (-1, 1) for step in range(NEAR, NEAR + BESIDE)]
    bins = [each for each in beside if 0 <= each < found.shape[2]]
    power = np.sum(np.abs(found[:, :, bins]) ** 2, axis=(0, 1))
    return [each for each, one in zip(bins, power, strict=True) if one <= QUIET * np.median(power)]


def _whitener(noise: Complexes) -> Floats:
    """What makes the noise's covariance 1: real, for noise has no phase.

    There may be as many BPMs as samples, so the covariance is not taken as it is: what stands out of the spectrum that
    uncorrelated noise would have (V. Marčenko, L. Pastur (1967)) is a mode that BPMs share, with its bias taken off
    (I. Johnstone, D. Paul, Proc. IEEE 106, 1277 (2018)); all else is independent.
    """
    samples = np.concatenate([noise.real, noise.imag]) * np.sqrt(2)
    covariance = samples.T @ samples / len(samples)
    ratio = len(covariance) / len(samples)
    alone = np.maximum(np.diag(covariance), np.finfo(float).tiny)  # what a BPM does not share with others
    for _ in range(FACTOR_ROUNDS):
        scale = np.sqrt(alone)
        value, vector = np.linalg.eigh(covariance / np.outer(scale, scale))
        modes, bulk = _modes(value, ratio)
        first = len(value) - modes
        shared = np.sum(vector[:, first:] ** 2 * value[first:], axis=1) * alone
        left = np.diag(covariance) - shared
        alone = np.maximum(left, LEAST_ALONE * np.median(left))
    shown = value[first:] / bulk
    middle = shown + 1 - ratio
    true = np.full(len(value), bulk)
    true[first:] = bulk * (middle + np.sqrt(np.maximum(middle**2 - 4 * shown, 0.0))) / 2
    return np.asarray((vector / np.sqrt(true)).T / scale)


def _modes(value: Floats, ratio: float) -> tuple[int, float]:
    """How many eigenvalues, of the ascending ones, stand out of the others; and the mean of these."""
    modes = 0
    while modes < len(value) - 1:
        bulk = float(np.mean(value[: len(value) - modes]))
        if value[len(value) - modes - 1] <= bulk * (1 + np.sqrt(ratio)) ** 2 * 1.05:
            break
        modes += 1
    return modes, max(float(np.mean(value[: len(value) - modes])), np.finfo(float).tiny)


class _Evidence:
    """The likelihoods, in a frame of the pieces where the errors of the responses are independent."""

    def __init__(self, y: Complexes, read: Complexes, columns: Floats) -> None:
        rms_squared = np.mean(columns**2, axis=0)
        between = (read * (PATTERN_ERROR**2 * rms_squared)) @ read.conj().T
        self.error, frame = np.linalg.eigh(between)
        self.error = np.maximum(self.error, 0.0)
        predicted = read @ columns.T
        self.predicted = frame.conj().T @ predicted
        self.residual = frame.conj().T @ (y - predicted)
        self.bpms = y.shape[1]

    def log_any(self, size: float, factor: float) -> float:
        """Of any motion, independent at each BPM; size 0 is none."""
        return float(
            self._log(self.error + factor * (1 + size), np.zeros(1), np.zeros((len(self.error), 1, 2), np.complex128))[
                0
            ]
        )

    def log_sources(self, columns: Floats, size: float, factor: float) -> Floats:
        """Of motions with one of these patterns (whitened, shape (BPMs, sources))."""
        norm = np.sum(columns**2, axis=0)
        along = np.stack([self.residual @ columns, self.predicted @ columns], axis=-1)
        return self._log(self.error + factor, factor * size * self.bpms / norm, along, norm, factor * size)

    def _log(
        self, alpha: Floats, tau: Floats, along: Complexes, norm: Floats | float = 0.0, size: float = 0.0
    ) -> Floats:
        """Log of the Gaussian density, but for a constant, for covariances alpha[i] 1 + tau R Rᵀ in frame i, and g.

        ``along`` is Rᵀ residual and Rᵀ predicted, shape (pieces, sources, 2).
        """
        alpha = (alpha + PATTERN_ERROR**2 * size)[:, None]
        whole = alpha + tau * norm
        shrink = tau / (alpha * whole)
        rr = np.sum(np.abs(self.residual) ** 2, axis=1)[:, None] / alpha - shrink * np.abs(along[..., 0]) ** 2
        pp = np.sum(np.abs(self.predicted) ** 2, axis=1)[:, None] / alpha - shrink * np.abs(along[..., 1]) ** 2
        pr = (
            np.sum(self.predicted.conj() * self.residual, axis=1)[:, None] / alpha
            - shrink * along[..., 1].conj() * along[..., 0]
        )
        gain = MODEL_ERROR**2
        spread = 1 + gain * pp.sum(axis=0)
        squares = rr.sum(axis=0) - gain * np.abs(pr.sum(axis=0)) ** 2 / spread
        determinant = np.sum((self.bpms - 1) * np.log(alpha) + np.log(whole), axis=0) + np.log(spread)
        return np.asarray(-squares - determinant)


def _posterior(evidence: _Evidence, hidden: Floats) -> Floats:
    """Of: nothing, none of these, each hidden source."""
    factors = -np.log(len(NOISE_FACTORS))
    sizes = factors - np.log(len(SIZES))
    nothing = [evidence.log_any(0.0, f) + factors for f in NOISE_FACTORS]
    none = [evidence.log_any(s, f) + sizes for f in NOISE_FACTORS for s in SIZES]
    logs = [_log_sum(nothing) + np.log(PRIOR_NOTHING), _log_sum(none) + np.log(PRIOR_NONE)]
    if hidden.shape[1]:
        each = np.array([evidence.log_sources(hidden, s, f) + sizes for f in NOISE_FACTORS for s in SIZES])
        logs += (np.logaddexp.reduce(each, axis=0) + np.log(PRIOR_SOURCE / hidden.shape[1])).tolist()
    weight = np.exp(np.array(logs) - max(logs))
    return np.asarray(weight / weight.sum())


def _log_sum(logs: Sequence[float]) -> float:
    return float(np.logaddexp.reduce(logs))


def _largest(read: Complexes, columns: Floats, rng: np.random.Generator) -> tuple[Floats, float]:
    """The chance of each source with a readback that its contribution is the largest, and that contribution's power.

    Zeros where none is visible.
    """
    power = np.sum(np.abs(read) ** 2, axis=0) * np.sum(columns**2, axis=0)
    if power.max(initial=0.0) < VISIBLE:
        return np.zeros(len(power)), 0.0
    gain = 1 + MODEL_ERROR * rng.standard_normal((DRAWS, len(power)))
    first = np.argmax(power * gain**2, axis=1)
    return np.bincount(first, minlength=len(power)) / DRAWS, float(power.max())


def _extra_powers(residual: Complexes, hidden: Floats) -> list[float]:
    """Power, as _largest has it, of what no readback says: of any motion, and along each pattern."""
    noise = len(residual)
    whole = float(np.sum(np.abs(residual) ** 2)) - residual.size
    along = np.sum(np.abs(residual @ hidden) ** 2, axis=0) / np.sum(hidden**2, axis=0) - noise
    return [whole, *along.tolist()]


def _ranked(
    names: Sequence[str], probability: Floats, y: Complexes, read: Complexes, columns: Floats, known: NDArray[np.bool_]
) -> list[Contribution]:
    total = float(np.sum(np.abs(y) ** 2))
    norm = np.sum(columns**2, axis=0)
    said = [
        Contribution(
            names[j],
            float(probability[j]),
            float(np.sum((y.conj() @ columns[:, j]) * read[:, j]).real) / total if known[j] else float("nan"),
            float(np.sqrt(np.mean(np.abs(read[:, j] if known[j] else y @ columns[:, j] / norm[j]) ** 2))),
        )
        for j in np.argsort(-probability, kind="stable")
    ]
    return [one for one in said if one.probability > 1e-4 or one.share > 0.05]
