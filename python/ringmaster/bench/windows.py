# SPDX-License-Identifier: Apache-2.0
"""Short windows of a receiver's work, each with the state of the machine around it, and what pairs of them say.

A window counts when sender and receiver both had their cores, and when it was not disturbed: the host may move a core
far away and back between the two probes, which shows in the rate alone. So the sender's counters, the same for either
receiver, are looked at ten times a second. Two adjacent windows, ours and testpmd's, are a pair when
both count and are of one class (near or far); ratios are of pairs, so that a machine that changes meanwhile changes
both.

testpmd keeps no record of its cycles unless it is built for that, and polls without pause: its busy share is 1 by
construction, and its busy time per packet is the whole window's.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import monotonic, sleep
from typing import Protocol

from ringmaster.bench.loads import Load
from ringmaster.bench.receivers import RINGMASTER, TESTPMD, Running, Sent, running
from ringmaster.monitor.monitor import RECEIVE_LATENCY, Totals
from ringmaster.programs.cores import cores
from ringmaster.report.conditions import busiest_share, class_of, core_to_core_ns, run_times_ns
from ringmaster.report.headlines import Figure, of_all

WHOLE_CORE = 0.95
"""A window counts when sender and receiver both had this share of their cores."""
SUB_WINDOW_S = 0.1
WINDOWS = "windows"
DISTURBED_FACTOR = 2.0
DISTURBED_SHARE = 0.1
"""A window is disturbed when in more than this share of its time the rate was beyond this factor of its own median."""


@dataclass(frozen=True)
class Window:
    """One window of one receiver."""

    receiver: str
    """ "ringmaster" or "testpmd"."""
    load: str
    rate_pps: float
    """Of the sender's whole run, which is the window and the moment before it."""
    turn_rate_hz: float
    """As really sent."""
    core_to_core_ns: float
    """The longer of the probes before and after."""
    distance: str
    """The class of the window: near, far, or mixed; see conditions.class_of."""
    sender_share: float
    """Of its core that the sender had, 0–1."""
    receiver_share: float
    lost: int | None
    """Sent but never received, or lost, duplicate, late or refused; None where the receiver cannot tell."""
    faults: dict[str, int] | None
    """The same by the counters that tell it; "missing" was sent and never received."""
    busy_share: float
    """Of the receiver's time; 1 for testpmd, by construction."""
    busy_ns_per_packet: float
    busy_cycles_per_packet: float
    """TSC ticks."""
    latency_ns: dict[str, float] | None
    """Arrival of a burst to its records being visible; ours alone."""
    longest_wait_us: float
    """The longest time that the sender waited for a full link."""
    sub_rates_pps: tuple[float, ...] = ()
    """Of the window's tenths of a second, one after the other, as the sender counts."""

    @property
    def whole(self) -> bool:
        """Whether both had their cores to themselves."""
        return min(self.sender_share, self.receiver_share) >= WHOLE_CORE

    @property
    def disturbed(self) -> bool:
        """Whether the machine changed meanwhile, and came back."""
        return is_disturbed(self.sub_rates_pps)

    @property
    def counts(self) -> bool:
        """Whether anything is made of it."""
        return self.whole and not self.disturbed


def is_disturbed(rates: Sequence[float]) -> bool:
    """Whether too many rates are beyond DISTURBED_FACTOR of their median, below it or above."""
    if not rates:
        return False
    middle = median(rates)
    beyond = sum(1 for rate in rates if rate < middle / DISTURBED_FACTOR or rate > middle * DISTURBED_FACTOR)
    return beyond > DISTURBED_SHARE * len(rates)


@dataclass(frozen=True)
class Observed:
    """What was seen of two running programs in between."""

    shares: tuple[float, float]
    """Of their cores: sender, receiver."""
    before: Totals
    after: Totals
    latency_ns: dict[str, float] | None
    sub_rates_pps: tuple[float, ...] = ()


class Counting(Protocol):
    """Something whose sender can be asked what it has sent."""

    def sent(self) -> int:
        """Datagrams so far."""
        ...


