# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench ingest`: what one receive core costs and carries, part by part, each figure beside a peer.

A part yields its rows as they are measured; an interrupt keeps those there are.
"""

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import click

from ringmaster.bench import added, instructions, load, polling, scale, tables
from ringmaster.bench.loads import Replayed
from ringmaster.bench.measurement import PartByPart, Turn, windows_within
from ringmaster.bench.options import COUNT, SECONDS, Finite, SomeOf, option
from ringmaster.bench.receivers import NO_TESTPMD, Received, has_testpmd, measure_window
from ringmaster.bench.setups import CHAINS, LANES
from ringmaster.bench.windows import RINGMASTER, TESTPMD, compare, ratios_of
from ringmaster.plan import memory
from ringmaster.report.headlines import Figure, exact, of_values
from ringmaster.report.section import Table
from ringmaster.report.verdicts import Headline

PARTS = ("added", "instructions", "windows", "load", "polling", "sizes", "scale")
"""In the order in which they are measured. The memory table needs no measurement, and is always there."""
FEW, MANY = 8, added.HEADLINE
"""Instruments that send at the turn rate, in the load that Elettra had; and as many as it has BPMs."""
LONG, LONG_OF_MANY = Replayed(FEW, LANES), Replayed(MANY, LANES)
SHORT = Replayed(FEW, lanes=1)
"""62 bytes: a native datagram has 58 and whole lanes."""
QUEUES = (1, 4, 16)
"""Of one memif port, all polled by one role. The sender fills one; the others are polled in vain."""


@dataclass(frozen=True)
class Options:
    """What to measure, and for how long."""

    parts: tuple[str, ...] = option(PARTS, "", SomeOf(PARTS), metavar="PART,…")
    windows: int = option(12, "Pairs per frame size.", COUNT)
    seconds: float = option(1.0, "Length of a window.", SECONDS)
    load_seconds: float = option(60.0, "To hold the Elettra load for.", Finite(1))
    rounds: int = option(21, "Of each added cost; a third of them where sizes are compared.", click.IntRange(3))


@dataclass(frozen=True)
class Queues:
    """A point of the curve over queues: what the running server takes per packet, the port's share included."""

    queues: int
    instruments: int
    rings_mib: int
    pages: str
    busy_ns: float
    core_share: float
    curve: str = "queues"

    @property
    def words(self) -> str:
        """On one line."""
        return f"size, queues: {self.queues}: {self.busy_ns:.1f} ns a packet"


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
  scale         receive cores beside each other, each behind a sender of its own

