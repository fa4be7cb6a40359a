# SPDX-License-Identifier: Apache-2.0
"""Figures of the parts of a server, made out of two looks at their counters.

Counts are since the server started, or since the last reset. Rates and shares are of the time between the two looks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ringmaster.fabric.counters import refused, refused_packets
from ringmaster.fabric.layout import InstrumentKind

FOREIGN = ("not_ipv4", "not_udp", "not_our_port")
"""Counters of a port for what was never meant for an instrument."""


class Reading(NamedTuple):
    """One counter block at three times: now, at the look before, and when counting was to begin."""

    name: str
    """Without the set's own word: "bpm01" of "stream/bpm01"."""
    now: Mapping[str, int]
    before: Mapping[str, int]
    base: Mapping[str, int]
    """Empty: since the server started."""
    elapsed_s: float

    def counts(self) -> dict[str, int]:
        """What was counted since the base, gauges too: those that are counts of a device only grow."""
        if not self.base:
            return dict(self.now)
        return {name: max(0, value - self.base.get(name, 0)) for name, value in self.now.items()}

    def counted_before(self, counter: str) -> int:
        """What a counter had counted since the base at the look before."""
        return max(0, self.before.get(counter, 0) - self.base.get(counter, 0))

    def grown(self, *counters: str) -> int:
        """By how much the counters have gone up since the look before."""
        return max(0, sum(self.now[name] - self.before.get(name, 0) for name in counters))

    def rate(self, *counters: str) -> float:
        """The same, per second."""
        return self.grown(*counters) / self.elapsed_s


READBACK = InstrumentKind.POWER_SUPPLY.name.lower()
"""Kind of an instrument that is the answers of a chain: one to each cycle of setpoints, and none without."""


class Unsent(NamedTuple):
    """Records of an instrument that were never sent, so that they are not lost."""

    records: int = 0
    per_s: float = 0.0


