# SPDX-License-Identifier: Apache-2.0
"""Running one variant of the latency test: programs, edges as they come, and the turns around each.

The process that looks needs a core too, and there may be but the two that are measured. So it looks once per edge, half
way to the next, when the step is over: three rows stay in memory, the turns stay longer, and both say when they were.
"""

from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep

import numpy as np

from ringmaster.bench.latency_edges import NoStep, Step, around, find_step
from ringmaster.bench.latency_setups import APPLICATION, BPM, CHAIN, LANE, Variant, edge_turns, ring, server
from ringmaster.bench.log import NotMeasured
from ringmaster.bench.transmit_latency import HISTOGRAM
from ringmaster.bench.workspace import own_workspace
from ringmaster.fabric.counters import lost
from ringmaster.fabric.histogram import HistogramReading
from ringmaster.fabric.setpoints import SetpointVector
from ringmaster.fabric.workspace import Workspace
from ringmaster.monitor.monitor import RECEIVE_LATENCY
from ringmaster.programs.cores import cores
from ringmaster.programs.program import START_S, Program, attach_to
from ringmaster.programs.remains import scratch_folder
from ringmaster.report.conditions import busiest_share, run_times_ns

LOOK_TURNS, LOOK_S = 2400, 4e-3
"""Turns before and after an edge that are looked at, at most: a ring that was late shows it late."""
BEFORE_S, AFTER_S = 150e-6, 600e-6
"""At least."""
SETTLE_S = 1.0
"""For the turn clock, and for memory that is touched for the first time."""
TIMEOUT_PERIODS = 20
TIMEOUT_S = 0.1
"""For the turns after an edge, where the ring is late."""
LOST = ("unsent", "unanswered", "gaps", "old_term", "misdirected")
"""Counters of a chain that tell of setpoints or answers that did not come."""


@dataclass
class Run:
    """What one variant gave."""

    variant: str
    turn_rate_hz: float
    steps: list[Step] = field(default_factory=list)
    unseen: int = 0
    """Rows that were gone before anybody looked."""
    without_step: dict[str, int] = field(default_factory=dict)
    """Edges whose step was not found, by the reason."""
    faults: dict[str, int] = field(default_factory=dict)
    """What was lost meanwhile, by counter."""
    cycles: int = 0
    led: int = 0
    """Of the cycles, those that went out by a row."""
    sent_ns: dict[str, float] = field(default_factory=dict)
    """Row committed to its datagram handed to the port, as the server counts."""
    visible_ns: dict[str, float] = field(default_factory=dict)
    """A burst's arrival to its records' being visible."""
    done: float = 0.0
    """Of the time, 0–1."""
    ring_share: float = 1.0
    server_share: float = 1.0
    """Of its core that each had."""


@dataclass
class _Machine:
    """Server and ring, running."""

    server: Program
    ring: Program
    ws: Workspace
    turn_rate_hz: float

    @property
    def edge_s(self) -> float:
        """From one edge to the next."""
        return edge_turns(self.turn_rate_hz) / self.turn_rate_hz

    def check(self) -> None:
        """Raises ProgramFailed when one has ended."""
        self.server.check()
        self.ring.check()


@contextmanager
def _machine(variant: Variant, turn_rate_hz: float) -> Iterator[_Machine]:
    ring_core, server_core = cores()
    with ExitStack() as stack:
        root = Path(stack.enter_context(scratch_folder("bench")))
        workspace = stack.enter_context(own_workspace())
        server_config, overlay = root / "server.yaml", root / "ring.yaml"
        server_config.write_text(server(workspace, root, server_core, turn_rate_hz))
        overlay.write_text(ring(ring_core, variant))
        serving = stack.enter_context(Program("ringmaster-server", "run", server_config))
        attach_to(workspace, serving).close()
        sending = stack.enter_context(Program("ringmaster-instruments", "run", server_config, overlay))
        ws = attach_to(workspace, serving, ("server", "ring", APPLICATION))
        stack.callback(ws.close)
        ws.put(f"{APPLICATION}/enable", 1.0, timeout=START_S)
        yield _Machine(serving, sending, ws, turn_rate_hz)


def _wait_for_edges(machine: _Machine) -> SetpointVector:
    """Until the square wave goes up and down and the server sends it; returns the newest row."""
    rows, sent = machine.ws.setpoints[APPLICATION], machine.ws.setpoints["sent"]
    levels, went = set[float](), set[float]()
    give_up = monotonic() + START_S
    while len(levels) < 2 or len(went) < 2:
        machine.check()
        if monotonic() > give_up:
            state = {name: dict(block) for name, block in machine.ws.counter_blocks.items() if "transmit" in name}
            raise NotMeasured(f"no square wave after {START_S:.0f} s: {len(levels)} levels, {state}")
        for found, into in ((rows.read(), levels), (sent.read(), went)):
            if found is not None and np.isfinite(found.values[0]):
                into.add(float(found.values[0]))
        sleep(machine.edge_s / 3)
    row = rows.read()
    assert row is not None
    return row


