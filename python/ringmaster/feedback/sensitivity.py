# SPDX-License-Identifier: Apache-2.0
"""The sensitivity of a running loop: excited, measured, and laid over what was predicted."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmaster import plots
from ringmaster.fabric.stream import Stream
from ringmaster.feedback.law import Law
from ringmaster.feedback.loop import Feedback
from ringmaster.feedback.names import MULTI_SINE_LINES, Excitation, State

Floats = NDArray[np.float64]
Complex = NDArray[np.complex128]
SETTLE_S = 0.5
"""After switching on: what was there before must have died away."""
UNEXPLAINED = 0.02
"""Share of the excitation that lines at the expected frequencies may leave over; beyond, cross spectra are taken."""
PERIODS = 3.0
"""Of the difference of neighbouring lines: so long a piece must be to tell them apart."""
LEAST_PIECES = 4
"""Of a record: a line of the mains leaks alike into two of them, which then do not differ."""
HIDDEN = 0.1
"""Standard error of |S| beyond which other motion hides a frequency: it has no part in the figures."""
COHERENT = 0.9
"""Cross spectra: below this coherence a frequency is not reported."""


SIGNALS = {"multi-sine": Excitation.MULTI_SINE, "prbs": Excitation.PRBS, "sine": Excitation.SINE}


@dataclass(frozen=True)
class Record:
    """What was recorded while something was excited."""

    rate_hz: float
    excitation: Floats
    error: Floats
    output: Floats
    lost: int
    """Cycles that were not had; they are 0 in all three."""
    not_on: int = 0
    """Cycles in which the loop was not ON."""


@dataclass(frozen=True)
class Measured:
    """S at some frequencies."""

    hz: Floats
    sensitivity: Complex
    spread: Floats
    """Standard error of |S|, from how much pieces differ."""
    method: str
    pieces: int

    @property
    def hidden(self) -> NDArray[np.bool_]:
        """Frequencies at which the beam moves by itself as much as by the excitation."""
        return ~(self.spread <= HIDDEN)  # what is not known counts as hidden

    @property
    def seen(self) -> "Measured":
        """Without those. Raises RuntimeError where none is left."""
        good = ~self.hidden
        if not good.any():
            raise RuntimeError(
                f"other motion hides the excitation at all {len(self.hz)} frequencies: take a larger --amplitude, or "
                f"more --seconds"
            )
        return replace(self, hz=self.hz[good], sensitivity=self.sensitivity[good], spread=self.spread[good])


@contextmanager
def excited(
    feedback: Feedback, kind: Excitation, at_actuator: bool, number: int, amplitude: float, low: float, high: float
) -> Iterator[None]:
    """Excites; whatever happens, it is quiet afterwards."""
    feedback.put("excite", Excitation.QUIET)
    feedback.put("excite_at", float(at_actuator))
    feedback.put("excite_number", number)
    feedback.put("excite_amplitude", amplitude)
    feedback.put("excite_low", low)
    feedback.put("excite_high", high)
    try:
        feedback.put("excite", kind)
        yield
    finally:
        feedback.put("excite", Excitation.QUIET)


def record(feedback: Feedback, seconds: float, progress: Callable[[float], None] = lambda _: None) -> Record:
    """Reads the stream NAME/orbit for so long, as it comes."""
    stream = feedback.ws.streams[f"{feedback.name}/orbit"]
    rate = feedback.ws.parameters["server/turn_rate_hz"].number / stream.period
    wanted = max(16, int(seconds * rate))
    lanes: dict[str, list[Floats]] = {"excitation": [], "error": [], "output": []}
    lost = had = not_on = 0
    next_turn = _begin(stream)
    give_up = monotonic() + 5 * seconds + 10
    while had < wanted:
        head = stream.head
        ready = 0 if head is None else min((head - next_turn) // stream.period + 1, wanted - had, stream.capacity // 4)
        if ready <= 0:
            if monotonic() > give_up:
                raise RuntimeError(
                    f"{stream.name} has stopped: {had} of {wanted} cycles came; does {feedback.name} run?"
                )
            sleep(0.01)
            continue
        window = stream.read(next_turn, ready)
        lost += int(np.count_nonzero(~window.ok))
        not_on += int(np.count_nonzero(window.ok & (window["state"] != State.ON)))
        for lane, parts in lanes.items():
            parts.append(np.nan_to_num(window.values(lane)))
        had, next_turn = had + ready, next_turn + ready * stream.period
        progress(had / wanted)
    excitation, error, output = (np.concatenate(lanes[lane]) for lane in ("excitation", "error", "output"))
    return Record(rate, excitation, error, output, lost, not_on)


def _begin(stream: Stream) -> int:
    give_up = monotonic() + 5.0
    while (head := stream.head) is None:
        if monotonic() > give_up:
            raise RuntimeError(f"nothing comes in the stream {stream.name}")
        sleep(0.01)
    return head + stream.period


STEADY = 0.01
"""Share of cycles in which a loop may have been off and still be measured."""
PRESENT = 0.9
"""Share of cycles, in blocks of a hundredth, that the excitation must be in."""


def refuse_what_is_not_s(taken: Record) -> None:
    """Raises RuntimeError, with what happened, where the record holds no steady loop or no lasting excitation."""
    share = taken.not_on / max(1, len(taken.error) - taken.lost)
    if share > STEADY:
        raise RuntimeError(
            f"the loop flickers: it was not ON in {100 * share:.2g} % of the cycles, so what was recorded is not its "
            f"sensitivity; `ringmaster feedback why` says what takes it away"
        )
    blocks = [block for block in np.array_split(taken.excitation, 100) if len(block)]
    present = float(np.mean([bool(np.any(block != 0)) for block in blocks]))
    if present < PRESENT:
        raise RuntimeError(
            f"the excitation was lost: the loop was ON, but in {100 * (1 - present):.2g} % of the time there was no "
            f"excitation; did another command set `excite`, or is its amplitude 0?"
        )


def multi_sine(low: float, high: float) -> Floats:
    """Frequencies of the lines, Hz."""
    return np.geomspace(low, high, MULTI_SINE_LINES)


def signal_lines(signal: str, low: float, high: float) -> Floats | None:
    """Where a signal has its lines; None where it is broad."""
    return {"multi-sine": multi_sine(low, high), "sine": np.array([low])}.get(signal)


def least_seconds(lines: Floats | None) -> float:
    """What a record of these lines must be long, so that other motion does not pass for an answer to them."""
    return 0.0 if lines is None else LEAST_PIECES * PERIODS / _apart(lines)


def refuse_too_few_seconds(seconds: float, lines: Floats | None) -> None:
    """Raises RuntimeError, with how many it takes."""
    if seconds < (least := least_seconds(lines)):
        raise RuntimeError(
            f"--seconds {seconds:g} is too short to tell the excitation from the mains and other motion: take "
            f"{least:.1f} or more, or a larger --low"
        )


def _apart(lines: Floats) -> float:
    """The least difference of neighbouring lines, and of the first from 0, Hz."""
    return float(np.diff(lines, prepend=0.0).min())


def estimate(taken: Record, lines: Floats | None, at_actuator: bool) -> Measured:
    """S from a record: at known lines by coherent averaging, else from cross spectra.

    The excitation is part of what is recorded as error (of an actuator: as output), so that their ratio is S. The error
    is recorded before the loop's gain.
    """
    answer = taken.output if at_actuator else taken.error
    if lines is not None:
        found = at_lines(taken.excitation, answer, lines, taken.rate_hz)
        if found is not None:
            return found
    return cross_spectrum(taken.excitation, answer, taken.rate_hz)


def at_lines(excitation: Floats, answer: Floats, lines: Floats, rate_hz: float) -> Measured | None:
    """Amplitudes of all lines at once, by least squares, in pieces whose ratio is averaged with their phases.

    None where the excitation is not made of these lines.
    """
    length = int(PERIODS * rate_hz / _apart(lines))
    pieces = max(2, len(answer) // max(length, 1))  # two at least, to see how much they differ
    size = len(answer) // pieces
    ratios, weights = [], []
    for i in range(pieces):
        part = slice(i * size, (i + 1) * size)
        basis = _basis(lines, np.arange(part.start, part.stop) / rate_hz)
        both = np.stack([excitation[part], answer[part]], axis=1)
        found, *_ = np.linalg.lstsq(basis, both, rcond=None)
        left = both[:, 0] - basis @ found[:, 0]
        if np.std(left) > UNEXPLAINED * max(float(np.std(both[:, 0])), 1e-300):
            return None
        phasors = found[: len(lines)] - 1j * found[len(lines) : 2 * len(lines)]
        ratios.append(phasors[:, 1] / phasors[:, 0])
        weights.append(np.abs(phasors[:, 0]) ** 2)
    weight = np.array(weights)
    mean = np.sum(np.array(ratios) * weight, axis=0) / weight.sum(axis=0)
    spread = np.abs(np.array(ratios) - mean).std(axis=0, ddof=1) / np.sqrt(pieces)
    return Measured(lines, mean, spread, "lines", pieces)


def _basis(lines: Floats, time_s: Floats) -> Floats:
    """Cosines, sines, and a straight line, which is nobody's excitation."""
    phase = 2 * np.pi * np.outer(time_s, lines)
    time = time_s - time_s.mean()
    return np.concatenate([np.cos(phase), np.sin(phase), np.stack([np.ones_like(time), time], axis=1)], axis=1)


