# SPDX-License-Identifier: Apache-2.0
"""The response matrix as the machine itself has it: every actuator is moved a little, and the BPMs say what they see.

Here it is the feedback that moves them, by its excitation, while the loop is off: through the server's guard like all
else. The first matrix is measured without one: by_hand.py.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import sleep

import numpy as np
from numpy.typing import NDArray

from ringmaster.errors import RequestRefused, RequestUnanswered
from ringmaster.feedback.loop import Feedback
from ringmaster.feedback.matrix import Matrix
from ringmaster.feedback.names import Excitation, State
from ringmaster.feedback.readings import Readings, mean_of_records, rms_of_records
from ringmaster.moving.follower import Follower, NotFollowed
from ringmaster.moving.stopping import Pause, stopped_at_pauses
from ringmaster.moving.timeout import Timeout

Floats = NDArray[np.float64]
ASK_S = 10.0
Sample = tuple[Floats, float]
"""Response of each row, and the noise."""
Progress = Callable[[int, str], None]
"""Is told the number and the name of the column that begins."""


@dataclass(frozen=True)
class Plan:
    """How to measure one actuator."""

    amplitude: float
    """In its unit: plus and minus."""
    hz: float = 0.0
    """0: constant, plus and minus by turns; else a sine of that frequency."""
    seconds: float = 0.2
    """Of data at each sign, or of each sine."""
    settle_s: float = 0.05
    averages: int = 2
    """Pairs of signs, or sines."""

    @property
    def least_s(self) -> float:
        """What it takes at least: four signs of each average, without the way of the supply between them."""
        return self.averages * 4 * (self.seconds / 2 + self.settle_s)


@dataclass(frozen=True)
class Response:
    """What was measured."""

    matrix: Matrix
    error: Floats
    """Standard error of each element, nm per unit; NaN from a single average."""
    noise_nm: float
    """Median over all readings of the RMS within a piece."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Actuators that were not measured, and why."""
    silent: tuple[str, ...] = ()
    """Rows that are not in the matrix, because nothing came of them."""


def measure(
    feedback: Feedback,
    rows: Sequence[str],
    columns: Sequence[str],
    numbers: Sequence[int],
    plans: Sequence[Plan],
    rate: str,
    progress: Progress = lambda *_: None,
) -> Response:
    """Of the actuators ``numbers``, whose names are ``columns``. Raises ValueError while the loop is on."""
    if feedback.state in (State.ON, State.HOLD) or feedback.number("loop") != 0:
        raise ValueError(
            f"the loop is {feedback.state.name}: it would correct what is to be measured; "
            f"`ringmaster feedback off` first"
        )
    with stopped_at_pauses() as pause:
        try:
            found = _measure(
                feedback, rows, columns, numbers, plans, Readings(feedback.ws, rows, rate, pause), progress, pause
            )
        finally:
            _ask(feedback, "excite", Excitation.QUIET)
    if found.silent:
        raise RuntimeError(
            f"{len(found.silent)} readings did not come all the time, as {found.silent[0]}: the matrix of "
            f"{feedback.name} has a row for each"
        )
    return found


def _measure(
    feedback: Feedback,
    rows: Sequence[str],
    columns: Sequence[str],
    numbers: Sequence[int],
    plans: Sequence[Plan],
    readings: Readings,
    progress: Progress,
    pause: Pause,
) -> Response:
    _ask(feedback, "excite", Excitation.QUIET)
    _ask(feedback, "excite_at", 1, pause)
    follower = Follower(feedback.ws, columns, pause)

    def one(i: int) -> list[Sample]:
        _ask(feedback, "excite_number", numbers[i], pause)
        times = range(plans[i].averages)

        def go(offset: float) -> None:
            _ask(feedback, "excite_amplitude", offset, pause)
            _ask(feedback, "excite", Excitation.CONSTANT, pause)
            follower.wait_for(columns[i], offset)

        try:
            if plans[i].hz > 0:
                return [_by_sine(feedback, readings, plans[i], pause) for _ in times]
            follower.begin(columns[i], plans[i].amplitude)
            return [by_signs(readings, plans[i], go) for _ in times]
        finally:
            _ask(feedback, "excite", Excitation.QUIET)

    return collect(rows, columns, one, progress)


def _ask(feedback: Feedback, short: str, value: float, pause: Pause = sleep) -> None:
    """Again and again: a busy host refuses for a moment. Raises RequestRefused or RequestUnanswered when that lasts."""
    timeout = Timeout(feedback.ws, ASK_S)
    while True:
        try:
            feedback.put(short, value)
            return
        except (RequestRefused, RequestUnanswered):
            if timeout.over():
                raise
        pause(0.1)


def collect(
    rows: Sequence[str],
    columns: Sequence[str],
    one: Callable[[int], list[Sample]],
    progress: Progress,
) -> Response:
    """Of what ``one`` gives for each column.

    A column whose supply is refused, or does not follow, is left out. Raises RuntimeError where none is left.
    """
    values, errors, noises = [], [], []
    refused: dict[str, str] = {}
    for i, name in enumerate(columns):
        progress(i, name)
        try:
            taken = one(i)
        except (RequestRefused, NotFollowed) as error:
            refused[name] = str(error)
            continue
        samples = np.array([sample for sample, _ in taken])
        values.append(samples.mean(axis=0))
        spread = samples.std(axis=0, ddof=1) / np.sqrt(len(samples)) if len(samples) > 1 else samples[0] * np.nan
        errors.append(spread)
        noises.append(float(np.median([noise for _, noise in taken])))
    if not values:
        raise RuntimeError(f"none of {len(columns)} supplies could be measured: {next(iter(refused.values()))}")
    whole = np.array(values).T
    came: NDArray[np.bool_] = np.isfinite(whole).all(axis=1)
    kept = tuple(row for row, good in zip(rows, came, strict=True) if good)
    if not kept:
        raise RuntimeError(f"none of {len(rows)} readings came all the time, as {rows[0]}")
    measured = Matrix(kept, tuple(name for name in columns if name not in refused), whole[came])
    silent = tuple(row for row, good in zip(rows, came, strict=True) if not good)
    return Response(measured, np.array(errors).T[came], float(np.median(noises)), refused, silent)


def by_signs(readings: Readings, plan: Plan, go: Callable[[float], None]) -> Sample:
    """Plus, minus, minus, plus: what drifts in a straight line falls out. ``go`` moves the actuator by an offset."""
    sums: Floats = np.zeros(len(readings))
    noise = float("nan")
    for sign in (1, -1, -1, 1):
        go(sign * plan.amplitude)
        _, values = readings.take(plan.seconds / 2, plan.settle_s)
        sums += sign * mean_of_records(values)
        noise = rms_of_records(values)
    return sums / (4 * plan.amplitude), noise


def _by_sine(feedback: Feedback, readings: Readings, plan: Plan, pause: Pause) -> Sample:
    """A fit of the sine; its sign from the first reading's phase to the excitation that was recorded beside."""
    _ask(feedback, "excite_low", plan.hz, pause)
    _ask(feedback, "excite_amplitude", plan.amplitude, pause)
    _ask(feedback, "excite", Excitation.SINE, pause)
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
    return turned.real, rms_of_records(values)


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
