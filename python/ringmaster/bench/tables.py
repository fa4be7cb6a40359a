# SPDX-License-Identifier: Apache-2.0
"""The tables of `ringmaster bench ingest`."""

from collections.abc import Sequence
from typing import Any

from ringmaster.bench import memory
from ringmaster.bench.added import Row as AddedRow
from ringmaster.bench.instructions import Row as InstructionsRow
from ringmaster.bench.load import Held
from ringmaster.bench.polling import Row as PollingRow
from ringmaster.bench.receivers import STREAM_FAULTS
from ringmaster.bench.sizes import Row as SizesRow
from ringmaster.bench.windows import Comparison, Window, compare
from ringmaster.report.section import Table
from ringmaster.report.verdicts import cell, spread_cell


def _added(rows: list[AddedRow]) -> Table:
    head = ("instruments", "chains", "SIMD", "buffers", "poll ns", "full ns", "added ns", "spread", "target", "core")
    cells = [
        (
            *(str(row.instruments), row.chain, row.simd, row.figure),
            *map(cell, (row.poll_ns, row.full_ns, row.added_ns)),
            f"{row.added_low_ns:.1f}–{row.added_high_ns:.1f}",
            f"≤ {row.target_ns:.0f}" if row.target_ns else "",
            cell(row.core_share),
        )
        for row in rows
    ]
    return Table("Added cost per packet", head, cells)


def _instructions(rows: list[InstructionsRow]) -> Table:
    head = ("instruments", "chains", "SIMD", "poll", "full", "added")
    cells = [
        (str(row.instruments), row.chain, row.simd, *(cell(value) for value in (row.poll, row.full, row.added)))
        for row in rows
    ]
    return Table("Instructions per packet", head, cells)


def _comparisons(rows: list[Comparison]) -> Table:
    head = (
        "load",
        "class",
        "ours Mpps, no loss",
        "testpmd Mpps",
        "ratio",
        "busy",
        "ns",
        "testpmd ns",
        "lossy",
        "disturbed",
    )
    cells = [
        (
            *(row.load, row.distance, spread_cell(row.zero_loss_pps, 1e6), spread_cell(row.testpmd_pps, 1e6)),
            *(spread_cell(row.ratio), cell(row.busy_share.median if row.busy_share else None)),
            *(spread_cell(row.busy_ns), spread_cell(row.testpmd_busy_ns), str(row.lossy_windows)),
            f"{row.disturbed_windows} + {row.testpmd_disturbed_windows}",
        )
        for row in rows
    ]
    return Table("End to end over memif, beside testpmd", head, cells)


PLACES = ("missing", "refused", *STREAM_FAULTS)
"""Counters of the server, in the order in which datagrams pass."""


def losses(windows: Sequence[Window]) -> Table:
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


def _load(rows: list[Held]) -> Table:
    head = ("s", "load Mpps", "of full", "held", "lost", "testpmd Mpps", "headroom", "class", "longest wait", "floor")
    cells = [
        (
            *(f"{row.seconds:.0f}", cell(row.load_pps, 1e6), f"{row.load_pps / row.full_load_pps:.0%}"),
            *("yes" if row.held else "no" if row.in_time else "late", str(row.lost)),
            *(" / ".join(f"{pps / 1e6:.2f}" for pps in row.testpmd_pps) or "–", cell(row.headroom)),
            *(row.distance, f"{row.longest_sender_wait_us:.0f} µs", f"{row.stall_floor.longest_us:.0f} µs"),
        )
        for row in rows
    ]
    return Table("The Elettra load", head, cells)


def _polling(rows: list[PollingRow]) -> Table:
    head = ("load", "governor", "Mpps", "busy", "packets/burst", "in one", "mean ns", "nominal", "p50", "p99", "p99.9")
    cells = [
        (
            *(row.load, "on" if row.governor else "off", cell(row.rate_pps, 1e6), cell(row.busy_share)),
            *(cell(row.packets_per_burst), f"{row.in_one_burst:.0%}", cell(row.mean_ns)),
            cell(row.nominal_ns),
            *(cell(row.between_ns[name]) for name in ("p50", "p99", "p99.9")),
            f"{row.lost} lost",
        )
        for row in rows
    ]
    return Table("Adaptive polling; ns from one record of an instrument to the next", (*head, ""), cells)


def _sizes(rows: list[SizesRow]) -> Table:
    head = ("curve", "instruments", "rings MiB", "queues", "pages", "poll ns", "added ns", "spread", "busy ns", "core")
    cells = [
        (
            *(row.curve, str(row.instruments), str(row.rings_mib), str(row.queues), row.pages),
            *(cell(row.poll_ns), cell(row.added_ns)),
            f"{cell(row.added_low_ns)} … {cell(row.added_high_ns)}",
            *(cell(row.busy_ns), cell(row.core_share)),
        )
        for row in rows
    ]
    return Table("Cost against size, cold", head, cells)


def memory_table(rows: list[memory.Traffic]) -> Table:
    """Bytes per packet."""
    head = ("chains", "cache injection", "CPU bytes", "target", "DMA to memory", "pool KiB")
    cells = [
        (
            *(row.chain, "yes" if row.cache_injection else "no", cell(row.cpu_bytes)),
            *(f"≤ {row.target_bytes:.0f}", cell(row.dma_bytes), str(row.pool_bytes >> 10)),
        )
        for row in rows
    ]
    return Table("Memory traffic per packet, argued from the layout", head, cells)


MAKERS: dict[str, Any] = {
    "added": _added,
    "instructions": _instructions,
    "windows": lambda rows: _comparisons(compare(rows)),
    "load": _load,
    "polling": _polling,
    "sizes": _sizes,
}
