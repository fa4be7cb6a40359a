# SPDX-License-Identifier: Apache-2.0
"""What the window of a tune leaves of its ripple, beside tunes that are measured from turns with ripple."""

import numpy as np
import pytest

from ringmaster.spectra.tune_window import LEAST, TuneWindow, response

TURNS, TURN_RATE_HZ = 8192, 1_157_000.0


@pytest.mark.parametrize(
    ("kind", "hz", "left"),
    [("rectangular", 50, 0.882), ("rectangular", 100, 0.585), ("hann", 50, 0.937), ("hann", 100, 0.767)],
)
def test_the_documented_values(kind: str, hz: float, left: float) -> None:
    window = TuneWindow(kind, TURNS)
    assert window.response(hz, TURN_RATE_HZ) == pytest.approx(left, abs=5e-4)
    assert window.correction(hz, TURN_RATE_HZ) * left == pytest.approx(1, abs=1e-3)
    assert window.delay_turns == 4095.5


def test_what_the_window_takes_away_is_not_invented() -> None:
    """Neither where too little is left, nor in the lobes behind the first zero."""
    for kind, zero_hz in (("rectangular", 202), ("hann", 334)):
        window = TuneWindow(kind, TURNS)
        assert abs(window.response(zero_hz, TURN_RATE_HZ)) < 2e-3
        corrections = [window.correction(hz, TURN_RATE_HZ) for hz in range(1, 1500)]
        assert np.nanmax(corrections) <= 1 / LEAST
        assert all(np.isnan(corrections[zero_hz:]))


@pytest.mark.parametrize("kind", ["rectangular", "hann"])
@pytest.mark.parametrize("periods", [0.1, 0.35, 0.7])
def test_a_ripple_comes_out_by_so_much_less_and_half_a_window_late(kind: str, periods: float) -> None:
    count, tune, amplitude = 512, 0.28, 1e-6
    weights = np.ones(count) if kind == "rectangular" else 1 - np.cos(2 * np.pi * (np.arange(count) + 0.5) / count)
    frequency = periods / count
    turn = np.arange(12 * count)
    phase = np.cumsum(tune + amplitude * np.cos(2 * np.pi * frequency * turn))
    ends = np.arange(count, len(turn), 16)
    measured = np.array([slope(phase[end - count : end], weights, tune) for end in ends])
    basis = np.exp(-2j * np.pi * frequency * (ends - 1 - (count - 1) / 2))
    design = np.stack([basis.real, basis.imag, np.ones(len(ends))], axis=1)
    cosine, sine, _ = np.linalg.lstsq(design, measured, rcond=None)[0]
    assert cosine / amplitude == pytest.approx(response(kind, periods), abs=3e-3)
    assert abs(sine / amplitude) < 0.02


def slope(phase: "np.ndarray[tuple[int], np.dtype[np.float64]]", weights: object, tune: float) -> float:
    """The frequency at which the windowed Fourier integral of exp(2πi phase) is greatest, about ``tune``."""
    turns = np.arange(len(phase)) - (len(phase) - 1) / 2
    signal = np.exp(2j * np.pi * (phase - phase.mean() - tune * turns)) * weights
    found = 0.0
    for _ in range(6):
        rotated = signal * np.exp(-2j * np.pi * found * turns)
        value, first, second = rotated.sum(), (rotated * turns).sum(), (rotated * turns**2).sum()
        down = (first * np.conj(value)).imag
        curvature = (second * np.conj(value)).real - abs(first) ** 2
        found += down / curvature / (2 * np.pi)
    return tune + found
