# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench jitter`: groups of datagrams at a fixed rate, and how evenly they arrive; the poster's measurement.

DPDK and the kernel's sockets take turns in rounds, and in every round a bare loop on the clock watches the same cores:
what it was late by is the machine's, what is beyond it the software's.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from ringmaster.bench.conditions import Spread, core_to_core_ns
from ringmaster.bench.log import Log, NotMeasured
from ringmaster.bench.verdicts import Conditions
from ringmaster.qualify import bare_clock
from ringmaster.qualify.bare_clock import Bare
from ringmaster.qualify.bins import MOST, quantile
from ringmaster.qualify.carried import Carried, Cores, Traffic, carry, place
from ringmaster.qualify.groups import Floats, Groups, Rows, groups_of, late_us
from ringmaster.qualify.links import linked
from ringmaster.report.section import Section

T = TypeVar("T")

LINKS_MAX = 4
"""As many as the poster's server had ports."""
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
    rounds: int = 3
    kinds: tuple[str, ...] = ("memif", "af_xdp", "udp", "raw")
    cores: tuple[int, ...] = ()
    """The sender's, then the receivers'; none: the first that this process may use."""
    inject_jitter_us: float = 0.0
    inject_drop_every: int = 0

    @property
    def group(self) -> int:
        """Datagrams on a link in a cycle."""
        return self.instruments // self.links


@dataclass(frozen=True)
class Round:
    """One kind in one round: by link."""

    groups: tuple[Groups, ...]
    sender: tuple[Groups, ...]
    """The same of the groups as they left."""
    late_us: tuple[Floats, ...]
    """From a whole group's leaving to its being there."""
    run: Carried

    @property
    def words(self) -> str:
        """On one line."""
        jitter = pooled([one.jitter_us for one in self.groups])
        most, worst = quantile(jitter, MOST), quantile(jitter, 1.0)
        if most is None or worst is None:
            return "no two cycles came whole"
        return f"99.95 % of {len(jitter)} cycles below {most:.1f} µs, worst {worst:.1f}, lost {self.run.total('lost')}"


@dataclass
class Measured:
    """One kind, all of it."""

    kind: str
    links: int
    """That it was given."""
    flat_out: Carried
    rounds: list[Round] = field(default_factory=list)

    def jitter_us(self, link: int | None = None) -> Floats:
        """Of all rounds; of one link or of all."""
        return pooled([groups.jitter_us for one in self.rounds for groups in _some(one.groups, link)])

    def sender_jitter_us(self) -> Floats:
        """As the groups left, all links."""
        return pooled([groups.jitter_us for one in self.rounds for groups in one.sender])

    def late_us(self) -> Floats:
        """All links."""
        return pooled([late for one in self.rounds for late in one.late_us])


def _some(of_links: Sequence[Groups], link: int | None) -> Sequence[Groups]:
    return of_links if link is None else of_links[link : link + 1]


def pooled(parts: Sequence[Floats]) -> Floats:
    """All of them."""
    return np.concatenate(parts) if parts else np.empty(0)


@dataclass
class Report:
    """What was measured."""

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
        probes = Spread.of(self.probes_ns) if self.probes_ns else None
        return Conditions(probes, tuple(look.floor for look in self.bare))


def steps(options: Options) -> int:
    """As often as measure() calls its `step`, at most."""
    return len(options.kinds) * (1 + options.rounds) + options.rounds


def measure(options: Options, say: Callable[[str], None], step: Callable[[], None]) -> Section:
    """Measures all kinds. An interrupt ends it early and in good order. Raises NotMeasured where nothing can be had."""
    from ringmaster.qualify.jitter_section import section

    return section(measured(options, Log(say), step))


def measured(options: Options, log: Log, step: Callable[[], None]) -> Report:
    """The same as figures."""
    report = Report(options, place(options.cores, options.links), notes=log.notes)
    try:
        for kind in options.kinds:
            if begun := _try(log, _begin, kind, report, log):
                report.kinds.append(begun)
            step()
        for number in range(options.rounds):
            _take_turns(report, f"{number + 1}/{options.rounds}", log, step)
    except KeyboardInterrupt:
        report.interrupted = True
        log.note("interrupted: what follows is what was measured until then")
    report.notes[:] = list(dict.fromkeys(report.notes))
    return report


def _try(log: Log, what: Callable[..., T], *arguments: object) -> T | None:
    try:
        return what(*arguments)
    except NotMeasured as error:
        log.note(f"not measured: {error}")
        return None


def _begin(kind: str, report: Report, log: Log) -> Measured:
    """What the kind carries flat out, and how many links it is given by that."""
    options = report.options
    flat_out = _carry(kind, options.links, report, Traffic(options.group, 0.0, options.size), FLAT_OUT_S)
    each_pps = options.group * options.rate_hz
    links = max(1, min(options.links, int(CARRIED_SHARE * flat_out.received_pps / each_pps)))
    log.say(f"{kind}: flat out {flat_out.received_pps / 1e6:.3g} Mpps")
    if links < options.links:
        log.note(
            f"{kind}: takes {flat_out.received_pps / 1e6:.3g} Mpps flat out, "
            f"so it was given {links} of the {options.links} links, {links * each_pps / 1e6:.3g} Mpps"
        )
    return Measured(kind, links, flat_out)


def _carry(kind: str, links: int, report: Report, traffic: Traffic, seconds: float) -> Carried:
    cores = report.cores.first(links)
    with linked(kind, links) as pair:
        return carry(pair, cores, traffic, seconds, keep_rows=traffic.rate_hz > 0)


def _take_turns(report: Report, round_words: str, log: Log, step: Callable[[], None]) -> None:
    """One round: the bare loop, then each kind."""
    cores = report.cores
    report.probes_ns.append(core_to_core_ns(cores.sender, cores.receivers[0]))
    report.bare.append(bare_clock.look(report.options.seconds, (cores.sender, *cores.receivers)))
    step()
    for kind in report.kinds:
        if turn := _try(log, _turn, kind, report):
            kind.rounds.append(turn)
            log.say(f"{round_words} {kind.kind}: {turn.words}")
        step()


def _turn(kind: Measured, report: Report) -> Round:
    options = report.options
    traffic = Traffic(options.group, options.rate_hz, options.size, options.inject_jitter_us, options.inject_drop_every)
    run = _carry(kind.kind, kind.links, report, traffic, options.seconds)

    def by_link(rows: Rows) -> tuple[Groups, ...]:
        return tuple(
            groups_of(rows, link, options.group, options.rate_hz, run.caught["tsc_hz"]) for link in range(kind.links)
        )

    late = tuple(
        late_us(run.sent_rows, run.rows, link, options.group, run.caught["tsc_hz"]) for link in range(kind.links)
    )
    return Round(by_link(run.rows), by_link(run.sent_rows), late, run)
