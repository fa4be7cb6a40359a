# SPDX-License-Identifier: Apache-2.0
"""The part of `ringmaster bench gateway` beside a server that receives: 168 BPMs at 10 kHz to ten clients at once.

A server takes the BPMs as a ring has them, half of them in each of two datagrams every 116 turns. Windows with a
gateway and its clients stand between windows without: gaps in what clients of the fast archiver get, and what the
receive core does more; and the latter again with the EPICS gateway, of which a client monitors all that there is.
"""

import json
import socket
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from ringmaster.bench.gateway_epics import client, epics_gateway
from ringmaster.bench.gateway_peers import cpu_s, free_ports, loopback
from ringmaster.bench.log import NotMeasured
from ringmaster.bench.printed import figures, printed
from ringmaster.bench.setups import TURN_RATE_HZ
from ringmaster.fabric.workspace import Workspace
from ringmaster.programs.cores import cores
from ringmaster.programs.program import Program, attach_to
from ringmaster.programs.remains import scratch_folder
from ringmaster.report.conditions import Watched
from ringmaster.report.headlines import of_values
from ringmaster.report.section import Columns
from ringmaster.report.verdicts import Headline

BPMS, PERIOD_TURNS = 168, 116
NAME = "bench-fast-archiver"
ALONE, READ, EPICS = "no gateway", "fast archiver", "EPICS"
HALVES = ("bpma", "bpmb")
"""A datagram each, which is a frame of the usual size."""
FIRST_DATA_S, LIMIT_S = 20.0, 60.0


@dataclass(frozen=True)
class Window:
    """With the gateway, or without."""

    busy_share: float
    """Of the receive core, times the share of it that its thread had: where others have it, the same work in less time
    is no more work.
    """
    gateway: str = ALONE
    clients: int = 0
    gaps: int = 0
    """Of the fast archiver's clients."""
    delivered_per_s: float = 0.0
    """Frames of the client that got least; updates of all PVs."""
    gateway_cores: float = 0.0
    """Of a core that the gateway took."""

    @property
    def words(self) -> str:
        """On one line."""
        words = f"receive core busy {100 * self.busy_share:.2f} %, {self.gateway}"
        if self.gateway == ALONE:
            return words
        what = f"{self.clients} clients at {self.delivered_per_s:.0f} frames/s with {self.gaps} gaps"
        if self.gateway == EPICS:
            what = f"{self.delivered_per_s:.0f} updates/s"
        return f"{words}: {what}, {self.gateway_cores:.2f} of a core"


@dataclass(frozen=True)
class Served:
    """A server with BPMs that come, and the file of a gateway."""

    workspace: Workspace
    server: int
    """Its process."""
    config: Path
    port: int

    def without(self, seconds: float) -> Window:
        """A window in which nobody reads."""
        before = self._core()
        sleep(seconds)
        return Window(before.busy_share())

    def with_clients(self, clients: int, seconds: float) -> Window:
        """A window in which clients read through a gateway that was just started."""
        with Program("ringmaster-fast-archiver", "run", self.config) as gateway:
            self._wait_for_data(gateway)
            before, used = self._core(), cpu_s(gateway.pid)
            words = [sys.executable, "-m", "ringmaster.bench.fast_archiver_clients"]
            words += [str(self.port), str(clients), str(BPMS), f"{seconds:g}"]
            said = printed("clients", words, seconds + LIMIT_S)
            busy_share, used = before.busy_share(), cpu_s(gateway.pid) - used
        return figures("clients", said, lambda seen: _window(busy_share, used, seen))

    def with_epics(self, seconds: float) -> Window:
        """A window in which a client monitors all PVs of the EPICS gateway. Raises NotMeasured."""
        environment = loopback()
        with (
            scratch_folder("epics") as folder,
            epics_gateway(Path(folder), NAME, environment) as gateway,
        ):
            before, used, begin = self._core(), cpu_s(gateway), monotonic()
            said = client("monitor", environment, seconds, f"{seconds:g}", f"{NAME}:inventory")
            busy_share, cores = before.busy_share(), (cpu_s(gateway) - used) / (monotonic() - begin)
        updates = figures("the client", said, lambda seen: float(seen["updates_per_s"]))
        return Window(busy_share, EPICS, 1, 0, updates, cores)

    def _wait_for_data(self, gateway: Program) -> None:
        give_up = monotonic() + FIRST_DATA_S
        while monotonic() < give_up:
            gateway.check()
            try:
                with socket.create_connection(("127.0.0.1", self.port), 1.0) as connection:
                    connection.sendall(b"S0\n")
                    if connection.recv(1) == b"\0":
                        return
            except OSError:
                pass
            sleep(0.1)
        raise NotMeasured(f"the gateway has no data: {gateway.words}")

    def _core(self) -> "_Core":
        name = next(name for name in self.workspace.counter_blocks if name.startswith("core/"))
        return _Core(self.workspace.counters(name), self.server)


