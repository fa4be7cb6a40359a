# SPDX-License-Identifier: Apache-2.0
"""The response matrix as the machine itself has it: every actuator is moved a little, and the BPMs say what they see.

It is the feedback that moves them, by its excitation, while the loop is off: through the server's guard like all else.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic, sleep

import numpy as np
from numpy.typing import NDArray

from ringmaster.feedback.loop import Feedback
from ringmaster.feedback.matrix import Matrix
from ringmaster.feedback.names import Excitation, State
from ringmaster.stream import Stream

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Plan:
    """How to measure."""

    amplitude: float
    """Of each actuator, in its unit: plus and minus."""
    hz: float = 0.0
    """0: constant, plus and minus by turns; else a sine of that frequency."""
    seconds: float = 0.2
    """Of data at each sign, or of each sine."""
    settle_s: float = 0.05
    averages: int = 2
    """Pairs of signs, or sines."""


@dataclass(frozen=True)
class Response:
    """What was measured."""

    matrix: Matrix
    error: Floats
    """Standard error of each element, nm per unit; NaN from a single average."""
    noise_nm: float
    """Median over all readings of the RMS within a piece."""


class Readings:
    """The streams of all rows, read over equal spans of turns."""

    def __init__(self, feedback: Feedback, rows: Sequence[str], rate: str) -> None:
        """Raises ObjectNotFound for a row without a stream."""
        self._lanes = [row.rpartition("/")[2] for row in rows]
        names = [f"{row.rpartition('/')[0]}/{rate}" for row in rows]
        self.streams: dict[str, Stream] = {name: feedback.ws.streams[name] for name in dict.fromkeys(names)}
        self._names = names
        self.clock = next(iter(self.streams.values()))
        self.rate_hz = feedback.ws.parameters["server/turn_rate_hz"].number / self.clock.period

    def take(self, seconds: float, settle_s: float) -> tuple[Floats, Floats]:
        """Time (s, of the turn counter) and nm of each row, (rows, records), NaN for what did not come.

        Begins ``settle_s`` after now, by the turns of the streams.
        """
        period = self.clock.period
        head = self.clock.head
        if head is None:
            raise RuntimeError(f"nothing comes in the stream {self.clock.name}")
        first = head + period * (1 + int(settle_s * self.rate_hz))
        count = max(1, int(seconds * self.rate_hz))
        last = first + (count - 1) * period
        give_up = monotonic() + 5 * (seconds + settle_s) + 10
        while any((stream.head or 0) < last for stream in self.streams.values()):
            if monotonic() > give_up:
                late = [name for name, stream in self.streams.items() if (stream.head or 0) < last]
                raise RuntimeError(f"nothing more comes in {late[0]}")
            sleep(0.002)
        windows = {name: stream.read(first, count) for name, stream in self.streams.items()}
        values = np.array([windows[n].values(lane) for n, lane in zip(self._names, self._lanes, strict=True)])
        return (first + period * np.arange(count)) / (self.rate_hz * period), values


def measure(
    feedback: Feedback,
    rows: Sequence[str],
    columns: Sequence[str],
    numbers: Sequence[int],
    plan: Plan,
    rate: str,
    progress: Callable[[int, str], None] = lambda *_: None,
) -> Response:
    """Of the actuators ``numbers``, whose names are ``columns``. Raises ValueError while the loop is on."""
    if feedback.state in (State.ON, State.HOLD) or feedback.number("loop") != 0:
        raise ValueError(
            f"the loop is {feedback.state.name}: it would correct what is to be measured; "
            f"`ringmaster feedback off` first"
        )
    readings = Readings(feedback, rows, rate)
    values, errors, noises = [], [], []
    try:
        _prepare(feedback, plan)
        for i, (number, name) in enumerate(zip(numbers, columns, strict=True)):
            progress(i, name)
            samples, noise = _one(feedback, readings, number, plan)
            values.append(samples.mean(axis=0))
            spread = samples.std(axis=0, ddof=1) / np.sqrt(len(samples)) if len(samples) > 1 else samples[0] * np.nan
            errors.append(spread)
            noises.append(noise)
    finally:
        feedback.put("excite", Excitation.QUIET)
    whole = np.array(values).T
    silent = [row for row, ok in zip(rows, np.isfinite(whole).all(axis=1), strict=True) if not ok]
    if silent:
        raise RuntimeError(
            f"{len(silent)} readings did not come all the time, as {silent[0]}: leave them out by --rows"
        )
    return Response(Matrix(tuple(rows), tuple(columns), whole), np.array(errors).T, float(np.median(noises)))


def _prepare(feedback: Feedback, plan: Plan) -> None:
    feedback.put("excite", Excitation.QUIET)
    feedback.put("excite_at", 1)
    if plan.hz > 0:
        feedback.put("excite_low", plan.hz)


def _one(feedback: Feedback, readings: Readings, number: int, plan: Plan) -> tuple[Floats, float]:
    """Responses of all rows, (averages, rows), and the noise."""
    feedback.put("excite_number", number)
    samples, noises = [], []
    for _ in range(plan.averages):
        sample, noise = (_by_sine if plan.hz > 0 else _by_signs)(feedback, readings, plan)
        samples.append(sample)
        noises.append(noise)
    feedback.put("excite", Excitation.QUIET)
    return np.array(samples), float(np.median(noises))


def _by_signs(feedback: Feedback, readings: Readings, plan: Plan) -> tuple[Floats, float]:
    """Plus, minus, minus, plus: what drifts in a straight line falls out."""
    sums, noise = np.zeros(0), 0.0
    for sign in (1, -1, -1, 1):
        feedback.put("excite_amplitude", sign * plan.amplitude)
        feedback.put("excite", Excitation.CONSTANT)
        _, values = readings.take(plan.seconds / 2, plan.settle_s)
        mean = np.nanmean(values, axis=1)
        sums = sign * mean if not len(sums) else sums + sign * mean
        noise = float(np.nanmedian(np.nanstd(values, axis=1)))
    return sums / (4 * plan.amplitude), noise


def _by_sine(feedback: Feedback, readings: Readings, plan: Plan) -> tuple[Floats, float]:
    """A fit of the sine; its sign from the first reading's phase to the excitation that was recorded beside."""
    feedback.put("excite_amplitude", plan.amplitude)
    feedback.put("excite", Excitation.SINE)
    stream = feedback.ws.streams[f"{feedback.name}/orbit"]
    time_s, values = readings.take(plan.seconds, plan.settle_s)
    turns = np.round(time_s * readings.rate_hz * readings.clock.period).astype(np.int64)
    first = int(turns[0]) // stream.period * stream.period
    taken = stream.read(first, max(1, (int(turns[-1]) - first) // stream.period + 1))
    own_time = (first + stream.period * np.arange(len(taken))) / (readings.rate_hz * readings.clock.period)
    reference = _phasor(own_time, taken.values("excitation")[None, :], plan.hz)[0]
    found = _phasor(time_s, values, plan.hz) / reference
    turned = found * np.exp(-0.5j * np.angle(np.nansum(found**2)))  # one phase for all: the plant's, known up to sign
    if np.real(turned[np.nanargmax(np.abs(turned))] / found[np.nanargmax(np.abs(turned))]) < 0:
        turned = -turned
    return turned.real, float(np.nanmedian(np.nanstd(values, axis=1)))


def _phasor(time_s: Floats, values: Floats, hz: float) -> NDArray[np.complex128]:
    """Amplitude and phase of each row at a frequency."""
    phase = 2 * np.pi * hz * (time_s - time_s[0])
    offset = 2 * np.pi * np.fmod(hz * time_s[0], 1.0)
    basis = np.stack([np.cos(phase), np.sin(phase), np.ones_like(phase), phase - phase.mean()], axis=1)
    out = np.full(len(values), np.nan, np.complex128)
    for i, row in enumerate(values):
        good = np.isfinite(row)
        if good.sum() >= basis.shape[1]:
            found, *_ = np.linalg.lstsq(basis[good], row[good], rcond=None)
            out[i] = (found[0] - 1j * found[1]) * np.exp(-1j * offset)
    return out
