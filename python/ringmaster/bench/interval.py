# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench interval`: inter-packet times of every instrument, nominal beside measured; the paper's Figure 11.

Between a paced sender and a receiver that stamps each datagram, DPDK and the kernel's sockets by turns. Or of a running
machine, from the records of its server's streams: every record carries the TSC at which its burst was taken from the
port. So records of one burst are apart by nothing, and the next by what lies between two polls: adaptive polling, which
waits for a few datagrams at a time, is seen in single intervals and not in averages.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from time import sleep
from typing import Any

from ringmaster.bench.carried import Carried
from ringmaster.bench.interval_tables import Observed, averages_table, by_instrument, charts, headlines, singles_table
from ringmaster.bench.intervals import Instrument, of_caught, of_stamps
from ringmaster.bench.link_options import SteadyOptions, instruments_option, kinds_option, links_option, rate_option
from ringmaster.bench.log import NotMeasured
from ringmaster.bench.options import Finite, option
from ringmaster.bench.steady import Steady
from ringmaster.fabric.layout import InstrumentKind
from ringmaster.fabric.stream import Stream
from ringmaster.fabric.workspace import Workspace, attach
from ringmaster.report.headlines import of_values
from ringmaster.report.section import Chart, Table
from ringmaster.report.verdicts import Headline

TURN_RATE_HZ = 1e9 / 864
"""Of the paper's Figure 11."""
HELD_SHARE = 0.6
"""Of what a kind carries flat out: at more its queues fill up whenever the machine stalls."""
LOOKS = 10
"""At a running server."""
RECORDS = 1 << 14
"""That a look takes of each stream, at most; a quarter of its ring, too."""
BETWEEN_PROGRAMS = """\
Each instrument sends a datagram in every turn; the receiver stamps every datagram as it is taken from the link. The \
average of an instrument tells whether all of it comes at the rate that it was sent; single intervals tell how \
datagrams are gathered on their way: those that come in one burst are apart by what it takes to look at one."""
OF_A_SERVER = """\
Every record of a full-rate stream carries the time at which its burst was taken from the port. The average of an \
instrument is over all that was looked at; records of one burst are apart by nothing, and bursts by the time between \
two polls."""


@dataclass(frozen=True, kw_only=True)
class Options(SteadyOptions):
    """What is sent, over what, how often; or which server is looked at, and for how long."""

    workspace: str | None = option(
        None, "Look at the streams of this running server instead.", flag="--workspace", short=("-w",), metavar="NAME"
    )
    kinds: tuple[str, ...] = kinds_option(("memif", "udp"))
    instruments: int = instruments_option(7)
    """Seven stay below what two cores carry at the full turn rate."""
    rate_hz: float = rate_option(round(TURN_RATE_HZ), "Turns a second: a datagram of every instrument in each.")
    links: int = links_option(1)
    seconds: float = option(3.0, "Of each kind in a round; of all looks at a server.", Finite(0.1, 600))


@dataclass
class Measured:
    """One kind, all of it."""

    kind: str
    rate_hz: float
    """That it was given: as asked for, or as much as it can hold."""
    flat_out: Carried
    carried: list[Carried] = field(default_factory=list)

    @property
    def nominal_ns(self) -> float:
        """From one datagram of an instrument to the next."""
        return 1e9 / self.rate_hz


