# SPDX-License-Identifier: Apache-2.0
"""Chromaticity: the RF frequency is moved by a small sine, and the tunes are looked at where it moves.

With δ = Δf ÷ (−h f₀ (α − 1/γ²)), of the lattice, ξ = ΔQ ÷ δ: the response of `tune/tune` to the RF's readback, period
by period (moving/lockin.py), half a window earlier than its records, and over what the window leaves of that frequency
(window.py). So what drifts slower than a period does not matter, nor how late the RF follows.

The closed orbit at dispersive BPMs moves by D δ: it tells δ once more, by the lattice's dispersion.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringmaster.errors import ObjectNotFound
from ringmaster.fabric.workspace import Workspace
from ringmaster.feedback.names import LENGTHS
from ringmaster.moving.course import Course
from ringmaster.moving.lockin import LEAST_PERIODS, LockedIn, by_period, response
from ringmaster.moving.modulation import Modulated, ShareDone, Sine, modulate, readback_lane
from ringmaster.tune.model import Expected
from ringmaster.tune.quality import LANES, TuneStream, tune_stream
from ringmaster.tune.window import attenuation

Floats = NDArray[np.float64]
ORBIT_RATES = ("loop", "raw", "fast", "turn")
"""Of the BPMs' streams: the first that is there."""
LEAST_PER_PERIOD = 10
"""Records of the tune."""


@dataclass(frozen=True)
class Chromaticity:
    """Measured, per plane."""

    value: tuple[float, float]
    sigma: tuple[float, float]
    out_of_phase: tuple[float, float]
    """What of it is a quarter of a period off the RF: about 0, or something else moves the tunes."""
    expected: tuple[float, float]
    """The lattice's."""
    tune: tuple[float, float]
    """Mean, as the spectrum shows it."""
    rf_hz: float
    """Amplitude of the RF's frequency, by its readback."""
    delta: float
    """Amplitude of δ, by the lattice's momentum compaction."""
    delta_orbit: float
    """The same by the orbit; NaN where no BPM tells."""
    delta_orbit_sigma: float
    dispersive_bpms: int
    hz: float
    periods: int
    attenuation: float
    """What the window has left of the modulation; it is taken out."""
    trusted: float
    """Share of the tunes that were."""
    phase: Floats
    """Shape (records,): of the modulation, 0 to 1, of each tune that was trusted …"""
    shift: Floats
    """… and its two tunes less their means, shape (2, records): for a plot."""


def measure(
    ws: Workspace,
    expected: Expected,
    application: str,
    delta: float,
    hz: float,
    seconds: float,
    progress: ShareDone = lambda _: None,
) -> Chromaticity:
    """Moves the RF by so much δ. Raises ValueError where loops are on, or the tune is not to be trusted."""
    if expected.rf is None:
        raise ValueError("the mapping has no key `rf`: which supply is the RF frequency? rf: {actuator: NAME}")
    if not np.isfinite(expected.rf_hz_per_delta):
        raise ValueError(f"{expected.name} has no cavity: its RF cannot be moved")
    supply, hz_per_unit = expected.rf
    tune = tune_stream(ws, application)
    turn_rate_hz = ws.parameters["server/turn_rate_hz"].number
    if turn_rate_hz / hz < LEAST_PER_PERIOD * tune.stream.period:
        most = turn_rate_hz / tune.stream.period / LEAST_PER_PERIOD
        raise ValueError(f"--hz {hz:g}: a period takes {LEAST_PER_PERIOD} tunes, so at most {most:.3g} Hz")
    if seconds * hz < LEAST_PERIODS:
        raise ValueError(f"--seconds {seconds:g}: an error takes {LEAST_PERIODS} periods, {LEAST_PERIODS / hz:.3g} s")
    stream, lane = readback_lane(ws, supply)
    rf, tunes = Course(stream, [lane]), Course(tune.stream, LANES)
    orbits = {bpm: _orbit(ws, expected.rows[2 * bpm]) for bpm in expected.dispersive}
    sine = Sine(supply, abs(delta * expected.rf_hz_per_delta / hz_per_unit), hz, seconds)
    moved = modulate(ws, sine, [rf, tunes, *(course for course, _ in orbits.values())], progress)
    return evaluate(expected, moved, rf, tunes, tune, orbits, hz)


