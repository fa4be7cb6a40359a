# SPDX-License-Identifier: Apache-2.0
"""A sequence on the virtual ring, in simulated time: run it to its end, and look at what it did."""

import subprocess
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from time import sleep

import numpy as np
import numpy.typing as npt

from ringmaster.errors import SimulationError
from ringmaster.machine.server_file import DEFAULT_TURN_RATE_HZ, read_yaml
from ringmaster.places import find_program
from ringmaster.sequence.course import Mark, Passage, columns_of, ended, marks_of, passages_of
from ringmaster.sequence.described import Sequence, SequenceFile, read_sequences
from ringmaster.sequence.names import Cause, Result
from ringmaster.simulation.run import PROGRAM, Simulation, arguments

Floats = npt.NDArray[np.float64]
CODE = "sequence"
BEFORE_S, AFTER_S = 0.02, 0.1
"""Of quiet machine, before it begins and behind its end."""
MOST_S = 3600.0
LOOK_S = 0.1
RECORD = "readings,setpoints,sent,currents,streams,reported"
TRACE_BYTES, STATE_LANE = 48, 1
"""Of a record of the trace, as it grows in a file: twelve f32."""

Progress = Callable[[float, str], None]
"""Is told the seconds that are simulated, and the name of the state."""


@dataclass(frozen=True)
class Simulated:
    """What came of it. Times are seconds from the step in which it was asked to begin."""

    run: Simulation
    file: SequenceFile
    sequence: Sequence
    passages: tuple[Passage, ...]
    marks: tuple[Mark, ...]
    result: Result
    cause: Cause

    @property
    def time_s(self) -> Floats:
        """Of each step."""
        return self.run.time_s - self.begun_s

    @property
    def begun_s(self) -> float:
        """When it was asked to begin, on the simulation's clock."""
        return float(np.ceil(BEFORE_S * self.run.rate_hz - 1e-6)) / self.run.rate_hz

    @property
    def seconds(self) -> float:
        """From its first state to its end."""
        steps = sum(passage.steps for passage in self.passages if passage.state.end is None and passage.depth == 1)
        return steps / self.run.rate_hz

    def input(self, name: str) -> Floats | None:
        """The lane of an input of the file, by step; None for what is none of the readings."""
        stream, dot, lane = self.file.inputs[name].rpartition(".")
        for place, each in enumerate(self.run.summary["inputs"]):
            if dot and each["name"] == stream and lane in each["lanes"]:
                at = each["lanes"].index(lane)
                raw = np.ascontiguousarray(self.run.readings[:, place, at])
                return raw.view(np.float32).astype(float) if each["types"][at] == "f32" else raw.astype(float)
        return None


@dataclass(frozen=True)
class Application:
    """That of a server's file which runs sequences."""

    name: str
    configuration: Path
    """Its own file."""
    rate_hz: float
    """Of its steps."""


def find_application(config: Path, name: str | None = None) -> Application:
    """The one of that name, or the only one. Raises ValueError."""
    read = read_yaml(config)
    read = read if isinstance(read, dict) else {}
    listed = read.get("applications") or []
    running = [each for each in listed if Path(str(each.get("code", ""))).name.removesuffix(".so") == CODE]
    chosen = [each for each in running if name in (None, each.get("name"))]
    if not chosen:
        known = ", ".join(str(each.get("name")) for each in running) or "none"
        raise ValueError(f"{config}: no application {name or f'with code: {CODE}'}; those that run sequences: {known}")
    if len(chosen) > 1:
        known = ", ".join(str(each.get("name")) for each in chosen)
        raise ValueError(f"{config}: several applications run sequences, say which by --application: {known}")
    own = chosen[0].get("configuration")
    if own is None:
        raise ValueError(f"{config}: the application {chosen[0].get('name')} has no `configuration`, its own file")
    period = chosen[0].get("period_turns") or (read.get("setpoints") or {}).get("period_turns") or 1
    rate_hz = float(read.get("turn_rate_hz", DEFAULT_TURN_RATE_HZ)) / float(period)
    return Application(str(chosen[0]["name"]), config.parent / str(own), rate_hz)


