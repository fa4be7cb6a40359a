# SPDX-License-Identifier: Apache-2.0
"""The cores: how busy, how polling waits, and how long records take to be seen."""

import math
from functools import cache

import numpy as np
import numpy.typing as npt

from ringmaster.console import units
from ringmaster.console.lines import Column, Line, Span, heading, line, table
from ringmaster.console.marks import bar, columns_up, spark
from ringmaster.console.pages.common import SortKey, chosen, sorted_by, spark_width
from ringmaster.console.view import View
from ringmaster.console.watch import Frame
from ringmaster.fabric.histogram import HistogramReading, bucket_floor
from ringmaster.monitor.figures import CoreFigures

NAME = "cores"
SORTS: dict[str, SortKey[CoreFigures]] = {
    "order": lambda _: 0.0,
    "busy": lambda core: core.busy_share,
    "gap": lambda core: core.longest_gap_us,
}
ABOUT = (
    "BUSY is the share of time with work. WAITS is time in which polling waits on purpose, so that packets gather: it "
    "aims at the burst behind the slash. MAX GAP is the longest time from one turn of the duty cycle to the next since "
    "the server started; after a reset ≤ says that it was before. LATENCY is another time: from the arrival of a burst "
    "to its records being visible, so a gap before the arrival is not in it. The histogram is of the last minute, its "
    "height logarithmic: one packet in a million still shows."
)
SATURATED = 0.95
BUSY = 0.8
LEAST_ROWS = 4
MOST_ROWS = 14
WIDE = 90
"""From this width on there is room for one more percentile."""
LABEL = 8
"""Columns of the scale."""
OVERHANG = 4
"""Columns by which the last power of ten may stand out on the right."""


def draw(frame: Frame, view: View, width: int, height: int | None) -> list[Line]:
    """The table, and a histogram of each receive role's latency."""
    cores = chosen(frame.snapshot.cores, lambda core: core.name, view, NAME, SORTS)
    view.row_names = []
    note = "  ".join(filter(None, (sorted_by(view, NAME, list(SORTS)), "MAX GAP: since the server started")))
    lines = [heading("Cores", width, note), *core_table(frame, cores, width)]
    names = [name for name in frame.snapshot.latency_ns if view.matches(name) or view.matches("latency")]
    left = (height or 40) - len(lines)
    rows = min(MOST_ROWS, max(LEAST_ROWS, left // max(1, len(names)) - 5))
    for name in names:
        lines += [line(), *latency(frame, name, width, rows)]
    return lines


def core_table(frame: Frame, cores: list[CoreFigures], width: int) -> list[Line]:
    """One line for each core of the engine."""
    wide = spark_width(width)
    columns = [
        Column("CORE", 4, right=False),
        Column("CPU", 3, drop=6),
        Column("BUSY", 6),
        Column("", 10, right=False, drop=4),
        Column("LAST MINUTE", wide, right=False, drop=5),
        Column("WAITS", 6),
        Column("BURST/AIM", 8),
        Column("WAIT/MOST", 15, drop=3),
        Column("MAX GAP", 9),
    ]
    rows = [
        [
            Span(core.name),
            Span(str(core.core)),
            Span(units.share(core.busy_share), _load(core.busy_share)),
            Span(bar(core.busy_share, 10), _load(core.busy_share)),
            Span(spark(frame.history.of("core", core.name, "busy"), wide, high=1.0), "dim"),
            Span(units.share(core.waiting_share)),
            Span(_burst(core)),
            Span(_wait(core)),
            Span(("" if core.longest_gap_grew else "≤ ") + units.duration_ns(core.longest_gap_us * 1e3)),
        ]
        for core in cores
    ]
    return table(columns, rows, width)


def _load(share: float) -> str:
    return "bad" if share > SATURATED else "warn" if share > BUSY else ""


def _burst(core: CoreFigures) -> str:
    burst = units.NOTHING if math.isnan(core.packets_per_burst) else f"{core.packets_per_burst:.1f}"
    return f"{burst}/{core.target_packets or units.NOTHING}"


def _wait(core: CoreFigures) -> str:
    if not core.longest_wait_ns:
        return units.NOTHING
    return f"{units.duration_ns(core.wait_ns)}/{units.duration_ns(core.longest_wait_ns)}"


def _percentiles(figures: dict[str, float], width: int) -> str:
    """Percentiles in words; the maximum is of the same time as they are."""
    names = {"p50": "p50", "p90": "p90", "p99": "p99", "p99.9": "p99.9", "max": "max"}
    if width < WIDE:
        del names["p90"]
    return "  ".join(f"{word} {units.duration_ns(figures[name])}" for name, word in names.items())


def latency(frame: Frame, name: str, width: int, rows: int) -> list[Line]:
    """One histogram: the last minute drawn, all times in figures, the course of p99."""
    role = name.removeprefix("latency/")
    lines = [heading(f"Latency of {role}", width, frame.snapshot.latency_about[name])]
    reading = frame.history.latency(name)
    if reading is None or reading.total == 0:
        so_far = _percentiles(frame.snapshot.latency_ns[name], width)
        return [*lines, line(f"  since start  {so_far}"), line(Span("  nothing was counted in the last minute", "dim"))]
    return [
        *lines,
        line(f"  last minute  {_percentiles(reading.summary(), width)}"),
        *histogram(reading, width - 2, rows),
    ]


@cache
def _floors(count: int) -> npt.NDArray[np.float64]:
    return np.array([float(bucket_floor(i)) for i in range(count)])


def histogram(reading: HistogramReading, width: int, rows: int) -> list[Line]:
    """Columns over a logarithmic axis of time, the height the logarithm of the count."""
    floors = np.maximum(_floors(len(reading.bucket)), 1.0) * reading.ns_per_count
    there = np.flatnonzero(reading.bucket)
    low = math.floor(math.log10(floors[there[0]]))
    high = max(low + 1, math.ceil(math.log10(floors[there[-1]]) + 1e-9))
    columns = width - LABEL - OVERHANG
    place = ((np.log10(floors[there]) - low) / (high - low) * columns).astype(np.intp)
    counts = np.bincount(np.clip(place, 0, columns - 1), weights=reading.bucket[there].astype(np.float64))
    top = float(counts.max())
    decades = math.ceil(math.log10(top + 1)) or 1
    heights = [math.log10(count + 1) / decades for count in counts]
    drawn = columns_up(heights, rows)
    scale = {0: str(10**decades) if decades < LABEL - 1 else units.quantity(10.0**decades, "", 1), rows - 1: "1"}
    lines = [line(Span(f"{scale.get(i, ''):>7} ", "dim"), text) for i, text in enumerate(drawn)]
    return [*lines, *_axis(low, high, columns)]


def _axis(low: int, high: int, columns: int) -> list[Line]:
    """A tick at each power of ten nanoseconds, and a label where there is room for it."""
    ticks = ["─"] * (columns + 1)
    labels = [" "] * (columns + OVERHANG)
    for power in range(low, high + 1):
        at = round((power - low) / (high - low) * columns)
        ticks[at] = "┴"
        text = units.quantity(10.0 ** (power - 9), "s", 1)
        start = min(max(0, at - len(text) // 2), len(labels) - len(text))
        if not "".join(labels[max(0, start - 1) :]).strip():
            labels[start : start + len(text)] = list(text)
    return [line(Span(" " * LABEL + "".join(ticks), "dim")), line(Span(" " * LABEL + "".join(labels).rstrip(), "dim"))]
