# SPDX-License-Identifier: Apache-2.0
"""From a vector's commit to its first datagram: the leading application on one core, the server on the other.

The server measures it in every cycle (histogram `latency/setpoint`: commit to the datagram handed to the port, one way
between the cores); the application measures how long until it has the datagram back over the link, which is two ways.
The bound is 1.5 × half a cache line's round trip, probed before and after the same window, + 100 ns.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from ringmaster.bench.log import Log, NotMeasured
from ringmaster.bench.parameters import Range
from ringmaster.bench.printed import printed
from ringmaster.bench.transmit_setups import led
from ringmaster.bench.windows import WHOLE_CORE
from ringmaster.bench.workspace import own_workspace
from ringmaster.errors import WorkspaceError
from ringmaster.places import find_program
from ringmaster.programs.cores import cores
from ringmaster.programs.program import Program, ProgramFailed, attach_to
from ringmaster.programs.remains import scratch_folder
from ringmaster.report.conditions import busiest_share, class_of, core_to_core_ns, run_times_ns

HISTOGRAM = "latency/setpoint"
CASES = ((1, 1), (18, 8))
"""Chains, and supplies of each: the least there is, and the 144 fast correctors of a ring."""
FACTOR, BEYOND_NS = 1.5, 100.0
BEYOND_S = 40.0


def bound_ns(round_trip_ns: float) -> float:
    """What it may take, where a cache line goes there and back in so long."""
    return FACTOR * round_trip_ns / 2 + BEYOND_NS


@dataclass(frozen=True)
class Window:
    """One window of rows."""

    chains: int
    supplies: int
    """Of all chains."""
    rows: int
    """That led a cycle."""
    sent_ns: dict[str, float]
    """Commit to the first datagram handed to the port, as the server counts: p50, p90, p99, …"""
    arrival: Range
    """Commit to that datagram's being back."""
    core_to_core_ns: float
    """The longer of the probes before and after."""
    distance: str
    server_share: float = 1.0
    """Of its core that the server had."""

    @property
    def counts(self) -> bool:
        """Whether anything is made of it."""
        return self.server_share >= WHOLE_CORE and self.distance != "mixed"

    @property
    def bound_ns(self) -> float:
        """That sent_ns's median may take."""
        return bound_ns(self.core_to_core_ns)

    @property
    def over_bound(self) -> float:
        """Above 1: missed."""
        return self.sent_ns["p50"] / self.bound_ns


def ratios_of(windows: Sequence[Window], chains: int) -> list[float]:
    """To their bounds, of windows of one class each."""
    return [window.over_bound for window in windows if window.chains == chains and window.counts]


def measure_window(chains: int, supplies: int, seconds: float) -> Window:
    """Starts a server and its application for so long. Raises NotMeasured, ProgramFailed."""
    application_core, server_core = cores()
    if application_core == server_core:
        raise NotMeasured("latency: needs two cores")
    before_ns = core_to_core_ns(*cores())
    with own_workspace() as workspace, scratch_folder("bench") as name:
        socket, config = Path(name) / "supplies.sock", Path(name) / "server.yaml"
        config.write_text(led(workspace, socket, server_core, chains, supplies))
        with Program("ringmaster-server", "run", config) as server:
            attach_to(workspace, server).close()
            command = [find_program("ringmaster-setpoint-latency"), workspace, "bench", str(socket)]
            begin, times = monotonic(), run_times_ns(server.pid)
            said = _run([*command, str(application_core), f"{seconds:g}"], seconds)
            share = busiest_share(times, run_times_ns(server.pid), monotonic() - begin)
            server.check()
            ws = attach_to(workspace, server)
            try:
                histogram = ws.histograms[HISTOGRAM].read()
            finally:
                ws.close()
    after_ns = core_to_core_ns(*cores())
    return Window(
        chains=chains,
        supplies=chains * supplies,
        rows=said["led"],
        sent_ns=histogram.summary(),
        arrival=Range(**said["arrival"]),
        core_to_core_ns=max(before_ns, after_ns),
        distance=class_of(before_ns, after_ns),
        server_share=share,
    )


def _run(command: list[str], seconds: float) -> dict[str, Any]:
    return json.loads(printed("latency", command, seconds + BEYOND_S))  # type: ignore[no-any-return]


def run(count: int, seconds: float, log: Log) -> Iterator[Window]:
    """So many windows of each case, by turns."""
    for number in range(count):
        for chains, supplies in CASES:
            try:
                window = measure_window(chains, supplies, seconds)
            except (NotMeasured, ProgramFailed, WorkspaceError, KeyError) as error:
                log.note(f"latency, {chains} chains: not measured: {error}")
                continue
            log.say(f"{number + 1}/{count} {words(window)}")
            yield window


def words(window: Window) -> str:
    """A window on one line."""
    return (
        f"{window.supplies} supplies in {window.chains} chains: commit to sent p50 {window.sent_ns['p50']:.0f} ns, "
        f"p99 {window.sent_ns['p99']:.0f} ns, bound {window.bound_ns:.0f} ns, back {window.arrival.median:.0f} ns, "
        f"{window.distance} ({window.core_to_core_ns:.0f} ns){'' if window.counts else '  discarded'}"
    )
