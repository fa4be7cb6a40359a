# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench generate`: how fast one core generates packets, beside testpmd; and how well it keeps a pace."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial

from ringmaster.bench.generate_run import (
    NO_PKTGEN,
    PKTGEN,
    SIZE,
    VARYING,
    Paced,
    has_pktgen,
    load_of,
    measure_pace,
    measure_window,
)
from ringmaster.bench.measurement import PartByPart, Turn, windows_within
from ringmaster.bench.options import COUNT, Finite, SomeOf, option
from ringmaster.bench.receivers import NO_TESTPMD, has_testpmd
from ringmaster.bench.windows import RINGMASTER, TESTPMD, compare, ratios_of
from ringmaster.report.headlines import Figure, of_all, of_values
from ringmaster.report.section import Columns, Table
from ringmaster.report.verdicts import Headline, spread_cell

PARTS = ("rate", "pace")
RATIO, RATIO_VARYING, RATE_ERROR = 1.3, 0.95, 0.001
"""Targets: to testpmd's rate, at least; of a pace over a second, at most."""
PACES_HZ = (10_000.0, 100_000.0, 1_000_000.0)
LOAD = load_of(SIZE)
WINDOW_S, PACE_S = 4.0, 3.0
"""What a window takes with all around it."""


@dataclass(frozen=True)
class Options:
    """What to measure, and for how long."""

    parts: tuple[str, ...] = option(PARTS, "", SomeOf(PARTS), metavar="PART,…")
    windows: int = option(9, "Of each figure; the median and its spread are theirs.", COUNT)
    seconds: float = option(1.0, "Length of a window.", Finite(0.05))


RATES: Columns = {
    "frames": lambda row: row.load.partition("-")[0],
    "class": lambda row: row.distance,
    "ringmaster Mpps": lambda row: spread_cell(row.figure(RINGMASTER, "rate_pps"), 1e6),
    "varying Mpps": lambda row: spread_cell(row.figure(VARYING, "rate_pps"), 1e6),
    "pktgen Mpps": lambda row: spread_cell(row.figure(PKTGEN, "rate_pps"), 1e6),
    "testpmd Mpps": lambda row: spread_cell(row.figure(TESTPMD, "rate_pps"), 1e6),
    "ratio": lambda row: row.figure(RINGMASTER, "ratio"),
    "varying ratio": lambda row: row.figure(VARYING, "ratio"),
    "left out": lambda row: str(row.starved + sum(row.disturbed.values())),
}
PACES: Columns = {
    "packets/s": lambda here: f"{here[0].rate_hz:,.0f}",
    "off, %": lambda here: of_all([100 * row.error for row in here], "windows"),
    "jitter p50 ns": lambda here: of_all([row.jitter_ns.median for row in here], "windows"),
    "p99 ns": lambda here: of_all([row.jitter_ns.p99 for row in here], "windows"),
    "longest µs": lambda here: of_all([row.jitter_ns.max / 1e3 for row in here], "windows"),
}
"""Of windows of one pace."""


