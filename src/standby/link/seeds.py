# SPDX-License-Identifier: Apache-2.0
"""Writes seeds for fuzz_standby_link: conversations of one session, as message.h and fuzz_standby_link.c have them.

seeds.py FOLDER
"""

import struct
import sys
from pathlib import Path

HELLO, STATUS, VECTOR, STEP, REPEAT, WANT, OFFER, CHUNK, SWITCH, BYE = range(1, 11)
NONE = 2**64 - 1
ACTIVE, IN_SESSION = 1, 2
"""Bits of the first byte: what the server that listens is, and whether it has a session."""


def piece(kind: int, body: bytes) -> bytes:
    """One datagram."""
    return struct.pack("<HB", len(body), kind) + body


def hello(digest: bytes) -> bytes:
    """Of server b."""
    return piece(HELLO, struct.pack("<BBB25s40s32s", 1, 1, 2, b"b", b"0.1.0", digest))


def status(role: int, time_ns: int, came: int) -> bytes:
    """With one application."""
    head = struct.pack("<BBBIQQQQQQQQB", role, 0, 16 | 4, 5, 7, 1200, 0, time_ns, 1, 1, 1, 1, 1)
    return piece(STATUS, head + struct.pack("<QQ", came, 1200))


def vector(number: int, previous: int, part: int, parts: int, first: int, count: int) -> bytes:
    """A part of 200 values."""
    head = struct.pack("<BBBHHHQQQ", 0, part, parts, 200, first, count, number, previous, 12 * number)
    return piece(VECTOR, head + struct.pack(f"<{count}d", *range(count)))


def step(turn: int, previous: int, part: int, parts: int, count: int) -> bytes:
    """Some records of application 0."""
    head = struct.pack("<BBBBIQQ", 0, part, parts, count, 1, turn, previous)
    return piece(STEP, head + b"".join(struct.pack("<HQ12i", i, i, *range(12)) for i in range(count)))


def want(of: int, identity: int, first: int, count: int, turn: int) -> bytes:
    """Chunks, or an offer."""
    return piece(WANT, struct.pack("<BBHIQQ", of, 0, count, first, identity, turn))


SEEDS = {
    "greets": bytes([0]) + hello(bytes(32)) + status(3, 10, NONE),
    "follows": bytes([IN_SESSION])
    + status(3, 10, 1200)
    + vector(1, 0, 0, 2, 0, 128)
    + vector(1, 0, 1, 2, 128, 72)
    + vector(2, 1, 0, 1, 5, 3)
    + step(12, NONE, 0, 1, 3)
    + step(24, 12, 0, 2, 22)
    + step(24, 12, 1, 2, 1)
    + status(3, 20, 1212)
    + piece(OFFER, struct.pack("<BBQQQQQQ", 0, 0, 9, 1300, 1, 2, 1200, 3))
    + piece(CHUNK, struct.pack("<BBHIQ", 0, 0, 1200, 0, 9) + bytes(1200))
    + piece(CHUNK, struct.pack("<BBHIQ", 0, 0, 100, 1, 9) + bytes(100)),
    "leads": bytes([ACTIVE | IN_SESSION])
    + status(1, 10, NONE)
    + piece(REPEAT, struct.pack("<BQ", 0, NONE))
    + want(0, 0, 0, 0, 1200)
    + want(0, 11, 0, 64, 0)
    + want(1, 0, 0, 0, 0)
    + want(1, 1, 0, 64, 0)
    + piece(SWITCH, struct.pack("<BQQ128s", 2, 77, 120_000, b""))
    + piece(BYE, b""),
}


def main(folder: Path) -> None:
    """Writes each as a file of its name."""
    folder.mkdir(exist_ok=True)
    for name, seed in SEEDS.items():
        (folder / name).write_bytes(seed)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
