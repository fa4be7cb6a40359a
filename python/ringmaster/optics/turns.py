# SPDX-License-Identifier: Apache-2.0
"""Phase advances, β and coupling from the turns of a kicked or driven beam, beside a model.

At each BPM and plane the betatron line has an amplitude A and a phase φ.

* **β from amplitude** is A² ÷ 2J. The action 2J is such that the mean of A²/β over the BPMs is that of the model: so
  this knows the course of β around the ring and not its size, and takes BPMs to be calibrated.
* **β from phase** needs no calibration. By the phase advances φ to two other BPMs (P. Castro, Ph.D. thesis, Valencia
  (1996)):

      β = β_model · (cot φ_ij − cot φ_ik) ÷ (cot φ_ij,model − cot φ_ik,model)

  for all pairs among the neighbours, averaged by their errors (A. Langner, R. Tomás, PRST-AB 18, 031002 (2015)): those
  near nπ tell nothing and weigh nothing.
* **Coupling** by the other plane's line in each plane: with r² = (A_y in x ÷ A_x in x)(A_x in y ÷ A_y in y), the
  closest approach of the tunes is |C⁻| = 2 r |Q_x − Q_y| ÷ (1 + r²) (R. Jones, P. Cameron, Y. Luo, BNL C-A/AP/204
  (2005)). Around the ring r goes up and down with the sum resonance, and a BPM with a roll or crosstalk of θ adds θ to
  it, with a phase of its own. The mean of log |1 + z| over the phase of z is 0 as long as |z| < 1: so log r is averaged
  over the BPMs. What is left: where r is smaller than θ, θ is what is told.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringmaster.optics.driven import Drive
from ringmaster.optics.faults import Fault, find_faults
from ringmaster.optics.lines import Complexes, Floats, find_line, hann, line_at
from ringmaster.optics.model import Model, fractional, whole_tune

NEIGHBOURS = 5
"""On each side, for β from phase."""
LEAST_SINE = 0.1
"""Of a phase advance: nearer to nπ it says nothing."""
VISIBLE = 5.0
"""Signal to noise of a line."""


@dataclass(frozen=True)
class PlaneOptics:
    """One plane; NaN at BPMs that are faulty or see no line."""

    tune: float
    """Fractional, 0 to 0.5: a tune above a half shows as what is missing to the whole."""
    sigma_tune: float
    line: Complexes
    """Shape (BPMs,): a e^{iφ} of the line, φ growing along the ring."""
    sigma_line: Floats
    beta_amplitude_m: Floats
    sigma_beta_amplitude_m: Floats
    beta_phase_m: Floats
    sigma_beta_phase_m: Floats
    phase_error_rad: Floats
    """Shape (BPMs,): measured less the model's, around their mean."""
    sigma_phase_rad: Floats


@dataclass(frozen=True)
class Measured:
    """All that the turns tell."""

    model: Model
    x: PlaneOptics
    y: PlaneOptics
    closest_approach: float
    """|C⁻|; NaN where the other plane's lines are not seen."""
    faults: tuple[Fault, ...]

    @property
    def planes(self) -> tuple[PlaneOptics, PlaneOptics]:
        """X and y."""
        return self.x, self.y


def measure(x: Floats, y: Floats, model: Model, drive: Drive | None = None, width: float = 0.02) -> Measured:
    """Optics of ``x`` and ``y``, shape (BPMs, turns), in any one unit, NaN for lost turns.

    The lines are sought within ``width`` of the model's tunes; those of a driven beam within a tenth of that of the
    exciter's, and what follows from them is of the free motion. Raises ValueError where no BPM shows a line.
    """
    signals = (x, y)
    near = [fractional(tune) for tune in model.tune] if drive is None else drive.tune
    reach = width if drive is None else width / 10
    tunes = [_common_tune(signals[plane], near[plane], reach, "xy"[plane]) for plane in (0, 1)]
    lines = np.full((2, 2, len(model)), np.nan, np.complex128)
    """[seen in, of the tune of, BPM]."""
    sigma = np.full((2, len(model)), np.nan)
    for seen in (0, 1):
        for bpm, values in enumerate(signals[seen]):
            if not _usable(values):
                continue
            weights = hann(values)
            for of in (0, 1):
                found = line_at(values, weights, tunes[of][0])
                if found.amplitude != 0:
                    lines[seen, of, bpm] = _along(found.amplitude, model.tune[of])
            sigma[seen, bpm] = line_at(values, weights, tunes[seen][0]).sigma_amplitude
    faults = find_faults(lines, sigma, model)
    bad = np.array([name in {fault.bpm for fault in faults} for name in model.names])
    planes = []
    for p in (0, 1):
        seen_line = ~bad & (np.abs(lines[p, p]) > VISIBLE * sigma[p])
        line = np.where(seen_line, lines[p, p], np.nan)
        free = line if drive is None else drive.free(line, model, p)
        planes.append(_plane(free, np.where(seen_line, sigma[p], np.nan), model, p, *tunes[p], drive is not None))
    closest = _closest_approach(lines, sigma, bad, tunes) if drive is None else float("nan")
    return Measured(model, planes[0], planes[1], closest, faults)


def _along(amplitude: complex, tune: float) -> complex:
    """With a phase that grows along the ring, also for a tune above a half, whose line runs backwards."""
    return amplitude if tune % 1.0 <= 0.5 else amplitude.conjugate()


def _usable(values: Floats) -> bool:
    present = np.isfinite(values)
    return bool(present.mean() > 0.5 and np.ptp(values[present]) > 0)


