# SPDX-License-Identifier: Apache-2.0
"""Clients of the fast archiver that only take what comes and look at each frame's counter. A process of its own:

python -m ringmaster.bench.fast_archiver_clients PORT COUNT IDS SECONDS     prints what they saw, in JSON
"""

import json
import selectors
import socket
import sys
from dataclasses import dataclass, field
from time import monotonic

import numpy as np

RECEIVE_BYTES = 1 << 18
TIMEOUT_S = 10.0


@dataclass
class Client:
    """One subscription to ids 0 to ``ids``."""

    connection: socket.socket
    frame_bytes: int
    frames: int = 0
    gaps: int = 0
    closed: bool = False
    _rest: bytearray = field(default_factory=bytearray)
    _before: int | None = None

    def take(self) -> None:
        """What has come."""
        piece = self.connection.recv(RECEIVE_BYTES)
        self.closed = not piece
        self._rest += piece
        count = len(self._rest) // self.frame_bytes
        if count == 0:
            return
        words = np.frombuffer(self._rest, "<u4", count * self.frame_bytes // 4)
        counter = words[:: self.frame_bytes // 4].astype(np.int64)
        del words
        del self._rest[: count * self.frame_bytes]
        steps = np.diff(counter, prepend=counter[0] - 1 if self._before is None else self._before)
        self.gaps += int((steps != 1).sum())
        self._before = int(counter[-1])
        self.frames += count


def connected(port: int, ids: int) -> Client:
    """One that gets frames."""
    connection = socket.create_connection(("127.0.0.1", port), TIMEOUT_S)
    connection.sendall(f"S0-{ids}\n".encode())
    zero = connection.recv(1)
    if zero != b"\0":
        with connection:
            raise ConnectionError((zero + connection.recv(200)).decode(errors="replace").strip())
    return Client(connection, 8 * (ids + 1))


def run(port: int, count: int, ids: int, seconds: float) -> dict[str, object]:
    """All of them for so long. A client that was closed has a gap: what came after is missing."""
    clients = [connected(port, ids) for _ in range(count)]
    with selectors.DefaultSelector() as ready:
        for client in clients:
            ready.register(client.connection, selectors.EVENT_READ, client)
        begin = monotonic()
        while monotonic() < begin + seconds and ready.get_map():
            for key, _ in ready.select(0.1):
                key.data.take()
                if key.data.closed:
                    ready.unregister(key.fileobj)
        took = monotonic() - begin
    for client in clients:
        client.connection.close()
    return {
        "clients": count,
        "gaps": sum(client.gaps + client.closed for client in clients),
        "frames": [client.frames for client in clients],
        "seconds": took,
    }


if __name__ == "__main__":
    _port, _count, _ids = map(int, sys.argv[1:4])
    print(json.dumps(run(_port, _count, _ids, float(sys.argv[4]))))
