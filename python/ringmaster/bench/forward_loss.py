# SPDX-License-Identifier: Apache-2.0
"""How much goes through without loss, after RFC 2544: a frame that the link does not take at its time is lost.

A trial offers frames at a rate for some time and counts those that come out. The rates are bisected: the highest
without loss is the non-drop rate (NDR), that with PARTIAL of loss at most the partial-drop rate (PDR). A ring holds
4096 frames, so a core that stands still for longer than they take loses some, whatever it carries: a trial that lost
something and was overlapped by a pause of the ends is repeated, up to TRIES times.
"""

from collections.abc import Callable
from dataclasses import dataclass

from ringmaster.bench.forward_peers import Offer, Through, send_through
from ringmaster.bench.log import NotMeasured

PARTIAL = 0.005
"""Of loss, for the PDR."""
STEPS = 6
"""Halvings: the rate is found within a 64th of what was offered first."""
TRIES = 3
PAUSE_US = 50.0
"""Of the ends: longer ones are a stall."""


@dataclass(frozen=True)
class Trial:
    """One rate."""

    rate_pps: float
    loss: float
    """Share of the frames that were offered and did not come out."""
    stalled: bool
    """The ends paused: what was lost then says little."""


@dataclass(frozen=True)
class Carried:
    """Of one size of frames."""

    peer: str
    bytes: int
    ndr_pps: float
    """0: none was without loss."""
    pdr_pps: float
    trials: tuple[Trial, ...]

    @property
    def words(self) -> str:
        """On one line."""
        stalled = sum(trial.stalled for trial in self.trials)
        return (
            f"{self.bytes} bytes, {self.peer:10s} NDR {self.ndr_pps / 1e6:.2f} Mpps, PDR {self.pdr_pps / 1e6:.2f} Mpps "
            f"({len(self.trials)} trials, {stalled} stalled)"
        )


def trial_of(rate_pps: float, through: Through) -> Trial:
    """From what came through."""
    loss = max(0.0, 1 - through.received / through.offered) if through.offered else 1.0
    return Trial(rate_pps, loss, through.longest_pause_us > PAUSE_US)


def bisect(highest_pps: float, allowed: float, attempt: Callable[[float], Trial]) -> tuple[float, list[Trial]]:
    """The highest rate at which a trial's loss is `allowed` at most, up to `highest_pps`; and all trials."""
    low, high, trials = 0.0, highest_pps, list[Trial]()
    for step in range(STEPS):
        rate = highest_pps if step == 0 else (low + high) / 2
        trial = attempt(rate)
        trials.append(trial)
        if trial.loss <= allowed:
            low = rate
        else:
            high = rate
        if low == highest_pps:
            break
    return low, trials


def carried(peer: str, size: int, seconds: float, highest_pps: float) -> Carried:
    """Finds both rates of one peer and size. Raises NotMeasured."""

    def attempt(rate: float) -> Trial:
        for _ in range(TRIES):
            trial = trial_of(rate, send_through(peer, Offer(bytes=size, rate_pps=rate), seconds))
            if trial.loss == 0 or not trial.stalled:
                break
        return trial

    if highest_pps <= 0:
        raise NotMeasured(f"{size} bytes: no rate to begin with")
    pdr, first = bisect(highest_pps, PARTIAL, attempt)
    ndr, second = bisect(pdr, 0.0, attempt) if pdr > 0 else (0.0, [])
    return Carried(peer, size, ndr, pdr, tuple(first + second))


def unlimited_pps(peer: str, size: int, seconds: float) -> float:
    """What comes through where the link's own pace is the limit: where to begin."""
    through = send_through(peer, Offer(bytes=size), seconds)
    return through.received / through.seconds