def sub_rates(
    run: Counting,
    seconds: float,
    clock: Callable[[], float] = monotonic,
    rest: Callable[[float], None] = sleep,
) -> tuple[float, ...]:
    """Lets so much time pass. The rates of its parts, of SUB_WINDOW_S each; a look that came late ends a longer one."""
    begin = then = clock()
    count = run.sent()
    rates = []
    while then < begin + seconds:
        rest(min(SUB_WINDOW_S, max(0.0, begin + seconds - then)))
        now, more = clock(), run.sent()
        if now > then:
            rates.append((more - count) / (now - then))
        then, count = now, more
    return tuple(rates)


def observe(run: Running, seconds: float) -> Observed:
    """Looks on for so long."""
    pids = (run.sender.pid, run.receiver.pid)
    begin, times, before = monotonic(), [run_times_ns(pid) for pid in pids], run.totals()
    latency = run.ws.histograms[RECEIVE_LATENCY].read() if run.ws else None
    rates = sub_rates(run, seconds)
    run.check()
    elapsed = monotonic() - begin
    sender, receiver = (busiest_share(past, run_times_ns(pid), elapsed) for past, pid in zip(times, pids, strict=True))
    later = run.ws.histograms[RECEIVE_LATENCY].read() if run.ws else None
    summary = later.since(latency).summary() if later and latency else None
    return Observed((sender, receiver), before, run.totals(), summary, rates)


def core_gone(seen: Observed) -> dict[str, int]:
    """By how much the counters of our one core grew."""
    (name,) = (name for name in seen.after if name.startswith("core/"))
    return {key: seen.after[name][key] - seen.before[name][key] for key in seen.after[name]}


def _busy(seen: Observed, sent: Sent, tsc_hz: float) -> tuple[float, float]:
    """Busy share, and busy ticks per packet."""
    if not seen.after:
        return 1.0, tsc_hz * seen.shares[1] / max(1.0, sent.rate_pps)
    gone = core_gone(seen)
    ticks = max(1, gone["busy_ticks"] + gone["idle_ticks"])
    return gone["busy_ticks"] / ticks, gone["busy_ticks"] / max(1, gone["packets"])


def measure_window(receiver: str, load: Load, turn_rate_hz: float, seconds: float, tsc_hz: float) -> Window:
    """Starts receiver and sender, measures for some time, ends both. A turn rate of 0: all that the link takes."""
    before_ns = core_to_core_ns(*cores())
    with running(receiver, load, turn_rate_hz) as run:
        seen = observe(run, seconds)
        sent, faults = run.finish()
    after_ns = core_to_core_ns(*cores())
    busy_share, busy_ticks = _busy(seen, sent, tsc_hz)
    return Window(
        receiver=receiver,
        load=load.name,
        rate_pps=sent.rate_pps,
        turn_rate_hz=sent.turn_rate_hz,
        core_to_core_ns=max(before_ns, after_ns),
        distance=class_of(before_ns, after_ns),
        sender_share=seen.shares[0],
        receiver_share=seen.shares[1],
        lost=None if faults is None else sum(faults.values()),
        faults=faults,
        busy_share=busy_share,
        busy_ns_per_packet=busy_ticks / tsc_hz * 1e9,
        busy_cycles_per_packet=busy_ticks,
        latency_ns=seen.latency_ns,
        longest_wait_us=sent.longest_wait_us,
        sub_rates_pps=seen.sub_rates_pps,
    )


@dataclass(frozen=True)
class Pair:
    """Two adjacent windows of one class; ours was without loss."""

    load: str
    distance: str
    ratio: float
    """Our rate to testpmd's."""


def pairs_of(windows: Sequence[Window]) -> list[Pair]:
    """Windows in the order of their time, two and two: each window is in one pair at most."""
    return [
        _pair(one, other) for one, other in zip(windows[::2], windows[1::2], strict=False) if _comparable(one, other)
    ]


def _comparable(one: Window, other: Window) -> bool:
    return (
        {one.receiver, other.receiver} == {RINGMASTER, TESTPMD}
        and one.load == other.load
        and one.counts
        and other.counts
        and one.distance == other.distance != "mixed"
        and not one.lost
        and not other.lost
    )