def simulate_sequence(
    config: Path,
    overlay: Path | None,
    name: str,
    out: Path,
    *,
    application: str | None = None,
    values: Mapping[str, float] | None = None,
    at: Iterable[str] = (),
    seconds: float | None = None,
    progress: Progress = lambda *_: None,
) -> Simulated:
    """Runs the sequence of that name to its end. ``at`` counts from its begin, as "0.5:drop=bpm01".

    Raises ValueError, SequenceErrors, SimulationError.
    """
    owner = find_application(config, application)
    file = read_sequences(owner.configuration)
    sequence = file.sequence(name)
    places = {file.variable(variable)[0]: value for variable, value in (values or {}).items()}
    events = [f"0:{owner.name}/variable[{place}]={value!r}" for place, value in places.items()]
    events += [f"{BEFORE_S}:{owner.name}/run={sequence.number}", *map(_shifted, at)]
    most = seconds if seconds is not None else min(MOST_S, _longest_s(sequence))
    words = arguments(
        config,
        overlay,
        owner.name,
        out,
        seconds=most,
        until=f"result:{Result.DONE}:{AFTER_S}",
        at=events,
        record=RECORD,
    )
    _run(words, out, lambda streams: _tell(streams, owner.rate_hz, file, progress))
    return look(Simulation.load(out), file, sequence)


def look(run: Simulation, file: SequenceFile, sequence: Sequence) -> Simulated:
    """What a simulation has left, of which the sequence was run."""
    trace = columns_of(run.stream("trace"))
    turns = run.summary["first_turn"] + np.arange(run.cycles) * run.summary["period_turns"]
    passages, marks = passages_of(file, trace, turns), marks_of(file, trace, turns)
    end = ended(trace)
    result = Result(int(trace["result"][-1]))
    return Simulated(
        run,
        file,
        sequence,
        tuple(passages),
        tuple(marks),
        result if end is not None else Result.RUNNING,
        Cause(int(trace["cause"][-1])),
    )


def _shifted(event: str) -> str:
    """On the simulation's clock."""
    seconds, colon, what = event.partition(":")
    try:
        return f"{float(seconds) + BEFORE_S!r}:{what}" if colon else event
    except ValueError:
        raise ValueError(f"--at {event}: found {seconds!r}, expected seconds from the sequence's begin") from None


def _longest_s(sequence: Sequence) -> float:
    """Its timeout, and what its way out may take."""
    if sequence.timeout_s is None:
        return MOST_S
    return sequence.timeout_s + sum(state.timeout_s or 0 for state in sequence.states) + AFTER_S + BEFORE_S


def _run(words: list[str], out: Path, tell: Callable[[Path], None]) -> None:
    """The program, to its end; Ctrl-C reaches it too, and it ends in good order."""
    streams = out / "streams.f32"
    streams.unlink(missing_ok=True)
    with TemporaryFile("w+") as told:
        with subprocess.Popen(
            [find_program(PROGRAM), *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=told
        ) as running:
            try:
                while running.poll() is None:
                    sleep(LOOK_S)
                    tell(streams)
            except KeyboardInterrupt:
                running.wait()
                raise
        told.seek(0)
        said = told.read().strip()
    if running.returncode != 0:
        raise SimulationError(said.removeprefix(f"{PROGRAM}: ") or f"it ended with status {running.returncode}")


def _tell(streams: Path, rate_hz: float, file: SequenceFile, progress: Progress) -> None:
    """How far it is, by the newest record of its only stream."""
    try:
        size = streams.stat().st_size // TRACE_BYTES * TRACE_BYTES
        with streams.open("rb") as opened:
            opened.seek(max(0, size - TRACE_BYTES))
            newest = np.frombuffer(opened.read(TRACE_BYTES), np.float32)
    except OSError:
        return
    if len(newest):
        placed = file.place(int(newest[STATE_LANE]))
        progress(size / TRACE_BYTES / rate_hz - BEFORE_S, placed[1].name if placed else "")
