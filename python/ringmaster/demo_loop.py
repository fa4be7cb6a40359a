# SPDX-License-Identifier: Apache-2.0
"""The demonstration's loop: the orbit feedback on a living machine, open first, then closed, and what that came to."""

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic, sleep

import numpy as np

from ringmaster.console.feedback import RECORDS, FeedbackFigures, Motion, decibel, read_feedback, read_motion
from ringmaster.demo import (
    CONFIGS,
    FULL_TURN_RATE_HZ,
    HEADROOM,
    OWNERS,
    TRIALS,
    Demo,
    achieved_turn_rate_hz,
    adapted,
    cores,
    remove_workspace,
)
from ringmaster.feedback.names import State
from ringmaster.programs import Program, ProgramFailed, attach_to
from ringmaster.workspace import Workspace

LATTICE = "elettra2_like"
LEAST_TURN_RATE_HZ = 600_000.0
"""Below, cycles come too seldom for the feedback's file as it is: 5 kHz, and the integral is made for 9.6."""
SETTLES_S = 2.5
"""From the loop closed to its full gain, and until integrals and resonators have what they need."""
CLOSES_S = 10.0
WARMS_S = 3.0
"""Memory is touched for the first time, and the matrix is solved: no trial is fair before."""
AGES_S = 2.0
"""Over which it is learnt how old answers are."""
UNDER_WAY_S = 0.1
CARRIES = 0.93
"""The loop holds with this share of its turns: stalls take some from any ring that shares its core."""
ALONE = 0.8
"""Share of what a ring sends without a person who looks and a loop that is closed, at which it keeps up with both."""
GOLDEN_S = 1.0
"""Over which the orbit is averaged that is wanted from then on: fifty periods of the mains."""
ARRIVES_S = 5.0
"""At most, until the golden orbit is where it shall be: it goes there at a configured speed."""
FEW_CORES = 2
SHARED_GAIN = 0.4
"""Of the loop where cores are shared: what it does between two gaps is nobody's to mend until the next one is over."""
CALM_HZ = 1.0
"""Looks per second of the console where it shares the ring's core."""
NICENESS = 10
GOLDEN_SPEED_UM_S = 100.0
"""As the feedback's file has it, where it has none."""
PATIENCE_S = 5.0
MAINS_HZ = 50.0
START_S = 20.0
SHARES_OF_AGE = (50.0, 95.0)
"""Halfway between these percentiles lies a delay that a model may be off by to either side."""


@dataclass(frozen=True)
class Shipped:
    """A ring and its feedback, as files of configs/."""

    workspace: str
    server: str
    ring: str
    feedback: str
    lattice: str
    """Which BPM and corrector is which element."""
    matrix: str
    """As the feedback's own file names it."""


ELETTRA2 = Shipped(
    *("feedback", "feedback.yaml", "ring-feedback.yaml"),
    *("feedback-elettra2.yaml", "feedback-elettra2-lattice.yaml", "elettra2-response.csv"),
)
ELETTRA = Shipped(
    *("elettra", "elettra.yaml", "ring-elettra.yaml"),
    *("feedback-elettra.yaml", "feedback-elettra-lattice.yaml", "elettra-response.csv"),
)


@dataclass(frozen=True)
class Closed:
    """What the loop came to; the JSON has these names under "feedback"."""

    turn_rate_hz: float
    full_turn_rate_hz: float
    cycle_hz: float
    bpms: int
    """Readings in use, of both planes."""
    actuators: int
    state: str
    why: str
    """Why it is not on; empty where it is."""
    orbit_rms_um_open: dict[str, float]
    """Of the whole orbit, what stands still too, over all readings in use."""
    orbit_rms_um_closed: dict[str, float]
    motion_rms_um_open: dict[str, float]
    """Of its motion alone, from 1 Hz on, over some BPMs."""
    motion_rms_um_closed: dict[str, float]
    mains_50_hz_um_open: dict[str, float]
    """Amplitude of the line at 50 Hz."""
    mains_50_hz_um_closed: dict[str, float]
    attenuation_50_hz_db: dict[str, float]
    steps: int
    """Cycles of the feedback."""
    skipped: int
    """Cycles that passed without a step, because the machine did something else."""
    late: int
    """Steps in which an input was missing."""
    lost: int
    """Records of the instruments: what they sent and the server never got, or could not use."""
    passed_turns: int
    """That the ring let pass unsent, because others had its core: nobody lost them."""
    cycles: int
    """Of setpoints, that went out."""
    cycles_skipped: int
    """That did not: a server that comes a whole cycle too late sends none, so that supplies get no two steps at once.
    Their turns have no answer either, which is no loss."""
    unanswered: int
    """Datagrams to chains that no answer came to in time."""
    refused: int
    """Setpoint rows that the guard did not take."""
    seconds: float

    @property
    def faults(self) -> list[str]:
        """What is wrong, in words; empty when nothing is."""
        wrong = [] if self.state == "on" else [f"the loop is {self.state}, not on: {self.why or 'nobody says why'}"]
        if self.lost:
            wrong.append(f"{self.lost} records of instruments lost")
        for plane, less in self.attenuation_50_hz_db.items():
            if not less > 0:
                wrong.append(f"the loop does not attenuate 50 Hz in {plane}: {less:.1f} dB")
        return wrong

    def as_json(self) -> dict[str, object]:
        """Plain dictionaries and numbers."""
        return asdict(self)