def _pair(one: Window, other: Window) -> Pair:
    ours, peer = (one, other) if one.receiver == RINGMASTER else (other, one)
    return Pair(ours.load, ours.distance, ours.rate_pps / peer.rate_pps)


@dataclass(frozen=True)
class Comparison:
    """One load in one class, ours beside testpmd's. Figures of windows that count."""

    load: str
    distance: str
    """near, far, or "all": pairs of either."""
    zero_loss_pps: Figure | None
    """Ours, windows without loss."""
    testpmd_pps: Figure | None
    ratio: Figure | None
    """Of pairs."""
    busy_share: Figure | None
    """Ours."""
    busy_ns: Figure | None
    """Ours, per packet, the port's share included."""
    busy_cycles: Figure | None
    testpmd_busy_ns: Figure | None
    testpmd_busy_cycles: Figure | None
    lossy_windows: int
    """Ours that counted and lost something: in none of the figures."""
    disturbed_windows: int
    """Ours that were left out because the machine changed meanwhile."""
    testpmd_disturbed_windows: int


def compare(windows: Sequence[Window]) -> list[Comparison]:
    """By load, then near, far, and all of them together."""
    loads = list(dict.fromkeys(window.load for window in windows))
    found = [_compare(windows, load, distance) for load in loads for distance in ("near", "far", "all")]
    return [row for row in found if row.zero_loss_pps or row.testpmd_pps or _left_out(row)]


def _left_out(row: Comparison) -> int:
    return row.lossy_windows + row.disturbed_windows + row.testpmd_disturbed_windows


def _compare(windows: Sequence[Window], load: str, distance: str) -> Comparison:
    wanted = ("near", "far") if distance == "all" else (distance,)
    here = [window for window in windows if window.load == load and window.distance in wanted]
    good = [window for window in here if window.counts]
    disturbed = [window.receiver for window in here if window.whole and window.disturbed]
    ours = [window for window in good if window.receiver == RINGMASTER and window.lost == 0]
    peer = [window for window in good if window.receiver == TESTPMD]
    pairs = [pair.ratio for pair in pairs_of(windows) if pair.load == load and pair.distance in wanted]
    return Comparison(
        load=load,
        distance=distance,
        zero_loss_pps=of_all([window.rate_pps for window in ours], WINDOWS),
        testpmd_pps=of_all([window.rate_pps for window in peer], WINDOWS),
        ratio=of_all(pairs, "pairs"),
        busy_share=of_all([window.busy_share for window in ours], WINDOWS),
        busy_ns=of_all([window.busy_ns_per_packet for window in ours], WINDOWS),
        busy_cycles=of_all([window.busy_cycles_per_packet for window in ours], WINDOWS),
        testpmd_busy_ns=of_all([window.busy_ns_per_packet for window in peer], WINDOWS),
        testpmd_busy_cycles=of_all([window.busy_cycles_per_packet for window in peer], WINDOWS),
        lossy_windows=sum(1 for window in good if window.receiver == RINGMASTER and window.lost),
        disturbed_windows=disturbed.count(RINGMASTER),
        testpmd_disturbed_windows=disturbed.count(TESTPMD),
    )


class InOneClass(Protocol):
    """A ratio of two windows of one class."""

    @property
    def distance(self) -> str:
        """The class."""
        ...

    @property
    def ratio(self) -> float:
        """Ours to the peer's."""
        ...


def of_one_class(pairs: Sequence[InOneClass]) -> list[float]:
    """Ratios of near pairs, where the peer is at its best; of far ones where there is no near one."""
    for distance in ("near", "far"):
        if found := [pair.ratio for pair in pairs if pair.distance == distance]:
            return found
    return []


def ratios_of(windows: Sequence[Window], load: str) -> list[float]:
    """Of a load's pairs in one class."""
    return of_one_class([pair for pair in pairs_of(windows) if pair.load == load])


def ratio_of(windows: Sequence[Window], load: str) -> float | None:
    """The median of these."""
    ratios = ratios_of(windows, load)
    return median(ratios) if ratios else None
