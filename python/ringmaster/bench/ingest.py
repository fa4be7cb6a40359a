# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench ingest`: what one receive core costs and carries, part by part, each figure beside a peer.

A part yields its rows as they are measured; whoever interrupts it keeps those there are.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import click

from ringmaster.bench import added, end_to_end, instructions, load, memory, polling, sizes, tables
from ringmaster.bench.measurement import PartByPart, windows_within
from ringmaster.bench.options import COUNT, SECONDS, Finite, SomeOf, option
from ringmaster.bench.windows import Window, compare, ratio_of, ratios_of
from ringmaster.report.headlines import Figure, exact, of_values
from ringmaster.report.section import Table
from ringmaster.report.verdicts import Headline

PARTS = ("added", "instructions", "windows", "load", "polling", "sizes")
"""In the order in which they are measured. The memory table needs no measurement, and is always there."""


@dataclass(frozen=True)
class Options:
    """What to measure, and for how long."""

    parts: tuple[str, ...] = option(PARTS, "", SomeOf(PARTS), metavar="PART,…")
    windows: int = option(12, "Pairs per frame size.", COUNT)
    seconds: float = option(1.0, "Length of a window.", SECONDS)
    load_seconds: float = option(60.0, "To hold the Elettra load for.", Finite(1))
    rounds: int = option(21, "Of each added cost; a third of them where sizes are compared.", click.IntRange(3))


class Ingest(PartByPart[Options]):
    """Measure what one receive core costs and carries, beside dpdk-testpmd behind the same sender.

    Uses two cores: a sender on the first, the receiver on the second. The shipped server runs with all its counters
    on. Ctrl-C prints what was measured so far.
    """

    name, title, options_type = "ingest", "Ingest", Options
    examples = (
        "",
        "--json > ingest.json",
        "--parts windows --windows 10",
        "--parts added,instructions --rounds 51 --json",
    )
    meanings = """\b
Parts:
  added         time per packet beyond polling and freeing it
  instructions  the same in instructions, by callgrind
  windows       highest rate without loss over memif, ours and testpmd's
  load          the Elettra load, held
  polling       adaptive polling, on and off
  sizes         cost over instruments, rings, queues, pages

"""
    about = "What one receive core costs and carries, beside dpdk-testpmd behind the same sender over memif."

    def __init__(self, options: Options, *watch: Any) -> None:
        super().__init__(options, *watch)
        self.simds = added.simds()
        """Of this CPU, narrowest first."""

    @classmethod
    def steps(cls, options: Options) -> int:
        """A step for each part."""
        return len(options.parts)

    @classmethod
    def fitted(cls, seconds: float) -> Options:
        """The parts that say the most."""
        windows, load_seconds = windows_within(0.7 * seconds, 6.0), round(max(2.0, 0.1 * seconds))
        return Options(("windows", "load"), windows, 0.5, load_seconds, 3)

    def measure(self) -> None:
        """Part by part; between them the added cost that stands for all."""
        options = self.options
        self.probe()
        tsc_hz = self.floors[0].tsc_hz
        runs: dict[str, Callable[[], Iterator[Any]]] = {
            "added": lambda: added.run(options.rounds, self),
            "instructions": lambda: instructions.run(self),
            "windows": lambda: end_to_end.run(options.windows, options.seconds, tsc_hz, self),
            "load": lambda: load.run(options.load_seconds, options.seconds, tsc_hz, self),
            "polling": lambda: polling.run(options.seconds, tsc_hz, self),
            "sizes": lambda: sizes.run(max(3, options.rounds // 3), options.seconds, tsc_hz, self),
        }
        for part, run in runs.items():
            if part in options.parts:
                self.keep(part, run())
                if "added" in options.parts and len(options.parts) > 1:
                    self.keep("added", added.visit(max(3, options.rounds // 3), self))
                self.step()
        self.probe()
        if self.windows and ratio_of(self.windows, end_to_end.LONG.name) is None:
            self.note("windows: no pair to compare: see what the discarded ones say; more --windows may find some")

    @property
    def windows(self) -> list[Window]:
        """Of the part of that name."""
        return self.of("windows")

    def headlines(self) -> list[Headline]:
        """Of each: median, spread, and of how many what."""
        costs = added.headline_rows(self.of("added"), self.simds)
        bytes_each = next(row.cpu_bytes for row in memory.table() if row.chain == "both")
        counted = next((row.added for row in self.of("instructions") if row.chain == "both"), None)
        return [
            *(Headline(f"added_ns_per_packet.{chain}", added.figure_of(rows), "ns") for chain, rows in costs.items()),
            Headline("ratio_to_testpmd", self._ratios(end_to_end.LONG.name), "×"),
            Headline("ratio_to_testpmd_96", self._ratios(end_to_end.LONG_OF_MANY.name), "×"),
            Headline("bytes_per_packet", exact(bytes_each, "layout"), "B"),
            Headline("instructions_per_packet", exact(counted, "count"), ""),
            Headline("core_to_core_ns", of_values(self.probes_ns, "probes"), "ns"),
        ]

    def _ratios(self, load_name: str) -> Figure | None:
        return of_values(ratios_of(self.windows, load_name), "pairs of windows")

    def tables(self) -> list[Table]:
        """One per part."""
        made = [tables.MAKERS[part](rows) for part, rows in self.parts.items() if rows]
        return [*made, *([tables.losses(self.windows)] if self.windows else []), tables.memory_table(memory.table())]

    def core_shares(self) -> list[float]:
        """Of sender and receiver."""
        return [share for row in self.windows for share in (row.sender_share, row.receiver_share)]

    def data(self) -> dict[str, object]:
        """Every row."""
        found: dict[str, object] = {part: [asdict(row) for row in rows] for part, rows in self.parts.items()}
        found["memory"] = [asdict(row) for row in memory.table()]
        found["comparisons"] = [asdict(row) for row in compare(self.windows)]
        return {"tsc_hz": self.floors[0].tsc_hz if self.floors else None, "tables": found}
