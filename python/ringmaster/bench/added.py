# SPDX-License-Identifier: Apache-2.0
"""Added cost: what the receive role takes per packet beyond polling the packet and freeing it.

`ringmaster-measure` fills a port in memory and empties it by turns through the whole receive role (decode,
checks, tag, ring, filters, counters) and by polling and freeing alone, in random order of the instruments; the
difference of adjacent rounds is the added cost. "hot" keeps to a few packet buffers, "cold" goes through 64 MiB and
more, so that every frame comes from memory.

A shared machine has hours and seconds in which a core is slower, because a neighbour is on its other half or the clock
falls. So the figures that stand for all are looked at again and again through the whole run of the bench (`visits`),
and their spread is that of these visits: of what the machine is like, and not only of one second.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ringmaster.bench.log import Log, NotMeasured
from ringmaster.bench.measure import WHOLE_CORE, Cost, Measured, Setup, measure
from ringmaster.bench.measurement import Turn
from ringmaster.bench.setups import CHAINS
from ringmaster.report import headlines

HEADLINE = 96
"""Instruments of the figures that stand for all: the ring of Elettra."""
TARGET_NS = {(8, "low_latency"): 10.0, (8, "both"): 16.0, (96, "low_latency"): 10.0, (96, "both"): 16.0}
TARGET_NS |= {(168, "low_latency"): 12.0, (168, "both"): 16.0}
RINGS_BYTES = 512 << 20
"""All rings together, about: beyond any cache."""
LEAST_TURNS, MOST_TURNS = 1 << 14, 1 << 20
RECORD_BYTES = 64
SOURCES = (1, 8, 32, 96, 168, 512)
"""Instruments, of a curve over their number."""
RINGS = (
    *((1, 1 << 14), (8, 1 << 14), (8, 1 << 17), (8, 1 << 20), (8, 1 << 23)),
    *((96, 1 << 14), (96, 1 << 17), (96, 1 << 19)),
)
"""Instruments, and records of each ring, of a curve over the rings' size: 1 MiB to 4 GiB of turns."""
NEEDED_SHARE = 0.6
"""Of free memory that the rings of a case may take."""


@dataclass(frozen=True)
class Case:
    """One run."""

    instruments: int
    chain: str
    simd: str = ""
    """As the option --simd has it; "": the best of this CPU."""
    curve: str = ""
    """ "sources" or "rings"; "" of none."""
    turn_records: int = 0
    """Of each ring; 0: about RINGS_BYTES of all."""

    @property
    def setup(self) -> Setup:
        """What is run."""
        return Setup(self.instruments, self.chain, self.turn_records or turn_records(self.instruments))

    @property
    def rings_bytes(self) -> int:
        """Of the turn streams."""
        return self.instruments * self.setup.turn_records * RECORD_BYTES

    @property
    def name(self) -> str:
        """For people."""
        if self.curve:
            return f"size, {self.curve}: {self.instruments} instruments, {self.rings_bytes >> 20} MiB of rings"
        return f"added cost, {self.instruments} instruments, {self.chain}, {self.simd}"

    def take(self, rounds: int, log: Log) -> "list[Row]":
        """Measures it: hot and cold, of a curve the cold one alone. Raises NotMeasured."""
        if self.rings_bytes > NEEDED_SHARE * memory_bytes("MemAvailable"):
            raise NotMeasured("not enough free memory")
        simd = ["--simd", self.simd] if self.simd else []
        measured = measure(self.setup, ["--rounds", str(rounds), *simd])
        if measured.core_share < WHOLE_CORE:
            log.note(f"{self.name}: had {measured.core_share:.0%} of its core: too high")
        rows = rows_of(self, measured)
        return [row for row in rows if row.figure == "cold"] if self.curve else rows


@dataclass(frozen=True)
class Row:
    """One figure of one run; nanoseconds per packet."""

    instruments: int
    chain: str
    """ "low_latency" alone, or "both"."""
    simd: str
    figure: str
    """ "hot" or "cold"."""
    touched_bytes: int
    poll_ns: float
    full_ns: float
    added_ns: float
    added_low_ns: float
    added_high_ns: float
    target_ns: float | None
    pages: str
    """ "4 KiB" or "2 MiB"."""
    core_share: float
    """Of its core that the program had, 0–1."""
    rounds: int
    """Of which the figures are medians, and low and high the middle half."""
    curve: str = ""
    rings_mib: int = 0
    """Of the turn streams, all together."""

    @property
    def words(self) -> str:
        """On one line."""
        return f"{self.instruments} instruments, {self.chain}, {self.simd}, {self.figure}: {self.added_ns:.1f} ns"


