# SPDX-License-Identifier: Apache-2.0
"""An application and a virtual ring in simulated time: run them, and look at what they left as NumPy arrays.

    from ringmaster.simulation import simulate

    run = simulate("feedback.yaml", "feedback-ring.yaml", "feedback", "/tmp/run", seconds=2, at=["1:feedback/loop=1"])
    x = run.orbit("x")                   # [cycle, BPM], nm
    before = run.spectrum(x, until=1)    # a Spectrum: .hz, and .density [frequency, BPM]
    run.setpoints, run.currents          # [cycle, actuator]
    run.reported("rms_x"), run.stream("orbit")["rms_x"]

    recorded = simulate(…, record="all,decisions").recorded
    replay("feedback.yaml", "feedback", recorded).differs   # None: all steps are the same to the bit

Arrays are maps of the files: a run of gigabytes opens at once.
"""

import json
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ringmaster.errors import SimulationError
from ringmaster.places import find_program

PROGRAM = "ringmaster-simulate"
SUMMARY = "simulation.json"
RECORDED = "recorded"
MISSING = np.uint64(2**64 - 1)
"""Tag of a record that was missing."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Spectrum:
    """Amplitude spectral densities, one-sided, averaged over half-overlapping pieces with a Hann window."""

    hz: Floats
    density: Floats
    """[frequency, channel], unit per √Hz."""

    def rms(self, low: float = 0.0, high: float = float("inf")) -> Floats:
        """Of each channel, within a band."""
        inside = (self.hz >= low) & (self.hz <= high)
        power: Floats = np.sum(self.density[inside] ** 2, axis=0) * (self.hz[1] - self.hz[0])
        root: Floats = np.sqrt(power)
        return root

    def cumulated(self) -> Floats:
        """RMS from the lowest frequency up to each, [frequency, channel]."""
        power: Floats = np.cumsum(self.density**2, axis=0) * (self.hz[1] - self.hz[0])
        root: Floats = np.sqrt(power)
        return root


def spectrum(values: npt.ArrayLike, rate_hz: float, pieces: int = 8) -> Spectrum:
    """Of values [cycle] or [cycle, channel], their means taken off."""
    data = np.asarray(values, float)
    data = data[:, None] if data.ndim == 1 else data
    length = min(len(data), 2 * len(data) // (pieces + 1))
    if length < 8:
        raise SimulationError(f"{len(data)} cycles are too few for a spectrum of {pieces} pieces")
    window = np.hanning(length)
    power = np.zeros((length // 2 + 1, data.shape[1]))
    starts = range(0, len(data) - length + 1, max(1, length // 2))
    for start in starts:
        piece = data[start : start + length]
        power += np.abs(np.fft.rfft((piece - piece.mean(axis=0)) * window[:, None], axis=0)) ** 2
    power *= 2 / (len(starts) * rate_hz * np.sum(window**2))
    hz: Floats = np.fft.rfftfreq(length, 1 / rate_hz).astype(np.float64)
    return Spectrum(hz, np.sqrt(power))


def line(values: npt.ArrayLike, rate_hz: float, hz: float) -> npt.NDArray[np.complex128]:
    """Complex amplitude of a line in values [cycle] or [cycle, channel], by a Hann window."""
    data = np.asarray(values, float)
    window = np.hanning(len(data) + 1)[:-1]
    phase = np.exp(-2j * np.pi * hz / rate_hz * np.arange(len(data)))
    weights = 2 * window * phase / np.sum(window)
    amplitude: npt.NDArray[np.complex128] = weights @ (data - data.mean(axis=0))
    return amplitude


@dataclass(frozen=True)
class Simulation:
    """What a simulation has left in its folder."""

    folder: Path
    summary: Mapping[str, Any]
    """simulation.json."""

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Opens the folder of an earlier simulation."""
        place = Path(folder)
        try:
            summary = json.loads((place / SUMMARY).read_text())
        except FileNotFoundError:
            raise SimulationError(f"{place}: no {SUMMARY} in there; `ringmaster simulate` makes one") from None
        except (OSError, ValueError) as error:
            raise SimulationError(f"{place / SUMMARY}: {error}") from error
        return cls(place, summary)

    @property
    def rate_hz(self) -> float:
        """Cycles per second."""
        return float(self.summary["rate_hz"])

    @property
    def cycles(self) -> int:
        """Steps of the application."""
        return int(self.summary["cycles"])

    @cached_property
    def time_s(self) -> Floats:
        """Of each cycle, from 0."""
        return np.arange(self.cycles) / self.rate_hz

    @property
    def recorded(self) -> Path:
        """Its recorded streams, for :func:`replay`; there where it was run with ``record="all,decisions"``."""
        return self.folder / RECORDED

    @property
    def inputs(self) -> list[str]:
        """Names of the streams that the application takes."""
        return [item["name"] for item in self.summary["inputs"]]

    @property
    def actuators(self) -> list[str]:
        """Names of its supplies, in the order of its setpoints."""
        return [item["name"] for item in self.summary["actuators"]]

    def array(self, file: str) -> npt.NDArray[Any]:
        """One of the files, "setpoints.f64", as its summary describes it."""
        described = self.summary["files"].get(file)
        if described is None:
            known = ", ".join(self.summary["files"]) or "none"
            raise SimulationError(f"{self.folder}: {file} was not recorded; there are: {known}")
        shape = tuple(described["shape"])
        if 0 in shape:
            return np.zeros(shape, described["dtype"])
        try:
            return np.memmap(self.folder / file, described["dtype"], "r", shape=shape)
        except (OSError, ValueError) as error:
            raise SimulationError(f"{self.folder / file}: {error}") from error

    @cached_property
    def readings(self) -> npt.NDArray[np.int32]:
        """Lanes of the inputs' records, [cycle, input, 12]."""
        return self.array("readings.i32")

    @cached_property
    def missing(self) -> npt.NDArray[np.bool_]:
        """Whether a record was missing, [cycle, input]."""
        return np.asarray(self.array("tags.u64") == MISSING)

    @cached_property
    def setpoints(self) -> Floats:
        """What the application commanded, [cycle, actuator]."""
        return self.array("setpoints.f64")

    @cached_property
    def sent(self) -> Floats:
        """What was sent last when a step began, [cycle, actuator]; NaN where nobody knew."""
        return self.array("sent.f64")

    @cached_property
    def currents(self) -> Floats:
        """True currents of the supplies when a step's inputs were read, [cycle, actuator]."""
        return self.array("currents.f64")

    def rows(self, plane: str) -> list[str]:
        """INSTRUMENT/LANE of all readings of a plane, "x" or "y", in the order of the inputs."""
        return [f"{instrument}/{lane}" for instrument, lane, _, _ in self._lanes(plane)]

    def orbit(self, plane: str) -> Floats:
        """Readings of a plane, nm, [cycle, row]."""
        places = list(self._lanes(plane))
        if not places:
            raise SimulationError(f"{self.folder}: no input has a lane of plane {plane!r}")
        values = self.readings[:, [place[2] for place in places], [place[3] for place in places]]
        return values.astype(np.float64)

    def rms_um(self, plane: str, reference: npt.ArrayLike = 0.0) -> Floats:
        """RMS over the rows of a plane less a reference orbit, µm, [cycle]."""
        rms: Floats = np.sqrt(np.mean((self.orbit(plane) - np.asarray(reference)) ** 2, axis=1)) * 1e-3
        return rms

    def reported(self, reading: str) -> Floats:
        """A reading of the application that is one number, [cycle]."""
        for item in self.summary["readings"]:
            if item["name"] == reading and not item["array"]:
                return self.array("reported.f64")[:, item["column"]]
        raise self._unknown("reading", reading, [item["name"] for item in self.summary["readings"]])

    def final(self, reading: str) -> Floats:
        """All elements of a reading as they were at the end."""
        for item in self.summary["readings"]:
            if item["name"] == reading:
                values = np.fromfile(self.folder / "arrays.f64")
                return values[item["at"] : item["at"] + item["length"]]
        raise self._unknown("reading", reading, [item["name"] for item in self.summary["readings"]])

    def stream(self, name: str) -> dict[str, npt.NDArray[np.float32]]:
        """One of the application's streams: its lanes by name, [cycle] each."""
        for number, item in enumerate(self.summary["streams"]):
            if item["name"] == name:
                records = self.array("streams.f32")[:, number]
                return {lane["name"]: records[:, i] for i, lane in enumerate(item["lanes"])}
        raise self._unknown("stream", name, [item["name"] for item in self.summary["streams"]])

    def spectra(self, name: str) -> npt.NDArray[np.void]:
        """Rows of the application, one for each step that gave one: their "turn", "quality" and "values", [row, value].

        ``axis(name)`` says what the values are at; ``summary["rows"]`` has their unit.
        """
        item = self._row_ring(name)
        row = np.dtype([("turn", "<u8"), ("quality", "<u4"), ("zero", "<u4"), ("values", "<f4", (item["width"],))])
        return np.fromfile(self.folder / f"{name}.rows", row)

    def axis(self, name: str) -> Floats:
        """What each value of a row is at."""
        item = self._row_ring(name)
        places: Floats = item["axis_first"] + item["axis_step"] * np.arange(item["width"], dtype=np.float64)
        return places

    def _row_ring(self, name: str) -> Mapping[str, Any]:
        for item in self.summary["rows"]:
            if item["name"] == name:
                found: Mapping[str, Any] = item
                return found
        raise self._unknown("row ring", name, [item["name"] for item in self.summary["rows"]])

    def response(self, plane: str) -> Floats:
        """What the machine truly answered at the end, nm per unit, [row, actuator], rows as in :meth:`orbit`."""
        described = self.summary.get("response")
        if described is None:
            raise SimulationError(f"{self.folder}: the ring had no living machine, so there is no response")
        names = list(described["rows"])
        values = np.fromfile(self.folder / "response.f64").reshape(len(names), -1)
        return values[[names.index(name) for name in self.rows(plane)]]

    def between(self, since: float = 0.0, until: float = float("inf")) -> slice:
        """The cycles of a stretch of time, for indexing."""
        first, last = np.searchsorted(self.time_s, [since - 1e-9, until - 1e-9])
        return slice(int(first), int(last))

    def spectrum(
        self, values: npt.NDArray[Any], since: float = 0.0, until: float = float("inf"), pieces: int = 8
    ) -> Spectrum:
        """Of values [cycle, …] within a stretch of time."""
        return spectrum(values[self.between(since, until)], self.rate_hz, pieces)

    def _lanes(self, plane: str) -> Iterable[tuple[str, str, int, int]]:
        for number, item in enumerate(self.summary["inputs"]):
            for lane, name in enumerate(item["lanes"]):
                if name.startswith(plane) and item["types"][lane] == "i32":
                    yield item["name"].split("/")[0], name, number, lane

    def _unknown(self, what: str, name: str, known: list[str]) -> SimulationError:
        return SimulationError(f"{self.folder}: the application has no {what} {name!r}; it has: {', '.join(known)}")


