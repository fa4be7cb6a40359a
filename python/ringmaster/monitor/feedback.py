# SPDX-License-Identifier: Apache-2.0
"""Figures of the orbit feedback: its state and why, what is out, and how the orbit moves, loop open and closed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntFlag
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ringmaster.beam.bpm import bpm_streams, position_lanes
from ringmaster.errors import WorkspaceError
from ringmaster.fabric.simulated_time import machine_turn_rate_hz
from ringmaster.fabric.stream import Stream
from ringmaster.fabric.workspace import Workspace
from ringmaster.feedback.names import (
    BRIEFLY,
    WITHDRAWN,
    ActuatorFault,
    EnableCondition,
    Loop,
    RowFault,
    State,
    Withdrawal,
    bit_names,
    bits,
)

SWITCHES = ("resonators", "track", "rf", "unload", "shadow", "gate")
"""Settings that are 0 or 1."""
DISTURBANCES = ("mains", "ground", "steps", "insertion", "topup")
"""Of a living machine: its parameters machine/NAME, factors of what is configured."""
RECORDS = 8192
"""Of a BPM that go into a spectrum."""
LATELY = 4096
"""Cycles: some 0.4 s at 10 kHz."""
ENOUGH = 0.6
"""Share of these that must be there."""
CURRENT = "machine/current_ma"
LOST_MA = 1.0
RING_EVENT = "ring/event"
RF_TRIP = "event: rf_trip, for_turns: 20000"
INJECTION = "event: injection"
BPMS = 16
"""So many BPMs stand for the ring; it is the reading of all of them that takes time."""
BANDS_HZ = (10.0, 100.0, 300.0, 1000.0, float("inf"))
LINES_HZ = (50, 100, 150, 200, 250, 300, 350, 400, 500, 600, 700, 800, 900)
LINE_HALF_WIDTH_HZ = 3.0
"""A line's power lies this far about it: its wandering, and the window's foot."""

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LeftOut:
    """A BPM's reading or an actuator that is not used."""

    name: str
    why: Sequence[str]


@dataclass(frozen=True)
class FeedbackFigures:
    """The feedback of a workspace, as its parameters tell."""

    name: str
    """Of the application."""
    state: State
    """Of this moment, which looking may have disturbed: on shared cores it takes time from those that work."""
    lately: Mapping[State, float]
    """Shares of the newest LATELY cycles."""
    wanted: float
    """Setting `loop`, of ringmaster.feedback.names.Loop."""
    withdrawn: str
    """Why its permission to act was taken back; empty where it was not."""
    missing: Sequence[str]
    """Enable conditions that are missing now, in words."""
    cause: Sequence[str]
    """Why it last left "on" by itself."""
    rms_um: tuple[float, float]
    cumulated_um: tuple[float, float]
    """Over the last second, averaged over BPMs."""
    rows_used: int
    rows: int
    actuators: int
    substituted: int
    saturated: int
    beam: float
    """Mean of the sum lanes; NaN where no beam condition is configured."""
    mains_hz: float
    generation: int
    solve_ms: float
    modes_wanted: int
    """0: all."""
    modes: int
    """That the matrix has now."""
    condition: float
    """Of the matrix: its largest singular value over the smallest, worst of the families."""
    gain: float
    rf_offset: float
    shadow_rms: float
    latency_us: float
    switches: Mapping[str, bool]
    rows_out: Sequence[LeftOut]
    actuators_out: Sequence[LeftOut]
    disturbances: Mapping[str, float]
    """Factors of a living machine's disturbances; empty where there is none."""
    current_ma: float
    """Of a living machine's beam; NaN where there is none."""

    @property
    def mostly(self) -> State:
        """The state of most of the newest cycles."""
        return max(self.lately, key=lambda state: self.lately[state])

    @property
    def disturbed(self) -> bool:
        """Whether any disturbance is on."""
        return any(self.disturbances.values())


def find_feedback(ws: Workspace) -> str | None:
    """Name of the application that is an orbit feedback, if there is one."""
    names = (name.removesuffix("/bpm_state") for name in ws.parameters if name.endswith("/bpm_state"))
    return next((name for name in names if f"{name}/loop" in ws.parameters and f"{name}/orbit" in ws.streams), None)


