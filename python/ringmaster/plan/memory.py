# SPDX-License-Identifier: Apache-2.0
"""Memory traffic per packet, argued from the layout: which cache lines the CPU takes from memory and gives back.

Lines that are used again before the caches lose them cost nothing here; what does not fit them costs its whole line.
With cache injection (DDIO, SDCI) a card writes frames into the last-level cache, where the CPU finds them, and a small
pool's buffers are overwritten there; without it they go to memory, and the CPU fetches them. What the card's own DMA
moves is shown apart.
"""

from dataclasses import dataclass
from pathlib import Path

LINE_BYTES = 64
HEADERS_BYTES = 14 + 20 + 8 + 16
"""Ethernet, IPv4, UDP and the native datagram's own."""
TARGET_BYTES = 200.0
PERIODS = (12, 120, 120_000)
"""Turns per record of the decimated streams of a chain."""


@dataclass(frozen=True)
class Costs:
    """What the code does with memory."""

    record_written: int = 64
    """A turn's record is one line, stored past the caches: written, and not fetched first."""
    decimated_fetched: int = 64
    """A low-latency record is stored through the caches: its line, last touched a lap ago, is fetched first,"""
    decimated_written: int = 64
    """and written back once it is evicted. A sharp one is stored past them, as a turn's."""
    header_written: int = 64
    """A stream's head is published once per burst and instrument: the line lives in the core's cache."""
    mbuf_lines: int = 2
    """The driver fills in a packet buffer's two lines of metadata."""
    descriptor_bytes: int = 16
    """The card writes one descriptor per packet."""
    pool_buffers: int = 4096
    """Packet buffers of one queue, those in its descriptors included."""
    state_bytes: int = 30 << 10
    """Of one instrument: six decimators, writers, counters; the presence bitmap only where turns are missing."""
    state_lines: int = 24
    """Of that state, touched per packet: filter outputs under way, writer, counters."""


@dataclass(frozen=True)
class Line:
    """One kind of access."""

    what: str
    read_bytes: float
    """From memory, per packet."""
    written_bytes: float
    """To memory, per packet."""
    why: str


@dataclass(frozen=True)
class Traffic:
    """All of one configuration."""

    instruments: int
    frame_bytes: int
    chain: str
    cache_injection: bool
    cpu: tuple[Line, ...]
    cpu_bytes: float
    """That the CPU causes, per packet, read and written."""
    target_bytes: float
    dma_bytes: float
    """That the card moves to memory, per packet."""
    pool_bytes: int
    """Lines of the pool that packets use: to be kept cache-sized."""
    cache_bytes: int
    """Of the last level."""


def last_level_cache_bytes(cpu: Path = Path("/sys/devices/system/cpu/cpu0/cache")) -> int:
    """As the kernel tells; 32 MiB where it does not."""
    sizes = [(index / "size").read_text().strip() for index in cpu.glob("index*") if (index / "size").exists()]
    units = {"K": 1 << 10, "M": 1 << 20}
    return max((int(size[:-1]) * units[size[-1]] for size in sizes if size[-1:] in units), default=32 << 20)


def frame_bytes(lanes: int) -> int:
    """Of a native datagram, without FCS: 62 with one lane, the nearest there is to 64; 106 with twelve."""
    return HEADERS_BYTES + 4 * lanes


def lines(size: int) -> int:
    """Cache lines of so many bytes that begin one."""
    return -(-size // LINE_BYTES)


def _frames(length: int, cache_injection: bool, fits: bool) -> Line:
    if cache_injection and fits:
        return Line("frame", 0, 0, "written into the cache by the card; the pool fits the cache and stays there")
    return Line("frame", lines(length) * LINE_BYTES, 0, "the card wrote it to memory; every line of it is fetched")


def _decimated(chain: str, costs: Costs) -> list[Line]:
    rows = []
    for period in PERIODS:
        read, written = costs.decimated_fetched / period, costs.decimated_written / period
        rows.append(Line(f"low_latency records, 1/{period}", read, written, "fetched, then written back"))
        if chain == "both":
            rows.append(Line(f"sharp records, 1/{period}", 0, written, "streaming stores, none fetched"))
    return rows


def _state(instruments: int, cache_bytes: int, costs: Costs) -> Line:
    whole = instruments * costs.state_bytes
    said = f"{whole >> 10} KiB for all instruments, {cache_bytes >> 20} MiB of last-level cache"
    if whole <= cache_bytes // 2:
        return Line("filters, writers, counters", 0, 0, f"stay in the caches: {said}")
    touched = float(costs.state_lines * LINE_BYTES)
    return Line("filters, writers, counters", touched, touched, f"too large for the caches: {said}")


def traffic(
    instruments: int, lanes: int, chain: str, cache_injection: bool, cache_bytes: int, costs: Costs | None = None
) -> Traffic:
    """Sums up what one native datagram of so many lanes causes."""
    costs = costs or Costs()
    length = frame_bytes(lanes)
    pool_bytes = costs.pool_buffers * (costs.mbuf_lines + lines(length)) * LINE_BYTES
    fits = pool_bytes <= cache_bytes // 2
    metadata = 0 if fits else costs.mbuf_lines * LINE_BYTES
    rows = (
        _frames(length, cache_injection, fits),
        Line("packet buffer's metadata", metadata, metadata, "the pool fits the cache" if fits else "a larger pool"),
        Line("turn record", 0, costs.record_written, "streaming store: one line written, none fetched"),
        *_decimated(chain, costs),
        Line("heads of streams", 0, 0, f"{costs.header_written} bytes per burst, always the same line: cached"),
        _state(instruments, cache_bytes, costs),
    )
    dma = 0 if cache_injection and fits else lines(length) * LINE_BYTES + costs.descriptor_bytes
    return Traffic(
        instruments=instruments,
        frame_bytes=length,
        chain=chain,
        cache_injection=cache_injection,
        cpu=rows,
        cpu_bytes=sum(row.read_bytes + row.written_bytes for row in rows),
        target_bytes=TARGET_BYTES,
        dma_bytes=float(dma),
        pool_bytes=pool_bytes,
        cache_bytes=cache_bytes,
    )


def table(instruments: int = 96, lanes: int = 12) -> list[Traffic]:
    """Both chains, with cache injection and without, on this machine's caches."""
    cache_bytes = last_level_cache_bytes()
    return [
        traffic(instruments, lanes, chain, injection, cache_bytes)
        for chain in ("low_latency", "both")
        for injection in (True, False)
    ]
