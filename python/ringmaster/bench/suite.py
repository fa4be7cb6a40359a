# SPDX-License-Identifier: Apache-2.0
"""Many benches one after the other, in a stated time.

Each bench gets its share of what is left, and sizes itself by it. One that takes longer all the same is stopped as
Ctrl-C would, and gives what it has; so the whole never takes much longer than stated. One that fails is noted, and the
others go on. A real Ctrl-C ends the suite with what there is.
"""

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from types import FrameType

from ringmaster.bench.benches import Bench
from ringmaster.bench.log import NotMeasured
from ringmaster.bench.measurement import Say, Step
from ringmaster.places import ProgramNotFound
from ringmaster.programs.program import ProgramFailed
from ringmaster.report.section import Section

LEAST_S = 1.0
"""A bench is not begun with less than this."""
PLANNED = 0.8
"""Of its time that a bench plans with; the rest is for what takes longer than it should."""


class TimeIsUp(KeyboardInterrupt):
    """A bench's time is over; it ends in good order, as by Ctrl-C."""


@dataclass
class Outcome:
    """What the suite has to say."""

    sections: list[Section] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Which benches are missing, or were stopped, and why."""
    failed: list[str] = field(default_factory=list)
    """Benches that broke."""
    interrupted: bool = False


@dataclass(frozen=True)
class Watch:
    """How the suite tells how far it is."""

    say: Say
    begin: Callable[[str, int], None]
    """A bench, and as often as it will step."""
    step: Step


@contextmanager
def at_most(seconds: float) -> Iterator[list[float]]:
    """Raises TimeIsUp within it when that long is over, once; what it gives has an entry then. Main thread only."""
    rung: list[float] = []

    def ring(_signal: int, _frame: FrameType | None) -> None:
        rung.append(seconds)
        raise TimeIsUp

    begin = monotonic()
    handler = signal.signal(signal.SIGALRM, ring)
    left_s, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield rung
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if left_s > 0:  # another one's alarm
            signal.setitimer(signal.ITIMER_REAL, max(0.001, left_s - (monotonic() - begin)))


def run_suite(benches: Sequence[Bench], seconds: float, watch: Watch) -> Outcome:
    """Runs them in their order. What is left by one is the others'."""
    outcome = Outcome()
    end = monotonic() + seconds
    for i, bench in enumerate(benches):
        left_s = (end - monotonic()) * bench.share / sum(one.share for one in benches[i:])
        if left_s < LEAST_S:
            _note(outcome, watch, f"{bench.name}: left out: no time was left; give the suite more")
            continue
        try:
            _run(bench, left_s, outcome, watch)
        except KeyboardInterrupt:
            outcome.interrupted = True
        if outcome.interrupted:
            _note(outcome, watch, f"interrupted in {bench.name}: what follows is what was measured until then")
            break
    return outcome


def _note(outcome: Outcome, watch: Watch, line: str) -> None:
    outcome.notes.append(line)
    watch.say(line)


def _run(bench: Bench, seconds: float, outcome: Outcome, watch: Watch) -> None:
    section = None
    with at_most(seconds) as rung:
        try:
            steps, measure = bench.plan(PLANNED * seconds)
            watch.begin(bench.name, steps)
            section = measure(lambda line: watch.say(f"{bench.name}: {line}"), watch.step)
        except TimeIsUp:
            pass
        except (NotMeasured, ModuleNotFoundError, ProgramNotFound) as error:
            _note(outcome, watch, f"{bench.name}: not measured: {error}")
            return
        except (Exception, SystemExit) as error:  # whatever it is, the others go on
            outcome.failed.append(bench.name)
            words = str(error) if isinstance(error, ProgramFailed) else f"{type(error).__name__}: {error}"
            _note(outcome, watch, f"{bench.name}: failed: {words}")
            return
    if section is not None:
        outcome.sections.append(section)
        outcome.interrupted = section.interrupted and not rung
    if rung:
        kept = "what it had is below" if section is not None else "it had nothing yet"
        _note(outcome, watch, f"{bench.name}: stopped after its {seconds:.0f} s: {kept}")
