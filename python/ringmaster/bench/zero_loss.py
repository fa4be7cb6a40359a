# SPDX-License-Identifier: Apache-2.0
"""The highest rate without loss, searched as RFC 2544 (section 26.1) does: trials, each of a stated duration.

A trial passes when the sender held the rate and no more than the tolerated number of datagrams was lost. On a virtual
link the sender waits while the link is full, so nothing is lost there and the rate is not held: that fails, too. The
search halves the interval between a rate that passed and one that failed until it is as small as the resolution.

A receiver that the machine keeps from its core cannot be lossless, however low the rate. A trial that failed with such
a stall in it is tried once more; what failed for a stall even then is said to have.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

BUFFERED_DATAGRAMS = 512
"""About what a link and its ring hold: a gap that lets more come is a stall that explains a loss."""
STALL_US = 1000.0
"""Shorter gaps are the program's own, or it could not poll at all."""


@dataclass(frozen=True)
class Trial:
    """One rate for the stated time."""

    pps: float
    """Asked for."""
    lost: int
    """On the way: not the sender's own."""
    unheld: int
    """Datagrams that the sender could not send in time."""
    longest_gap_us: float
    """Of the receiver."""
    tolerance: int

    @property
    def passed(self) -> bool:
        """Whether the rate is one without loss."""
        return self.unheld == 0 and self.lost <= self.tolerance

    @property
    def stalled(self) -> bool:
        """Whether the machine kept the receiver from its core for longer than the link holds what comes meanwhile."""
        return self.longest_gap_us >= STALL_US and self.longest_gap_us * 1e-6 * self.pps > BUFFERED_DATAGRAMS

    @property
    def why(self) -> str:
        """What it failed for; "" of one that passed."""
        if self.passed:
            return ""
        lost = f"{self.lost} lost" if self.lost else "rate not held"
        return f"{lost}: stall of {self.longest_gap_us / 1e3:.1f} ms" if self.stalled else lost


@dataclass
class Search:
    """How it went."""

    best_pps: float = 0.0
    """0: not even the lowest rate passed."""
    trials: list[Trial] = field(default_factory=list)

    @property
    def limit(self) -> Trial | None:
        """The lowest trial that failed above the best: what bounds it. None: nothing failed there."""
        failed = [trial for trial in self.trials if not trial.passed and trial.pps > self.best_pps]
        return min(failed, key=lambda trial: trial.pps, default=None)


def search(run: Callable[[float], Trial], highest_pps: float, resolution: float, found: Search | None = None) -> Search:
    """The best rate up to ``highest_pps``, to ``resolution`` (0–1) of that. What is there so far is in ``found``."""
    found = found if found is not None else Search()
    low, high = 0.0, highest_pps
    rate = highest_pps
    while True:
        trial = _attempt(run, rate, found)
        if trial.passed:
            low = found.best_pps = rate
        else:
            high = rate
        if high - low <= resolution * highest_pps or low == highest_pps:
            return found
        rate = (low + high) / 2


def _attempt(run: Callable[[float], Trial], pps: float, found: Search) -> Trial:
    """Once, or twice where the machine was in the way."""
    for _ in range(2):
        trial = run(pps)
        found.trials.append(trial)
        if trial.passed or not trial.stalled:
            break
    return trial


def most_trials(resolution: float) -> int:
    """Rates that a search tries, at most."""
    count, width = 1, 1.0
    while width > resolution:
        width /= 2
        count += 1
    return count