def arguments(
    config: str | Path,
    overlay: str | Path | None,
    application: str,
    out: str | Path | None,
    *,
    seconds: float | None = None,
    cycles: int | None = None,
    until: str | None = None,
    at: Iterable[str] = (),
    events: str | Path | None = None,
    shuffle: int | None = None,
    replay: str | Path | None = None,
    archive: str | Path | None = None,
    latency_us: float | None = None,
    refresh_ms: float | None = None,
    record: str | None = None,
    truth: str | Path | None = None,
) -> list[str]:
    """The program's command line, without its name."""
    options: dict[str, object] = {
        "out": out,
        "seconds": seconds,
        "cycles": cycles,
        "until": until,
        "events": events,
        "shuffle": shuffle,
        "replay": replay,
        "archive": archive,
        "latency-us": latency_us,
        "refresh-ms": refresh_ms,
        "record": record,
        "truth": truth,
    }
    line = [str(config), *([] if overlay is None else [str(overlay)]), application]
    for name, value in options.items():
        if value is not None:
            line += [f"--{name}", str(value)]
    for event in at:
        line += ["--at", event]
    return line


def simulate(
    config: str | Path,
    overlay: str | Path | None,
    application: str,
    out: str | Path,
    *,
    quiet: bool = True,
    **options: Any,
) -> Simulation:
    """Runs a simulation, with the options of :func:`arguments`, and opens its results.

    Raises SimulationError with what the program said. Not ``quiet``, its progress is shown on standard error.
    """
    command = [find_program(PROGRAM), *arguments(config, overlay, application, out, **options)]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE if quiet else None, text=True
    )
    if done.returncode != 0:
        words = (done.stderr or "").strip() or f"{PROGRAM} ended with status {done.returncode}"
        raise SimulationError(words.removeprefix(f"{PROGRAM}: "))
    return Simulation.load(out)


