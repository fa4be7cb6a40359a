# SPDX-License-Identifier: Apache-2.0
"""The demonstration's loop: the orbit feedback on a living machine, open first, then closed, and what that came to."""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

import numpy as np

from ringmaster.fabric.workspace import Workspace
from ringmaster.feedback.names import State
from ringmaster.monitor.feedback import RECORDS, FeedbackFigures, Motion, read_feedback, read_motion
from ringmaster.monitor.figures import READBACK
from ringmaster.monitor.monitor import Monitor
from ringmaster.places import CONFIGS
from ringmaster.programs.cores import cores
from ringmaster.programs.program import Program, ProgramFailed, attach_to
from ringmaster.programs.remains import release_workspace, scratch_folder
from ringmaster.virtual.ring import OWNERS, VirtualRing, adapted

LATTICE = "elettra2_like"
LEAST_TURN_RATE_HZ = 600_000.0
"""Below, cycles come too seldom for the feedback's file as it is: 5 kHz, and the integral is made for 9.6."""
SETTLES_S = 2.5
"""From the loop closed to its full gain, and until integrals and resonators have what they need."""
CLOSES_S = 10.0
LOOKS_APART_S = 0.1
"""What the ring has let pass is then known to be unsent."""
GOLDEN_S = 1.0
"""Over which the orbit is averaged that is wanted from then on: fifty periods of the mains."""
ARRIVES_S = 5.0
"""At most, until the golden orbit is where it shall be: it goes there at a configured speed."""
FEW_CORES = 2
SHARED_GAIN = 0.4
"""Of the loop where cores are shared: what it does between two gaps is nobody's to mend until the next one is over."""
STABLE_HZ = 1.0
"""Looks per second of the console where it shares the ring's core."""
NICENESS = 10
GENTLY = ("nice", "-n", str(NICENESS))
"""Words before a command that leaves the cores to the ring and the server."""
TUNE = "tune"
"""The application that measures it, in the server's file."""
GOLDEN_SPEED_UM_S = 100.0
"""As the feedback's file has it, where it has none."""
ANSWER_TURNS = 12
"""Delay of the loop's computer in simulated time: 10 µs, as in `ringmaster simulate`."""
NO_DEADLINE_TURNS = 1_000_000
"""So long no pause of the host is, as clocks of simulated time see it."""
TIMEOUT_S = 10.0
START_S = 20.0


@dataclass(frozen=True)
class Shipped:
    """A ring and its feedback, as files of configs/."""

    workspace: str
    server: str
    overlay: str
    """What only the virtual ring has."""
    feedback: str
    """Its own file, which says which BPM and corrector is which element, too."""
    matrix: str
    """As the feedback's own file names it."""
    tune: str = ""
    """The own file of the application `tune`; empty where the ring has none."""
    tune_runs: bool = True
    """In real time; a measurement of the loop does without."""

    @property
    def own_files(self) -> tuple[str, ...]:
        """Those of its applications."""
        return tuple(filter(None, (self.feedback, self.tune)))


ELETTRA2 = Shipped(
    *("feedback", "feedback.yaml", "feedback-ring.yaml"),
    *("feedback-elettra2.yaml", "elettra2-response.csv", "tune-elettra2.yaml"),
)
ELETTRA = Shipped(
    *("elettra", "elettra.yaml", "elettra-ring.yaml"),
    *("feedback-elettra.yaml", "elettra-response.csv"),
)


