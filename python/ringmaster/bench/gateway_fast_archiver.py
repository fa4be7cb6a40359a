# SPDX-License-Identifier: Apache-2.0
"""The fast-archiver part of `ringmaster bench gateway`: 168 BPMs at 10 kHz to ten clients at once.

A server takes the BPMs as a ring has them, half of them in each of two datagrams every 116 turns. Windows with the
gateway and its clients stand between windows without: gaps in what the clients get, and what the receive core has more
to do.
"""

import json
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from ringmaster.bench.log import NotMeasured
from ringmaster.bench.printed import figures, printed
from ringmaster.bench.setups import TURN_RATE_HZ
from ringmaster.fabric.workspace import Workspace
from ringmaster.programs.cores import cores
from ringmaster.programs.program import Program, attach_to
from ringmaster.programs.remains import scratch_folder

BPMS, PERIOD_TURNS = 168, 116
NAME = "bench-fast-archiver"
HALVES = ("bpma", "bpmb")
"""A datagram each, which is a frame of the usual size."""
FIRST_DATA_S, LIMIT_S = 20.0, 60.0


@dataclass(frozen=True)
class Window:
    """With the gateway, or without."""

    busy_share: float
    """Of the receive core."""
    clients: int = 0
    gaps: int = 0
    frames_per_s: float = 0.0
    """Of the client that got least."""
    gateway_cores: float = 0.0
    """Of a core that the gateway took."""

    @property
    def words(self) -> str:
        """On one line."""
        alone = f"fast archiver: receive core busy {100 * self.busy_share:.2f} %"
        if not self.clients:
            return f"{alone}, without a gateway"
        return (
            f"{alone}, {self.clients} clients at {self.frames_per_s:.0f} frames/s with {self.gaps} gaps, "
            f"gateway {self.gateway_cores:.2f} of a core"
        )


@dataclass(frozen=True)
class Served:
    """A server with BPMs that come, and the file of a gateway."""

    workspace: Workspace
    config: Path
    port: int

    def without(self, seconds: float) -> Window:
        """A window in which nobody reads."""
        before = self._core()
        sleep(seconds)
        return Window(self._busy(before))

    def with_clients(self, clients: int, seconds: float) -> Window:
        """A window in which clients read through a gateway that was just started."""
        with Program("ringmaster-fast-archiver", "run", self.config) as gateway:
            self._wait_for_data(gateway)
            before, used = self._core(), _cpu_s(gateway.pid)
            words = [sys.executable, "-m", "ringmaster.bench.fast_archiver_clients"]
            words += [str(self.port), str(clients), str(BPMS), f"{seconds:g}"]
            said = printed("clients", words, seconds + LIMIT_S)
            window, cpu_s = self._busy(before), _cpu_s(gateway.pid) - used
        return figures("clients", said, lambda seen: _window(window, cpu_s, seen))

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

    def _core(self) -> dict[str, int]:
        name = next(name for name in self.workspace.counter_blocks if name.startswith("core/"))
        return dict(self.workspace.counters(name))

    def _busy(self, before: dict[str, int]) -> float:
        gone = {name: value - before[name] for name, value in self._core().items()}
        return gone["busy_ticks"] / max(1, gone["busy_ticks"] + gone["idle_ticks"])


def _window(busy_share: float, cpu_s: float, seen: dict[str, Any]) -> Window:
    seconds = float(seen["seconds"])
    return Window(busy_share, int(seen["clients"]), int(seen["gaps"]), min(seen["frames"]) / seconds, cpu_s / seconds)


def _cpu_s(pid: int) -> float:
    ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(ticks[11]) + int(ticks[12])) / 100.0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def served(turn_rate_hz: float = TURN_RATE_HZ) -> Iterator[Served]:
    """Starts the server and its ring on two cores."""
    sender, receiver = cores()[0], cores()[-1]
    with scratch_folder("gateway") as scratch:
        folder, port = Path(scratch), _free_port()
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
            yield Served(workspace, gateway, port)


def busy_differences(windows: Sequence[Window]) -> list[float]:
    """How much more of its time the receive core is busy with the gateway than in the window before, without."""
    alone = [window.busy_share for window in windows if not window.clients]
    there = [window.busy_share for window in windows if window.clients]
    return [more - less for less, more in zip(alone, there, strict=False)]