def read_feedback(ws: Workspace) -> FeedbackFigures | None:
    """All figures but the orbit's motion; None where there is no feedback, or it is half made."""
    return FeedbackReader(ws).read()


class FeedbackReader:
    """Parameters of the feedback of a workspace, by their last names. Keeps what its rows and actuators are called."""

    def __init__(self, ws: Workspace) -> None:
        """Looks for the application once: a workspace with new owners is attached anew."""
        self._ws = ws
        self._name = find_feedback(ws)

    def read(self) -> FeedbackFigures | None:
        """All figures, as ``read_feedback``."""
        if self._name is None:
            return None
        try:
            return self._figures(self._name)
        except (WorkspaceError, ValueError):
            return None

    def _number(self, what: str) -> float:
        return float(self._array(what)[0])

    def _array(self, what: str) -> Array:
        parameter = self._ws.parameters.get(f"{self._name}/{what}")
        return np.asarray(np.nan if parameter is None else parameter.value, np.float64).ravel()

    def _whole(self, what: str) -> int:
        number = self._number(what)
        return int(number) if np.isfinite(number) else 0

    def _conditions(self, what: str) -> tuple[str, ...]:
        return tuple(BRIEFLY[bit] for bit in bits(EnableCondition, self._whole(what)))

    def _figures(self, name: str) -> FeedbackFigures:
        rows, actuators = self._array("bpm_state"), self._array("actuator_state")
        singular = self._array("singular")
        singular = singular[np.isfinite(singular) & (singular > 0)]
        return FeedbackFigures(
            name=name,
            state=(state := State(min(self._whole("state"), State.FAULT))),
            lately=self._lately() or {state: 1.0},
            wanted=self._number("loop"),
            withdrawn=WITHDRAWN.get(Withdrawal(self._whole("withdrawn")), ""),
            missing=self._conditions("enable_conditions"),
            cause=self._conditions("cause"),
            rms_um=(self._number("rms_x"), self._number("rms_y")),
            cumulated_um=(self._number("cumulated_x"), self._number("cumulated_y")),
            rows_used=self._whole("bpms_used"),
            rows=len(rows),
            actuators=len(actuators),
            substituted=self._whole("bpms_substituted"),
            saturated=self._whole("saturated"),
            beam=self._number("beam"),
            mains_hz=self._number("mains_hz"),
            generation=self._whole("generation"),
            solve_ms=self._number("solve_ms"),
            modes_wanted=self._whole("modes"),
            modes=len(singular),
            condition=float(singular.max() / singular.min()) if len(singular) else float("nan"),
            gain=self._number("gain"),
            rf_offset=self._number("rf_offset"),
            shadow_rms=self._number("shadow_rms"),
            latency_us=self._number("latency_ns") * 1e-3,
            switches={what: self._number(what) == 1 for what in SWITCHES},
            rows_out=self._out("rows", rows, RowFault),
            actuators_out=self._out("actuators", actuators, ActuatorFault),
            disturbances={
                what: float(np.ravel(self._ws.parameters[f"machine/{what}"].value)[0])
                for what in DISTURBANCES
                if f"machine/{what}" in self._ws.parameters
            },
            current_ma=self._current_ma(),
        )

    def _current_ma(self) -> float:
        parameter = self._ws.parameters.get(CURRENT)
        return float("nan") if parameter is None else float(np.ravel(parameter.value)[0])

    def _lately(self) -> dict[State, float]:
        window = self._ws.streams[f"{self._name}/orbit"].latest(LATELY)
        numbers, counts = np.unique(window.values("state")[window.ok], return_counts=True)
        pairs = zip(numbers.tolist(), counts.tolist(), strict=True)
        return {State(min(int(number), State.FAULT)): count / counts.sum() for number, count in pairs}

    def _out(self, what: str, states: Array, faults: type[IntFlag]) -> tuple[LeftOut, ...]:
        words = np.where(np.isfinite(states), states, 0).astype(np.int64).tolist()
        names = self._names[what] if any(words) else ()
        return tuple(LeftOut(names[i], tuple(bit_names(faults, word))) for i, word in enumerate(words) if word)

    @cached_property
    def _names(self) -> Mapping[str, Sequence[str]]:
        """Of the rows and of the actuators: those of the matrix, numbers where its file cannot be found."""
        from ringmaster.feedback.loop import Feedback

        feedback = Feedback(self._ws, str(self._name))
        return {"rows": feedback.rows, "actuators": feedback.actuators}


