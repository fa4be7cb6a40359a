# SPDX-License-Identifier: Apache-2.0
"""What a machine carries of the demonstration's loop in real time, and how late its answers are."""

import re
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

import numpy as np

from ringmaster.programs.cores import allowed_cores
from ringmaster.virtual.loop import ELETTRA2, FEW_CORES, LEAST_TURN_RATE_HZ, Loop, Shipped, start
from ringmaster.virtual.ring import FULL_TURN_RATE_HZ, HEADROOM, TRIALS, achieved_turn_rate_hz

CARRIES = 0.98
"""With this share of its cycles the loop attenuates as it should; with 95 % it leaves ten times the motion."""
TRIAL_WARMS_S = 1.5
"""Memory is touched for the first time, and the matrix is solved: no trial is fair before."""
TRIAL_S = 1.0
WARMS_S = 3.0
"""So too, for a trial that takes its time."""
AGES_S = 2.0
"""Over which it is learnt how old answers are."""
HOLDS = 0.93
"""The loop holds with this share of its turns: stalls take some from any ring that shares its core."""
ALONE = 0.8
"""Share of what a ring sends without a person who looks and a loop that is closed, at which it keeps up with both."""
SHARES_OF_AGE = (50.0, 95.0)
"""Halfway between these percentiles lies a delay that a model may be off by to either side."""


@dataclass(frozen=True)
class Carried:
    """What a machine carried of the loop in real time, for a while."""

    share: float
    """Of the feedback's cycles: those with all their inputs."""
    answers_after_us: float
    """How old the feedback's setpoints are when they are committed: halfway between SHARES_OF_AGE."""

    @property
    def enough(self) -> bool:
        """Whether the loop attenuates in real time what it would alone on its cores."""
        return self.share >= CARRIES


def watch_cycles(loop: Loop, seconds: float) -> Carried:
    """Looks for so long."""
    name = loop.figures().name
    age = loop.ws.histograms[f"age/{name}"]
    ages, whole, begin = age.read(), loop.whole_cycles(), monotonic()
    sleep(seconds)
    loop.check()
    expected = (monotonic() - begin) * loop.cycle_hz()
    since = age.read().since(ages)
    after_us = float(np.mean([since.percentile_ns(percent) for percent in SHARES_OF_AGE])) * 1e-3
    return Carried((loop.whole_cycles() - whole) / expected, after_us)


def try_real_time(directory: Path, turn_rate_hz: float, shipped: Shipped = ELETTRA2) -> Carried:
    """Runs the loop, open, for some seconds."""
    with start(directory, turn_rate_hz, shipped) as loop:
        loop.figures()
        sleep(TRIAL_WARMS_S)
        return watch_cycles(loop, TRIAL_S)


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
        own_us = watch_cycles(loop, AGES_S).answers_after_us
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
        if achieved >= HOLDS * rate or rate <= LEAST_TURN_RATE_HZ:
            break
        rate = max(1000.0, round(HEADROOM * achieved, -3))
    if len(allowed_cores()) <= FEW_CORES and rate > LEAST_TURN_RATE_HZ:
        rate = max(LEAST_TURN_RATE_HZ, min(rate, round(ALONE * achieved, -3)))
    return rate, achieved
