# SPDX-License-Identifier: Apache-2.0
"""Damping times from the turns after a kick: how the betatron line fades.

The turns of all BPMs are cut into pieces of PIECE turns. In each the line of a plane has an amplitude and a phase; the
pieces of all BPMs together are one course z(t), by the pattern over the BPMs that explains most. The logarithm of |z|
is fitted by a straight line, generalised least squares: its errors are those of what is there without a kick, by the
turns before it. That is noise of the BPMs, which is new in each piece, and motion of the beam that something drives,
which is remembered for a damping time. An error of the slope that did not know of the second would be far too small.

A straight line is what damping makes. Two more terms tell what else fades a kicked beam, whose particles have several
tunes: detuning with amplitude bends the line (Gaussian in time), and chromaticity with the energy spread makes it
breathe with the synchrotron oscillation (R. Meller et al., SSC-N-360 (1987)).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringmaster.optics.lines import Complexes, Floats, find_line
from ringmaster.optics.model import fractional

PIECE = 64
"""Turns: short beside a synchrotron oscillation, long beside a betatron oscillation."""
TUNE_TURNS = 2048
"""After the kick, from which the tune is taken."""
VISIBLE = 4.0
"""Of the noise's RMS: below, the logarithm of an amplitude is not normal any more."""
LEAST_PIECES = 20
BEFORE = 8.0
"""Damping times before the kick, from which the noise is taken: of what is remembered for one, fewer tell little."""
LEAST_BEFORE = 3.0
AFTER = 4.0
"""Damping times after the kick."""
ROUNDS = 4


@dataclass(frozen=True)
class Term:
    """A number and its error."""

    value: float
    sigma: float

    @property
    def is_seen(self) -> bool:
        """At five standard deviations."""
        return abs(self.value) > 5 * self.sigma


@dataclass(frozen=True)
class Damping:
    """Of one plane."""

    turns: Term
    """In which the amplitude falls to 1/e, of an exponential."""
    bend: Term
    """Of the logarithm at the end of the fit, against the straight line: negative where the beam decoheres."""
    breathing: Term
    """Of the logarithm, half of the swing with the synchrotron oscillation."""
    tune: float
    """Fractional, 0 to 0.5."""
    snr: float
    """Amplitude after the kick over the RMS of what is there without."""
    time_turns: Floats
    """Shape (pieces,): of their middles, from the kick on …"""
    amplitude: Floats
    """… and their amplitudes at the BPM that sees most, in the unit of the signals."""
    used: int
    """Pieces from the start that were fitted."""


