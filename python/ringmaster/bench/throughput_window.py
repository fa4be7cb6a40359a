# SPDX-License-Identifier: Apache-2.0
"""One window: senders that send as fast as the link takes it, or at a rate, and the receiver of all they send.

The receiver counts from the first datagram to the last, so that what was lost can be told to the datagram. Rates are of
the time that the senders sent, by their own clock; CPU time is of the middle of that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from time import monotonic
from typing import Any

from ringmaster.bench import cpu_time
from ringmaster.bench.account import Traffic, generator_words, receiver_words, run_ends
from ringmaster.bench.cpu_time import CpuTime, Shares
from ringmaster.bench.links import Pair
from ringmaster.bench.throughput_cases import Case, link_text
from ringmaster.bench.throughput_loss import Losses, locate
from ringmaster.bench.windows import WHOLE_CORE
from ringmaster.programs.program import START_S, Program
from ringmaster.report.conditions import run_times_ns
from ringmaster.report.verdicts import number

GROUP = 32
"""Datagrams of a cycle, one of each instrument: a burst, and a batch of udp-32."""
FOREVER_S = 3600.0


@dataclass(frozen=True)
class Cores:
    """Where programs run."""

    senders: tuple[int, ...]
    """One for each; the last one has those that are over."""
    receiver: int

    def of_senders(self, count: int) -> list[int]:
        """Of so many senders, each core once."""
        return list(dict.fromkeys(self.sender(number) for number in range(count)))

    def sender(self, number: int) -> int:
        """Of one of them."""
        return self.senders[min(number, len(self.senders) - 1)]


@dataclass(frozen=True)
class Window:
    """What was seen."""

    case: Case
    asked_pps: float
    """Of all senders together; 0: as fast as may be."""
    seconds: float
    sent: int
    received: int
    losses: Losses
    sender: Shares
    """Of the core of the first sender, in the middle of the window."""
    receiver: Shares
    sender_share: float
    """Of its core that sending had, 0–1; of several cores the mean."""
    receiver_share: float
    waited_share: float
    """Of the time that a sender waited for a full link."""
    longest_gap_us: float
    """The receiver's: the longest time that it did not look at the link, or was kept from it."""
    behind: int
    """Datagrams that a paced sender did not send, because the link or the core did not let it."""
    more_senders: tuple[Shares, ...] = ()
    """Of the cores of the other senders, where they have cores of their own."""

    @property
    def cores(self) -> tuple[Shares, ...]:
        """Of all: the senders', then the receiver's."""
        return (self.sender, *self.more_senders, self.receiver)

    @property
    def words(self) -> str:
        """On one line."""
        load = f"sender {self.sender.total:.0%}, receiver {self.receiver.total:.0%} busy"
        lost = f", {self.losses.total} lost" if self.losses.total else ""
        share = "" if self.whole else "  (no whole core)"
        return f"{self.case.name}: {number(self.gbps)} Gb/s, {number(self.pps / 1e3)} kHz, {load}{lost}{share}"

    @property
    def pps(self) -> float:
        """Datagrams received in a second."""
        return self.received / self.seconds

    @property
    def gbps(self) -> float:
        """Payload received, 10⁹ bits a second."""
        return self.pps * self.case.size * 8e-9

    @property
    def whole(self) -> bool:
        """Whether programs that poll had their cores to themselves."""
        return not self.case.polls or min(self.sender_share, self.receiver_share) >= WHOLE_CORE


@dataclass(frozen=True)
class Look:
    """At both cores and at the senders."""

    when_s: float
    times: dict[int, CpuTime]
    ran_ns: float
    """Time that the senders have been on a CPU."""


def _look(senders: Sequence[Program]) -> Look:
    ran = 0
    for sender in senders:
        try:
            ran += max(run_times_ns(sender.pid).values(), default=0)
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has just ended
    return Look(monotonic(), cpu_time.read(), float(ran))


def within(looks: Sequence[Look], began_s: float, ended_s: float) -> tuple[Look, Look]:
    """The first and the last look of a time; the two nearest to it where there are none."""
    inside = [look for look in looks if began_s <= look.when_s <= ended_s]
    if len(inside) >= 2:
        return inside[0], inside[-1]
    begin = max(range(len(looks) - 1), key=lambda i: (looks[i].when_s <= began_s, -abs(looks[i].when_s - began_s)))
    return looks[begin], looks[min(len(looks) - 1, begin + 1)]


def measure_window(
    pair: Pair, case: Case, cores: Cores, seconds: float, pps: float = 0.0, drop_every: int = 0
) -> Window:
    """Starts the receiver, then the senders; ends all.

    Raises NotMeasured where the link cannot be received from, ProgramFailed with what the one that failed has said.
    """
    traffic = Traffic(GROUP, pps / case.senders / GROUP, case.size, drop_every=drop_every)
    left, right = ([link_text(case.kind, link) for link in end[: case.senders]] for end in (pair.left, pair.right))
    receiving = receiver_words([cores.receiver] * case.senders, right, replace(traffic, rate_hz=0.0), FOREVER_S)
    sending = [generator_words(cores.sender(number), [link], traffic, seconds) for number, link in enumerate(left)]
    looks: list[Look] = []
    paced, received = run_ends(
        pair, receiving, sending, seconds + START_S, lambda senders: looks.append(_look(senders))
    )
    return window_of(case, cores, looks, paced, received, pps)


def window_of(
    case: Case,
    cores: Cores,
    looks: Sequence[Look],
    paced: Sequence[Mapping[str, Any]],
    received: Mapping[str, Any],
    asked_pps: float,
) -> Window:
    """From what was seen and what the programs said."""
    links = [link for one in paced for link in one["links"]]
    seconds = max(float(one["seconds"]) for one in paced)
    (receiver,) = received["cores"]
    begin, end = within(looks, max(one["began_s"] for one in paced), min(one["ended_s"] for one in paced))
    sending = cores.of_senders(case.senders)
    shares = [cpu_time.since(begin.times, end.times, core) for core in (*sending, cores.receiver)]
    waited_share = fmean(float(link["waited_us"]) for link in links) * 1e-6 / seconds
    if case.polls:
        of_core = [[one for number, one in enumerate(paced) if cores.sender(number) == core] for core in sending]
        busy = [fmean(float(one["busy_share"]) for one in here) - waited_share for here in of_core]
        parts = (*busy, float(receiver["busy_share"]))
        shares = [cpu_time.polled(share, part) for share, part in zip(shares, parts, strict=True)]
    return Window(
        case=case,
        asked_pps=asked_pps,
        seconds=seconds,
        sent=sum(int(link["sent"]) for link in links),
        received=sum(int(link["received"]) for link in received["links"]),
        losses=locate(paced, received, GROUP, case.polls),
        sender=shares[0],
        receiver=shares[-1],
        sender_share=(end.ran_ns - begin.ran_ns) * 1e-9 / max(1e-9, end.when_s - begin.when_s) / len(sending),
        receiver_share=float(receiver["share"]),
        waited_share=waited_share,
        longest_gap_us=float(receiver["longest_gap_us"]),
        behind=sum(int(one["behind_cycles"]) * GROUP * len(one["links"]) for one in paced),
        more_senders=tuple(shares[1:-1]),
    )