class _Core:
    """The receive core from now on."""

    def __init__(self, counters: Mapping[str, int], server: int) -> None:
        self._counters, self._before = counters, dict(counters)
        self._watched = Watched(server)

    def busy_share(self) -> float:
        """See Window."""
        busy, idle = (self._counters[name] - self._before[name] for name in ("busy_ticks", "idle_ticks"))
        return busy / max(1, busy + idle) * self._watched.shares()[0]


def _window(busy_share: float, used_s: float, seen: dict[str, Any]) -> Window:
    seconds = float(seen["seconds"])
    frames, clients, gaps = min(seen["frames"]), int(seen["clients"]), int(seen["gaps"])
    return Window(busy_share, READ, clients, gaps, frames / seconds, used_s / seconds)


@contextmanager
def served(turn_rate_hz: float = TURN_RATE_HZ) -> Iterator[Served]:
    """Starts the server and its ring on two cores."""
    sender, receiver = cores()[0], cores()[-1]
    with scratch_folder("gateway") as scratch:
        folder, (port,) = Path(scratch), free_ports(socket.SOCK_STREAM)
        config, overlay, gateway = (folder / f"{name}.yaml" for name in ("server", "ring", "fast-archiver"))
        half = BPMS // len(HALVES)
        instruments = [
            {
                "name": name, "kind": "bpm", "id": i * half, "count": half, "port": "ring",
                "source": f"10.30.3.{i + 1}", "format": "libera_grouping", "period_turns": PERIOD_TURNS,
            }
            for i, name in enumerate(HALVES)
        ]  # fmt: skip
        config.write_text(
            json.dumps(
                {
                    "workspace": NAME,
                    "turn_rate_hz": turn_rate_hz,
                    "ports": [{"name": "ring", "kind": "memif", "socket": str(folder / "ring.sock")}],
                    "instruments": instruments,
                    "roles": [{"role": "receive", "core": receiver, "ports": ["ring"]}],
                }
            )
        )
        overlay.write_text(json.dumps({"core": sender}))
        ids = [
            {"id": 1 + i * half, "instrument": name, "count": half, "x": "x", "y": "y"} for i, name in enumerate(HALVES)
        ]
        gateway.write_text(
            json.dumps({"workspace": NAME, "address": "127.0.0.1", "port": port, "rate": "raw", "ids": ids})
        )
        with (
            Program("ringmaster-server", "run", config) as server,
            Program("ringmaster-instruments", "run", config, overlay),
            attach_to(NAME, server, ("server", "ring")) as workspace,
        ):
            yield Served(workspace, server.pid, gateway, port)


def busy_differences(windows: Sequence[Window]) -> list[float]:
    """How much more of its time the receive core is busy with a gateway than in the last window before, without."""
    differences, alone = [], None
    for window in windows:
        if window.gateway == ALONE:
            alone = window.busy_share
        elif alone is not None:
            differences.append(window.busy_share - alone)
    return differences


def headlines(windows: Sequence[Window]) -> list[Headline]:
    """No gap, and the difference of the receive core's busy share."""
    read = [window for window in windows if window.gateway == READ]

    def of(name: str, values: Iterable[float], unit: str, about: str, target: float | None = None) -> Headline:
        return Headline(name, of_values(values, "windows"), unit, target, about=about)

    return [
        of("fast_archiver.gaps", [sum(row.gaps for row in read)] if read else (), "", "of all clients", 0.0),
        of("fast_archiver.clients", (row.clients for row in read), "", "at once"),
        of("fast_archiver.frames_per_s", (row.delivered_per_s for row in read), "1/s", "that the slowest client got"),
        of("fast_archiver.cores", (row.gateway_cores for row in read), "cores", "that its gateway took"),
        of("receive_busy_difference", busy_differences(windows), "", "of the receive core's time, with a gateway"),
    ]


COLUMNS: Columns = {
    "": lambda row: row.gateway,
    "clients": lambda row: row.clients,
    "receive core busy %": lambda row: 100 * row.busy_share,
    "delivered/s": lambda row: row.delivered_per_s,
    "gaps": lambda row: row.gaps,
    "gateway, of a core": lambda row: row.gateway_cores,
}
