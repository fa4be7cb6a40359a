# SPDX-License-Identifier: Apache-2.0
"""Cost against size: the added cost of one packet over the number of instruments, the rings' size, queues and pages."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ringmaster.bench.added import HEADLINE, turn_records
from ringmaster.bench.end_to_end import words
from ringmaster.bench.loads import Replayed
from ringmaster.bench.log import Log, NotMeasured
from ringmaster.bench.measure import Measured, Setup, measure
from ringmaster.bench.receivers import RINGMASTER
from ringmaster.bench.setups import LANES
from ringmaster.bench.windows import Window, measure_window

SOURCES = (1, 8, 32, 96, 168, 512)
RINGS = (
    (1, 1 << 14),
    (8, 1 << 14),
    (8, 1 << 17),
    (8, 1 << 20),
    (8, 1 << 23),
    (96, 1 << 14),
    (96, 1 << 17),
    (96, 1 << 19),
)
"""Instruments, and records of each ring: 1 MiB to 4 GiB of turns."""
QUEUES = (1, 4, 16)
"""Of one memif port, all polled by one role. The sender fills one; the others are polled in vain."""
NEEDED_SHARE = 0.6
"""Of free memory that the rings of a case may take."""
CHAIN = "both"
RECORD_BYTES = 64


@dataclass(frozen=True)
class Row:
    """One point of one curve; nanoseconds per packet, cold, random order."""

    curve: str
    """ "sources", "rings" or "queues"."""
    instruments: int
    rings_mib: int
    """Of the turn streams, all together."""
    queues: int
    pages: str
    """ "4 KiB" or "2 MiB"."""
    added_ns: float | None
    added_low_ns: float | None
    added_high_ns: float | None
    poll_ns: float | None
    busy_ns: float | None
    """Over queues instead: what the running server takes per packet, the port's share included."""
    core_share: float
    """Of its core that the program had, 0–1."""


def points() -> list[tuple[str, Setup]]:
    """All that is measured, with the curve that each belongs to."""
    sources = [("sources", Setup(count, CHAIN, turn_records(count))) for count in SOURCES]
    rings = [("rings", Setup(count, CHAIN, records)) for count, records in RINGS]
    return [*sources, *rings]


def rings_bytes(setup: Setup) -> int:
    """Of the turn streams."""
    return setup.instruments * setup.turn_records * RECORD_BYTES


def row_of(curve: str, setup: Setup, measured: Measured) -> Row:
    """One point, from what the program said."""
    cold = measured.figure("cold")
    return Row(
        curve=curve,
        instruments=setup.instruments,
        rings_mib=rings_bytes(setup) >> 20,
        queues=1,
        pages="2 MiB" if measured.huge_pages else "4 KiB",
        added_ns=cold.added_ns.median,
        added_low_ns=cold.added_ns.low,
        added_high_ns=cold.added_ns.high,
        poll_ns=cold.poll_ns.median,
        busy_ns=None,
        core_share=measured.core_share,
    )


def queues_row(load: Replayed, window: Window, pages: str) -> Row:
    """One point of the curve over queues."""
    rings_mib = load.instruments * load.turn_records * RECORD_BYTES >> 20
    return Row(
        curve="queues",
        instruments=load.instruments,
        rings_mib=rings_mib,
        queues=load.queues,
        pages=pages,
        added_ns=None,
        added_low_ns=None,
        added_high_ns=None,
        poll_ns=None,
        busy_ns=window.busy_ns_per_packet,
        core_share=window.receiver_share,
    )


def memory_bytes(name: str, meminfo: Path = Path("/proc/meminfo")) -> int:
    """Of the kernel's own figures, "MemAvailable" in KiB or "HugePages_Free" in pages of 2 MiB; 0 if absent."""
    for line in meminfo.read_text().splitlines():
        key, _, value = line.partition(":")
        if key == name:
            return int(value.split()[0]) * ((2 << 20) if name.startswith("HugePages") else 1 << 10)
    return 0


def _point(curve: str, setup: Setup, rounds: int, log: Log) -> Row | None:
    mib = rings_bytes(setup) >> 20
    what = f"size, {curve}: {setup.instruments} instruments, {mib} MiB of rings"
    if rings_bytes(setup) > NEEDED_SHARE * memory_bytes("MemAvailable"):
        log.note(f"{what}: not measured: not enough free memory")
        return None
    try:
        row = row_of(curve, setup, measure(setup, ["--rounds", str(rounds)]))
    except NotMeasured as error:
        log.note(f"{what}: not measured: {error}")
        return None
    log.say(f"{what}: {row.added_ns:.1f} ns")
    return row


def _queues(seconds: float, tsc_hz: float, log: Log) -> Iterator[Row]:
    pages = "2 MiB" if memory_bytes("HugePages_Free") else "4 KiB"
    for count in QUEUES:
        load = Replayed(HEADLINE, LANES, queues=count)
        window = measure_window(RINGMASTER, load, 0.0, seconds, tsc_hz)
        log.say(f"size, queues: {count}: {words(window)}")
        yield queues_row(load, window, pages)


def run(rounds: int, seconds: float, tsc_hz: float, log: Log) -> Iterator[Row]:
    """Point by point. Page sizes are compared where this machine has huge pages already."""
    for curve, setup in points():
        row = _point(curve, setup, rounds, log)
        if row is not None:
            yield row
    yield from _queues(seconds, tsc_hz, log)
    if memory_bytes("HugePages_Free") == 0:
        log.note("size, pages: 2 MiB pages not measured: no huge pages (the bench leaves the system as it is)")