def let_pass(sender: Reading, period_turns: int) -> Unsent:
    """By a virtual ring that came too late for them; of the counter set "sender"."""
    period = max(1, period_turns)
    return Unsent(sender.counts()["skipped_turns"] // period, sender.rate("skipped_turns") / period)


def not_asked_for(transmit: Reading) -> Unsent:
    """Answers of a chain to cycles in which no setpoints went out; of the counter set "transmit"."""
    return Unsent(transmit.counts()["skipped"], transmit.rate("skipped"))


class RateFigures(NamedTuple):
    """One of an instrument's streams."""

    name: str
    """ "bpm01/turn"."""
    period_turns: int
    rate_hz: float
    """Records that were published per second."""
    filter: str
    """ "none", "low_latency" or "sharp"."""
    head_turn: int | None
    """Newest turn, None while nothing came."""


@dataclass(frozen=True)
class StreamFigures:
    """One instrument."""

    name: str
    kind: str
    """ "bpm", "blm", …; empty where its streams are not there."""
    rate_hz: float
    """Records that came per second."""
    expected_rate_hz: float
    """By the turn clock and the instrument's period; 0 while it is not known."""
    received: int
    """Records that were stored: accepted, and late ones."""
    lost: int
    """Turns that had been skipped at the look before, and by now have not come out of order, and were sent."""
    lost_per_s: float
    unsent: int
    """Turns whose record was never sent: see Unsent."""
    duplicate: int
    out_of_order: int
    refused: int
    """Records whose turn lay outside the accepted window."""
    mirrored: int
    """Second copies, of the other of two mirrored networks."""
    phase_turns: int
    """Phase error: its newest turn less the turn that was due when it came, at best in the last second."""
    streams: tuple[RateFigures, ...]
    """What is kept of it: one for each rate and filter."""


@dataclass(frozen=True)
class PortFigures:
    """One port."""

    name: str
    rate_pps: float
    """Packets per second."""
    rate_bps: float
    """Bits per second."""
    received: int
    refused: int
    """Packets that were no datagrams of a configured instrument, for whatever reason, and that nobody took."""
    foreign: int
    """ARP, ICMP, TCP, UDP to other ports: refused where the exception path did not take them."""
    kernel_missed: int
    """Dropped before the server saw them, as far as the device tells."""
    counts: dict[str, int]
    """All its counters."""

    @property
    def malformed(self) -> int:
        """Of the refused: packets that were meant for an instrument's port."""
        return max(0, self.refused - max(0, self.foreign - self.counts["punted"]))


@dataclass(frozen=True)
class GeneratorFigures:
    """One port of the packet generator."""

    name: str
    sent_pps: float
    received_pps: float
    sent: int
    received: int
    unsent: int
    """Refused by the link, or skipped because their time had gone."""
    late: int
    """Sent after their time."""


@dataclass(frozen=True)
class CoreFigures:
    """One core of the engine."""

    name: str
    core: int
    """CPU number."""
    busy_share: float
    """Of the time between the looks, 0–1."""
    waiting_share: float
    """Of the time between the looks: waited on purpose, so that packets gather."""
    packets_per_burst: float
    """NaN while none came."""
    target_packets: int
    """That polling aims at; 0 where it does not wait."""
    wait_ns: int
    """The wait that polling has settled on."""
    longest_wait_ns: int
    """The longest that the configuration allows."""
    longest_gap_us: float
    """Since the server started; the machine's stalls are in it."""
    longest_gap_grew: bool
    """Whether it was within the time of the counts; if not, it only bounds the longest since."""


@dataclass(frozen=True)
class PathFigures:
    """One of the mirrored networks that an instrument sends on."""

    instrument: str
    port: str
    rate_hz: float
    received: int
    first: int
    second: int
    duplicate: int
    lost: int
    """Records that this network has not brought."""

    @property
    def loss_share(self) -> float:
        """Of the records that it should have brought; 0 while there were none."""
        due = self.first + self.second + self.lost
        return self.lost / due if due else 0.0


@dataclass(frozen=True)
class ClockFigures:
    """The turn clock and how instruments agree with it."""

    anchored: bool
    turn: int
    """That the fit refers to."""
    turn_rate_hz: float
    residual_ns: float
    """RMS distance of the arrivals' envelope from the fit."""
    turn_epoch: int
    anchors: int
    """Times it was set anew."""
    streams_live: int
    quorum_votes: int
    """Instruments that agree on a turn other than the clock's."""
    quorum_needed: int
    measured_turn_rate_hz: float = 0.0
    """By what instruments counted over 0.3 s and more, when that was measured last; 0 while it never was."""
    supported: bool = False
    """Whether that supports the fitted rate; while it does not, the fitted one is a guess."""
    phase_limit_turns: int = 0
    """A larger phase error of an instrument is a fault; 0 while it is not known."""

    @property
    def fits(self) -> bool:
        """Whether the turn rate can be believed: the arrivals lie within a turn of it."""
        return self.anchored and self.residual_ns * 1e-9 * self.turn_rate_hz < 1.0

    @property
    def expected_turn_rate_hz(self) -> float:
        """What instruments are measured by: the fitted rate, or, while that is a guess, what they counted last."""
        if not self.supported:
            return self.measured_turn_rate_hz
        return self.turn_rate_hz if self.fits else 0.0


@dataclass(frozen=True)
class SenderFigures:
    """One virtual instrument or replay."""

    name: str
    sent: int
    waits: int
    longest_wait_us: float
    behind_turns: int


class Steering(NamedTuple):
    """Where an instrument's datagrams go, as the server says."""

    instrument: str
    port: str
    queue: str
    role: str
    core: str
    method: str
    """What brings them there: a flow rule, RSS, software spreading, …"""


def period_of(streams: tuple[RateFigures, ...]) -> int:
    """Turns from one record of an instrument to the next; 0 where none of its streams is there."""
    return min((stream.period_turns for stream in streams), default=0)


def stream_figures(
    reading: Reading,
    unsent: Unsent,
    kind: str,
    turn_rate_hz: float,
    streams: tuple[RateFigures, ...],
) -> StreamFigures:
    """Of the counter set "stream".

    Counters are not read at one instant. A turn counts as lost only after it was missing for a whole look: what came
    out of order meanwhile, or was counted as unsent, is then known, and the count of lost turns need not fall again.
    """
    counts = reading.counts()
    period = period_of(streams)
    return StreamFigures(
        name=reading.name,
        kind=kind,
        rate_hz=reading.rate("accepted", "out_of_order"),
        expected_rate_hz=turn_rate_hz / period if period else 0.0,
        received=counts["accepted"] + counts["out_of_order"],
        lost=max(0, reading.counted_before("skipped") - counts["out_of_order"] - unsent.records),
        lost_per_s=max(0.0, reading.rate("skipped") - reading.rate("out_of_order") - unsent.per_s),
        unsent=unsent.records,
        duplicate=counts["duplicate"],
        out_of_order=counts["out_of_order"],
        refused=refused(counts),
        mirrored=counts["mirrored"],
        phase_turns=reading.now["phase_ahead"] - reading.now["phase_behind"],
        streams=streams,
    )


def port_figures(reading: Reading) -> PortFigures:
    """Of the counter set "port"."""
    counts = reading.counts()
    return PortFigures(
        name=reading.name,
        rate_pps=reading.rate("received"),
        rate_bps=8 * reading.rate("bytes"),
        received=counts["received"],
        refused=refused_packets(counts),
        foreign=sum(counts[name] for name in FOREIGN),
        kernel_missed=counts["kernel_missed"],
        counts=counts,
    )


def generator_figures(reading: Reading) -> GeneratorFigures:
    """Of the counter set "generator"."""
    counts = reading.counts()
    return GeneratorFigures(
        name=reading.name,
        sent_pps=reading.rate("sent"),
        received_pps=reading.rate("received"),
        sent=counts["sent"],
        received=counts["received"],
        unsent=counts["refused"] + counts["skipped"],
        late=counts["late"],
    )


def core_figures(reading: Reading, tsc_hz: float) -> CoreFigures:
    """Of the counter set "core"."""
    now, base = reading.now, reading.base
    busy = reading.grown("busy_ticks")
    whole = busy + reading.grown("idle_ticks")
    bursts = reading.grown("bursts")
    return CoreFigures(
        name=reading.name,
        core=now["core"],
        busy_share=busy / whole if whole else 0.0,
        waiting_share=min(1.0, reading.grown("wait_ticks") / whole) if whole else 0.0,
        packets_per_burst=reading.grown("packets") / bursts if bursts else float("nan"),
        target_packets=now["target_packets"],
        wait_ns=now["wait_ns"],
        longest_wait_ns=now["longest_wait_ns"],
        longest_gap_us=now["longest_gap_ticks"] / tsc_hz * 1e6,
        longest_gap_grew=not base or now["longest_gap_ticks"] > base.get("longest_gap_ticks", 0),
    )


def path_figures(reading: Reading) -> PathFigures:
    """Of the counter set "path"."""
    counts = reading.counts()
    instrument, _, port = reading.name.rpartition("/")
    return PathFigures(
        instrument=instrument,
        port=port,
        rate_hz=reading.rate("received"),
        received=counts["received"],
        first=counts["first"],
        second=counts["second"],
        duplicate=counts["duplicate"],
        lost=counts["lost"],
    )


def sender_figures(reading: Reading, tsc_hz: float) -> SenderFigures:
    """Of the counter set "sender"."""
    return SenderFigures(
        name=reading.name,
        sent=reading.now["sent"],
        waits=reading.now["waits"],
        longest_wait_us=reading.now["longest_wait_ticks"] / tsc_hz * 1e6,
        behind_turns=reading.now["behind_turns"],
    )


def read_steering(text: str) -> tuple[Steering, ...]:
    """Lines "INSTRUMENT PORT QUEUE ROLE CORE METHOD"; the method may have several words. Others are left out."""
    rows: list[Sequence[str]] = [row.split(None, 5) for row in text.splitlines()]
    return tuple(Steering(*row) for row in rows if len(row) == 6)
