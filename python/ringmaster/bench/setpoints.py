# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench setpoints`: what setpoints cost in the guard, how many leave in a second, how soon after a commit.

A part yields its rows as they are measured; whoever interrupts it keeps those there are.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ringmaster.bench import transmit_latency, transmit_rate
from ringmaster.bench.log import Log
from ringmaster.bench.measurement import PartByPart, windows_within
from ringmaster.bench.options import COUNT, Finite, SomeOf, option
from ringmaster.bench.printed import figures, printed
from ringmaster.places import find_program
from ringmaster.programs.cores import cores
from ringmaster.report.headlines import Figure, of_all, of_values
from ringmaster.report.section import Table
from ringmaster.report.verdicts import Headline, spread_cell

PARTS = ("guard", "rate", "latency")
RATIO, BOUND = 0.9, 1.0
"""Targets: to testpmd's rate, at least; to the bound of transmit_latency.py, at most."""
GUARD_CHAINS, GUARD_SUPPLIES = 96, 13
"""1248 supplies, as many as a ring has."""
LIMIT_S = 60.0


@dataclass(frozen=True)
class Options:
    """What to measure, and for how long."""

    parts: tuple[str, ...] = option(PARTS, "", SomeOf(PARTS), metavar="PART,…")
    windows: int = option(12, "Of each figure; the median and its spread are theirs.", COUNT)
    seconds: float = option(0.5, "Length of a window.", Finite(0.05))


@dataclass(frozen=True)
class Guard:
    """One visit to the guard and the frames, alone and hot; nanoseconds, medians."""

    supplies: int
    chains: int
    vector_ns: float
    """Judging a row with a value for every supply."""
    cycle_moving_ns: float
    """A step of every supply."""
    cycle_resting_ns: float
    fill_datagram_ns: float
    """Of a chain."""


class Setpoints(PartByPart[Options]):
    """Measure setpoints from an application's setpoint vector to the link: guard, rate, latency.

    The rate stands beside dpdk-testpmd's `txonly` over the same link, with frames of the same size and the same
    receiver, by turns. The latency stands beside what a cache line takes between the same cores in the same window.
    Uses two cores. Ctrl-C prints what was measured so far.
    """

    name, title, options_type = "setpoints", "Setpoints", Options
    examples = ("", "--json > setpoints.json", "--parts rate --windows 5")
    meanings = """\b
Parts:
  guard    what the guard takes for a row and for a cycle of 1248 supplies
  rate     datagrams a second from one core, ours and testpmd's
  latency  from a vector's commit to its first datagram

"""
    about = (
        "Setpoints from an application's setpoint vector to the link: what the guard takes, how many datagrams leave "
        "in a second beside dpdk-testpmd, how soon after a commit the first one leaves."
    )

    @classmethod
    def steps(cls, options: Options) -> int:
        """As many rows as there will be, at most."""
        each = {"guard": 1, "rate": 3 * len(transmit_rate.SUPPLIES), "latency": len(transmit_latency.CASES)}
        return options.windows * sum(each[part] for part in options.parts)

    @classmethod
    def fitted(cls, seconds: float) -> Options:
        """As many windows as fit."""
        return Options(windows=windows_within(seconds, 20.0), seconds=0.3)

    def measure(self) -> None:
        """Part by part, each row by row."""
        windows, seconds = self.options.windows, self.options.seconds
        runs: dict[str, Callable[[], Iterator[Any]]] = {
            "guard": lambda: _guard(windows, self),
            "rate": lambda: transmit_rate.run(windows, seconds, self),
            "latency": lambda: transmit_latency.run(windows, seconds, self),
        }
        self.probe()
        for part in self.options.parts:
            self.keep(part, runs[part](), self.step)
        self.probe()

    def core_shares(self) -> list[float]:
        """Of sender and receiver."""
        return [share for row in self.of("rate") for share in (row.sender_share, row.receiver_share)]

    def headlines(self) -> list[Headline]:
        """Those with a target first."""
        return [*self._rates(), *self._latencies(), *self._guards()]

    def _rates(self) -> list[Headline]:
        names = {transmit_rate.RINGMASTER: "the server", transmit_rate.ROWS: "a new row each cycle"}
        return [
            Headline(
                f"rate_ratio.{sender}.{transmit_rate.frame_bytes(supplies)}",
                of_values(transmit_rate.ratios_of(self.of("rate"), sender, supplies), "pairs of windows"),
                *("×", RATIO, False, f"{about}, to testpmd txonly"),
            )
            for sender, about in names.items()
            for supplies in transmit_rate.SUPPLIES
        ]

    def _latencies(self) -> list[Headline]:
        found = []
        for chains, supplies in transmit_latency.CASES:
            rows = [row for row in self.of("latency") if row.chains == chains and row.counts]
            count = chains * supplies
            over = of_values(transmit_latency.ratios_of(self.of("latency"), chains), "windows")
            sent = of_values([row.sent_ns["p50"] for row in rows], "windows")
            back = of_values([row.arrival.median for row in rows], "windows")
            found += [
                Headline(
                    f"commit_to_sent_over_bound.{count}", over, "×", BOUND, about=f"{chains} chains, to its bound"
                ),
                Headline(f"commit_to_sent_ns.{count}", sent, "ns", about="row committed, first datagram at the port"),
                Headline(f"commit_to_arrival_ns.{count}", back, "ns", about="and back over the link"),
            ]
        return found

    def _guards(self) -> list[Headline]:
        abouts = {
            "vector_ns": "guard: a row of 1248 values",
            "cycle_moving_ns": "guard: a step of 1248 supplies",
            "fill_datagram_ns": "a datagram of 13 supplies",
        }
        return [Headline(f"guard.{name}", self._guard(name), "ns", about=about) for name, about in abouts.items()]

    def _guard(self, name: str) -> Figure | None:
        return of_values([getattr(row, name) for row in self.of("guard")], "visits")

    def tables(self) -> list[Table]:
        """Rates, and latencies."""
        rates = [_rate_table(self.of("rate"))] if self.of("rate") else []
        return rates + ([_latency_table(self.of("latency"))] if self.of("latency") else [])

    def data(self) -> dict[str, object]:
        """Every row."""
        latencies = [
            asdict(row) | {"bound_ns": row.bound_ns, "over_bound": row.over_bound} for row in self.of("latency")
        ]
        tables = {
            "guard": [asdict(row) for row in self.of("guard")],
            "rate": [asdict(row) for row in self.of("rate")],
            "rate_comparisons": [asdict(row) for row in transmit_rate.compare(self.of("rate"))],
            "latency": latencies,
        }
        return {"tables": tables}


