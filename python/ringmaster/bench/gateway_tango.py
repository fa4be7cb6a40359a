# SPDX-License-Identifier: Apache-2.0
"""The TANGO part of `ringmaster bench gateway`: writes to an attribute of our gateway, which asks the parameter's
owner, beside a plain PyTango device server, which keeps the value itself. Both without a database, by turns.
"""

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ringmaster.bench.gateway_epics import owner
from ringmaster.bench.gateway_peers import GATEWAY, free_ports, running
from ringmaster.bench.printed import Times, figures, printed
from ringmaster.bench.tango_clients import DEVICE
from ringmaster.programs.remains import scratch_folder
from ringmaster.report.section import Columns

NEEDED = ("tango",)
CLIENTS = "ringmaster.bench.tango_clients"
PLAIN = "plain PyTango"


@dataclass(frozen=True)
class Turn:
    """What a client had of one of them."""

    peer: str
    put: Times
    """Nanoseconds, from the call to the server's answer."""

    @property
    def words(self) -> str:
        """On one line."""
        return f"TANGO, {self.peer}: put {self.put.median / 1e3:.0f} µs (p99 {self.put.p99 / 1e3:.0f} µs)"


def take(peer: str, seconds: float) -> Turn:
    """One of them, started for it and ended after it. Raises NotMeasured."""
    (port,) = free_ports(socket.SOCK_STREAM)
    with scratch_folder("tango", "/dev/shm") as folder, (_gateway if peer == GATEWAY else _plain)(Path(folder), port):
        command = [sys.executable, "-m", CLIENTS, "put", f"tango://127.0.0.1:{port}/{DEVICE}#dbase=no"]
        said = printed("TANGO put", [*command, f"{seconds / 2:g}"], seconds + 120)
        return Turn(peer, figures(CLIENTS, said, lambda times: Times(**times)))


@contextmanager
def _gateway(root: Path, port: int) -> Iterator[None]:
    file, environment = root / "tango.yaml", {"RINGMASTER_WORKSPACES": str(root)}
    file.write_text('puts: [{to: "*"}]\n')
    with owner(root, 1, environment) as workspace:
        command = [sys.executable, "-m", "ringmaster", "gateway", "tango", str(file)]
        command += ["--port", str(port), "-w", str(workspace)]
        with running(command, environment, "of bench", root / "gateway.log"):
            yield


@contextmanager
def _plain(root: Path, port: int) -> Iterator[None]:
    command = [sys.executable, "-m", CLIENTS, "serve", str(port)]
    with running(command, {}, "Ready to accept request", root / "plain.log"):
        yield


COLUMNS: Columns = {
    "": lambda row: row.peer,
    "put p50 µs": lambda row: row.put.median / 1e3,
    "put p99 µs": lambda row: row.put.p99 / 1e3,
}
