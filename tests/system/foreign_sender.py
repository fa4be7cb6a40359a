# SPDX-License-Identifier: Apache-2.0
"""Senders of formats that are not ours, written after their published facts and nothing of ours.

A sender is an iterator of UDP payloads; ``python foreign_sender.py FORMAT --to HOST:PORT …`` sends them at a rate
through the kernel, which fragments what does not fit the interface's MTU. ``values`` says what a record must hold, so
that a test can compare. Run as a program it needs the standard library and NumPy alone.
"""

import argparse
import socket
import time
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

VENDOR_BLOCKS = 2
VENDOR_TURNS = 4
NO_CHECKSUM = 11
"""SO_NO_CHECK of socket(7): the UDP checksum is left out, as many FPGAs do."""


def values(counter: npt.NDArray[np.int64], instrument: int, lane: int) -> npt.NDArray[np.int32]:
    """What lane ``lane`` of an instrument holds at each count: a pattern that tells all three apart, of both signs."""
    return ((counter * 7919 + instrument * 104729 + lane * 31) % 2_000_003 - 1_000_000).astype(np.int32)


def libera(count: int, bpms: int, counter_first: bool, first: int) -> Iterator[bytes]:
    """Libera Grouping: little-endian entries of 16 bytes: sum, x, y, status, counter; older units: counter, status."""
    last = ("counter", "status") if counter_first else ("status", "counter")
    entry = np.dtype([("sum", "<i4"), ("x", "<i4"), ("y", "<i4"), (last[0], "<u2"), (last[1], "<u2")])
    assert entry.itemsize == 16
    ids = np.arange(bpms)
    group = np.zeros(bpms, entry)
    group["status"] = 1 | ids << 2 | 1 << 11
    for counter in range(first, first + count):
        turns = np.full(bpms, counter, np.int64)
        for lane, name in enumerate(("x", "y", "sum")):
            group[name] = ((turns * 7919 + ids * 104729 + lane * 31) % 2_000_003 - 1_000_000).astype(np.int32)
        group["counter"] = counter & 0xFFFF
        yield group.tobytes()


def vendor(count: int, first: int) -> Iterator[bytes]:
    """A vendor's packet, big-endian: magic 0xB1A5, length, 32-bit counter of its first turn; then two blocks of a
    16-bit id, 16-bit status, and four turns of x (24 bits), y (24 bits) and intensity (16 bits, unsigned).
    """
    turn = np.dtype([("x", "u1", 3), ("y", "u1", 3), ("intensity", ">u2")])
    block = np.dtype([("id", ">u2"), ("status", ">u2"), ("turn", turn, VENDOR_TURNS)])
    packet = np.dtype([("magic", ">u2"), ("length", ">u2"), ("counter", ">u4"), ("block", block, VENDOR_BLOCKS)])
    one = np.zeros(1, packet)
    one["magic"], one["length"] = 0xB1A5, packet.itemsize
    for begin in range(first, first + count * VENDOR_TURNS, VENDOR_TURNS):
        one["counter"] = begin & 0xFFFFFFFF
        turns = np.arange(begin, begin + VENDOR_TURNS, dtype=np.int64)
        for b in range(VENDOR_BLOCKS):
            one["block"]["id"][0, b] = 500 + b
            one["block"]["status"][0, b] = 0x8000 | begin // VENDOR_TURNS & 0xFF
            for lane, name in enumerate(("x", "y")):
                big_endian = values(turns, b, lane).astype(">i4").view("u1").reshape(-1, 4)
                one["block"]["turn"][name][0, b] = big_endian[:, 1:]
            one["block"]["turn"]["intensity"][0, b] = values(turns, b, 2) & 0xFFFF
        yield one.tobytes()


def native(count: int, first: int, loss: float, seed: int, pattern: int = 1) -> Iterator[bytes | None]:
    """Native datagrams of BPM 1 with lanes x and y, some of them lost (None). Another pattern is another's values."""
    datagram = np.dtype([("head", "<u2", 4), ("turn", "<u8"), ("x", "<i4"), ("y", "<i4")])
    lost = np.random.default_rng(seed).random(count) < loss
    one = np.zeros(1, datagram)
    one["head"] = (0x4D52, 1 | 1 << 8, 1, 0)
    for i in range(count):
        turns = np.array([first + i], np.int64)
        one["turn"], one["x"], one["y"] = first + i, values(turns, pattern, 0), values(turns, pattern, 1)
        yield None if lost[i] else one.tobytes()


def bound(source: str, checksum: bool) -> socket.socket:
    """A socket that sends from ``source``. It is not connected, so that a host where nobody listens cannot refuse."""
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.bind((source, 0))
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
    if not checksum:
        sender.setsockopt(socket.SOL_SOCKET, NO_CHECKSUM, 1)
    return sender


Network = tuple[socket.socket, tuple[str, int], list[bytes | None]]
"""Where one copy of every payload goes."""


def send(networks: list[Network], rate: float) -> None:
    """Sends at ``rate`` datagrams per second, to all networks side by side; what is None takes its time and is not
    sent.
    """
    begin = time.monotonic()
    for i in range(max(len(payloads) for _, _, payloads in networks)):
        while time.monotonic() - begin < i / rate:
            time.sleep(0.0002)
        for sender, to, payloads in networks:
            payload = payloads[i]
            if payload is not None:
                sender.sendto(payload, to)


def main() -> None:
    """Makes all payloads first, so that only sending takes time while it counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("format", choices=("libera", "libera-counter-first", "vendor", "native"))
    parser.add_argument("--to", required=True, action="append", help="HOST:PORT; give it again for a second network")
    parser.add_argument("--source", required=True, action="append", help="address to send from, for each network")
    parser.add_argument("--count", type=int, required=True, help="datagrams")
    parser.add_argument("--first", type=int, default=64_000, help="the first count")
    parser.add_argument("--rate", type=float, required=True, help="datagrams per second")
    parser.add_argument("--bpms", type=int, default=168)
    parser.add_argument("--loss", type=float, action="append", help="share of native datagrams lost, for each network")
    parser.add_argument("--pattern", type=int, action="append", help="of native values, for each network; 1 as a rule")
    parser.add_argument("--no-checksum", action="store_true", help="on the last network")
    given = parser.parse_args()
    networks: list[Network] = []
    for network, (to, source) in enumerate(zip(given.to, given.source, strict=True)):
        payloads: list[bytes | None] = []
        match given.format:
            case "vendor":
                payloads.extend(vendor(given.count, given.first))
            case "native":
                loss = given.loss[network] if given.loss else 0.0
                pattern = given.pattern[network] if given.pattern else 1
                payloads.extend(native(given.count, given.first, loss, network + 1, pattern))
            case order:
                payloads.extend(libera(given.count, given.bpms, order == "libera-counter-first", given.first))
        last = network == len(given.to) - 1
        host, _, port = to.partition(":")
        networks.append((bound(source, not (given.no_checksum and last)), (host, int(port)), payloads))
    send(networks, given.rate)
    print(*(sum(payload is not None for payload in payloads) for _, _, payloads in networks))


if __name__ == "__main__":
    main()