def _common_tune(signals: Floats, near: float, width: float, plane: str) -> tuple[float, float]:
    """The mean over the BPMs, by their errors; and its σ, by their scatter where that is larger."""
    low, high = max(0.005, near - width), min(0.495, near + width)
    found = [find_line(values, low, high) for values in signals if _usable(values)]
    seen = [line for line in found if line.signal_to_noise > VISIBLE]
    if not seen:
        raise ValueError(f"no BPM shows a line in {plane} between {low:.4f} and {high:.4f}: was the beam moved?")
    tune = np.array([line.tune for line in seen])
    weight = np.array([line.sigma_tune for line in seen]) ** -2.0
    middle = float(np.median(tune))
    good = np.abs(tune - middle) < 6 * np.maximum(weight**-0.5, 1.5 * np.median(np.abs(tune - middle)) + 1e-12)
    mean = float(np.average(tune[good], weights=weight[good]))
    spread = float(np.sqrt(np.average((tune[good] - mean) ** 2, weights=weight[good]) / good.sum()))
    return mean, max(float(np.sum(weight[good])) ** -0.5, spread)


def _plane(
    line: Complexes, sigma: Floats, model: Model, plane: int, tune: float, sigma_tune: float, driven: bool
) -> PlaneOptics:
    beta_model, phase_model = model.beta_m[:, plane], model.phase_rad[:, plane]
    amplitude = np.abs(line)
    action = np.nanmean(amplitude**2 / beta_model)
    phase, sigma_phase = np.angle(line), sigma / amplitude
    turned = np.exp(1j * (np.angle(line) - phase_model))
    offset = np.angle(np.nanmean(turned))
    whole = float(model.tune[plane]) if driven else whole_tune(tune, float(model.tune[plane]))
    beta_phase, sigma_beta_phase = _beta_from_phase(phase, sigma_phase, model, plane, whole)
    return PlaneOptics(
        tune,
        sigma_tune,
        line,
        sigma,
        amplitude**2 / action,
        2 * amplitude * sigma / action,
        beta_phase,
        sigma_beta_phase,
        np.asarray(np.angle(turned * np.exp(-1j * offset))),
        sigma_phase,
    )


def _beta_from_phase(
    phase: Floats, sigma: Floats, model: Model, plane: int, whole_tune: float
) -> tuple[Floats, Floats]:
    count = len(phase)
    beta, error = np.full(count, np.nan), np.full(count, np.nan)
    there = np.flatnonzero(np.isfinite(phase))
    for i in there.tolist():
        others = _neighbours(i, there)
        over = 2 * np.pi * _wraps(i, others, count)
        measured = phase[others] - phase[i] + over * whole_tune
        expected = model.phase_rad[others, plane] - model.phase_rad[i, plane] + over * model.tune[plane]
        told = (np.abs(np.sin(expected)) > LEAST_SINE) & (np.abs(np.sin(measured)) > LEAST_SINE / 2)
        beta[i], error[i] = _combined(
            model.beta_m[i, plane], measured[told], expected[told], sigma[others][told], sigma[i]
        )
    return beta, error


def _neighbours(i: int, there: NDArray[np.intp]) -> NDArray[np.intp]:
    """The nearest on either side, around the ring."""
    place = int(np.searchsorted(there, i))
    reach = min(NEIGHBOURS, (len(there) - 1) // 2)
    steps = [step for step in range(-reach, reach + 1) if step]
    return np.array([there[(place + step) % len(there)] for step in steps], np.intp)


def _wraps(i: int, others: NDArray[np.intp], count: int) -> NDArray[np.int_]:
    """+1 for those that are reached forward over the end of the ring, −1 for those backward over its start."""
    return np.where(others - i > count / 2, -1, np.where(i - others > count / 2, 1, 0))


def _combined(
    beta_model: float, measured: Floats, expected: Floats, sigma: Floats, sigma_here: float
) -> tuple[float, float]:
    """The best estimate of all pairs, by the covariance of their errors."""
    count = len(measured)
    first, second = np.triu_indices(count, 1)
    below = 1 / np.tan(expected[first]) - 1 / np.tan(expected[second])
    kept = np.abs(below) > LEAST_SINE
    if not kept.any():
        return np.nan, np.nan
    first, second, below = first[kept], second[kept], below[kept]
    ratio = (1 / np.tan(measured[first]) - 1 / np.tan(measured[second])) / below
    slope = -1 / np.sin(measured) ** 2
    by_phase = np.zeros((len(ratio), count + 1))  # the last is this BPM's own
    rows = np.arange(len(ratio))
    by_phase[rows, first] = slope[first] / below
    by_phase[rows, second] = -slope[second] / below
    by_phase[rows, count] = -(slope[first] - slope[second]) / below
    root = by_phase * np.append(sigma, sigma_here)
    covariance = root @ root.T
    covariance += np.eye(len(ratio)) * (1e-6 * np.trace(covariance) / len(ratio) + 1e-18)
    weight = np.linalg.solve(covariance, np.ones(len(ratio)))
    weight /= weight.sum()
    return float(beta_model * (weight @ ratio)), float(beta_model * np.sqrt(weight @ covariance @ weight))


def _closest_approach(
    lines: Complexes, sigma: Floats, bad: NDArray[np.bool_], tunes: list[tuple[float, float]]
) -> float:
    size = np.abs(lines)
    seen = ~bad & (size[0, 0] > VISIBLE * sigma[0]) & (size[1, 1] > VISIBLE * sigma[1])
    if not seen.any():
        return float("nan")
    ratio = np.sqrt(size[0, 1, seen] / size[0, 0, seen] * size[1, 0, seen] / size[1, 1, seen])
    r = float(np.exp(np.mean(np.log(np.maximum(ratio, 1e-300)))))
    return 2 * r * abs(tunes[0][0] - tunes[1][0]) / (1 + r * r)
