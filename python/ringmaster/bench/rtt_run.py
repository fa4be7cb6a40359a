# SPDX-License-Identifier: Apache-2.0
"""One round of the round trip test: a reflector at one end of a link, a sender at the other, and what came of it.

The sender works off a schedule: a probe is due when it is due, whatever became of those before it. What the schedule,
the machine or a queue made it wait is in the time from when it was due; what it took once it was sent stands beside.
"""

from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmaster.bench.account import account, complaint, wait_until_ready
from ringmaster.bench.distribution import Distribution, Times
from ringmaster.bench.links import Pair
from ringmaster.bench.placements import Placement
from ringmaster.programs.program import Program, ProgramFailed
from ringmaster.programs.remains import scratch_folder
from ringmaster.report.conditions import busiest_share, class_of, core_to_core_ns, run_times_ns
from ringmaster.report.verdicts import number

LOADS = ("idle", "loaded")
LOOK_S = 0.25
"""Between two looks at who has the cores: rarely, for looking needs a core too."""
TIMEOUT_S = 30.0
"""Beyond its duration: until the sender is connected, and for stragglers."""


@dataclass(frozen=True)
class Variant:
    """What is measured by turns."""

    way: str
    """Name of the link: "memif", "raw", …"""
    placement: Placement
    load: str
    """"idle" or "loaded"."""


@dataclass(frozen=True)
class Probes:
    """How probes are sent, and faults that a test injects to ask for them again."""

    rate_hz: float
    seconds: float
    warm_up_s: float
    size: int
    """Bytes of payload."""
    delay_us: float = 0.0
    drop_every: int = 0


@dataclass
class Round:
    """What one variant gave once."""

    variant: Variant
    due_us: Times
    """Round trips from when each probe was due; of those that came back."""
    sent_us: Times
    """The same from when it was sent."""
    lost: int
    said: dict[str, Any]
    """The sender's own account."""
    distance: str = ""
    """Of the two cores: near, far or mixed."""
    core_to_core_ns: tuple[float, ...] = ()
    """Before and after."""
    sender_share: float = 1.0
    reflector_share: float = 1.0
    """Of its core that each had."""
    reflected: dict[str, Any] = field(default_factory=dict)
    """The reflector's own account."""
    interrupted: bool = False

    @property
    def words(self) -> str:
        """On one line."""
        figures = Distribution.of(self.due_us, self.lost)
        came = (
            f"median {number(figures.quantiles['median'])} µs, most {number(figures.most)}" if figures else "none came"
        )
        return f"{self.variant.way}, {self.variant.load}: {came}, {self.lost} lost, cores {self.distance}"


def round_trips(samples: NDArray[np.uint64], tsc_hz: float) -> tuple[Times, Times, int]:
    """From rows of stamps (due, sent, received; 0 of a lost one): µs from due, µs from sent, and how many were lost."""
    due, sent, received = samples.astype(np.int64).reshape(-1, 3).T
    came = received != 0
    per_us = tsc_hz / 1e6
    return (received - due)[came] / per_us, (received - sent)[came] / per_us, int(np.count_nonzero(~came))


class _Shares:
    """Who has the cores: looked at now and then, told of the last seconds before the sender ended."""

    def __init__(self, *programs: Program) -> None:
        self._programs = programs
        self._looks: list[tuple[float, list[dict[int, int]]]] = []

    def look(self) -> None:
        """Does nothing where one has just ended."""
        try:
            self._looks.append((monotonic(), [run_times_ns(program.pid) for program in self._programs]))
        except (OSError, IndexError):
            return

    def of_the_last(self, seconds: float) -> list[float]:
        """One for each program; 1 where it was too short to tell."""
        since = [look for look in self._looks if look[0] >= self._looks[-1][0] - seconds]
        if len(since) < 2:
            return [1.0] * len(self._programs)
        (begin, before), (end, after) = since[0], since[-1]
        return [busiest_share(*times, end - begin) for times in zip(before, after, strict=True)]


def _reflector(pair: Pair, core: int, probes: Probes) -> Program:
    faults = [("--delay-us", probes.delay_us), ("--drop-every", probes.drop_every)]
    words = [word for name, value in faults if value for word in (name, f"{value:g}")]
    return Program("ringmaster-reflect", pair.right[0], "--core", str(core), *words, prefix=pair.enter_right)


def _sender(pair: Pair, core: int, probes: Probes, samples: Path) -> Program:
    schedule = (
        "--rate",
        f"{probes.rate_hz:.10g}",
        "--seconds",
        f"{probes.seconds:g}",
        "--warm-up",
        f"{probes.warm_up_s:g}",
    )
    link = (pair.left[0], "--core", str(core), "--size", str(probes.size), "--samples", samples)
    return Program("ringmaster-rtt", *link, *schedule, prefix=pair.enter_left)


def _wait_for(sender: Program, reflector: Program, probes: Probes, shares: _Shares) -> bool:
    """Until the sender has ended; false when that was by Ctrl-C."""
    give_up = monotonic() + probes.seconds + probes.warm_up_s + TIMEOUT_S
    try:
        while sender.running:
            reflector.check()
            if monotonic() > give_up:
                raise ProgramFailed(f"{sender.name} has not ended in time: {complaint(sender)}")
            shares.look()
            sleep(LOOK_S)
    except KeyboardInterrupt:
        sender.stop()
        return False
    return True


def run(variant: Variant, pair: Pair, probes: Probes) -> Round:
    """One round. Raises ProgramFailed with what went wrong; Ctrl-C ends it early, with what there is."""
    first, second = variant.placement.cores
    before_ns = core_to_core_ns(first, second)
    with ExitStack() as stack:
        samples = Path(stack.enter_context(scratch_folder("bench"))) / "samples"
        reflector = stack.enter_context(_reflector(pair, second, probes))
        wait_until_ready(reflector)
        sender = stack.enter_context(_sender(pair, first, probes, samples))
        shares = _Shares(sender, reflector)
        finished = _wait_for(sender, reflector, probes, shares)
        try:
            said, reflected = account(sender), account(reflector)
        except ProgramFailed:
            if not finished:  # interrupted so soon that it has nothing to say
                raise KeyboardInterrupt from None
            raise
        stamps = np.fromfile(samples, dtype="<u8")
    sender_share, reflector_share = shares.of_the_last(probes.seconds)
    probed_ns = (before_ns, core_to_core_ns(first, second))
    return Round(
        variant,
        *round_trips(stamps, float(said["tsc_hz"])),
        said,
        distance=class_of(*probed_ns),
        core_to_core_ns=probed_ns,
        sender_share=sender_share,
        reflector_share=reflector_share,
        reflected=reflected,
        interrupted=not finished,
    )