def measure(
    signals: Floats,
    kick: int,
    model_tune: float,
    model_damping_turns: float,
    synchrotron_tune: float,
    width: float = 0.02,
) -> Damping:
    """Of ``signals``, shape (BPMs, turns), NaN for lost turns; ``kick`` is the first turn that shows it.

    Raises ValueError where the plane shows no line, or too few turns.
    """
    after = signals[:, kick + PIECE :]  # the first piece may have turns from before
    least = int(LEAST_BEFORE * model_damping_turns)
    if after.shape[1] < LEAST_PIECES * PIECE or kick < least:
        raise ValueError(
            f"{kick} turns before the kick and {after.shape[1]} after it; it takes {least}, three damping times, and "
            f"{LEAST_PIECES * PIECE}"
        )
    tune = _tune(after[:, :TUNE_TURNS], fractional(model_tune), width)
    before = _pieces(signals[:, : kick // PIECE * PIECE - PIECE], tune)
    course, quiet, scale = _combined(_pieces(after, tune), before)
    rms = float(np.sqrt(np.mean(np.abs(quiet) ** 2)))
    amplitude: Floats = np.abs(course).astype(np.float64)
    used = _visible(amplitude, rms)
    if used < LEAST_PIECES:
        raise ValueError(
            f"the oscillation is above {VISIBLE:g} times the noise for {used * PIECE} turns only, and it takes "
            f"{LEAST_PIECES * PIECE}: a stronger kick, or was there none in this plane?"
        )
    time: Floats = (np.arange(len(course), dtype=np.float64) + 1.5) * PIECE
    fits = _fit(time[:used], amplitude[:used], quiet, synchrotron_tune)
    return Damping(*fits, tune, float(amplitude[0] / rms), time, amplitude * scale, used)


def _tune(after: Floats, near: float, width: float) -> float:
    low, high = max(0.005, near - width), min(0.495, near + width)
    found = [find_line(values, low, high) for values in after if np.isfinite(values).mean() > 0.5]
    seen = [line for line in found if line.signal_to_noise > VISIBLE]
    if not seen:
        raise ValueError(f"no BPM shows a line between {low:.4f} and {high:.4f} after the kick")
    return float(np.median([line.tune for line in seen]))


def _pieces(signals: Floats, tune: float) -> Complexes:
    """Shape (BPMs, pieces): the line's amplitude and phase in each, by Hann's window over the turns that are there."""
    bpms, turns = signals.shape
    count = turns // PIECE
    cut = signals[:, : count * PIECE].reshape(bpms, count, PIECE)
    weight = np.where(np.isfinite(cut), 1 - np.cos(2 * np.pi * (np.arange(PIECE) + 0.5) / PIECE), 0.0)
    total = weight.sum(axis=2, keepdims=True)
    total[total < PIECE / 2] = np.nan
    values = np.nan_to_num(cut)
    centred = values - (weight * values).sum(axis=2, keepdims=True) / total
    turn = np.arange(count * PIECE).reshape(count, PIECE)
    return np.asarray(2 * np.nansum(weight / total * centred * np.exp(-2j * np.pi * tune * turn), axis=2))


def _combined(after: Complexes, before: Complexes) -> tuple[Complexes, Complexes, float]:
    """Both as courses by the pattern of the kick, and what the pattern has at the BPM that sees most."""
    left, _, _ = np.linalg.svd(after, full_matrices=False)
    pattern = left[:, 0]
    return pattern.conj() @ after, pattern.conj() @ before, float(np.abs(pattern).max())


def _visible(amplitude: Floats, rms: float) -> int:
    """Pieces until the amplitude, smoothed over a few, comes too near to the noise."""
    smooth = np.convolve(amplitude, np.full(5, 0.2), mode="same")
    low = np.flatnonzero(smooth[2:] < VISIBLE * rms)
    return int(low[0]) + 2 if len(low) else len(amplitude)


def _fit(time: Floats, amplitude: Floats, quiet: Complexes, synchrotron_tune: float) -> tuple[Term, Term, Term]:
    """Damping time, bend and breathing, of the logarithm of the amplitudes."""
    logarithm = np.log(amplitude)
    columns = [np.ones(len(time)), time]
    shape = [(time / time[-1]) ** 2]
    if np.isfinite(synchrotron_tune) and 1 / synchrotron_tune > 3 * PIECE:
        angle = 2 * np.pi * synchrotron_tune * time
        shape += [np.cos(angle), np.sin(angle)]
    rate = float(-np.polyfit(time, logarithm, 1)[0])
    level = logarithm
    for _ in range(ROUNDS):
        covariance = _covariance(time, level, quiet, max(rate, 1e-9))
        value, error = _least_squares(columns, logarithm, covariance)
        rate, level = float(-value[1]), value[0] + value[1] * time
    more, more_error = _least_squares([*columns, *shape], logarithm, covariance)
    breathing = Term(float("nan"), float("nan"))
    if len(shape) > 1:
        breathing = Term(
            float(np.hypot(more[3], more[4])), float(np.sqrt((more_error[3] ** 2 + more_error[4] ** 2) / 2))
        )
    return Term(1 / rate, float(error[1]) / rate**2), Term(float(more[2]), float(more_error[2])), breathing


def _covariance(time: Floats, level: Floats, quiet: Complexes, rate: float) -> Floats:
    """Of the logarithms: half of the noise's, over the amplitudes."""
    total = float(np.mean(np.abs(quiet) ** 2))
    step = np.exp(-rate * PIECE)
    driven = float(np.abs(np.mean(quiet[1:] * quiet[:-1].conj()))) / step
    driven = min(driven, total)
    apart = np.abs(time[:, None] - time[None, :])
    noise = driven * np.exp(-rate * apart) + (total - driven) * np.eye(len(time))
    return np.asarray(0.5 * noise / np.exp(level[:, None] + level[None, :]))


def _least_squares(columns: list[Floats], values: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """Generalised: values and standard errors."""
    basis = np.stack(columns, axis=1)
    size = np.abs(basis).max(axis=0)
    whitened = np.linalg.solve(covariance, basis / size)
    inverse = np.linalg.inv((basis / size).T @ whitened)
    found: NDArray[np.float64] = inverse @ (whitened.T @ values)
    return found / size, np.sqrt(np.diag(inverse)) / size