def _orbit(ws: Workspace, row: str) -> tuple[Course, float]:
    """A BPM's x from now on, and m of its unit."""
    instrument, _, lane = row.rpartition("/")
    for rate in ORBIT_RATES:
        if f"{instrument}/{rate}" in ws.streams:
            stream = ws.streams[f"{instrument}/{rate}"]
            unit = next((one.unit for one in stream.lanes if one.name == lane), "nm")
            return Course(stream, [lane]), LENGTHS[unit] * 1e-9
    raise ObjectNotFound(f"no stream of {instrument!r} in workspace {ws.name!r}: the mapping's rows name its BPMs")


def evaluate(
    expected: Expected,
    moved: Modulated,
    rf: Course,
    tunes: Course,
    tune: TuneStream,
    orbits: dict[int, tuple[Course, float]],
    hz: float,
) -> Chromaticity:
    """What the courses tell."""
    assert expected.rf is not None
    period, periods, begin = moved.period_turns, moved.whole_periods, moved.from_crest
    delta_per_unit = expected.rf[1] / expected.rf_hz_per_delta
    held = rf.turn - rf.stream.period // 2  # a readback is of the moment when the next setpoint comes
    reference = by_period(held, rf.values, period, begin, periods)[0]
    turn, values = tunes.turn - round(tune.delay_turns), tunes.values
    good = (values[4:] == 0).all(axis=0)
    kept = attenuation(1 / period, tune.window_turns)
    lanes = by_period(turn[good], values[:2, good], period, begin, periods)
    found = [response(lane, reference) for lane in lanes]
    scale = [expected.sign(plane) / kept / delta_per_unit for plane in (0, 1)]
    by_orbit = [
        (response(by_period(course.turn, course.values, period, begin, periods)[0], reference), metres)
        for course, metres in orbits.values()
    ]
    per_unit, per_unit_sigma = _delta_by_orbit(by_orbit, expected.dispersion_m[list(orbits)])
    units = float(np.nanmean(np.abs(reference)))
    means = np.mean(values[:2, good], axis=1)
    return Chromaticity(
        value=(found[0].value.real * scale[0], found[1].value.real * scale[1]),
        sigma=(found[0].sigma * abs(scale[0]), found[1].sigma * abs(scale[1])),
        out_of_phase=(found[0].value.imag * scale[0], found[1].value.imag * scale[1]),
        expected=expected.chromaticities,
        tune=(float(means[0]), float(means[1])),
        rf_hz=units * expected.rf[1],
        delta=units * abs(delta_per_unit),
        delta_orbit=units * abs(per_unit),
        delta_orbit_sigma=units * per_unit_sigma,
        dispersive_bpms=len(orbits),
        hz=hz,
        periods=min(one.periods for one in found),
        attenuation=kept,
        trusted=float(good.mean()),
        phase=np.mod((turn[good] - begin) / period, 1.0),
        shift=values[:2, good] - means[:, None],
    )


def _delta_by_orbit(found: list[tuple[LockedIn, float]], dispersion_m: Floats) -> tuple[float, float]:
    """δ per unit of the reference and its error: least squares over the BPMs, by their scatter about it."""
    if not found:
        return float("nan"), float("nan")
    x = np.array([one.value.real * metres for one, metres in found])
    weight = float(np.sum(dispersion_m**2))
    delta = float(np.sum(dispersion_m * x)) / weight
    rest = x - delta * dispersion_m
    own = np.array([one.sigma * metres for one, metres in found])
    spread = np.sqrt(np.sum(rest**2) / max(1, len(x) - 1)) if len(x) > 1 else 0.0
    return delta, float(max(spread, np.sqrt(np.mean(own**2))) / np.sqrt(weight))
