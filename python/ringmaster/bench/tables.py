# SPDX-License-Identifier: Apache-2.0
"""The tables of `ringmaster bench ingest`: of each part its columns."""

from collections.abc import Sequence

from ringmaster.bench.receivers import STREAM_FAULTS, Received
from ringmaster.bench.windows import RINGMASTER, TESTPMD, compare
from ringmaster.report.section import Columns, Table
from ringmaster.report.verdicts import cell, spread_cell

ADDED: Columns = {
    "instruments": lambda row: str(row.instruments),
    "chains": lambda row: row.chain,
    "SIMD": lambda row: row.simd,
    "buffers": lambda row: row.figure,
    "poll ns": lambda row: row.poll_ns,
    "full ns": lambda row: row.full_ns,
    "added ns": lambda row: row.added_ns,
    "spread": lambda row: f"{row.added_low_ns:.1f}–{row.added_high_ns:.1f}",
    "target": lambda row: f"≤ {row.target_ns:.0f}" if row.target_ns else "",
    "core": lambda row: row.core_share,
}
INSTRUCTIONS: Columns = {
    "instruments": lambda row: str(row.instruments),
    "chains": lambda row: row.chain,
    "SIMD": lambda row: row.simd,
    "poll": lambda row: row.poll,
    "full": lambda row: row.full,
    "added": lambda row: row.added,
}
COMPARED = ("rate_pps", "busy_share", "busy_ns_per_packet", "busy_cycles_per_packet")
COMPARISONS: Columns = {
    "load": lambda row: row.load,
    "class": lambda row: row.distance,
    "ours Mpps, no loss": lambda row: spread_cell(row.figure(RINGMASTER, "rate_pps"), 1e6),
    "testpmd Mpps": lambda row: spread_cell(row.figure(TESTPMD, "rate_pps"), 1e6),
    "ratio": lambda row: row.figure(RINGMASTER, "ratio"),
    "busy": lambda row: found.median if (found := row.figure(RINGMASTER, "busy_share")) else None,
    "ns": lambda row: row.figure(RINGMASTER, "busy_ns_per_packet"),
    "testpmd ns": lambda row: row.figure(TESTPMD, "busy_ns_per_packet"),
    "lossy": lambda row: str(row.lossy),
    "disturbed": lambda row: f"{row.disturbed.get(RINGMASTER, 0)} + {row.disturbed.get(TESTPMD, 0)}",
}
LOAD: Columns = {
    "s": lambda row: f"{row.seconds:.0f}",
    "load Mpps": lambda row: row.load_pps / 1e6,
    "of full": lambda row: f"{row.load_pps / row.full_load_pps:.0%}",
    "held": lambda row: "yes" if row.held else "no" if row.in_time else "late",
    "lost": lambda row: str(row.lost),
    "testpmd Mpps": lambda row: " / ".join(f"{pps / 1e6:.2f}" for pps in row.testpmd_pps) or None,
    "headroom": lambda row: row.headroom,
    "class": lambda row: row.distance,
    "longest wait": lambda row: f"{row.longest_sender_wait_us:.0f} µs",
    "floor": lambda row: f"{row.stall_floor.longest_us:.0f} µs",
}
POLLING: Columns = {
    "load": lambda row: row.load,
    "governor": lambda row: "on" if row.governor else "off",
    "Mpps": lambda row: row.rate_pps / 1e6,
    "busy": lambda row: row.busy_share,
    "packets/burst": lambda row: row.packets_per_burst,
    "in one": lambda row: f"{row.in_one_burst:.0%}",
    "mean ns": lambda row: row.mean_ns,
    "nominal": lambda row: row.nominal_ns,
    "p50": lambda row: row.between_ns["p50"],
    "p99": lambda row: row.between_ns["p99"],
    "p99.9": lambda row: row.between_ns["p99.9"],
    "": lambda row: f"{row.lost} lost",
}
SIZES: Columns = {
    "curve": lambda row: row.curve,
    "instruments": lambda row: str(row.instruments),
    "rings MiB": lambda row: str(row.rings_mib),
    "queues": lambda row: str(getattr(row, "queues", 1)),
    "pages": lambda row: row.pages,
    "poll ns": lambda row: getattr(row, "poll_ns", None),
    "added ns": lambda row: getattr(row, "added_ns", None),
    "spread": lambda row: " … ".join(cell(getattr(row, f"added_{end}_ns", None)) for end in ("low", "high")),
    "busy ns": lambda row: getattr(row, "busy_ns", None),
    "core": lambda row: row.core_share,
}
SCALE: Columns = {
    "receive cores": lambda row: str(row.receive_cores),
    "instruments": lambda row: str(row.instruments),
    "load Mpps": lambda row: row.load_pps / 1e6,
    "sent Mpps": lambda row: row.rate_pps / 1e6,
    "in time": lambda row: "yes" if row.in_time else "late",
    "lost": lambda row: str(row.lost),
    "busy": lambda row: f"{min(row.busy_shares):.2f} … {max(row.busy_shares):.2f}",
    "busy ns": lambda row: row.busy_ns_per_packet,
    "p50 ns": lambda row: row.latency_ns["p50"] if row.latency_ns else None,
    "p99 ns": lambda row: row.latency_ns["p99"] if row.latency_ns else None,
    "longest wait": lambda row: f"{row.longest_sender_wait_us:.0f} µs",
}
MEMORY: Columns = {
    "chains": lambda row: row.chain,
    "cache injection": lambda row: "yes" if row.cache_injection else "no",
    "CPU bytes": lambda row: row.cpu_bytes,
    "target": lambda row: f"≤ {row.target_bytes:.0f}",
    "DMA to memory": lambda row: row.dma_bytes,
    "pool KiB": lambda row: str(row.pool_bytes >> 10),
}
TABLES: dict[str, tuple[str, Columns]] = {
    "added": ("Added cost per packet", ADDED),
    "instructions": ("Instructions per packet", INSTRUCTIONS),
    "windows": ("End to end over memif, beside testpmd", COMPARISONS),
    "load": ("The Elettra load", LOAD),
    "polling": ("Adaptive polling; ns from one record of an instrument to the next", POLLING),
    "sizes": ("Cost against size, cold", SIZES),
    "scale": ("Receive cores beside each other, 15 instruments at 1.157 MHz each", SCALE),
    "memory": ("Memory traffic per packet, argued from the layout", MEMORY),
}
PLACES = ("missing", "refused", *STREAM_FAULTS)
"""Counters of the server, in the order in which datagrams pass."""


def table_of(part: str, rows: Sequence[object]) -> Table:
    """Of a part; its windows are compared."""
    title, columns = TABLES[part]
    return Table.of(title, compare(rows, COMPARED) if part == "windows" else rows, columns)  # type: ignore[arg-type]


def losses(windows: Sequence[Received]) -> Table:
    """What our server lost, and where; of those windows too that do not count."""
    told = [(window.load, window.faults) for window in windows if window.faults is not None]
    cells = []
    for load in dict.fromkeys(load for load, _ in told):
        here = [faults for name, faults in told if name == load]
        cells.append((load, str(len(here)), *(f"{sum(faults.get(place, 0) for faults in here):,}" for place in PLACES)))
    return Table(
        "Lost by our server, by place, datagrams",
        ("load", "windows", *(place.replace("_", " ") for place in PLACES)),
        cells,
        about="Missing: on the link, or in a port without a buffer. Refused: the port found nothing that it knows. The "
        "others came and are not their stream's newest turn: in the ring they have another place, or none.",
    )
