# SPDX-License-Identifier: Apache-2.0
"""The control law and its plant, from what apps/feedback/law/law.h says of them: what the loop ought to do.

Nothing here is shared with the C code, so that each can find the other wrong: the plant is a state space that is held
and sampled by a matrix exponential, the law a formula at each frequency.

    P    plant, held for a cycle and sampled, with its delay; P_0 without it
    C_pi proportional + integral;  R resonators
    C    = (C_pi + R) / (1 + C_pi (P_0 - P)) with Smith's predictor, to which the resonators do not listen;
           else C_pi + R
    S    = 1 / (1 + C P)
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Complex = NDArray[np.complex128]


@dataclass(frozen=True)
class Plant:
    """From a setpoint computed in one cycle to the error of a later one."""

    rate_hz: float
    bandwidth_hz: float = 0.0
    second_hz: float = 0.0
    delay_s: float = 0.0

    def undelayed(self, hz: ArrayLike) -> Complex:
        """Without the delay."""
        return self._sampled(hz, 0.0)

    def response(self, hz: ArrayLike) -> Complex:
        """With it."""
        return self._sampled(hz, self.delay_s * self.rate_hz)

    def _sampled(self, hz: ArrayLike, cycles: float) -> Complex:
        """Of a setpoint that is held for a cycle from the moment of the reading it answers, ``cycles`` late."""
        whole = int(np.floor(cycles + 1e-9))
        fraction = max(0.0, cycles - whole)
        z1 = _delay(hz, self.rate_hz)
        a, b = self._state_space()
        if not len(b):
            return np.asarray(z1 ** (whole + 1), np.complex128)
        period = 1.0 / self.rate_hz
        step, _ = _held(a, b, period)
        rest, now = _held(a, b, (1.0 - fraction) * period)
        _, before = _held(a, b, fraction * period)
        before = rest @ before
        z = 1.0 / z1
        states = np.eye(len(b)) * z[..., None, None] - step
        given = now * (z1**whole)[..., None] + before * (z1 ** (whole + 1))[..., None]
        return np.asarray(np.linalg.solve(states, given[..., None])[..., -1, 0], np.complex128)

    def _state_space(self) -> tuple[Floats, Floats]:
        """First orders one behind the other; the last state is what comes out."""
        rates = [2 * np.pi * hz for hz in (self.bandwidth_hz, self.second_hz) if hz > 0]
        a = np.diag([-rate for rate in rates]) if rates else np.zeros((0, 0))
        b = np.zeros(len(rates))
        for i, rate in enumerate(rates):
            if i == 0:
                b[0] = rate
            else:
                a[i, i - 1] = rate
        return a, b


def _held(a: Floats, b: Floats, time_s: float) -> tuple[Floats, Floats]:
    """What becomes of the states in that time, and of an input that is held all the while."""
    size = len(b)
    both = np.zeros((size + 1, size + 1))
    both[:size, :size], both[:size, size] = a * time_s, b * time_s
    found = _exponential(both)
    return found[:size, :size], found[:size, size]


def _exponential(matrix: Floats) -> Floats:
    """Of a small matrix: its series, where it is small, then squared."""
    halvings = max(0, int(np.ceil(np.log2(max(float(np.abs(matrix).sum()), 1e-12)))) + 4)
    term = total = np.eye(len(matrix))
    for i in range(1, 16):
        term = term @ matrix / (2**halvings * i)
        total = total + term
    for _ in range(halvings):
        total = total @ total
    return np.asarray(total, np.float64)


@dataclass(frozen=True)
class Resonator:
    """Of one line."""

    hz: float
    width_hz: float
    leak_hz: float


@dataclass(frozen=True)
class Tuning:
    """Of a family's law."""

    proportional: float = 0.0
    integral_hz: float = 0.0
    predicts: bool = False
    resonators: tuple[Resonator, ...] = ()


@dataclass(frozen=True)
class Law:
    """The law as designed for a plant. ``scale``: resonators stand at so many times their nominal frequencies."""

    plant: Plant
    tuning: Tuning
    scale: float = 1.0

    def without_resonators(self) -> "Law":
        """The same, switched off there."""
        return replace(self, tuning=replace(self.tuning, resonators=()))

    def base(self, hz: ArrayLike) -> Complex:
        """Proportional and integral."""
        rate = self.plant.rate_hz
        integral = 2 * np.pi * self.tuning.integral_hz / rate
        return np.asarray(self.tuning.proportional + integral / (1 - _delay(hz, rate)), np.complex128)

    def resonators(self) -> list[tuple[complex, complex]]:
        """(rotation per cycle, coupling) of each: at its line the loop of it alone is real and positive."""
        rate = self.plant.rate_hz
        made = []
        for one in self.tuning.resonators:
            if not 0 < one.hz < rate / 2:
                continue
            seen = self.plant.undelayed(one.hz) if self.tuning.predicts else self.plant.response(one.hz)
            around = complex(self.plant.response(one.hz) / (1 + self.base(one.hz) * seen))
            pole = np.exp(2 * np.pi * (1j * one.hz * self.scale - one.leak_hz) / rate)
            made.append((complex(pole), 4 * np.pi * one.width_hz / rate / around))
        return made

    def resonance(self, hz: ArrayLike) -> Complex:
        """Of all resonators: the real part of a rotation in the complex plane is half it and half its mirror image."""
        z1 = _delay(hz, self.plant.rate_hz)
        out = np.zeros_like(z1)
        for pole, coupling in self.resonators():
            out = out + 0.5 * (coupling / (1 - pole * z1) + np.conj(coupling) / (1 - np.conj(pole) * z1))
        return out

    def smith(self, hz: ArrayLike) -> Complex:
        """The internal model less the delayed one; 0 where the law does not predict."""
        if not self.tuning.predicts:
            return np.zeros_like(_delay(hz, self.plant.rate_hz))
        return np.asarray(self.plant.undelayed(hz) - self.plant.response(hz), np.complex128)

    def controller(self, hz: ArrayLike, gain: float = 1.0) -> Complex:
        """C, of a loop of this gain, in which the model is, too."""
        base = gain * self.base(hz)
        return np.asarray((base + gain * self.resonance(hz)) / (1 + base * self.smith(hz)), np.complex128)

    def loop(self, hz: ArrayLike, plant: Plant | None = None, gain: float = 1.0) -> Complex:
        """C P, of this plant or of another one than the law was designed for."""
        return np.asarray(self.controller(hz, gain) * (plant or self.plant).response(hz), np.complex128)

    def characteristic(self, hz: ArrayLike, plant: Plant | None = None, gain: float = 1.0) -> Complex:
        """1 + C_pi (P_0 - P_model) + (C_pi + R) P: whose zeros are the poles of the closed loop."""
        base = gain * self.base(hz)
        whole = base + gain * self.resonance(hz)
        return np.asarray(1 + base * self.smith(hz) + whole * (plant or self.plant).response(hz), np.complex128)

    def sensitivity(self, hz: ArrayLike, plant: Plant | None = None, gain: float = 1.0) -> Complex:
        """S: what the loop leaves of a disturbance."""
        return np.asarray(1 / (1 + self.loop(hz, plant, gain)), np.complex128)


def _delay(hz: ArrayLike, rate_hz: float) -> Complex:
    return np.asarray(np.exp(-2j * np.pi * np.asarray(hz, np.float64) / rate_hz), np.complex128)
