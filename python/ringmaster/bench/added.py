# SPDX-License-Identifier: Apache-2.0
"""Added cost: what the receive role takes per packet beyond polling the packet and freeing it.

`ringmaster-measure` fills a port in memory and empties it by turns through the whole receive role (decode,
checks, tag, ring, filters, counters) and by polling and freeing alone, in random order of the instruments; the
difference of adjacent rounds is the added cost. "hot" keeps to a few packet buffers, "cold" goes through 64 MiB and
more, so that every frame comes from memory.

A shared machine has hours and seconds in which a core is slower, because a neighbour is on its other half or the clock
falls. So the figures that stand for all are looked at again and again through the whole run of the bench (`visit`), and
their spread is that of these visits: of what the machine is like, and not only of one second.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ringmaster.bench.log import Log, NotMeasured
from ringmaster.bench.measure import WHOLE_CORE, Figure, Measured, Setup, measure
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


@dataclass(frozen=True)
class Case:
    """One run."""

    instruments: int
    chain: str
    simd: str
    """As the option --simd has it."""


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
    huge_pages: bool
    core_share: float
    """Of its core that the program had, 0–1."""
    rounds: int
    """Of which the figures are medians, and low and high the middle half."""


def turn_records(instruments: int, rings_bytes: int = RINGS_BYTES) -> int:
    """Records of each ring, a power of two, so that all together come nearest below `rings_bytes`."""
    each = max(1, rings_bytes // (instruments * RECORD_BYTES))
    return min(MOST_TURNS, max(LEAST_TURNS, 1 << (each.bit_length() - 1)))


def simds(cpuinfo: Path = Path("/proc/cpuinfo")) -> list[str]:
    """What this CPU has of what the filters are written for."""
    flags = set(cpuinfo.read_text().split())
    wider = [name for flag, name in (("avx2", "avx2"), ("avx512f", "avx512")) if flag in flags]
    return ["scalar", *wider]


def cases(available: list[str]) -> list[Case]:
    """What is run: sizes with the best instructions of this CPU, and at 96 all that it has."""
    beside = [Case(HEADLINE, chain, simd) for chain in CHAINS for simd in available]
    sizes = [Case(count, chain, available[-1]) for count in (8, 168) for chain in CHAINS]
    return [*beside, *sizes]


def rows_of(case: Case, measured: Measured) -> list[Row]:
    """The table's rows of one run."""
    return [_row(case, measured, figure) for figure in measured.figures]


def _row(case: Case, measured: Measured, figure: Figure) -> Row:
    return Row(
        instruments=case.instruments,
        chain=case.chain,
        simd=measured.simd,
        figure=figure.name,
        touched_bytes=figure.touched_bytes,
        poll_ns=figure.poll_ns.median,
        full_ns=figure.full_ns.median,
        added_ns=figure.added_ns.median,
        added_low_ns=figure.added_ns.low,
        added_high_ns=figure.added_ns.high,
        target_ns=TARGET_NS.get((case.instruments, case.chain)),
        huge_pages=measured.huge_pages,
        core_share=measured.core_share,
        rounds=measured.rounds,
    )


def run(rounds: int, log: Log) -> Iterator[Row]:
    """Measures case by case; what cannot be had is noted and left out."""
    return _measure(cases(simds()), rounds, log)


def visit(rounds: int, log: Log) -> Iterator[Row]:
    """Looks once more at what stands for all."""
    return _measure([Case(HEADLINE, chain, simds()[-1]) for chain in CHAINS], rounds, log)


def _measure(wanted: list[Case], rounds: int, log: Log) -> Iterator[Row]:
    for case in wanted:
        what = f"added cost, {case.instruments} instruments, {case.chain}, {case.simd}"
        options = ["--rounds", str(rounds), "--simd", case.simd]
        try:
            measured = measure(Setup(case.instruments, case.chain, turn_records(case.instruments)), options)
        except NotMeasured as error:
            log.note(f"{what}: not measured: {error}")
            continue
        rows = rows_of(case, measured)
        if measured.core_share < WHOLE_CORE:
            log.note(f"{what}: had {measured.core_share:.0%} of its core: too high")
        log.say(f"{what}: " + ", ".join(f"{row.figure} {row.added_ns:.1f} ns" for row in rows))
        yield from rows


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
        return headlines.of_values([row.added_ns for row in rows], "visits")
    spread = (rows[0].added_low_ns, rows[0].added_high_ns)
    return headlines.Figure(rows[0].added_ns, *spread, headlines.MIDDLE_HALF, rows[0].rounds, "rounds")


def headline(rows: list[Row], available: list[str]) -> dict[str, float | None]:
    """The median of each of these, nanoseconds; None where it was not measured."""
    figures = {chain: figure_of(visits) for chain, visits in headline_rows(rows, available).items()}
    return {chain: figure.median if figure else None for chain, figure in figures.items()}
