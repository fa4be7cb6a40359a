# SPDX-License-Identifier: Apache-2.0
"""Local dispersion from an energy oscillation: the synchrotron line in the turns of all BPMs.

A beam whose RF was stepped or modulated oscillates in energy, x = D δ̂ cos(2π Q_s n + φ), with one phase around the ring
but for the part of a synchrotron period that a turn takes. So D is the line's amplitude in phase with all others, signs
included. δ̂ is not known: it is such that D is the model's as a whole. What is measured is the course around the ring.
"""

from dataclasses import dataclass

import numpy as np

from ringmaster.optics.lines import Floats, find_line, hann, line_at

VISIBLE = 5.0


@dataclass(frozen=True)
class Dispersion:
    """Horizontal, at all BPMs; NaN where one has too few turns."""

    tune: float
    """Synchrotron tune."""
    energy: float
    """δ̂, by the model, in the unit of x per metre."""
    dispersion_m: Floats
    sigma_m: Floats
    model_m: Floats


def measure_dispersion(x: Floats, model_m: Floats, near: float) -> Dispersion:
    """Of ``x``, shape (BPMs, turns), in any one unit; ``near`` is the synchrotron tune, to a half of it.

    Raises ValueError where the line is not seen where the model has most dispersion.
    """
    x = np.stack([_without_betatron(values, 2 * near) for values in x])
    order = np.argsort(-np.abs(model_m))
    usable = [i for i in order if np.isfinite(x[i]).mean() > 0.5 and np.nanmax(x[i]) > np.nanmin(x[i])]
    found = [find_line(x[i], near / 2, near * 1.5) for i in usable[: max(1, len(usable) // 4)]]
    seen = [line for line in found if line.signal_to_noise > VISIBLE]
    if not seen:
        raise ValueError(f"no BPM shows an energy oscillation between {near / 2:.4g} and {near * 1.5:.4g}")
    tune = float(np.average([line.tune for line in seen], weights=[line.sigma_tune**-2 for line in seen]))
    line, sigma = np.full(len(x), np.nan, np.complex128), np.full(len(x), np.nan)
    for i in usable:
        one = line_at(x[i], hann(x[i]), tune)
        line[i], sigma[i] = one.amplitude, one.sigma_amplitude
    line *= np.exp(-2j * np.pi * tune * np.arange(len(x)) / len(x))
    phase = np.angle(np.nansum(line * model_m))
    real = np.real(line * np.exp(-1j * phase))
    energy = float(np.nansum(real * model_m) / np.sum(model_m[np.isfinite(real)] ** 2))
    return Dispersion(tune, energy, real / energy, sigma / energy, model_m)


def _without_betatron(values: Floats, low: float) -> Floats:
    """Without the strongest line of higher frequency, which else would count as noise."""
    present = np.isfinite(values)
    if present.mean() <= 0.5 or np.ptp(values[present]) == 0:
        return values
    line = find_line(values, low, 0.495)
    return np.asarray(values - (line.amplitude * np.exp(2j * np.pi * line.tune * np.arange(len(values)))).real)