@dataclass(frozen=True)
class Difference:
    """The first step of a replay that is not as it was recorded."""

    turn: int
    step: int
    """Steps since init."""
    what: str
    """decision, settings, sent, inputs, result, setpoints or visible."""
    text: str


@dataclass(frozen=True)
class Replayed:
    """What came of a replay of recorded streams."""

    steps_same: int
    """Steps that were the same to the bit."""
    grants: int
    """Among them first steps of a grant."""
    first_turn: int
    last_turn: int
    seconds: float
    """Time on the machine."""
    wall_s: float
    times_real_time: float
    differs: Difference | None


def replay(config: str | Path, application: str, archive: str | Path, *, cycles: int | None = None) -> Replayed:
    """Replays an application from recorded streams, and compares each step with its decision record.

    Raises SimulationError where it cannot be replayed at all. A step that is not the same is in the result.
    """
    command = [find_program(PROGRAM), str(config), application, "--archive", str(archive), "--json"]
    if cycles is not None:
        command += ["--cycles", str(cycles)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if not done.stdout:
        raise SimulationError(done.stderr.strip().removeprefix(f"{PROGRAM}: "))
    told = json.loads(done.stdout)
    differs = told.pop("differs")
    names = {field.name for field in fields(Replayed)} - {"differs"}
    return Replayed(**{name: told[name] for name in names}, differs=None if differs is None else Difference(**differs))