class Loop(VirtualRing):
    """A ring like Elettra 2.0 with its feedback. Made by ``start``; the loop is open until ``close``.

    Where it is ``simulated``, seconds that are waited for are the ring's: `pass_time`.
    """

    simulated = False
    others: tuple[str, ...] = ()
    """Applications beside the feedback that are waited for, too."""

    def pass_time(self, seconds: float, least_s: float = 0.0) -> None:
        """Lets so many seconds pass on the clock, and at least ``least_s`` (or as many) of the ring's."""
        begin, turns = monotonic(), self.turns()
        least_turns = (least_s or seconds) * self.turn_rate_hz if self.simulated else 0.0
        while (left := begin + seconds - monotonic()) > 0 or self.turns() - turns < least_turns:
            self.check()
            sleep(min(0.1, max(0.01, left)))

    def cycle_hz(self) -> float:
        """Cycles of the feedback per second of the ring."""
        return self.turn_rate_hz / self.ws.streams[f"{self.figures().name}/orbit"].period

    def whole_cycles(self) -> int:
        """Steps of the feedback that had all their inputs, so far."""
        host = self.ws.counter_blocks[f"application/{self.figures().name}"]
        return int(host["steps"] - host["late"])

    def figures(self) -> FeedbackFigures:
        """Of the feedback; raises ProgramFailed where a program has ended."""
        give_up = monotonic() + START_S
        while True:
            self.check()
            self.follow()
            figures = read_feedback(self.ws)
            if figures is not None and all(name in self.ws.segments for name in self.others):
                return figures
            if monotonic() > give_up:
                names = " and ".join(("the feedback", *self.others))
                raise ProgramFailed(f"{names}: not at work after {START_S:.0f} s: {self.server.words}")
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
        self.ws.put(f"{self.figures().name}/{name}", value, timeout=TIMEOUT_S)

    def take_golden(self) -> float:
        """Wants the orbit that there is, as `ringmaster feedback golden current` does; returns the farthest BPM's, µm.

        What stands still is the BPMs' own offsets and errors that an operator has steered away as far as they go: fast
        correctors that were asked for zero would have nothing left for what moves.
        """
        from ringmaster.feedback.golden import current_orbit, rate_of
        from ringmaster.feedback.loop import Feedback

        name = self.figures().name
        self.pass_time(GOLDEN_S)
        self.follow()
        feedback = Feedback(self.ws, name, timeout_s=TIMEOUT_S)
        rows = feedback.need_matrix().rows
        mean, _ = current_orbit(self.ws, rows, rate_of(self.ws, rows), GOLDEN_S)
        feedback.put_array("golden", np.where(np.isfinite(mean), np.round(mean), 0.0))
        farthest = float(np.nanmax(np.abs(mean))) * 1e-3
        self.pass_time(min(ARRIVES_S, farthest / GOLDEN_SPEED_UM_S + 0.2))
        return farthest

    def soften(self) -> None:
        """Lowers its gain where the cores are shared, and time is real."""
        if len(os.sched_getaffinity(0)) <= FEW_CORES and not self.simulated:
            self.put("gain", SHARED_GAIN)

    def close(self) -> FeedbackFigures:
        """Closes the loop, and waits until it is at work, or will not be."""
        self.put("loop", 1.0)
        return self.settled()

    def settled(self) -> FeedbackFigures:
        """Waits until it is on, or will not be. For a moment it holds now and then, where cores are shared."""
        passed_s = 0.0
        while (figures := self.figures()).mostly not in (State.ON, State.FAULT) and passed_s < CLOSES_S:
            self.pass_time(0.1)
            passed_s += 0.1
        return figures

    def motion(self) -> Motion | None:
        """Of the orbit, over the newest second."""
        return read_motion(self.ws, self.figures().name)

    def orbit_rms_um(self) -> dict[str, float]:
        """Of the whole orbit: root mean square over the same second."""
        window = self.ws.streams[f"{self.figures().name}/orbit"].latest(RECORDS)
        means = {plane: np.nanmean(np.square(window.values(f"rms_{plane}"))) for plane in "xy"}
        return {plane: float(np.sqrt(mean)) for plane, mean in means.items()}

    def span_s(self) -> float:
        """Time that goes into a spectrum."""
        return RECORDS * self.ws.streams[f"{self.figures().name}/orbit"].period / self.turn_rate_hz

    def lost(self) -> int:
        """Records that the instruments' streams lack, less those that the ring never sent; as the console counts them.

        The heads have gone past them. So what is still under way is not among them, however long the host holds it up,
        and what arrives meanwhile hides none.
        """
        monitor = Monitor(self.ws)
        sleep(LOOKS_APART_S)
        instruments = monitor.look(beam=False).streams
        return sum(one.lost for one in instruments if one.kind != READBACK)


