# SPDX-License-Identifier: Apache-2.0
"""From the kicks of a magnet's step to the beam's distance from its centre."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ringmaster.bba.kicks import Doubt
from ringmaster.bba.lines import DIFFERENCE, REST, SUM, SWING_X, SWING_Y, TWICE_X, TWICE_Y, Complexes, product
from ringmaster.bba.plant import Floats


@dataclass(frozen=True)
class Stepped:
    """A magnet, by the orbit that its step induced."""

    kick: Complexes
    """[plane, line] rad."""
    sigma: Floats
    """[plane, line] of the real part, and of the imaginary part."""
    statistical: Floats
    """[plane, line] what of it is noise and shaking."""
    step: float
    """Of the integrated strength, 1/m or 1/m²."""
    inside: Complexes
    """[plane, swing] the swing in the magnet, m."""


@dataclass(frozen=True)
class Away:
    """The beam less the centre, m; [plane]."""

    value: Floats
    statistical: Floats
    pattern: Floats
    """Its error by what the patterns have wrong."""
    by_strength: Floats
    """Its error by that of the strength."""
    strength: float
    """What was found of kick per displacement, over what was expected."""


def of_quadrupole(one: Stepped, doubt: Doubt) -> Away:
    """Kicks are −K L x and K L y: at rest of the beam's place, at the swing's frequency of the swing."""
    parts = []
    for plane, (sign, line) in enumerate(((-1.0, SWING_X), (1.0, SWING_Y))):
        expected = sign * one.step * complex(one.inside[plane, plane])
        strength, doubtful = _strength([(one.kick[plane, line], expected, one.sigma[plane, line])], doubt)
        per_m = sign * one.step * strength
        away = one.kick[plane, REST].real / per_m
        total, noise = one.sigma[plane, REST] / abs(per_m), one.statistical[plane, REST] / abs(per_m)
        parts.append((away, noise, np.sqrt(max(0.0, total**2 - noise**2)), abs(away) * doubtful, strength))
    value, statistical, pattern, by_strength, strengths = np.array(parts).T
    return Away(value, statistical, pattern, by_strength, float(np.mean(strengths)))


def of_sextupole(one: Stepped, doubt: Doubt) -> Away:
    """Kicks are −B₂L (x² − y²) and 2 B₂L x y: at a frequency of the swing twice the place times the swing. At sums and
    differences they are products of the swing alone, which tell how strong the step was.
    """
    (x1, x2), (y1, y2) = one.inside
    strength, doubtful = _strength(
        [(one.kick[p, k], value, float(one.sigma[p, k])) for p, k, value in _products(one)], doubt
    )
    rows, values, shares = [], [], []
    for line, (x, y) in ((SWING_X, (x1, y1)), (SWING_Y, (x2, y2))):
        for plane, (of_x, of_y) in ((0, (-2 * x, 2 * y)), (1, (2 * y, 2 * x))):
            sigma = one.sigma[plane, line]
            for part in (np.real, np.imag):
                rows.append(np.array([part(of_x), part(of_y)]) * one.step * strength / sigma)
                values.append(part(one.kick[plane, line]) / sigma)
                shares.append(one.statistical[plane, line] / sigma)
    matrix = np.array(rows)
    covariance = np.linalg.inv(matrix.T @ matrix)
    estimate = covariance @ matrix.T
    away: Floats = estimate @ np.array(values)
    noise = np.sqrt(np.sum((estimate * np.array(shares)) ** 2, axis=1))
    pattern = np.sqrt(np.maximum(0.0, np.diag(covariance) - noise**2))
    return Away(away, noise, pattern, np.abs(away) * doubtful, strength)


def _products(one: Stepped) -> list[tuple[int, int, complex]]:
    """Plane, line and expected kick where it is a product of the swing alone."""
    (x1, x2), (y1, y2) = one.inside
    xx, yy = product(x1, x2), product(y1, y2)
    xy = [a + b for a, b in zip(product(x1, y2), product(y1, x2), strict=True)]
    step = one.step
    return [
        *((0, line, -2 * step * (xx[k] - yy[k])) for k, line in enumerate((SUM, DIFFERENCE))),
        *((1, line, 2 * step * xy[k]) for k, line in enumerate((SUM, DIFFERENCE))),
        (0, TWICE_X, -step * (x1**2 - y1**2) / 2),
        (0, TWICE_Y, -step * (x2**2 - y2**2) / 2),
        (1, TWICE_X, step * x1 * y1),
        (1, TWICE_Y, step * x2 * y2),
    ]


def _strength(known: Sequence[tuple[complex, complex, float]], doubt: Doubt) -> tuple[float, float]:
    """What was found over what was expected, of (found, expected, sigma), and that it is about 1; and its error."""
    top = sum((found * np.conj(expected)).real / sigma**2 for found, expected, sigma in known) + doubt.strength**-2
    bottom = sum(abs(expected) ** 2 / sigma**2 for _, expected, sigma in known) + doubt.strength**-2
    return float(top / bottom), float(bottom**-0.5)