def _rate_table(windows: Sequence[transmit_rate.Window]) -> Table:
    senders = (transmit_rate.RINGMASTER, transmit_rate.ROWS, transmit_rate.TESTPMD)
    head = ("bytes", "class", *(f"{name} Mpps" for name in senders), "server ratio", "rows ratio", "left out")
    rows = [
        (
            *(str(row.frame_bytes), row.distance, *(spread_cell(row.rates_pps.get(name), 1e6) for name in senders)),
            *(spread_cell(row.ratios.get(name)) for name in senders[:2]),
            str(row.left_out),
        )
        for row in transmit_rate.compare(windows)
    ]
    return Table("One sending core over memif, beside testpmd txonly", head, rows)


def _latency_table(windows: Sequence[transmit_latency.Window]) -> Table:
    rows = []
    for chains, _supplies in transmit_latency.CASES:
        for distance in ("near", "far"):
            here = [row for row in windows if (row.chains, row.distance) == (chains, distance) and row.counts]
            if here:
                columns = [[row.sent_ns[name] for row in here] for name in ("p50", "p99")]
                columns += [[row.bound_ns for row in here], [row.arrival.median for row in here]]
                cells = (spread_cell(of_all(column, "windows")) for column in columns)
                rows.append((f"{here[0].supplies} in {chains}", distance, *cells))
    head = ("supplies in chains", "class", "commit to sent p50", "p99", "bound", "back over the link p50")
    return Table("From commit to datagram, ns", head, rows)


def guard_of(words: str) -> Guard:
    """From the program's JSON. Raises NotMeasured where it is none of its kind."""
    names = ("vector_ns", "cycle_moving_ns", "cycle_resting_ns", "fill_datagram_ns")
    return figures(
        "ringmaster-transmit-cost",
        words,
        lambda said: Guard(said["supplies"], said["chains"], *(float(said[name]["median"]) for name in names)),
    )


def _guard(count: int, log: Log) -> Iterator[Guard]:
    command = [find_program("ringmaster-transmit-cost"), "cost", str(GUARD_CHAINS), str(GUARD_SUPPLIES)]
    pinned = ["taskset", "-c", str(cores()[1]), *command]
    for number_of in range(count):
        row = guard_of(printed("guard", pinned, LIMIT_S))
        log.say(
            f"{number_of + 1}/{count} guard of {row.supplies} supplies: row {row.vector_ns:.0f} ns, "
            f"cycle {row.cycle_moving_ns:.0f} ns, datagram {row.fill_datagram_ns:.1f} ns"
        )
        yield row