"""
    about = "What one receive core costs and carries, beside dpdk-testpmd behind the same sender over memif."

    def __init__(self, options: Options, *watch: Any) -> None:
        super().__init__(options, *watch)
        self.simds = added.simds()
        """Of this CPU, narrowest first."""

    @classmethod
    def fitted(cls, seconds: float) -> Options:
        """The parts that say the most."""
        windows, load_seconds = windows_within(0.7 * seconds, 6.0), round(max(2.0, 0.1 * seconds))
        return Options(("windows", "load"), windows, 0.5, load_seconds, 3)

    @contextmanager
    def around(self) -> Iterator[None]:
        """Says what is missing."""
        if not has_testpmd():
            self.note(NO_TESTPMD)
        with super().around():
            yield
        if self.windows and not ratios_of(self.windows, LONG.name):
            self.note("windows: no pair to compare: see what the discarded ones say; more --windows may find some")

    @property
    def tsc_hz(self) -> float:
        """As the first look at the machine found it."""
        return self.floors[0].tsc_hz if self.floors else float("nan")

    def turns(self) -> Generator[Turn]:
        """Part by part; between them the added cost that stands for all."""
        parts, fewer = self.options.parts, max(3, self.options.rounds // 3)
        for part in (part for part in PARTS if part in parts):
            yield from self.within(part, self.turns_of(part))
            if "added" in parts and len(parts) > 1:
                yield from self.within("added", added.visits(fewer, self))

    def turns_of(self, part: str) -> Iterable[Turn]:
        """Of that part."""
        options = self.options
        if part == "added":
            return added.turns(added.cases(self.simds), options.rounds, self)
        if part == "instructions":
            return (Turn(chain, partial(instructions.count, chain)) for chain in CHAINS)
        if part == "windows":
            return self._end_to_end()
        if part == "load":
            hold = partial(load.hold, options.load_seconds, options.seconds, self.tsc_hz, self)
            return (Turn(name, hold) for name in ("Elettra",))
        if part == "scale":
            return (Turn(f"{n} cores", partial(scale.measure, n, options.seconds, self.tsc_hz)) for n in scale.counts())
        return polling.turns(options.seconds, self.tsc_hz) if part == "polling" else self._sizes()

    def _end_to_end(self) -> Iterator[Turn]:
        """Pairs in which ours comes first and second by turns: what drifts favours neither."""
        pair = [RINGMASTER, TESTPMD] if has_testpmd() else [RINGMASTER]
        for sent in (LONG, SHORT, LONG_OF_MANY):
            for number in range(self.options.windows):
                for peer in pair if number % 2 == 0 else pair[::-1]:
                    yield Turn(peer, self._window(peer, sent), f"{number + 1}/{self.options.windows} ")

    def _window(self, peer: str, sent: Replayed) -> "partial[Received]":
        return partial(measure_window, peer, sent, 0.0, self.options.seconds, self.tsc_hz)

    def _sizes(self) -> Iterator[Turn]:
        """Page sizes are compared where this machine has huge pages already."""
        yield from added.turns(added.curves(), max(3, self.options.rounds // 3), self)
        for count in QUEUES:
            yield Turn(f"{count} queues", partial(self._queues, Replayed(MANY, LANES, queues=count)))

    def _queues(self, sent: Replayed) -> Queues:
        window = self._window(RINGMASTER, sent)()
        has_huge = added.memory_bytes("HugePages_Free") > 0
        if not has_huge:
            self.note("size, pages: 2 MiB pages not measured: no huge pages (the bench leaves the system as it is)")
        rings_mib = sent.instruments * sent.turn_records * added.RECORD_BYTES >> 20
        pages = "2 MiB" if has_huge else "4 KiB"
        each_ns, share = window.busy_ns_per_packet, window.receiver_share
        return Queues(sent.queues, sent.instruments, rings_mib, pages, each_ns, share)

    @property
    def windows(self) -> list[Received]:
        """Of the part of that name."""
        return self.of("windows")

    def headlines(self) -> list[Headline]:
        """Of each: median, spread, and of how many what."""
        costs = added.headline_rows(self.of("added"), self.simds)
        bytes_each = next(row.cpu_bytes for row in memory.table() if row.chain == "both")
        counted = next((row.added for row in self.of("instructions") if row.chain == "both"), None)
        return [
            *(Headline(f"added_ns_per_packet.{chain}", added.figure_of(rows), "ns") for chain, rows in costs.items()),
            Headline("ratio_to_testpmd", self._ratios(LONG.name), "×"),
            Headline("ratio_to_testpmd_96", self._ratios(LONG_OF_MANY.name), "×"),
            Headline("bytes_per_packet", exact(bytes_each, "layout"), "B"),
            Headline("instructions_per_packet", exact(counted, "count"), ""),
            Headline("core_to_core_ns", of_values(self.probes_ns, "probes"), "ns"),
        ]

    def _ratios(self, load_name: str) -> Figure | None:
        return of_values(ratios_of(self.windows, load_name), "pairs of windows")

    def tables(self) -> list[Table]:
        """One per part."""
        made = [tables.table_of(part, rows) for part, rows in self.parts.items() if rows]
        made += [tables.losses(self.windows)] if self.windows else []
        return [*made, tables.table_of("memory", memory.table())]

    def core_shares(self) -> list[float]:
        """Of sender and receiver."""
        return [share for row in self.windows for share in (row.sender_share, row.receiver_share)]

    def data(self) -> dict[str, object]:
        """Every row."""
        found: dict[str, object] = {part: [asdict(row) for row in rows] for part, rows in self.parts.items()}
        found["memory"] = [asdict(row) for row in memory.table()]
        found["comparisons"] = [asdict(row) for row in compare(self.windows, tables.COMPARED)]
        return {"tsc_hz": self.tsc_hz, "tables": found}
