# SPDX-License-Identifier: Apache-2.0
"""A look at a workspace as families of metrics."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ringmaster.errors import WorkspaceError
from ringmaster.fabric.clock import ClockReading
from ringmaster.fabric.counters import CounterBlock
from ringmaster.fabric.histogram import HistogramReading, bucket_floor
from ringmaster.fabric.layout import HISTOGRAM
from ringmaster.fabric.workspace import Workspace, attach
from ringmaster.metrics import names

if TYPE_CHECKING:
    from prometheus_client.core import Metric

EDGES_NS = np.array([edge * 1e9 for edge in names.EDGES_S])
FLOORS = np.array([bucket_floor(index) for index in range(HISTOGRAM["bucket"].shape[0] + 1)], np.float64)
"""Of every bucket, and the end of the last one; in the unit of the values as stored."""


@dataclass(eq=False)
class WorkspaceCollector:
    """Looks at a workspace each time it is asked: a server may come and go."""

    workspace: str
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _ticks: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Busy and idle ticks of each core at the look before."""

    def collect(self) -> "Iterator[Metric]":
        """All families of now; of a server that is not there, only that it is not."""
        with self._lock:
            try:
                with attach(self.workspace) as ws:
                    yield from self._families(ws)
            except WorkspaceError:
                yield self._gauge(names.others()[0], [((), 0.0)])

    def _families(self, ws: Workspace) -> "Iterator[Metric]":
        blocks = list(ws.counter_blocks.values())
        reading = ws.clock.read()
        up, rate, duration, busy = names.others()
        yield self._gauge(up, [((), float(ws.alive))])
        if reading.anchored:
            yield self._gauge(rate, [((), reading.turn_rate_hz)])
        yield self._gauge(busy, list(self._busy(blocks)))
        for set_name, counter, metric in names.counters():
            of_set = [block for block in blocks if block.set_name == set_name]
            if of_set:
                yield self._counter(metric, set_name, of_set, counter.name, _scale(counter.unit, reading))
        yield self._histograms(ws, duration)

    def _gauge(self, metric: names.Metric, values: list[tuple[tuple[str, ...], float]]) -> "Metric":
        from prometheus_client.core import GaugeMetricFamily

        family = GaugeMetricFamily(metric.name, metric.text, labels=metric.labels)
        for labels, value in values:
            family.add_metric((self.workspace, *labels), value)
        return family

    def _counter(
        self, metric: names.Metric, set_name: str, blocks: list[CounterBlock], name: str, scale: float
    ) -> "Metric":
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        make = CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily
        family = make(metric.name, metric.text, labels=metric.labels)
        for block in blocks:
            family.add_metric((self.workspace, *names.label_values(set_name, block.name)), block[name] * scale)
        return family

    def _busy(self, blocks: list[CounterBlock]) -> Iterator[tuple[tuple[str, ...], float]]:
        """Since the look before; at the first look, and after a restart, since the server's start."""
        for block in blocks:
            if block.set_name != "core":
                continue
            busy, idle = block["busy_ticks"], block["idle_ticks"]
            before = self._ticks.get(block.name, (0, 0))
            if busy < before[0] or idle < before[1]:
                before = (0, 0)
            self._ticks[block.name] = (busy, idle)
            gone = busy - before[0] + idle - before[1]
            if gone > 0:
                yield names.label_values("core", block.name), (busy - before[0]) / gone

    def _histograms(self, ws: Workspace, metric: names.Metric) -> "Metric":
        from prometheus_client.core import HistogramMetricFamily

        family = HistogramMetricFamily(metric.name, metric.text, labels=metric.labels)
        for name, histogram in ws.histograms.items():
            buckets, total_s = _buckets(histogram.read())
            family.add_metric((self.workspace, name), buckets, total_s)
        return family


def _scale(unit: str, reading: ClockReading) -> float:
    """To the unit that is told."""
    if unit == "ticks":
        return 1.0 / reading.tsc_hz if reading.tsc_hz > 0 else float("nan")
    return 1e-9 if unit == "ns" else 1.0


def _buckets(reading: HistogramReading) -> tuple[list[tuple[str, float]], float]:
    """Values up to each edge, and their sum in seconds.

    A bucket of ours counts up to an edge when all of it lies there, so an edge is exact to the 6 % that a bucket is
    wide. The sum takes each value as the middle of its bucket.
    """
    counts = reading.bucket.astype(np.float64)
    ends_ns = FLOORS[1:] * reading.ns_per_count
    middles_ns = (FLOORS[1:] + FLOORS[:-1]) / 2 * reading.ns_per_count
    cumulative = np.concatenate([[0.0], np.cumsum(counts)])
    below = cumulative[np.searchsorted(ends_ns, EDGES_NS * (1 + 1e-9), side="right")]
    found = [(f"{edge:g}", float(value)) for edge, value in zip(names.EDGES_S, below, strict=True)]
    return [*found, ("+Inf", float(cumulative[-1]))], float(np.nansum(counts * middles_ns)) * 1e-9
