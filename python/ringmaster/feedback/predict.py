# SPDX-License-Identifier: Apache-2.0
"""What a loop will do, before there is one: bandwidth, peak, margins, and the curve."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmaster import plots
from ringmaster.feedback.configuration import Configuration, Family
from ringmaster.feedback.law import Law, Plant

Floats = NDArray[np.float64]
LOWEST_HZ = 0.05
POINTS = 20000
AROUND = 400
"""Points around each resonator, where the curve is steep."""
HALF = float(np.sqrt(0.5))


@dataclass(frozen=True)
class Prediction:
    """Of one family: S of each of its channels, which are alike."""

    family: str
    hz: Floats
    sensitivity: NDArray[np.complex128]
    loop: NDArray[np.complex128]
    bandwidth_hz: float
    """Where |S| comes to −3 dB without resonators: below, disturbances are reduced. NaN where it never does."""
    peak: float
    """The largest |S|: by so much disturbances there grow."""
    peak_hz: float
    gain_margin: float
    """By so much the gain may grow before it is unstable; inf where it may grow without end."""
    phase_margin_deg: float
    delay_margin_us: float
    """So much more delay is unstable."""
    stable: bool
    lines_db: dict[float, tuple[float, float]]
    """By the resonator's frequency: |S| there, and the worst within ± 0.1 % of it."""

    def as_json(self) -> dict[str, Any]:
        """Without the curves."""
        left_out = ("hz", "sensitivity", "loop", "lines_db")
        lines = [{"hz": hz, "db": at, "db_within_0.1_percent": near} for hz, (at, near) in self.lines_db.items()]
        return {key: value for key, value in vars(self).items() if key not in left_out} | {"lines": lines}


def frequencies(law: Law) -> Floats:
    """From very low to half the rate, more of them around resonators."""
    half = law.plant.rate_hz / 2
    grid = [np.geomspace(LOWEST_HZ, half, POINTS)]
    for one in law.tuning.resonators:
        near = np.geomspace(one.leak_hz / 10, max(5 * one.width_hz, one.hz * 1e-3), AROUND)
        grid += [one.hz - near, one.hz + near, np.array([one.hz])]
    hz = np.unique(np.concatenate(grid))
    return hz[(hz > 0) & (hz <= half)]


def predict(family: Family, plant: Plant | None = None, gain: float = 1.0) -> Prediction:
    """Of a family that has a law; ``plant``: what there really is, where the law was designed for another."""
    assert family.tuning is not None
    law = Law(family.plant, family.tuning)
    hz = frequencies(law)
    loop = law.loop(hz, plant, gain)
    s = 1 / (1 + loop)
    size = np.abs(s)
    worst = int(np.argmax(size))
    lines = {one.hz: _line(law, one.hz, plant, gain) for one in law.tuning.resonators}
    gain_margin, phase_margin, delay = margins(hz, loop)
    return Prediction(
        family=family.name,
        hz=hz,
        sensitivity=s,
        loop=loop,
        bandwidth_hz=_bandwidth(hz, np.abs(law.without_resonators().sensitivity(hz, plant, gain))),
        peak=float(size[worst]),
        peak_hz=float(hz[worst]),
        gain_margin=gain_margin,
        phase_margin_deg=phase_margin,
        delay_margin_us=delay,
        stable=is_stable(law, plant, gain),
        lines_db=lines,
    )


def _bandwidth(hz: Floats, size: Floats) -> float:
    crossings = np.flatnonzero((size[:-1] < HALF) & (size[1:] >= HALF))
    return float(hz[crossings[0]]) if len(crossings) else float("nan")


def _line(law: Law, hz: float, plant: Plant | None, gain: float) -> tuple[float, float]:
    near = np.linspace(0.999 * hz, 1.001 * hz, 41)
    at = 20 * np.log10(np.abs(law.sensitivity(hz, plant, gain)))
    return float(at), float(20 * np.log10(np.abs(law.sensitivity(near, plant, gain)).max()))


def margins(hz: Floats, loop: NDArray[np.complex128]) -> tuple[float, float, float]:
    """Gain, phase (degrees) and delay (µs): the least over all crossings."""
    negative = np.flatnonzero((loop.imag[:-1] * loop.imag[1:] < 0) & (loop.real[:-1] < 0))
    gains = [1 / abs(loop.real[i]) for i in negative if abs(loop.real[i]) < 1]
    size = np.abs(loop)
    crossings = np.flatnonzero((size[:-1] - 1) * (size[1:] - 1) < 0)
    phases = np.array([abs(np.angle(-loop[i])) for i in crossings])
    turned = np.array([np.angle(-loop[i]) % (2 * np.pi) for i in crossings])
    delays = turned / (2 * np.pi * hz[crossings]) * 1e6
    return (
        float(min(gains, default=np.inf)),
        float(np.degrees(phases.min(initial=np.pi))),
        float(delays.min(initial=np.inf)),
    )


def is_stable(law: Law, plant: Plant | None = None, gain: float = 1.0) -> bool:
    """By Nyquist, of the characteristic function, all of whose poles lie within the circle but the integral's, which
    lies on it: then it must not go around 0.

    Along the upper half of the circle it begins at -90 degrees, because of the integral, and must end at 0.
    """
    f = law.characteristic(frequencies(law), plant, gain)
    end = float(np.angle(f[0]) + np.sum(np.angle(f[1:] / f[:-1])))
    return abs(end) < np.pi / 2


def predict_all(configuration: Configuration, plant: Plant | None = None, gain: float = 1.0) -> list[Prediction]:
    """Of all families that have a law."""
    return [predict(family, plant, gain) for family in configuration.families if family.tuning is not None]


def draw(predictions: Sequence[Prediction], path: Path) -> None:
    """|S| of each family, and where it comes to 1."""
    made = plots.figure(8.5, 5.0)
    axes = made.subplots()
    for one in predictions:
        label = f"{one.family}: −3 dB at {one.bandwidth_hz:.0f} Hz, peak {one.peak:.2f} at {one.peak_hz:.0f} Hz"
        axes.loglog(one.hz, np.abs(one.sensitivity), linewidth=1.2, label=label)
    axes.axhline(1.0, color=plots.LIMIT, linewidth=0.8)
    axes.set_xlabel("frequency, Hz")
    axes.set_ylabel("|S|: what the loop leaves")
    axes.grid(alpha=0.3, which="both")
    axes.legend(loc="lower right", frameon=False, fontsize=9)
    plots.save(made, path)
