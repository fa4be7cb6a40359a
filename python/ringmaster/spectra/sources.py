# SPDX-License-Identifier: Apache-2.0
"""Which source moves the beam at one frequency: by what each is predicted to do, not by coherence.

Every supply that hangs on the mains is coherent with every other, and the responses of neighbours are nearly alike. So
it is asked what a source *does*: its response times its readback, a complex number at each BPM. Let y[k] be the motion
at the frequency in piece k, one complex number for each BPM, R[j] the response to source j and r[k, j] what it read
back. Then

    y[k] = (1 + g) Σ r[k, j] (R[j] + e[j]) + x[k] + n[k]

n is noise with the covariance that the neighbouring frequencies have, up to a factor; g (σ of 10 %) is by how much
response and readback are wrong together, e by how much one response is wrong at one BPM; x is what no readback says.
What a chamber leaves of a current, and how much later, is one complex factor for all sources; some are tried. Three
things may be:

    nothing        x = 0
    a source       x[k] = a[k] (R[h] + e[h]) of a source h that has no readback; a[k] is any complex number
    none of these  x[k] = a[k] times any pattern, or any orbit, as many sources make one; or another motion in each k

All of it is Gaussian, so the likelihoods have a closed form (:mod:`ringmaster.spectra.evidence`). The size of x, that
of e and the factor of the noise are not known, and are integrated out on grids (D. MacKay, Information Theory,
Inference, and Learning Algorithms, 28): a pattern that fits pays nothing for its unknown size, and *any pattern* pays
for all the directions that it may take. Noise is never quite as assumed: what it says of lines at frequencies that have
none is taken off. Given each of the three, the source is the one that moves the beam most, in squares of the readings'
unit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmaster.spectra.cross import Complexes, amplitudes, bin_of
from ringmaster.spectra.density import Floats, piece_size
from ringmaster.spectra.evidence import MODEL_ERROR, Evidence, Line
from ringmaster.spectra.noise import BESIDE, blank_bins, noise_beside, orbits
from ringmaster.spectra.series import Series

NONE = "none of these"
NOTHING = "nothing above the noise"
PATTERN_ERRORS: Floats = np.asarray(0.02 * 1.25 ** np.arange(15), np.float64)
"""σ of e, in parts of the response's RMS: a matrix that was measured, to one of a lattice as designed (45 %)."""
SIZES = 10.0 ** np.arange(-0.4, 6.6, 0.2)
"""Power of x over that of the noise, at a BPM."""
NOISE_FACTORS = np.array([0.7, 1.0, 1.4, 2.0])
"""By which the noise's power may be another than that of the neighbouring frequencies."""
RESTLESS_FACTORS = np.array([10.0, 100.0])
"""More of them, beside a line: something else moves there, too."""
SLOWEST_HZ = 100.0
"""Corner of the slowest chamber that is tried."""
FACTOR_STEP_RAD = 0.15
PRIOR_SOURCE, PRIOR_NONE, PRIOR_NOTHING = 0.4, 0.2, 0.4
"""Before anything is seen."""
MISTAKEN = 0.08
"""So often all of this is wrong: by trials in virtual rings (tests/spectra)."""
GROUP = 0.9
LISTED = 1e-3
"""A source of smaller probability is not told of."""
QUANTILE = 2 / 3
UNSEEN = 0.1
"""Power at a BPM, of that of the noise, that changes nothing."""
UNCHANGED = np.ones(1, np.complex128)
PIECES = 20
MOST_MISSING = 0.05
"""A series that lacks more is taken for none, for what one lacks is left out of all."""
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
    """Without those of which nothing speaks (below one in 1000)."""
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
        """The smallest group of names that holds 90 %: one source, several that cannot be told apart, or NONE."""
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
    motion: Complexes,
    covariance: Floats,
    response: Floats,
    readback: Complexes,
    names: Sequence[str],
    factors: Complexes = UNCHANGED,
    doubt: float = 0.0,
) -> Ranking:
    """Ranks the sources of a motion.

    ``motion`` is (pieces, BPMs); ``covariance`` (BPMs, BPMs) that of noise at the frequency (``noise_beside``);
    ``response`` (BPMs, sources), ``readback`` (pieces, sources), NaN in the columns of those without one;
    ``factors`` are what may be left of any source at this frequency, beside ``response``; ``doubt`` is by how much
    noise alone, as it is, speaks for a line (``noise_speaks``).
    """
    whiten = np.linalg.inv(np.linalg.cholesky(covariance))
    y, columns = motion @ whiten.T, whiten @ response
    known = np.asarray(np.isfinite(readback).all(axis=0))
    read = np.where(known, readback, 0.0)
    hidden = np.flatnonzero(~known)
    read = read * factors[int(np.argmax([_log_nothing(Evidence(y, read * one, columns)) for one in factors]))]
    weight = _posterior(Evidence(y, read, columns), columns[:, hidden], doubt)
    own = np.sum(np.abs(read) ** 2, axis=0) * np.sum(response**2, axis=0)
    if np.max(np.sum(np.abs(read) ** 2, axis=0) * np.sum(columns**2, axis=0), initial=0.0) < VISIBLE:
        own[:] = 0.0
    probability = np.zeros(len(names))
    none = nothing = 0.0
    others = _powers(motion - read @ response.T, whiten, response[:, hidden], float(np.trace(covariance)))
    for mass, other, which in zip(weight, [0.0, *others], [-2, -1, *hidden.tolist()], strict=True):
        largest = _largest(own, other)
        probability += mass * largest
        rest = float(mass * (1 - largest.sum()))
        if which == -2:
            nothing += rest
        elif which == -1:
            none += rest
        else:
            probability[which] += rest
    probability = (1 - MISTAKEN) * probability + MISTAKEN * PRIOR_SOURCE / len(names)
    none = (1 - MISTAKEN) * none + MISTAKEN * PRIOR_NONE
    nothing = (1 - MISTAKEN) * nothing + MISTAKEN * PRIOR_NOTHING
    return Ranking(
        _ranked(names, probability, motion, read, response, known),
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
    motion = found[:, : len(there), :]
    read = np.full((len(found), len(sources)), np.nan, np.complex128)
    read[:, [i for i, one in enumerate(readbacks) if one is not None]] = found[:, len(there) :, at]
    kept = np.array([row in series for row in rows])
    basis = orbits(response[kept], BESIDE * len(found))
    motion = np.einsum("rp,krb->kpb", basis, motion)
    response = basis.T @ response[kept]
    doubt = noise_speaks(motion, at, response)
    return rank(motion[:, :, at], noise_beside(motion, at), response, read, sources, _factors(hz), doubt)


def noise_speaks(motion: Complexes, at: int, response: Floats) -> float:
    """By how much noise alone speaks for a line: what two of three frequencies beside, where none is, do not exceed.

    Each is looked at as the one that is asked for: by noise that was taken from others. Logarithm of the likelihoods'
    ratio; 0 where it speaks against a line, as noise ought to that is just as assumed.
    """
    said = []
    for where in blank_bins(motion, at):
        whiten = np.linalg.inv(np.linalg.cholesky(noise_beside(motion, where, at)))
        y = motion[:, :, where] @ whiten.T
        evidence = Evidence(y, np.zeros((len(y), response.shape[1]), np.complex128), whiten @ response)
        said.append(_log_none(evidence) - _log_nothing(evidence))
    return max(0.0, float(np.quantile(said, QUANTILE))) if said else 0.0


def _factors(hz: float) -> Complexes:
    """What chambers of one pole leave of a current, from none to the slowest."""
    last = float(np.arctan(hz / SLOWEST_HZ))
    phase = np.linspace(0, last, 1 + int(np.ceil(last / FACTOR_STEP_RAD)))
    return np.asarray(np.cos(phase) * np.exp(-1j * phase))


def _log_nothing(evidence: Evidence) -> float:
    """That all is told by the readbacks."""
    logs = [one for e in _errors(evidence) for one in evidence.nothing(e, NOISE_FACTORS)]
    return float(np.logaddexp.reduce(logs)) - float(np.log(len(logs)))


def _lines(evidence: Evidence) -> list[Line]:
    return [evidence.line(e, f) for e in _errors(evidence) for f in (*NOISE_FACTORS, *RESTLESS_FACTORS)]


def _log_none(evidence: Evidence) -> float:
    """That something is beside them which is no source."""
    lines = _lines(evidence)
    made = [part for one in lines for part in (one.any_pattern(SIZES), one.any_orbit(SIZES), one.any_motion(SIZES))]
    return float(np.logaddexp.reduce(np.concatenate(made))) - float(np.log(3 * len(SIZES) * len(lines)))


def _log_sources(evidence: Evidence, hidden: Floats) -> Floats:
    """That a source is beside them, for each that may be."""
    lines = _lines(evidence)
    each = np.concatenate([one.sources(hidden, PATTERN_ERRORS) for one in lines])
    cells = len(each) * np.log(SIZES[-1] / SIZES[0])
    return np.asarray(np.logaddexp.reduce(each, axis=0) + 1 - np.log(cells))


def _errors(evidence: Evidence) -> Floats:
    """Of what readbacks predict; where that is little they do not matter."""
    matters = float(np.trace(evidence.between).real) * PATTERN_ERRORS[-1] ** 2 > UNSEEN * evidence.pieces
    return PATTERN_ERRORS[::2] if matters else PATTERN_ERRORS[:1]


def _posterior(evidence: Evidence, hidden: Floats, doubt: float) -> Floats:
    """Of: nothing, none of these, each hidden source.

    ``doubt`` takes away what speaks for a line, and no more: a line of which noise alone would say as much may be there
    or not, as before anything was seen.
    """
    logs = [_log_none(evidence) + np.log(PRIOR_NONE)]
    if hidden.shape[1]:
        logs += (_log_sources(evidence, hidden) + np.log(PRIOR_SOURCE / hidden.shape[1])).tolist()
    line, nothing = float(np.logaddexp.reduce(logs)), _log_nothing(evidence)
    speaks = line - np.log(1 - PRIOR_NOTHING) - nothing
    logs = [nothing + np.log(PRIOR_NOTHING) + min(doubt, max(0.0, speaks)), *logs]
    weight = np.exp(np.array(logs) - max(logs))
    return np.asarray(weight / weight.sum())


def _largest(own: Floats, other: float) -> Floats:
    """The chance of each source with a readback that its contribution, of this power, is larger than all and the other.

    Gains are wrong by ``MODEL_ERROR``; what they are wrong by is in the other motion, or missing there.
    """
    if not own.any():
        return np.zeros(len(own))
    random = np.random.default_rng(1)
    made = own * (1 + MODEL_ERROR * random.standard_normal((DRAWS, len(own)))) ** 2
    wrong = MODEL_ERROR * np.sqrt(own.max() / 2) * (random.standard_normal((DRAWS, 2)) @ [1, 1j])
    first = np.argmax(made, axis=1)
    others = np.abs(np.sqrt(max(other, 0.0)) + wrong) ** 2 if other > 0 else np.zeros(DRAWS)
    wins = made[np.arange(DRAWS), first] > others
    return np.asarray(np.bincount(first[wins], minlength=len(own)) / DRAWS)


def _powers(rest: Complexes, whiten: Floats, hidden: Floats, noise: float) -> list[float]:
    """Power of the line in what no readback says: with any pattern, and with that of each hidden source.

    How the line goes on from piece to piece is taken from where it stands out most of the noise.
    """
    course = np.linalg.svd(rest @ whiten.T, full_matrices=False)[0][:, 0]
    pattern = course.conj() @ rest
    white, columns = pattern @ whiten.T, whiten @ hidden
    size = np.abs(white @ columns) ** 2 / np.sum(columns**2, axis=0) ** 2
    return [float(np.sum(np.abs(pattern) ** 2)) - noise, *(size * np.sum(hidden**2, axis=0)).tolist()]


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
    return [one for one in said if one.probability > LISTED or one.share > 0.05]