@dataclass(frozen=True)
class Motion:
    """How the orbit moves: spectra of power, averaged over some BPMs. Arrays of one length."""

    hz: Array
    x: Array
    """µm² in each bin: the sum is the mean square."""
    y: Array

    def plane(self, name: str) -> Array:
        """Of "x" or "y"."""
        return self.x if name == "x" else self.y

    def rms_um(self, name: str, below_hz: float = float("inf")) -> float:
        """Of all motion below a frequency, without what stands still."""
        return float(np.sqrt(self.plane(name)[self.hz < below_hz].sum()))

    def line_um(self, name: str, hz: float) -> float:
        """Amplitude of a line."""
        return float(np.sqrt(2 * self.plane(name)[np.abs(self.hz - hz) <= LINE_HALF_WIDTH_HZ].sum()))

    @property
    def span_s(self) -> float:
        """Time that went in."""
        return float(1 / self.hz[0])


@dataclass(frozen=True)
class Motions:
    """The newest of each kind; None: not seen yet."""

    now: Motion | None = None
    open: Motion | None = None
    closed: Motion | None = None


def read_motion(ws: Workspace, name: str, records: int = RECORDS) -> Motion | None:
    """Of the newest records of some BPMs that come as often as the feedback steps; None while they are not there."""
    period = ws.streams[f"{name}/orbit"].period
    rates = {stream.rate for stream in ws.streams.values() if stream.period == period}
    streams = [one for one in bpm_streams(ws, *rates) if one.period == period and one.capacity - one.margin > records]
    turn_rate_hz = machine_turn_rate_hz(ws)
    if not streams or not turn_rate_hz:
        return None
    spread = streams[:: max(1, len(streams) // BPMS)][:BPMS]
    powers = [power for stream in spread if (power := _power(stream, records)) is not None]
    if not powers:
        return None
    x, y = np.mean(powers, axis=0)
    return Motion(np.arange(1, records // 2 + 1) * turn_rate_hz / period / records, x, y)


def _power(stream: Stream, records: int) -> Array | None:
    window = stream.latest(records)
    if len(window) < records or window.ok.mean() < ENOUGH:
        return None
    return np.array([power_of(window.values(lane) * 1e-3) for lane in position_lanes(stream)[0]])


def power_of(values: Array) -> Array:
    """Mean square in each bin from 1 on; what is missing lies on the straight line between its neighbours."""
    there, at = np.flatnonzero(~np.isnan(values)), np.arange(len(values))
    values = np.interp(at, there, values[there])
    hann = np.hanning(len(values) + 1)[:-1]
    lines = np.fft.rfft((values - values.mean()) * hann)[1:]
    power: Array = 2 * np.abs(lines) ** 2 / (len(values) * np.sum(hann**2))
    return power


def decibel(before: float, after: float) -> float:
    """By how much it became less."""
    return float(20 * np.log10(before / after)) if before > 0 and after > 0 else float("nan")


def presses(figures: FeedbackFigures, character: str | None) -> list[tuple[str, float | str]]:
    """What a key of the page asks for: parameters and their new values."""
    name = figures.name
    switches = {"n": "resonators", "u": "unload", "f": "rf", "w": "shadow", "t": "track"}
    if character == "l":
        return [(f"{name}/loop", Loop.OFF if figures.wanted == Loop.ON else Loop.ON)]
    if character == "h":
        return [(f"{name}/loop", Loop.ON if figures.wanted == Loop.HOLD else Loop.HOLD)]
    if character == "x":
        return [(f"{name}/reset", float(figures.generation + 1)), (f"{name}/loop", Loop.ON)]
    if character in switches:
        what = switches[character]
        return [(f"{name}/{what}", 0.0 if figures.switches[what] else 1.0)]
    if character == "b" and np.isfinite(figures.current_ma):
        return [(RING_EVENT, INJECTION if figures.current_ma < LOST_MA else RF_TRIP)]
    if character == "d":
        return [(f"machine/{what}", 0.0 if figures.disturbed else 1.0) for what in figures.disturbances]
    return []
