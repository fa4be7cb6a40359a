# SPDX-License-Identifier: Apache-2.0
"""What a window of turns makes of a ripple of the tune: apps/tune/law/response.h, in numbers.

With weights w and turns n from the window's middle, a tune that is modulated at f comes out as

    H(f) = Σ w n sin(2π f n) ÷ (2π f Σ w n²)

of it: for slow modulations 1 − (2π f)² Σ w n⁴ ÷ 6 Σ w n².
"""

import numpy as np

MOST_WINDOW_TURNS = 1 << 20


def attenuation(per_turn: float, window_turns: int) -> float:
    """H of Hann's window, which is the application's default, at ``per_turn`` oscillations a turn."""
    n = np.arange(window_turns) - (window_turns - 1) / 2
    weights = 1 + np.cos(2 * np.pi * n / window_turns)
    omega = 2 * np.pi * per_turn
    return float(np.sum(weights * n * np.sin(omega * n)) / (omega * np.sum(weights * n**2)))
