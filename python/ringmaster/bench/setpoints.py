# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench setpoints`: what setpoints cost in the guard, how many leave in a second, how soon after a commit.

A part yields its rows as they are measured; an interrupt keeps those there are.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from ringmaster.bench import transmit_latency, transmit_rate
from ringmaster.bench.measurement import PartByPart, Turn, windows_within
from ringmaster.bench.options import COUNT, Finite, SomeOf, option
from ringmaster.bench.printed import figures, printed
from ringmaster.bench.receivers import NO_TESTPMD, has_testpmd
from ringmaster.bench.transmit_latency import Window
from ringmaster.bench.transmit_rate import ROWS
from ringmaster.bench.windows import RINGMASTER, TESTPMD, compare, ratios_of
from ringmaster.places import find_program
from ringmaster.programs.cores import cores
from ringmaster.report.headlines import of_all, of_values
from ringmaster.report.section import Columns, Table
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

    @property
    def words(self) -> str:
        """On one line."""
        return (
            f"guard of {self.supplies} supplies: row {self.vector_ns:.0f} ns, "
            f"cycle {self.cycle_moving_ns:.0f} ns, datagram {self.fill_datagram_ns:.1f} ns"
        )


RATES: Columns = {
    "bytes": lambda row: row.load.partition("-")[0],
    "class": lambda row: row.distance,
    "ringmaster Mpps": lambda row: spread_cell(row.figure(RINGMASTER, "rate_pps"), 1e6),
    "rows Mpps": lambda row: spread_cell(row.figure(ROWS, "rate_pps"), 1e6),
    "testpmd Mpps": lambda row: spread_cell(row.figure(TESTPMD, "rate_pps"), 1e6),
    "server ratio": lambda row: row.figure(RINGMASTER, "ratio"),
    "rows ratio": lambda row: row.figure(ROWS, "ratio"),
    "left out": lambda row: str(row.starved + sum(row.disturbed.values())),
}
LATENCIES: Columns = {
    "supplies in chains": lambda here: f"{here[0].supplies} in {here[0].chains}",
    "class": lambda here: here[0].distance,
    "commit to sent p50": lambda here: of_all([row.sent_ns["p50"] for row in here], "windows"),
    "p99": lambda here: of_all([row.sent_ns["p99"] for row in here], "windows"),
    "bound": lambda here: of_all([row.bound_ns for row in here], "windows"),
    "back over the link p50": lambda here: of_all([row.arrival.median for row in here], "windows"),
}
"""Of windows of one case and class."""


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
    def fitted(cls, seconds: float) -> Options:
        """As many windows as fit."""
        return Options(windows=windows_within(seconds, 20.0), seconds=0.3)

    @contextmanager
    def around(self) -> Iterator[None]:
        """Says what is missing."""
        if "rate" in self.options.parts and not has_testpmd():
            self.note(NO_TESTPMD)
        with super().around():
            yield

    def turns_of(self, part: str) -> Iterable[Turn]:
        """Windows."""
        count, seconds = self.options.windows, self.options.seconds
        if part == "guard":
            return (Turn("", _guard, f"{number + 1}/{count} ") for number in range(count))
        return transmit_rate.turns(count, seconds) if part == "rate" else transmit_latency.turns(count, seconds)

    def core_shares(self) -> list[float]:
        """Of sender and receiver."""
        return [share for row in self.of("rate") for share in (row.sender_share, row.receiver_share)]

    def headlines(self) -> list[Headline]:
        """Those with a target first."""
        return [*self._rates(), *self._latencies(), *self._guards()]

    def _rates(self) -> list[Headline]:
        names = {RINGMASTER: "the server", ROWS: "a new row each cycle"}
        return [
            Headline(
                f"rate_ratio.{peer}.{transmit_rate.frame_bytes(supplies)}",
                of_values(ratios_of(self.of("rate"), transmit_rate.load_of(supplies), peer), "pairs of windows"),
                *("×", RATIO, False, f"{about}, to testpmd txonly"),
            )
            for peer, about in names.items()
            for supplies in transmit_rate.SUPPLIES
        ]

    def _latencies(self) -> list[Headline]:
        found = []
        for chains, supplies in transmit_latency.CASES:
            rows = self._counting(chains)
            over = of_values((row.over_bound for row in rows), "windows")
            sent = of_values((row.sent_ns["p50"] for row in rows), "windows")
            back = of_values((row.arrival.median for row in rows), "windows")
            to_bound, count = f"{chains} chains, to its bound", chains * supplies
            found += [
                Headline(f"commit_to_sent_over_bound.{count}", over, "×", BOUND, about=to_bound),
                Headline(f"commit_to_sent_ns.{count}", sent, "ns", about="row committed, first datagram at the port"),
                Headline(f"commit_to_arrival_ns.{count}", back, "ns", about="and back over the link"),
            ]
        return found

    def _counting(self, chains: int) -> list[Window]:
        """Windows of that case of which something is made."""
        return [row for row in self.of("latency") if row.chains == chains and row.counts]

    def _guards(self) -> list[Headline]:
        abouts = {
            "vector_ns": "guard: a row of 1248 values",
            "cycle_moving_ns": "guard: a step of 1248 supplies",
            "fill_datagram_ns": "a datagram of 13 supplies",
        }
        rows = self.of("guard")
        return [
            Headline(f"guard.{name}", of_values((getattr(row, name) for row in rows), "visits"), "ns", about=about)
            for name, about in abouts.items()
        ]

    def tables(self) -> list[Table]:
        """Rates, and latencies."""
        compared = compare(self.of("rate"), ("rate_pps",))
        cases = [
            [row for row in self._counting(chains) if row.distance == distance]
            for chains, _ in transmit_latency.CASES
            for distance in ("near", "far")
        ]
        rates = [Table.of("One sending core over memif, beside testpmd txonly", compared, RATES)]
        latencies = [Table.of("From commit to datagram, ns", filter(None, cases), LATENCIES)]
        return (rates if compared else []) + (latencies if self.of("latency") else [])

    def data(self) -> dict[str, object]:
        """Every row."""
        tables: dict[str, object] = {part: [asdict(row) for row in self.of(part)] for part in ("guard", "rate")}
        tables["rate_comparisons"] = [asdict(row) for row in compare(self.of("rate"), ("rate_pps",))]
        tables["latency"] = [
            asdict(row) | {"bound_ns": row.bound_ns, "over_bound": row.over_bound} for row in self.of("latency")
        ]
        return {"tables": tables}


def guard_of(words: str) -> Guard:
    """From the program's JSON. Raises NotMeasured where it is none of its kind."""
    names = ("vector_ns", "cycle_moving_ns", "cycle_resting_ns", "fill_datagram_ns")
    return figures(
        "ringmaster-transmit-cost",
        words,
        lambda said: Guard(said["supplies"], said["chains"], *(float(said[name]["median"]) for name in names)),
    )


def _guard() -> Guard:
    command = [find_program("ringmaster-transmit-cost"), "cost", str(GUARD_CHAINS), str(GUARD_SUPPLIES)]
    return guard_of(printed("guard", ["taskset", "-c", str(cores()[1]), *command], LIMIT_S))