class Interval(Steady[Options, Measured]):
    """Measure the inter-packet time of every instrument, nominal beside measured: Figure 11 of the paper.

    Instruments at the turn rate, 864 ns, DPDK beside the kernel's sockets by turns; a kind that cannot hold that rate
    gets one that it can, and that is said. Or, with --workspace, the instruments of a running server, by the stamps
    that it put into its records. Ctrl-C prints what was measured so far.
    """

    name, options_type = "interval", Options
    examples = (
        "",
        "--instruments 96 --rate 50000 --kinds memif,af_xdp",
        "--workspace demo --report out",
        "--left raw:eth1 --right raw:eth2",
    )

    def __init__(self, options: Options, *watch: Any) -> None:
        super().__init__(options, *watch)
        self.looks: list[Look] = []
        """At a running server."""
        self.server, self.nominal_ns, self.tsc_hz = options.workspace or "", 0.0, 0.0
        """Its name, the length of its turn, and the rate of its time stamps."""
        self.streams: list[Stream] = []

    @classmethod
    def rounds(cls, options: Options) -> int:
        """Looks, or rounds of all kinds."""
        return LOOKS if options.workspace else options.rounds

    @classmethod
    def peers(cls, options: Options) -> tuple[str, ...]:
        """The server, or kinds of link."""
        return (options.workspace,) if options.workspace else options.chosen

    @classmethod
    def steps(cls, options: Options) -> int:
        """At a server there is no beginning."""
        return LOOKS if options.workspace else super().steps(options)

    @property
    def title(self) -> str:  # type: ignore[override]
        """Says whose."""
        return f"Inter-packet time, workspace {self.server}" if self.server else "Inter-packet time"

    @property
    def about(self) -> str:  # type: ignore[override]
        """What is compared."""
        return OF_A_SERVER if self.options.workspace else BETWEEN_PROGRAMS

    @contextmanager
    def around(self) -> Iterator[None]:
        """Of a running server, or between programs of its own. Raises NotMeasured where nothing comes."""
        if not self.options.workspace:
            with super().around():
                yield
            return
        with attach(self.options.workspace) as ws:
            self.server, self.streams, self.tsc_hz = ws.name, streams_of(ws), ws.clock.read().tsc_hz
            self.nominal_ns = 1e9 / float(ws.parameters["server/turn_rate_hz"].value)
            yield
        if not any(look.instruments for look in self.looks):
            count = len(self.streams)
            raise NotMeasured(f"interval: nothing comes in the {count} full-rate streams of workspace {self.server!r}")

    def begin(self, kind: str, flat_out: Carried) -> Measured:
        """As high a rate as it can hold."""
        options = self.options
        rate_hz = min(options.rate_hz, rounded(HELD_SHARE * flat_out.received_pps / options.instruments))
        if rate_hz < options.rate_hz:
            self.note(
                f"{kind}: takes {flat_out.received_pps / 1e6:.3g} Mpps flat out, so it was given "
                f"{rate_hz:,.0f} Hz of {options.rate_hz:,.0f} Hz, which it can hold"
            )
        return Measured(kind, rate_hz, flat_out)

    def take(self, peer: str) -> Any:
        """A look at the server, or a run of a kind."""
        if not self.options.workspace:
            return super().take(peer)
        if self.looks:
            sleep(self.options.seconds / LOOKS)
        self.looks.append(look(self.streams, self.tsc_hz))
        return self.looks[-1]

    def take_of(self, kind: Measured) -> Carried:
        """At the rate that it was given."""
        kind.carried.append(self.carry(kind.kind, self.options.count, kind.rate_hz, self.options.seconds))
        return kind.carried[-1]

    @property
    def observed(self) -> list[Observed]:
        """All that was seen, of every sender."""
        if self.looks:
            return [Observed(self.server, self.nominal_ns, [look.instruments for look in self.looks])]
        return [
            Observed(kind.kind, kind.nominal_ns, [of_caught(run.received) for run in kind.carried])
            for kind in self.measured
        ]

    def is_empty(self) -> bool:
        """Whether nothing was seen of any sender."""
        return not self.observed

    def headlines(self) -> list[Headline]:
        """The averages, and the rates that came."""
        return [row for one in self.observed for row in headlines(one)] + [self._held(kind) for kind in self.measured]

    def _held(self, kind: Measured) -> Headline:
        rates = [run.received_pps / self.options.instruments for run in kind.carried]
        about = f"came of each; {kind.rate_hz:,.0f} were sent"
        return Headline(f"{kind.kind}.rate_hz", of_values(rates, "rounds"), "Hz", about=about)

    def tables(self) -> list[Table]:
        """Figure 11 in figures; single intervals; each instrument."""
        observed = self.observed
        return [averages_table(observed), singles_table(observed), *map(by_instrument, observed)]

    def charts(self) -> list[Chart]:
        """As Figure 11."""
        return charts(self.observed)

    def data(self) -> dict[str, object]:
        """Every run."""
        if self.options.workspace:
            return {"nominal_ns": self.nominal_ns}
        kinds = [
            {"kind": one.kind, "rate_hz": one.rate_hz, "runs": list(map(said, one.carried))} for one in self.measured
        ]
        return {"cores": asdict(self.cores), "kinds": kinds}


def rounded(rate_hz: float) -> float:
    """Down to two digits: a rate that another run can be given."""
    digits = len(str(int(rate_hz))) - 2
    return float(int(rate_hz) // 10**digits * 10**digits) if digits > 0 else max(1.0, rate_hz)


def streams_of(ws: Workspace) -> list[Stream]:
    """Of instruments, at the full rate. Raises NotMeasured without any."""
    found = [
        stream
        for stream in ws.streams.values()
        if stream.period == 1 and stream.instrument_kind != InstrumentKind.APPLICATION
    ]
    if not found:
        raise NotMeasured(f"interval: workspace {ws.name!r} has no full-rate stream of an instrument")
    return found


@dataclass(frozen=True)
class Look:
    """At a running server once."""

    instruments: list[Instrument]

    @property
    def words(self) -> str:
        """On one line."""
        return f"{len(self.instruments)} instruments"


def look(streams: list[Stream], tsc_hz: float) -> Look:
    """The newest records of each stream, those of which two or more were had."""
    found = []
    for stream in streams:
        window = stream.latest(min(RECORDS, stream.capacity // 4))
        one = of_stamps(stream.instrument, [(window.turn[window.ok], window.tsc[window.ok])], tsc_hz)
        if one is not None:
            found.append(one)
    return Look(found)


def said(run: Carried) -> dict[str, object]:
    """Without the instruments' histograms, of which there are many; the chart has them together."""
    links = [
        {**link, "instruments": [{**one, "histogram": None} for one in link["instruments"]]}
        for link in run.received["links"]
    ]
    return {"sent": run.sent, "received": {**run.received, "links": links}}