class Loop(Demo):
    """A ring like Elettra 2.0 with its feedback. Made by ``start``; the loop is open until ``close``."""

    def figures(self) -> FeedbackFigures:
        """Of the feedback; raises ProgramFailed where a program has ended."""
        give_up = monotonic() + START_S
        while True:
            self.check()
            self.follow()
            figures = read_feedback(self.ws)
            if figures is not None:
                return figures
            if monotonic() > give_up:
                raise ProgramFailed(f"the feedback does not step after {START_S:.0f} s: {self.server.words}")
            sleep(0.5)
            self._renew()  # what was attached while a segment was being made does not look outdated

    def follow(self) -> None:
        """Attaches anew where a segment has come or gone: the feedback makes its own."""
        if self.ws.outdated:
            self._renew()

    def _renew(self) -> None:
        old, self.ws = self.ws, self.attach()
        old.close()

    def put(self, name: str, value: float) -> None:
        """Sets a parameter of the feedback."""
        self.ws.put(f"{self.figures().name}/{name}", value, timeout=PATIENCE_S)

    def take_golden(self) -> float:
        """Wants the orbit that there is, as `ringmaster feedback golden current` does; returns the farthest BPM's, µm.

        What stands still is the BPMs' own offsets and errors that an operator has steered away as far as they go: fast
        correctors that were asked for zero would have nothing left for what moves.
        """
        from ringmaster.feedback.golden import current_orbit, rate_of
        from ringmaster.feedback.loop import Feedback

        name = self.figures().name
        sleep(GOLDEN_S)
        self.follow()
        feedback = Feedback(self.ws, name, patience_s=PATIENCE_S)
        rows = feedback.need_matrix().rows
        mean, _ = current_orbit(self.ws, rows, rate_of(self.ws, rows), GOLDEN_S)
        feedback.put_array("golden", np.where(np.isfinite(mean), np.round(mean), 0.0))
        farthest = float(np.nanmax(np.abs(mean))) * 1e-3
        sleep(min(ARRIVES_S, farthest / GOLDEN_SPEED_UM_S + 0.2))
        return farthest

    def soften(self) -> None:
        """Lowers its gain where the cores are shared."""
        if len(os.sched_getaffinity(0)) <= FEW_CORES:
            self.put("gain", SHARED_GAIN)

    def close(self) -> FeedbackFigures:
        """Closes the loop, and waits until it is at work, or will not be."""
        self.put("loop", 1.0)
        return self.settled()

    def settled(self) -> FeedbackFigures:
        """Waits until it is on, or will not be. For a moment it holds now and then, where cores are shared."""
        give_up = monotonic() + CLOSES_S
        while (figures := self.figures()).mostly not in (State.ON, State.FAULT) and monotonic() < give_up:
            sleep(0.1)
        return figures

    def motion(self) -> Motion | None:
        """Of the orbit, over the newest second."""
        return read_motion(self.ws, self.figures().name)

    def orbit_rms_um(self) -> dict[str, float]:
        """Of the whole orbit: root mean square over the same second."""
        window = self.ws.streams[f"{self.figures().name}/orbit"].latest(RECORDS)
        means = {plane: np.nanmean(np.square(window.values(f"rms_{plane}"))) for plane in "xy"}
        return {plane: float(np.sqrt(mean)) for plane, mean in means.items()}

    def measure(self, open_s: float, closed_s: float) -> Closed:
        """Leaves it open for some seconds, closes it for some, and compares. Call it once; golden is taken."""
        self.put("loop", 0.0)
        begin = monotonic()
        sleep(max(open_s, self._span_s() + 0.5))
        open_motion, open_rms = self.motion(), self.orbit_rms_um()
        self.close()
        sleep(max(closed_s, self._span_s() + SETTLES_S))
        closed_motion, closed_rms = self.motion(), self.orbit_rms_um()
        return self._compared((open_motion, closed_motion), (open_rms, closed_rms), monotonic() - begin)

    def _span_s(self) -> float:
        """Time that goes into a spectrum."""
        return RECORDS * self.ws.streams[f"{self.figures().name}/orbit"].period / self.turn_rate_hz

    def never_came(self) -> int:
        """What instruments have sent, less what is in their streams: looked at a moment later, as some is under way.

        A datagram of many instruments ("bpm") is in as many streams ("bpm01", "bpm02", …): their worst counts.
        """
        blocks = self.ws.counter_blocks
        sent = {name: block["sent"] for name, block in blocks.items() if block.set_name == "sender"}
        sleep(UNDER_WAY_S)
        came = {name: block["accepted"] + block["late"] for name, block in blocks.items() if block.set_name == "stream"}
        return sum(max(0, count - _least_came(came, name.removeprefix("sender/"))) for name, count in sent.items())

    def _compared(
        self,
        motions: tuple[Motion | None, Motion | None],
        rms: tuple[dict[str, float], dict[str, float]],
        seconds: float,
    ) -> Closed:
        figures = self.settled()
        blocks = self.ws.counter_blocks
        host, transmit = blocks[f"application/{figures.name}"], blocks["transmit"]
        chains = {chain for chain in blocks if chain.startswith("chain/")}
        lines = [_of_planes(motion, lambda one, plane: one.line_um(plane, MAINS_HZ)) for motion in motions]
        moving = [_of_planes(motion, lambda one, plane: one.rms_um(plane)) for motion in motions]
        return Closed(
            turn_rate_hz=self.turn_rate_hz,
            full_turn_rate_hz=FULL_TURN_RATE_HZ,
            cycle_hz=self.turn_rate_hz / self.ws.streams[f"{figures.name}/orbit"].period,
            bpms=figures.rows_used,
            actuators=figures.actuators - len(figures.actuators_out),
            state=figures.mostly.name.lower(),
            why="" if figures.mostly == State.ON else "; ".join(figures.missing or figures.cause),
            orbit_rms_um_open=rms[0],
            orbit_rms_um_closed=rms[1],
            motion_rms_um_open=moving[0],
            motion_rms_um_closed=moving[1],
            mains_50_hz_um_open=lines[0],
            mains_50_hz_um_closed=lines[1],
            attenuation_50_hz_db={plane: decibel(lines[0][plane], lines[1][plane]) for plane in "xy"},
            steps=host["steps"],
            skipped=host["skipped"],
            late=host["late"],
            lost=self.never_came(),
            passed_turns=max(block["passed_turns"] for block in blocks.values() if block.set_name == "sender"),
            cycles=transmit["cycles"],
            cycles_skipped=transmit["skipped"],
            unanswered=sum(blocks[chain]["unanswered"] for chain in chains),
            refused=sum(
                value for what, value in blocks[f"guard/{figures.name}"].items() if what.startswith("refused_")
            ),
            seconds=seconds,
        )