class _Watch:
    """Sees every edge of a running machine, once."""

    def __init__(self, machine: _Machine, run: Run) -> None:
        self._machine, self._run = machine, run
        self._rows = machine.ws.setpoints[APPLICATION]
        self._stream = machine.ws.streams[f"{BPM}/turn"]
        self._seen = _wait_for_edges(machine)
        self._tsc_hz = machine.ws.clock.read().tsc_hz

    def next_row(self) -> SetpointVector:
        """Waits for the next edge. Raises NotMeasured where none comes."""
        give_up = monotonic() + TIMEOUT_PERIODS * self._machine.edge_s + 1.0
        while (row := self._rows.read()) is None or row.number == self._seen.number:
            self._machine.check()
            if monotonic() > give_up:
                raise NotMeasured("the square wave has stopped: the server or its application lost its core")
            sleep(self._machine.edge_s / 8)
        return row

    def look(self, counted: bool) -> None:
        """Sees one edge, and the turns around it; then rests until half way between the next two."""
        row = self.next_row()
        if counted:
            self._run.unseen += row.number - self._seen.number - 1
            if row.number == self._seen.number + 1 and row.values[0] != self._seen.values[0]:
                self._take(row)
        self._seen = row
        age_s = max(0.0, (self._stream.published_tsc - row.tsc) / self._tsc_hz)
        sleep(max(0.0, 1.5 * self._machine.edge_s - age_s))

    def _take(self, row: SetpointVector) -> None:
        clock, hz = self._machine.ws.clock.read(), self._machine.turn_rate_hz
        turn, after = clock.turn_at(row.tsc), round(AFTER_S * hz)
        try:
            if not self._stream.wait(turn + after, TIMEOUT_S):
                raise NoStep(f"its turns have not come within {TIMEOUT_S} s")
            far = min(edge_turns(hz) - after, max(LOOK_TURNS, round(LOOK_S * hz)))
            last = min(self._stream.head or 0, turn + far)
            window = self._stream.read(turn - far, last - turn + far)
            near = around(row.tsc, window.tsc, round(BEFORE_S * hz))
            step = find_step(row.tsc, window.tsc[near], window.values(LANE)[near], clock.tsc_hz, 1e6 / hz)
        except NoStep as error:
            self._run.without_step[str(error)] = self._run.without_step.get(str(error), 0) + 1
        else:
            self._run.steps.append(step)


def _faults(ws: Workspace) -> dict[str, int]:
    """What was lost so far, by counter."""
    chain = ws.counters(f"chain/{CHAIN}")
    found = {f"{CHAIN}: {name}": chain[name] for name in LOST}
    found |= {f"{BPM}: lost": lost(ws.counters(f"stream/{BPM}"))}
    return found | {"cycles skipped": ws.counters("transmit")["skipped"]}


def _histograms(ws: Workspace) -> tuple[HistogramReading, HistogramReading]:
    return ws.histograms[HISTOGRAM].read(), ws.histograms[RECEIVE_LATENCY].read()


def _cycles(ws: Workspace) -> tuple[int, int]:
    counts = ws.counters("transmit")
    return counts["cycles"], counts["led"]


@contextmanager
def _counted(machine: _Machine, run: Run) -> Iterator[None]:
    """Fills in what is counted between entering and leaving, however it is left."""
    ws, begin = machine.ws, monotonic()
    faults, histograms, cycles = _faults(ws), _histograms(ws), _cycles(ws)
    times = run_times_ns(machine.ring.pid), run_times_ns(machine.server.pid)
    try:
        yield
    finally:
        seconds = monotonic() - begin
        run.faults = {name: now - faults[name] for name, now in _faults(ws).items() if now > faults[name]}
        sent, visible = (now.since(then) for now, then in zip(_histograms(ws), histograms, strict=True))
        run.sent_ns, run.visible_ns = sent.summary(), visible.summary()
        run.cycles, run.led = (now - then for now, then in zip(_cycles(ws), cycles, strict=True))
        run.ring_share = _share(times[0], machine.ring, seconds)
        run.server_share = _share(times[1], machine.server, seconds)


def _share(before: dict[int, int], program: Program, seconds: float) -> float:
    return busiest_share(before, run_times_ns(program.pid), seconds) if program.running else 0.0


def measure(variant: Variant, seconds: float, turn_rate_hz: float) -> Generator[Run]:
    """Starts server and ring, and watches edges for so long. Raises NotMeasured, ProgramFailed.

    Yields the run, the same each time, after every edge and in the end: who is interrupted has what there is.
    """
    run = Run(variant.name, turn_rate_hz)
    with _machine(variant, turn_rate_hz) as machine:
        watch = _Watch(machine, run)
        settled = monotonic() + SETTLE_S
        while monotonic() < settled:
            watch.look(counted=False)
        with _counted(machine, run):
            begin = monotonic()
            while run.done < 1.0:
                watch.look(counted=True)
                run.done = min(1.0, (monotonic() - begin) / seconds)
                yield run
    yield run