def cross_spectrum(excitation: Floats, answer: Floats, rate_hz: float, pieces: int = 16) -> Measured:
    """Cross spectrum over the excitation's own, of overlapping pieces with Hann's window; where both are coherent."""
    size = 2 * (len(answer) // (pieces + 1))
    window = np.hanning(size)
    starts = np.arange(pieces) * (size // 2)
    x, y = (np.array([np.fft.rfft(window * values[s : s + size]) for s in starts]) for values in (excitation, answer))
    xx, yy, xy = (np.abs(x) ** 2).mean(axis=0), (np.abs(y) ** 2).mean(axis=0), (np.conj(x) * y).mean(axis=0)
    hz = np.fft.rfftfreq(size, 1 / rate_hz)
    with np.errstate(invalid="ignore", divide="ignore"):
        s = xy / xx
        coherence = np.abs(xy) ** 2 / (xx * yy)
        spread = np.abs(s) * np.sqrt((1 - coherence) / (2 * coherence * pieces))
    good = (coherence > COHERENT) & (xx > 1e-6 * xx.max()) & (hz > 0)
    if not good.any():
        raise RuntimeError("nothing of the excitation is seen: is its amplitude too small, or does nothing move?")
    return Measured(hz[good], s[good], spread[good], "cross spectra", pieces)


@dataclass(frozen=True)
class Comparison:
    """Measured beside predicted."""

    measured: Measured
    predicted: Complex
    """At the measured frequencies."""

    @property
    def deviation(self) -> Floats:
        """||S| measured − |S| predicted|."""
        return np.asarray(np.abs(np.abs(self.measured.sensitivity) - np.abs(self.predicted)))

    def as_json(self) -> dict[str, Any]:
        """All of it."""
        m = self.measured
        seen, off = m.seen, self.deviation[~m.hidden]
        peak, worst = int(np.argmax(np.abs(seen.sensitivity))), int(np.argmax(off))
        return {
            "method": m.method,
            "pieces": m.pieces,
            "hz": m.hz.tolist(),
            "sensitivity": np.abs(m.sensitivity).tolist(),
            "phase_deg": np.degrees(np.angle(m.sensitivity)).tolist(),
            "spread": m.spread.tolist(),
            "predicted": np.abs(self.predicted).tolist(),
            "hidden_hz": m.hz[m.hidden].tolist(),
            "peak": float(np.abs(seen.sensitivity[peak])),
            "peak_hz": float(seen.hz[peak]),
            "largest_deviation": float(off[worst]),
            "largest_deviation_hz": float(seen.hz[worst]),
            "rms_deviation": float(np.sqrt(np.mean(off**2))),
        }


def plant_found(measured: Measured, law: Law, gain: float = 1.0) -> tuple[float, float]:
    """The plant behind a measured S, over the configured one: its gain, and how much more delay it has (µs).

    From the middle of the band, where the loop does something and no other family acts; NaN where nothing lies there.
    """
    rate = law.plant.rate_hz
    middle = (measured.hz > rate / 100) & (measured.hz < rate / 4) & (np.abs(measured.sensitivity - 1) > 0.05)
    if not middle.any():
        return float("nan"), float("nan")
    hz = measured.hz[middle]
    plant = (1 / measured.sensitivity[middle] - 1) / law.controller(hz, gain)
    ratio = plant / law.plant.response(hz)
    turned = np.unwrap(np.angle(ratio))
    return float(np.median(np.abs(ratio))), float(-1e6 * np.sum(turned * hz) / np.sum(2 * np.pi * hz**2))


def compare(measured: Measured, law: Law, gain: float = 1.0) -> Comparison:
    """Beside what this law does to its plant."""
    return Comparison(measured, law.sensitivity(measured.hz, gain=gain))


def draw(comparison: Comparison, law: Law, gain: float, title: str, path: Path) -> None:
    """Both on one plot, and their difference below."""
    from ringmaster.feedback.predict import frequencies

    m = comparison.measured
    made = plots.figure(8.5, 6.5)
    above, below = made.subplots(2, 1, sharex=True, height_ratios=[3, 1])
    hz = frequencies(law)
    hz = hz[(hz >= m.hz[0] / 2) & (hz <= max(m.hz[-1], law.plant.rate_hz / 2))]
    above.loglog(hz, np.abs(law.sensitivity(hz, gain=gain)), color=plots.PREDICTED, linewidth=1.2, label="predicted")
    spread = np.nan_to_num(m.spread)
    style: dict[str, Any] = {"fmt": "o", "color": plots.MEASURED, "markersize": 4, "linewidth": 1}
    above.errorbar(m.hz, np.abs(m.sensitivity), yerr=spread, label=f"measured, {m.method}", **style)
    above.axhline(1.0, color=plots.LIMIT, linewidth=0.8)
    above.set_ylabel("|S|")
    above.set_title(title, loc="left", fontsize=10)
    above.legend(loc="lower right", frameon=False)
    below.errorbar(m.hz, np.abs(m.sensitivity) - np.abs(comparison.predicted), yerr=spread, **style)
    for limit in (-0.02, 0.0, 0.02):
        below.axhline(limit, color=plots.LIMIT, linewidth=0.8, linestyle="-" if limit == 0 else ":")
    below.set_ylabel("measured − predicted")
    below.set_xlabel("frequency, Hz")
    for axes in (above, below):
        axes.grid(alpha=0.3, which="both")
    plots.save(made, path)