def _least_came(came: Mapping[str, int], sender: str) -> int:
    streams = [count for name, count in came.items() if name.removeprefix(f"stream/{sender}").isdigit()]
    return came.get(f"stream/{sender}", min(streams, default=0))


def calm_rate_hz() -> float | None:
    """How often a console may look beside the ring; None: as often as it likes. Lowers this process' own priority."""
    if len(os.sched_getaffinity(0)) > FEW_CORES:
        return None
    os.nice(NICENESS)
    return CALM_HZ


def _of_planes(motion: Motion | None, figure: Callable[[Motion, str], float]) -> dict[str, float]:
    return {plane: float("nan") if motion is None else figure(motion, plane) for plane in "xy"}


def make_matrix(directory: Path, shipped: Shipped) -> Path:
    """The response matrix of the design lattice, as the feedback's file wants it beside itself."""
    from ringmaster.feedback.from_twin import twin_matrix
    from ringmaster.feedback.mapping import read_mapping, resolve
    from ringmaster.feedback.matrix import save_csv
    from ringmaster.twin import Twin, load_lattice

    lattice = load_lattice(LATTICE)
    twin = Twin(lattice)
    twin.enable_6d()
    path = directory / shipped.matrix
    save_csv(path, twin_matrix(twin, resolve(lattice, read_mapping(CONFIGS / shipped.lattice))))
    return path