def stable_rate_hz() -> float | None:
    """How often a console may look beside the ring; None: as often as it likes. Lowers this process' own priority."""
    if len(os.sched_getaffinity(0)) > FEW_CORES:
        return None
    os.nice(NICENESS)
    return STABLE_HZ


def make_matrix(directory: Path, shipped: Shipped) -> Path:
    """The response matrix of the design lattice, as the feedback's file wants it beside itself."""
    from ringmaster.feedback.from_twin import twin_matrix
    from ringmaster.feedback.matrix import save_csv
    from ringmaster.machine.mapping import read_mapping, resolve
    from ringmaster.twin import Twin, load_lattice

    lattice = load_lattice(LATTICE)
    twin = Twin(lattice)
    twin.enable_6d()
    path = directory / shipped.matrix
    save_csv(path, twin_matrix(twin, resolve(lattice, read_mapping(CONFIGS / shipped.feedback))))
    return path


@contextmanager
def prepare(shipped: Shipped = ELETTRA2) -> Iterator[Path]:
    """A folder with the matrix and the feedback's file, for any number of starts."""
    with scratch_folder("demo") as name:
        directory = Path(name)
        make_matrix(directory, shipped)
        for own in shipped.own_files:
            shutil.copy(CONFIGS / own, directory)
        yield directory


def simulate_time(server: Path, overlay: Path) -> None:
    """Makes the ring wait for the loop: in these two files, which were made for real time.

    It waits for the server alone, so the tune is measured inside of it: no step is skipped.
    """
    text = re.sub(r"(?<=deadline_turns: )\d+", str(NO_DEADLINE_TURNS), server.read_text())
    text = re.sub(rf"^( *)code: {TUNE}\n", r"\g<0>\1hosted: true\n", text, flags=re.MULTILINE)
    if f"code: {TUNE}\n" in text:  # on the core of the feedback
        text = re.sub(
            r"^(.*role: application.*application: )feedback}\n", rf"\g<0>\1{TUNE}}}\n", text, flags=re.MULTILINE
        )
    server.write_text(text + "\nsimulated_time: true\n")
    with overlay.open("a") as file:
        file.write(f"\nanswer_turns: {ANSWER_TURNS}\n")


@contextmanager
def start(
    directory: Path,
    turn_rate_hz: float,
    shipped: Shipped = ELETTRA2,
    simulated: bool = False,
    beside: Callable[[ExitStack, Workspace], None] = lambda _stack, _ws: None,
) -> Iterator[Loop]:
    """Starts the server with its feedback, then the ring, and waits until both are seen; ends them on leaving.

    ``beside`` may start more in between, while nothing has been received yet.
    """
    ring_core, server_core = cores()
    with ExitStack() as stack:
        server_config = adapted(shipped.server, directory, turn_rate_hz, server_core)
        overlay = adapted(shipped.overlay, directory, turn_rate_hz, ring_core)
        if simulated:
            simulate_time(server_config, overlay)
        stack.callback(release_workspace, shipped.workspace)
        server = stack.enter_context(Program("ringmaster-server", "run", server_config))
        with attach_to(shipped.workspace, server) as empty:
            beside(stack, empty)
        has_tune = bool(shipped.tune) and (simulated or shipped.tune_runs)
        if has_tune and not simulated:
            stack.enter_context(Program("ringmaster-application", server_config, TUNE, prefix=GENTLY))
        ring = stack.enter_context(Program("ringmaster-instruments", "run", server_config, overlay))
        ws: Workspace = attach_to(shipped.workspace, server, OWNERS)
        loop = Loop(server, ring, ws, turn_rate_hz)
        loop.simulated = simulated
        loop.others = (TUNE,) if has_tune else ()
        stack.callback(lambda: loop.ws.close())
        yield loop
