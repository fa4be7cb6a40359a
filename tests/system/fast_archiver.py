# SPDX-License-Identifier: Apache-2.0
"""A fast-archiver gateway that tests ask by lines, and the archives and servers that it serves."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from harness import RING_CORE, SERVER_CORE, TIMEOUT_S, free_udp_port, server, unique_name, wait_for
from numpy.typing import NDArray

from ringmaster import Workspace
from ringmaster.programs.program import Program, attach_to

INSTRUMENTS = ("bpm01", "bpm02")
TURN_RATE_HZ = 4000
IDS = "ids:\n  - {id: 1, instrument: bpm, count: 2}\n  - {id: 11, instrument: bpm, count: 2, x: x2, y: y2}\n"
"""Ids 1 and 2 are the first BPMs of both electronics, ids 11 and 12 the second ones."""


def free_tcp_port() -> int:
    """A TCP port of the loopback interface that nobody has."""
    while True:
        port = free_udp_port()
        with suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port


@dataclass(frozen=True)
class Gateway:
    """One that runs."""

    port: int
    running: Program

    def connect(self, line: str = "") -> socket.socket:
        """A connection that has sent a line."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT_S)
        connection.sendall(line.encode())
        return connection

    def ask(self, line: str) -> bytes:
        """All that is answered until the connection is closed."""
        with self.connect(line + "\n") as connection:
            return b"".join(iter(lambda: connection.recv(65536), b""))

    def words(self, line: str) -> list[str]:
        """The same in lines."""
        return self.ask(line).decode().splitlines()

    def takes(self, line: str) -> bool:
        """Whether a line is answered by data."""
        return self.take(line, 1) == b"\0"

    def take(self, line: str, count: int) -> bytes:
        """The first bytes of an answer without end."""
        with self.connect(line + "\n") as connection:
            return exactly(connection, count)


def exactly(connection: socket.socket, count: int) -> bytes:
    """So many bytes."""
    taken = bytearray()
    while len(taken) < count:
        piece = connection.recv(count - len(taken))
        assert piece, f"closed after {len(taken)} of {count} bytes: {bytes(taken[:200])!r}"
        taken += piece
    return bytes(taken)


def ends(connection: socket.socket) -> bool:
    """Takes what still comes; whether the connection is closed then."""
    try:
        while connection.recv(1 << 20):
            pass
    except ConnectionResetError:
        pass
    return True


def frames_of(data: bytes, ids: int, fields: int = 1) -> NDArray[np.int32]:
    """By frame, id, field and plane."""
    return np.frombuffer(data, "<i4").reshape(-1, ids, fields, 2)


@contextmanager
def gateway(folder: Path, workspace: str, more: str = "", ids: str = IDS) -> Iterator[Gateway]:
    """A gateway; ``more`` are keys of its file."""
    port, config = free_tcp_port(), folder / "fast-archiver.yaml"
    config.write_text(f"workspace: {workspace}\naddress: 127.0.0.1\nport: {port}\n{more}{ids}")
    with Program("ringmaster-fast-archiver", "run", config, "--json") as running:
        wait_for(lambda: "serving" in running.words or not running.running, "the gateway")
        running.check()
        yield Gateway(port, running)


@dataclass(frozen=True)
class Site:
    """A server that receives from a ring, and its gateway: `turn` is the full rate, `fast` the decimated one."""

    workspace: Workspace
    config: Path
    gateway: Gateway
    ring: Program
    server: Program


@contextmanager
def site(folder: Path, more: str = "") -> Iterator[Site]:
    """A server of its own for the tests of a file."""
    port = free_udp_port()
    name = unique_name(f"fastarchiver{port}")
    config, overlay = folder / "server.yaml", folder / "ring.yaml"
    config.write_text(
        f"workspace: {name}\nturn_rate_hz: {TURN_RATE_HZ}\npolling: {{naps: true}}\n"
        f"ports: [{{name: local, kind: udp, address: '127.0.0.1:{port}'}}]\n"
        "buffers: {turn_records: 65536, fast_records: 16384}\n"
        f"roles: [{{role: receive, core: {SERVER_CORE}, ports: [local]}}]\ninstruments:\n"
        + "".join(
            f"  - {{name: {instrument}, kind: bpm, id: {i}, port: local, source: 127.0.0.{i}}}\n"
            for i, instrument in enumerate(INSTRUMENTS, 1)
        )
    )
    overlay.write_text(f"core: {RING_CORE}\n")
    with (
        server(config) as running,
        Program("ringmaster-instruments", "run", config, overlay) as ring,
        attach_to(name, running, ("server", "ring")) as ws,
        gateway(folder, name, f"rate: turn\ndecimated: fast\n{more}") as its_gateway,
    ):
        wait_for(lambda: all(map(its_gateway.takes, ("S0", "S0D"))), lambda: its_gateway.running.words)
        yield Site(ws, config, its_gateway, ring, running)
