# SPDX-License-Identifier: Apache-2.0
"""From a vector's commit to its first datagram: the leading application on one core, the server on the other.

The server measures it in every cycle (histogram `latency/setpoint`: commit to the datagram handed to the port, one way
between the cores); the application measures how long until it has the datagram back over the link, which is two ways.
The bound is 1.5 × half a cache line's round trip, probed before and after the same window, + 100 ns.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ringmaster.bench.log import NotMeasured
from ringmaster.bench.measurement import Turn
from ringmaster.bench.printed import Times, figures, printed
from ringmaster.bench.transmit_setups import led
from ringmaster.bench.windows import WHOLE_CORE
from ringmaster.bench.workspace import own_workspace
from ringmaster.errors import WorkspaceError
from ringmaster.places import find_program
from ringmaster.programs.cores import cores
from ringmaster.programs.program import Program, attach_to
from ringmaster.programs.remains import scratch_folder
from ringmaster.report.conditions import Probed, Watched

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
    arrival: Times
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

    @property
    def words(self) -> str:
        """On one line."""
        return (
            f"{self.supplies} supplies in {self.chains} chains: commit to sent p50 {self.sent_ns['p50']:.0f} ns, "
            f"p99 {self.sent_ns['p99']:.0f} ns, bound {self.bound_ns:.0f} ns, back {self.arrival.median:.0f} ns, "
            f"{self.distance} ({self.core_to_core_ns:.0f} ns){'' if self.counts else '  discarded'}"
        )


def measure_window(chains: int, supplies: int, seconds: float) -> Window:
    """Starts a server and its application for so long. Raises NotMeasured, ProgramFailed."""
    application_core, server_core = cores()
    if application_core == server_core:
        raise NotMeasured("needs two cores")
    with Probed(*cores()) as probed, own_workspace() as workspace, scratch_folder("bench") as name:
        socket, config = Path(name) / "supplies.sock", Path(name) / "server.yaml"
        config.write_text(led(workspace, socket, server_core, chains, supplies))
        with Program("ringmaster-server", "run", config) as server:
            attach_to(workspace, server).close()
            command = [find_program("ringmaster-setpoint-latency"), workspace, "bench", str(socket)]
            watched = Watched(server.pid)
            said = printed("latency", [*command, str(application_core), f"{seconds:g}"], seconds + BEYOND_S)
            (share,) = watched.shares()
            server.check()
            with attach_to(workspace, server) as ws:
                try:
                    histogram = ws.histograms[HISTOGRAM].read()
                except (WorkspaceError, KeyError) as error:
                    raise NotMeasured(f"no {HISTOGRAM}: {error!r}") from error
    return figures(
        "ringmaster-setpoint-latency",
        said,
        lambda said: Window(
            chains=chains,
            supplies=chains * supplies,
            rows=said["led"],
            sent_ns=histogram.summary(),
            arrival=Times(**said["arrival"]),
            core_to_core_ns=probed.ns,
            distance=probed.distance,
            server_share=share,
        ),
    )


def turns(count: int, seconds: float) -> Iterator[Turn]:
    """So many windows of each case, by turns."""
    for number in range(count):
        for case in CASES:
            yield Turn(f"{case[0]} chains", partial(measure_window, *case, seconds), f"{number + 1}/{count} ")