class PacketGenerator(PartByPart[Options]):
    """Measure how fast one core generates packets, beside dpdk-testpmd, and how well it keeps a pace.

    Shortest frames over memif, behind each sender the same receiver, by turns: a packet counts when the link took it.
    Uses two cores. Ctrl-C prints what was measured so far.
    """

    name, title, options_type = "generate", "Packet generator", Options
    examples = ("", "--json > generate.json", "--parts rate --windows 5")
    meanings = """\b
Parts:
  rate  packets a second from one core, all alike and varying, beside testpmd's
  pace  the rate that was asked for, over a second, and the jitter of its packets

"""
    two_cores = "one for the sender and one for the receiver"
    about = (
        "The packet generator on one core over memif: packets a second beside dpdk-testpmd txonly behind the same "
        "receiver while neither end stood still; and how well a pace is kept. "
        "The stall floor is what any program on these cores waits."
    )

    @classmethod
    def fitted(cls, seconds: float) -> Options:
        """As many windows as fit."""
        each_s = 3 * WINDOW_S + len(PACES_HZ) * PACE_S
        return Options(windows=windows_within(seconds, each_s), seconds=0.5)

    @contextmanager
    def around(self) -> Iterator[None]:
        """Says what is missing."""
        if "rate" in self.options.parts:
            for there, words in ((has_testpmd(), NO_TESTPMD), (has_pktgen(), NO_PKTGEN)):
                if not there:
                    self.note(words)
        with super().around():
            yield
        rows = [*self.of("rate"), *self.of("pace")]
        if rows and not any(row.whole for row in rows):
            self.note("no window counts: others had the cores, see what the discarded ones say")

    def turns_of(self, part: str) -> Iterable[Turn]:
        """Windows."""
        return self._paces() if part == "pace" else self._rates()

    def _paces(self) -> Iterator[Turn]:
        count, seconds = self.options.windows, max(1.0, self.options.seconds)
        for number in range(count):
            for rate_hz in PACES_HZ:
                yield Turn(f"{rate_hz:,.0f}/s", partial(measure_pace, rate_hz, seconds), f"{number + 1}/{count} ")

    def _rates(self) -> Iterator[Turn]:
        """Testpmd's in between."""
        testpmd = [TESTPMD] if has_testpmd() else []
        peers = [RINGMASTER, *testpmd, VARYING, *([PKTGEN] if has_pktgen() else [])]
        count = self.options.windows
        for number in range(count):
            for peer in peers if number % 2 == 0 else peers[::-1]:
                yield Turn(peer, partial(measure_window, peer, self.options.seconds), f"{number + 1}/{count} ")

    def core_shares(self) -> list[float]:
        """Of sender and receiver."""
        rows = [*self.of("rate"), *self.of("pace")]
        return [share for row in rows for share in (row.sender_share, row.receiver_share)]

    def headlines(self) -> list[Headline]:
        """Those with a target first."""
        return [
            Headline("ratio_to_testpmd", self._ratio(RINGMASTER), "×", RATIO, False, "frames alike, to txonly"),
            Headline(
                *("ratio_varying_fields", self._ratio(VARYING), "×", RATIO_VARYING, False),
                "four varying fields and a stamp, to txonly",
            ),
            Headline("rate_error", self._rate_error(), "", RATE_ERROR, about="the worst of the paces, over a second"),
            *(
                [Headline("ratio_pktgen", self._ratio(PKTGEN), "×", about="Pktgen-DPDK, to txonly")]
                if self._pktgen
                else []
            ),
            *(Headline(f"jitter_p99_ns.{rate:.0f}", self._jitter(rate), "ns") for rate in PACES_HZ),
        ]

    @property
    def _pktgen(self) -> bool:
        return any(row.peer == PKTGEN for row in self.of("rate"))

    def _ratio(self, peer: str) -> Figure | None:
        return of_values(ratios_of(self.of("rate"), LOAD, peer), "pairs of windows")

    def _at(self, rate_hz: float) -> list[Paced]:
        """Windows of that pace of which something is made."""
        return [row for row in self.of("pace") if row.rate_hz == rate_hz and row.whole]

    def _rate_error(self) -> Figure | None:
        figures = [of_values((row.error for row in self._at(rate)), "windows") for rate in PACES_HZ]
        return max((figure for figure in figures if figure), key=lambda figure: figure.median, default=None)

    def _jitter(self, rate_hz: float) -> Figure | None:
        return of_values((row.jitter_ns.p99 for row in self._at(rate_hz)), "windows")

    def tables(self) -> list[Table]:
        """Rates, and paces."""
        compared = compare(self.of("rate"), ("rate_pps",))
        paces = [here for here in map(self._at, PACES_HZ) if here]
        floor_us = max((floor.longest_us for floor in self.floors), default=float("nan"))
        about = (
            f"Stall floor: a loop that only looks at the clock waited {floor_us:.1f} µs on these cores at the longest."
        )
        rates = [Table.of("One generating core over memif, beside testpmd txonly", compared, RATES)]
        kept = [Table.of("Paces, and the jitter from packet to packet at the receiver", paces, PACES, about)]
        return (rates if compared else []) + (kept if paces else [])

    def data(self) -> dict[str, object]:
        """Every row."""
        rows: dict[str, object] = {part: [asdict(row) for row in self.of(part)] for part in PARTS}
        rows["rate_comparisons"] = [asdict(row) for row in compare(self.of("rate"), ("rate_pps",))]
        return {"tables": rows}
