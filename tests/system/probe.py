# SPDX-License-Identifier: Apache-2.0
"""What a person at the other end of the cable does: ping, and hold a TCP connection. Needs the standard library alone.

``ping HOST COUNT`` prints the round trips in microseconds, one a line; a lost one is "lost".
``echo HOST PORT`` answers one TCP connection with what it sends.
``talk HOST PORT SECONDS`` holds one, sends lines and reads them back; prints how many came back right.
"""

import os
import socket
import struct
import sys
import time
from collections.abc import Callable

ECHO_REQUEST, ECHO_REPLY = 8, 0


def checksum(data: bytes) -> int:
    """RFC 1071."""
    total: int = sum(struct.unpack(f">{len(data) // 2}H", data))
    total = (total & 0xFFFF) + (total >> 16)
    return ~(total + (total >> 16)) & 0xFFFF


def one_ping(link: socket.socket, host: str, number: int, size: int = 56) -> float | None:
    """Round trip in seconds of one echo, or None after a second."""
    identity = os.getpid() & 0xFFFF
    payload = bytes(i & 0xFF for i in range(size))
    bare = struct.pack(">BBHHH", ECHO_REQUEST, 0, 0, identity, number) + payload
    echo = struct.pack(">BBHHH", ECHO_REQUEST, 0, checksum(bare), identity, number) + payload
    begin = time.perf_counter()
    link.sendto(echo, (host, 0))
    while time.perf_counter() - begin < 1:
        try:
            packet = link.recv(65536, socket.MSG_DONTWAIT)  # polled: to wake from sleep takes longer than a round trip
        except BlockingIOError:
            continue
        took = time.perf_counter() - begin
        reply = packet[(packet[0] & 15) * 4 :]
        if reply[0] == ECHO_REPLY and reply[4:8] == struct.pack(">HH", identity, number):
            assert reply[8:] == payload, "the reply is not what was sent"
            return took
    return None


def ping(host: str, count: str) -> None:
    """Sends echoes 2 ms apart."""
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as link:
        for number in range(int(count)):
            took = one_ping(link, host, number)
            print("lost" if took is None else f"{took * 1e6:.1f}", flush=True)
            time.sleep(0.002)


def echo(host: str, port: str) -> None:
    """Serves one connection to its end; says "ready" first."""
    with socket.create_server((host, int(port))) as server:
        print("ready", flush=True)
        connection, _ = server.accept()
        with connection:
            while data := connection.recv(65536):
                connection.sendall(data)


def talk(host: str, port: str, seconds: str) -> None:
    """Sends a line every 5 ms and waits for it."""
    good, begin = 0, time.monotonic()
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        lines = connection.makefile("rwb")
        while time.monotonic() - begin < float(seconds):
            line = f"line {good} {'x' * (good * 37 % 1900)}\n".encode()
            lines.write(line)
            lines.flush()
            assert lines.readline() == line
            good += 1
            time.sleep(0.005)
    print(good)


if __name__ == "__main__":
    does: dict[str, Callable[..., None]] = {"ping": ping, "echo": echo, "talk": talk}
    does[sys.argv[1]](*sys.argv[2:])
