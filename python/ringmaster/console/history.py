# SPDX-License-Identifier: Apache-2.0
"""The last minute, second by second."""

import math
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ringmaster.fabric.histogram import HistogramReading

if TYPE_CHECKING:
    from ringmaster.monitor.monitor import Snapshot

SECONDS = 60
LATENCIES = (50.0, 99.0, 99.9, 100.0)
"""Percentiles that are kept; the last is the largest."""


class History:
    """Values of the last minute, by what they are of: ``of("stream", "bpm01", "rate")``, oldest first."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, str, str], deque[float]] = {}
        self._latency: dict[str, deque[HistogramReading]] = {}

    def of(self, kind: str, name: str, figure: str) -> list[float]:
        """At most 60 values, one for each second; empty where nothing was kept."""
        return list(self._values.get((kind, name, figure), ()))

    def latency(self, name: str) -> HistogramReading | None:
        """What a histogram counted in the last minute, or since it was first seen."""
        readings = self._latency.get(name)
        return readings[-1].since(readings[0]) if readings and len(readings) > 1 else None

    def keep(self, kind: str, name: str, figure: str, value: float) -> None:
        """Adds the value of this second."""
        self._values.setdefault((kind, name, figure), deque(maxlen=SECONDS)).append(value)

    def keep_snapshot(self, snapshot: "Snapshot", latency: Mapping[str, HistogramReading]) -> None:
        """Adds this second: rates and losses of everything, load of the cores, latencies."""
        self.keep("all", "", "rate", sum(stream.rate_hz for stream in snapshot.streams))
        self.keep("all", "", "lost", sum(stream.lost_per_s for stream in snapshot.streams))
        for stream in snapshot.streams:
            self.keep("stream", stream.name, "rate", stream.rate_hz)
            self.keep("stream", stream.name, "lost", stream.lost_per_s)
        for port in snapshot.ports:
            self.keep("port", port.name, "rate", port.rate_pps)
        for core in snapshot.cores:
            self.keep("core", core.name, "busy", core.busy_share)
        for application in snapshot.applications:
            self.keep("application", application.name, "vectors", application.vectors_per_s)
        if snapshot.feedback is not None:
            for plane, value in zip("xy", snapshot.feedback.rms_um, strict=True):
                self.keep("feedback", plane, "rms", value)
        for path in snapshot.paths:
            self.keep("path", f"{path.instrument}/{path.port}", "rate", path.rate_hz)
        for name, reading in latency.items():
            self._keep_latency(name, reading)

    def _keep_latency(self, name: str, reading: HistogramReading) -> None:
        readings = self._latency.setdefault(name, deque(maxlen=SECONDS + 1))
        if readings:
            second = reading.since(readings[-1])
            for percent in LATENCIES:
                value = second.percentile_ns(percent) if second.total else math.nan
                self.keep("latency", name, f"p{percent:g}", value)
        readings.append(reading)

    def copy(self) -> "History":
        """One that stays as it is."""
        other = History()
        other._values = {key: values.copy() for key, values in self._values.items()}
        other._latency = {name: readings.copy() for name, readings in self._latency.items()}
        return other