def turn_records(instruments: int, rings_bytes: int = RINGS_BYTES) -> int:
    """Records of each ring, a power of two, so that all together come nearest below `rings_bytes`."""
    each = max(1, rings_bytes // (instruments * RECORD_BYTES))
    return min(MOST_TURNS, max(LEAST_TURNS, 1 << (each.bit_length() - 1)))


def memory_bytes(name: str, meminfo: Path = Path("/proc/meminfo")) -> int:
    """Of the kernel's own figures, "MemAvailable" in KiB or "HugePages_Free" in pages of 2 MiB; 0 if absent."""
    for line in meminfo.read_text().splitlines():
        key, _, value = line.partition(":")
        if key == name:
            return int(value.split()[0]) * ((2 << 20) if name.startswith("HugePages") else 1 << 10)
    return 0


def simds(cpuinfo: Path = Path("/proc/cpuinfo")) -> list[str]:
    """What this CPU has of what the filters are written for."""
    flags = set(cpuinfo.read_text().split())
    wider = [name for flag, name in (("avx2", "avx2"), ("avx512f", "avx512")) if flag in flags]
    return ["scalar", *wider]


def cases(available: list[str]) -> list[Case]:
    """What is run: sizes with the best instructions of this CPU, and at 96 all that it has."""
    beside = [Case(HEADLINE, chain, simd) for chain in CHAINS for simd in available]
    return beside + [Case(count, chain, available[-1]) for count in (8, 168) for chain in CHAINS]


def curves() -> list[Case]:
    """Cost against size: over the number of instruments, and over the rings' size."""
    sources = [Case(count, "both", curve="sources") for count in SOURCES]
    return sources + [Case(count, "both", curve="rings", turn_records=records) for count, records in RINGS]


def rows_of(case: Case, measured: Measured) -> list[Row]:
    """The table's rows of one run."""
    return [_row(case, measured, cost) for cost in measured.costs]


def _row(case: Case, measured: Measured, cost: Cost) -> Row:
    return Row(
        instruments=case.instruments,
        chain=case.chain,
        simd=measured.simd,
        figure=cost.name,
        touched_bytes=cost.touched_bytes,
        poll_ns=cost.poll_ns.median,
        full_ns=cost.full_ns.median,
        added_ns=cost.added_ns.median,
        added_low_ns=cost.added_ns.low,
        added_high_ns=cost.added_ns.high,
        target_ns=TARGET_NS.get((case.instruments, case.chain)),
        pages="2 MiB" if measured.huge_pages else "4 KiB",
        core_share=measured.core_share,
        rounds=measured.rounds,
        curve=case.curve,
        rings_mib=case.rings_bytes >> 20,
    )


def turns(wanted: list[Case], rounds: int, log: Log) -> Iterator[Turn]:
    """A turn for each case."""
    return (Turn(case.name, partial(case.take, rounds, log)) for case in wanted)


def visits(rounds: int, log: Log) -> Iterator[Turn]:
    """One look more at what stands for all."""
    return turns([Case(HEADLINE, chain, simds()[-1]) for chain in CHAINS], rounds, log)


def headline_rows(rows: list[Row], available: list[str]) -> dict[str, list[Row]]:
    """By chain, every visit: 96 instruments, cold, the best instructions of this CPU."""
    widest = available[-1].replace("-", "").lower()
    fitting = [
        row
        for row in rows
        if row.instruments == HEADLINE and row.figure == "cold" and row.simd.replace("-", "").lower() == widest
    ]
    return {chain: [row for row in fitting if row.chain == chain] for chain in CHAINS}


def figure_of(rows: list[Row]) -> headlines.Figure | None:
    """Added cost, nanoseconds, as it stands beside another run's: median and spread of the visits' medians; of one
    visit, those of its rounds. None of nothing.
    """
    if len(rows) != 1:
        return headlines.of_values((row.added_ns for row in rows), "visits")
    spread = (rows[0].added_low_ns, rows[0].added_high_ns)
    return headlines.Figure(rows[0].added_ns, *spread, headlines.MIDDLE_HALF, rows[0].rounds, "rounds")
