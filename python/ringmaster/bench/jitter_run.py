# SPDX-License-Identifier: Apache-2.0
"""The parts of the jitter measurement: what is sent over which links, one kind's turn, and what it came to."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ringmaster.bench.bare_clock import Bare
from ringmaster.bench.bins import MOST, quantile
from ringmaster.bench.carried import Carried, Cores, Traffic, carry
from ringmaster.bench.groups import Floats, Groups, Rows, groups_of, not_sent, took_us
from ringmaster.bench.links import linked, mtu_of
from ringmaster.report.verdicts import Conditions, conditions_of

FLAT_OUT_S = 1.0
CARRIED_SHARE = 0.8
"""Of what a kind carries flat out: more is not asked of it."""


@dataclass(frozen=True)
class Options:
    """What is sent, over what, how often."""

    instruments: int = 96
    """Of all links together."""
    rate_hz: float = 10_000.0
    links: int = 4
    size: int = 64
    """Bytes of payload."""
    seconds: float = 4.0
    """Of each turn of a kind, and of each look at the bare clock."""
    rounds: int = 3
    kinds: tuple[str, ...] = ("memif", "af_xdp", "udp", "raw")
    cores: tuple[int, ...] = ()
    """The sender's, then the receivers'; none: the first that this process may use."""
    inject_jitter_us: float = 0.0
    inject_drop_every: int = 0
    endpoints: tuple[tuple[str, str], ...] = ()
    """Links of one's own, left and right, as many of each kind; else the bench makes some."""

    @property
    def group(self) -> int:
        """Datagrams on a link in a cycle."""
        return self.instruments // self.links

    @property
    def traffic(self) -> Traffic:
        """On each link."""
        return Traffic(self.group, self.rate_hz, self.size, self.inject_jitter_us, self.inject_drop_every)


@dataclass(frozen=True)
class Turn:
    """One kind in one round; by link."""

    groups: tuple[Groups, ...]
    sender: tuple[Groups, ...]
    """The same of the groups as they left."""
    took_us: tuple[Floats, ...]
    """From the sending of a whole group's first datagram to its last one's being there."""
    not_sent: int
    """Cycles that the sender left out, of all links."""
    run: Carried

    @property
    def lost(self) -> int:
        """Datagrams that were sent and did not come."""
        return self.run.total("lost") - self.not_sent * self.run.traffic.instruments

    @property
    def words(self) -> str:
        """On one line."""
        jitter = pooled([one.jitter_us for one in self.groups])
        most, worst = quantile(jitter, MOST), quantile(jitter, 1.0)
        if most is None or worst is None:
            return "no two cycles came whole"
        return f"99.95 % of {len(jitter):,} cycles within {most:.1f} µs, worst {worst:.1f} µs, {self.lost:,} lost"


@dataclass
class Measured:
    """One kind, all of it."""

    kind: str
    links: int
    """That it was given."""
    flat_out: Carried
    turns: list[Turn] = field(default_factory=list)

    def jitter_us(self, link: int | None = None) -> Floats:
        """Of all turns; of one link or of all."""
        return pooled([groups.jitter_us for turn in self.turns for groups in _some(turn.groups, link)])

    def sender_jitter_us(self) -> Floats:
        """As the groups left."""
        return pooled([groups.jitter_us for turn in self.turns for groups in turn.sender])

    def took_us(self) -> Floats:
        """Of all groups that came whole."""
        return pooled([took for turn in self.turns for took in turn.took_us])


def _some(of_links: Sequence[Groups], link: int | None) -> Sequence[Groups]:
    return of_links if link is None else of_links[link : link + 1]


def pooled(parts: Sequence[Floats]) -> Floats:
    """All of them."""
    return np.concatenate(parts) if parts else np.empty(0)


@dataclass
class Report:
    """What was measured so far."""

    options: Options
    cores: Cores
    kinds: list[Measured] = field(default_factory=list)
    bare: list[Bare] = field(default_factory=list)
    """A look at all cores in each round."""
    probes_ns: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    interrupted: bool = False

    @property
    def conditions(self) -> Conditions:
        """Of the machine."""
        shares = [share for kind in self.kinds for turn in kind.turns for share in turn.run.core_shares]
        return conditions_of(self.probes_ns, [look.floor for look in self.bare], shares)

    def bare_jitter_us(self, cores: Sequence[int]) -> Floats:
        """Of loops on the clock, one behind the other."""
        return pooled([look.jitter_us(self.options.rate_hz, cores) for look in self.bare])

    def carry(self, kind: str, links: int, traffic: Traffic, seconds: float) -> Carried:
        """Over so many links of a kind."""
        with linked(kind, links, mtu_of(traffic.size), self.options.endpoints) as pair:
            return carry(pair, self.cores.first(links), traffic, seconds, keep_rows=traffic.rate_hz > 0)


def begin(kind: str, report: Report) -> Measured:
    """What the kind carries flat out, and how many links it is given by that. Raises NotMeasured."""
    options = report.options
    flat_out = report.carry(kind, options.links, Traffic(options.group, 0.0, options.size), FLAT_OUT_S)
    on_each = options.group * options.rate_hz
    return Measured(kind, max(1, min(options.links, int(CARRIED_SHARE * flat_out.received_pps / on_each))), flat_out)


def take_turn(kind: Measured, report: Report) -> Turn:
    """One of its rounds. Raises NotMeasured."""
    options = report.options
    run = report.carry(kind.kind, kind.links, options.traffic, options.seconds)
    tsc_hz = run.received["tsc_hz"]

    def by_link(rows: Rows) -> tuple[Groups, ...]:
        return tuple(groups_of(rows, link, options.group, options.rate_hz, tsc_hz) for link in range(kind.links))

    took = tuple(took_us(run.sent_rows, run.rows, link, options.group, tsc_hz) for link in range(kind.links))
    left_out = sum(not_sent(run.sent_rows, run.rows, link) for link in range(kind.links))
    return Turn(by_link(run.rows), by_link(run.sent_rows), took, left_out, run)
