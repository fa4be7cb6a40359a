# SPDX-License-Identifier: Apache-2.0
"""How much goes through without loss, after RFC 2544: a frame that the link does not take at its time is lost.

A trial offers frames at a rate for some time and counts those that come out. The rates are bisected: the highest
without loss is the non-drop rate (NDR), that with PARTIAL of loss at most the partial-drop rate (PDR). A ring holds
4096 frames, so a core that stands still for longer than they take loses some, whatever it carries: a trial that lost
something and was overlapped by a pause of the ends is repeated, up to TRIES times.

At half of the NDR frames are stamped: what they take from one end to the other. No program waits less than the stall
floor of the cores, which is looked at for as long, right after that.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from ringmaster.bench.forward_peers import Offer, Through, send_through
from ringmaster.bench.log import NotMeasured
from ringmaster.programs.cores import cores
from ringmaster.report.conditions import stall_floor

PARTIAL = 0.005
"""Of loss, for the PDR."""
STEPS = 6
"""Halvings: the rate is found within a 64th of what was offered first."""
TRIES = 3
PAUSE_US = 50.0
"""Of the ends: longer ones are a stall."""
IMIX, IMIX_LONGEST_BYTES = "imix", 1518


def offer_of(size: str) -> Offer:
    """Frames of this size: bytes with FCS, or the mix."""
    return Offer(bytes=IMIX_LONGEST_BYTES, imix=True) if size == IMIX else Offer(bytes=int(size))


@dataclass(frozen=True)
class Trial:
    """One rate."""

    rate_pps: float
    loss: float
    """Share of the frames that were offered and did not come out."""
    stalled: bool
    """The ends paused: what was lost then says little."""


@dataclass(frozen=True)
class Delay:
    """Of frames from one end to the other, at half of the NDR."""

    rate_pps: float
    p50_ns: float
    p99_ns: float
    longest_pause_us: float
    """Of the ends meanwhile."""
    stall_floor_us: float
    """The longest gap of a program that only looks at the clock, on the same cores, for as long."""

    @property
    def words(self) -> str:
        """As a part of a line."""
        return (
            f"latency at half of it {self.p50_ns / 1e3:.1f} µs, p99 {self.p99_ns / 1e3:.1f} µs "
            f"(longest pause {self.longest_pause_us:.0f} µs, stall floor {self.stall_floor_us:.0f} µs)"
        )


@dataclass(frozen=True)
class Carried:
    """Of one size of frames."""

    peer: str
    size: str
    """Bytes with FCS, or IMIX."""
    ndr_pps: float
    """0: none was without loss."""
    pdr_pps: float
    trials: tuple[Trial, ...]
    delay: Delay | None = None
    """None: no rate was without loss."""

    @property
    def words(self) -> str:
        """On one line."""
        stalled = sum(trial.stalled for trial in self.trials)
        return (
            f"{self.size:>4s} bytes, {self.peer:10s} NDR {self.ndr_pps / 1e6:.2f} Mpps, "
            f"PDR {self.pdr_pps / 1e6:.2f} Mpps ({len(self.trials)} trials, {stalled} stalled)"
            + (f", {self.delay.words}" if self.delay else "")
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


def carried(peer: str, size: str, seconds: float, highest_pps: float) -> Carried:
    """Finds both rates of one peer and size. Raises NotMeasured."""

    def attempt(rate: float) -> Trial:
        for _ in range(TRIES):
            trial = trial_of(rate, send_through(peer, replace(offer_of(size), rate_pps=rate), seconds))
            if trial.loss == 0 or not trial.stalled:
                break
        return trial

    if highest_pps <= 0:
        raise NotMeasured(f"{size} bytes: no rate to begin with")
    pdr, first = bisect(highest_pps, PARTIAL, attempt)
    ndr, second = bisect(pdr, 0.0, attempt) if pdr > 0 else (0.0, [])
    delay = delayed(peer, replace(offer_of(size), rate_pps=ndr / 2, stamps=True), seconds) if ndr > 0 else None
    return Carried(peer, size, ndr, pdr, tuple(first + second), delay)


def delayed(peer: str, offer: Offer, seconds: float) -> Delay:
    """Of up to TRIES windows the first without a stall, or the one with the shortest. Raises NotMeasured."""
    found: list[Through] = []
    while len(found) < TRIES and (not found or found[-1].longest_pause_us > PAUSE_US):
        found.append(send_through(peer, offer, seconds))
    floor = stall_floor(seconds, cores())
    return delay_of(offer.rate_pps, found, floor.longest_us)


def delay_of(rate_pps: float, found: list[Through], stall_floor_us: float) -> Delay:
    """From the window with the shortest pause. Raises NotMeasured where it has no stamps."""
    best = min(found, key=lambda through: through.longest_pause_us)
    if best.latency_p50_ns is None or best.latency_p99_ns is None:
        raise NotMeasured("frames came out without stamps")
    return Delay(rate_pps, best.latency_p50_ns, best.latency_p99_ns, best.longest_pause_us, stall_floor_us)


def unlimited_pps(peer: str, size: str, seconds: float) -> float:
    """What comes through where the link's own pace is the limit: where to begin."""
    through = send_through(peer, offer_of(size), seconds)
    return through.received / through.seconds
