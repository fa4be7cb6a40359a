# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench jitter`: groups of datagrams at a fixed rate, and how evenly they arrive; the poster's measurement.

DPDK and the kernel's sockets take turns in rounds, and in every round a bare loop on the clock watches the same cores:
what it was late by is the machine's, what is beyond it the software's.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ringmaster.bench import bare_clock, jitter_tables
from ringmaster.bench.bare_clock import Bare
from ringmaster.bench.carried import Carried
from ringmaster.bench.groups import Floats, Groups, Rows, groups_of, not_sent, took_us
from ringmaster.bench.jitter_tables import Measured, Turn, pooled
from ringmaster.bench.link_options import SteadyOptions, kinds_option, links_option
from ringmaster.bench.options import WrongOptions
from ringmaster.bench.steady import Steady
from ringmaster.report.section import Chart

CLOCK = "clock"
CARRIED_SHARE = 0.8
"""Of what a kind carries flat out: more is not asked of it."""
MOST_CYCLES = 10_000_000
"""In a round, of all links: so many rows are kept."""


@dataclass(frozen=True, kw_only=True)
class Options(SteadyOptions):
    """What is sent, over what, how often."""

    kinds: tuple[str, ...] = kinds_option(("memif", "af_xdp", "udp", "raw"))
    links: int = links_option(4)

    def __post_init__(self) -> None:
        """Raises WrongOptions."""
        super().__post_init__()
        groups = self.rate_hz * self.seconds * self.count
        if groups > MOST_CYCLES:
            raise WrongOptions(
                f"--rate {self.rate_hz:g} for --seconds {self.seconds:g} on --links {self.count}: {groups:,.0f} groups "
                f"in a round, expected up to {MOST_CYCLES:,}; more --rounds make more"
            )


class Jitter(Steady[Options, Measured]):
    """Measure how evenly groups of datagrams arrive: DPDK beside the kernel's sockets, as the poster does.

    Instruments at a fixed rate on up to four links, a group of their datagrams per link and cycle, each stamped. The
    jitter of a cycle is by how much the distance of its group from the one before differs from the period. Beside it
    what the same cores do to a bare loop on the clock, the poster's own figures, and how much a core may carry. A kind
    that cannot take all links' traffic is given fewer links, and that is said. Ctrl-C prints what was measured so far.
    """

    name, title, options_type = "jitter", "Jitter", Options
    examples = (
        "",
        "--report out --seconds 20 --rounds 5",
        "--kinds memif,udp --links 1 --instruments 24 --json > jitter.json",
        "--cores 0,2,3,5,6",
        "--instruments 24 --left pci:0000:03:00.0 --right pci:0000:03:00.1",
    )
    about = (
        "A group of datagrams per link and cycle, one of each instrument, at a fixed rate; each datagram stamped as it "
        "is taken from the link. A group counts when its last datagram is there, for nobody can work with a cycle "
        "before. Jitter of a cycle: by how much the distance from the group before differs from the period. A cycle "
        "with a loss in it or in the one before has no jitter and is counted apart."
    )

    def __init__(self, options: Options, *watch: Any) -> None:
        super().__init__(options, *watch)
        self.bare: list[Bare] = []
        """A look at all cores in each round."""

    @classmethod
    def peers(cls, options: Options) -> tuple[str, ...]:
        """The bare clock, and kinds of link."""
        return (CLOCK, *options.chosen)

    def begin(self, kind: str, flat_out: Carried) -> Measured:
        """As many links as it can take."""
        options = self.options
        on_each = options.group * options.rate_hz
        links = max(1, min(options.count, int(CARRIED_SHARE * flat_out.received_pps / on_each)))
        mpps = flat_out.received_pps / 1e6
        self.say(f"{kind}: flat out {mpps:.3g} Mpps")
        if links < options.count:
            self.note(f"{kind}: takes {mpps:.3g} Mpps flat out: it was given {links} of the {options.count} links")
        return Measured(kind, links, flat_out)

    def take(self, peer: str) -> Any:
        """A look of the clock's, or a turn of a kind."""
        if peer != CLOCK:
            return super().take(peer)
        if self.kinds:
            self.probe_distance()
            self.bare.append(bare_clock.look(self.options.seconds, self.on()))
            self.floors.append(self.bare[-1].floor)
        return []

    def take_of(self, kind: Measured) -> Turn:
        """The groups of all links."""
        options = self.options
        run = self.carry(kind.kind, kind.links, options.rate_hz, options.seconds, keep_rows=True)
        tsc_hz, links = run.received["tsc_hz"], range(kind.links)

        def by_link(rows: Rows) -> tuple[Groups, ...]:
            return tuple(groups_of(rows, link, options.group, options.rate_hz, tsc_hz) for link in links)

        took = tuple(took_us(run.sent_rows, run.rows, link, options.group, tsc_hz) for link in links)
        left_out = sum(not_sent(run.sent_rows, run.rows, link) for link in links)
        kind.turns.append(Turn(by_link(run.rows), by_link(run.sent_rows), took, left_out, run))
        return kind.turns[-1]

    def bare_jitter_us(self, cores: Sequence[int]) -> Floats:
        """Of loops on the clock, one behind the other."""
        return pooled([look.jitter_us(self.options.rate_hz, cores) for look in self.bare])

    headlines, tables = jitter_tables.headlines, jitter_tables.tables

    def charts(self) -> list[Chart]:
        """The tail of every kind, and the bare clock's."""
        return [jitter_tables.chart(self)]

    def data(self) -> dict[str, object]:
        """The tables' figures, and every run."""
        return {
            "cores": asdict(self.cores),
            "jitter": jitter_tables.in_numbers(self),
            "turns": [jitter_tables.said(kind, run) for kind in self.kinds for run in kind.carried],
            "flat_out": [jitter_tables.said(kind, kind.flat_out) for kind in self.kinds],
        }