@contextmanager
def prepare(shipped: Shipped = ELETTRA2) -> Iterator[Path]:
    """A folder with the matrix and the feedback's file, for any number of starts."""
    with tempfile.TemporaryDirectory(prefix="ringmaster-demo-") as name:
        directory = Path(name)
        make_matrix(directory, shipped)
        shutil.copy(CONFIGS / shipped.feedback, directory)
        yield directory


@contextmanager
def start(directory: Path, turn_rate_hz: float, shipped: Shipped = ELETTRA2) -> Iterator[Loop]:
    """Starts the server with its feedback, then the ring, and waits until both are seen; ends them on leaving."""
    ring_core, server_core = cores()
    with ExitStack() as stack:
        server_config = adapted(shipped.server, directory, turn_rate_hz, server_core)
        ring_config = adapted(shipped.ring, directory, turn_rate_hz, ring_core)
        stack.callback(remove_workspace, shipped.workspace)
        server = stack.enter_context(Program("ringmaster-server", "run", server_config))
        attach_to(shipped.workspace, server).close()
        ring = stack.enter_context(Program("ringmaster-instruments", "run", ring_config))
        ws: Workspace = attach_to(shipped.workspace, server, OWNERS)
        loop = Loop(server, ring, ws, turn_rate_hz)
        stack.callback(lambda: loop.ws.close())
        yield loop


def answers_after_us(loop: Loop) -> float:
    """How old the feedback's rows are when they are committed, in µs: halfway between SHARES_OF_AGE."""
    name = loop.figures().name
    age = loop.ws.histograms[f"age/{name}"]
    before = age.read()
    sleep(AGES_S)
    ages = age.read().since(before)
    return float(np.mean([ages.percentile_ns(percent) for percent in SHARES_OF_AGE])) * 1e-3


def add_delay(path: Path, more_us: float) -> None:
    """Makes every `delay_us` of a feedback's file so much longer."""
    path.write_text(re.sub(r"(?<=delay_us: )[\d.]+", lambda of: f"{float(of[0]) + more_us:.1f}", path.read_text()))


def learn_delay(directory: Path, turn_rate_hz: float, shipped: Shipped = ELETTRA2) -> float:
    """Adds what this machine takes to answer a turn to the delays in the feedback's file; returns it, in µs.

    The file has the delays of supplies and BPMs, to which a computer with cores of its own adds little. Two cores that
    are shared add about a cycle, and how much changes: a model that knows of none is wrong by more than it may be.
    """
    with start(directory, turn_rate_hz, shipped) as loop:
        loop.figures()
        sleep(WARMS_S)
        own_us = answers_after_us(loop)
    add_delay(directory / shipped.feedback, own_us)
    return own_us


def find_turn_rate(directory: Path, shipped: Shipped = ELETTRA2) -> tuple[float, float]:
    """The turn rate to run at, and what the machine showed at the last trial; the full rate where it keeps up.

    A ring that only just keeps up is late in every cycle, and where there are but two cores all else wants some of
    them, too: there ALONE of what was sent is asked for.
    """
    rate = FULL_TURN_RATE_HZ
    achieved = 0.0
    for _ in range(TRIALS):
        with start(directory, rate, shipped) as loop:
            sleep(WARMS_S)
            achieved = achieved_turn_rate_hz(loop)
        if achieved >= CARRIES * rate or rate <= LEAST_TURN_RATE_HZ:
            break
        rate = max(1000.0, round(HEADROOM * achieved, -3))
    if len(os.sched_getaffinity(0)) <= FEW_CORES and rate > LEAST_TURN_RATE_HZ:
        rate = max(LEAST_TURN_RATE_HZ, min(rate, round(ALONE * achieved, -3)))
    return rate, achieved
