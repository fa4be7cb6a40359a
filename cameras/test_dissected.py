#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tshark reads what a virtual camera sends: its answers as a device, and its stream.

test_dissected.py PROGRAM    exits 77, which Meson counts as skipped, where there is no tshark
"""

import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LINKTYPE_IPV4, GVCP_PORT, TIMEOUT_S = 228, 3956, 60.0
DISCOVERY, READREG, WRITEREG, READMEM, WRITEMEM, RESEND = 0x02, 0x80, 0x82, 0x84, 0x86, 0x40
PRIVILEGE, STREAM_PORT, STREAM_ADDRESS, HEARTBEAT, START = 0xA00, 0xD00, 0xD18, 0x938, 0x10028
WIDTH, HEIGHT, MTU = 64, 48, 576


class Capture:
    """Datagrams, as IPv4 packets of a pcap file."""

    def __init__(self) -> None:
        self.packets: list[bytes] = []

    def add(self, source: tuple[str, int], destination: tuple[str, int], payload: bytes) -> None:
        """One of them."""
        udp = struct.pack(">HHHH", source[1], destination[1], 8 + len(payload), 0) + payload
        addresses = socket.inet_aton(source[0]) + socket.inet_aton(destination[0])
        self.packets.append(struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0) + addresses + udp)

    def fields(self, names: list[str], *options: str) -> list[dict[str, list[str]]]:
        """What tshark finds in each packet."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "camera.pcap"
            records = [struct.pack("<IIII", 0, 0, len(one), len(one)) + one for one in self.packets]
            path.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, LINKTYPE_IPV4) + b"".join(records))
            chosen = [word for name in names for word in ("-e", name)]
            command = ["tshark", "-r", str(path), *options, "-T", "fields", *chosen]
            environment = {**os.environ, "HOME": folder, "XDG_CONFIG_HOME": folder}
            rows = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
        values = [[text.split(",") if text else [] for text in row.split("\t")] for row in rows.splitlines()]
        return [dict(zip(names, row, strict=True)) for row in values]


class Client:
    """A program that controls the camera, and keeps what goes to and fro."""

    def __init__(self, address: str, capture: Capture) -> None:
        self.device, self.capture, self.number = (address, GVCP_PORT), capture, 0
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(1.0)

    def ask(self, command: int, payload: bytes = b"", flags: int = 1) -> bytes:
        """The answer's payload; asked again until there is one."""
        self.number += 1
        request = struct.pack(">BBHHH", 0x42, flags, command, len(payload), self.number) + payload
        here = self.socket.getsockname()
        self.capture.add(here, self.device, request)
        for _ in range(int(TIMEOUT_S)):
            self.socket.sendto(request, self.device)
            if not flags & 1:
                return b""
            try:
                answer = self.socket.recv(2048)
            except OSError:  # not there yet
                continue
            if answer[6:8] == request[6:8]:
                self.capture.add(self.device, here, answer)
                assert answer[:2] == b"\0\0", f"{command:#x} was refused: {answer.hex()}"
                return answer[8:]
        raise TimeoutError(f"no answer to {command:#x}")

    def put(self, register: int, value: int) -> None:
        """Writes a register."""
        self.ask(WRITEREG, struct.pack(">II", register, value))


@contextmanager
def camera(extended: bool) -> Iterator[tuple[Client, socket.socket]]:
    """A virtual camera that runs, its client, and where its stream comes in."""
    capture = Capture()
    address = f"127.{1 + os.getpid() // 250 % 250}.{1 + os.getpid() % 250}.11"
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stream:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        stream.bind(("127.0.0.1", 0))
        stream.settimeout(TIMEOUT_S)
        machine, overlay = Path(folder) / "machine.yaml", Path(folder) / "overlay.yaml"
        machine.write_text(
            "workspace: dissected\nports: [{name: cameras, kind: udp, address: '127.0.0.1:9'}]\n"
            f"cameras: [{{name: cam01, port: cameras, address: {address}}}]\n"
        )
        overlay.write_text(
            f"cameras: [{{name: cam01, control: true, extended_ids: {str(extended).lower()}, mtu: {MTU}, rate_hz: 0.1, "
            f"pace: burst, width: {WIDTH}, height: {HEIGHT}, pixel_format: Mono12p}}]\n"
        )
        program = subprocess.Popen([sys.argv[1], "run", str(machine), str(overlay)], stdout=subprocess.DEVNULL)
        try:
            client = Client(address, capture)
            with client.socket:
                yield client, stream
        finally:
            program.terminate()
            program.wait(TIMEOUT_S)


class Dissected(unittest.TestCase):
    """tshark against the camera."""

    def stream_of(self, client: Client, stream: socket.socket, packets: int) -> None:
        """Starts the stream, and keeps its first packets."""
        client.put(PRIVILEGE, 2)
        client.put(HEARTBEAT, 60000)
        client.put(STREAM_ADDRESS, 0x7F000001)
        client.put(STREAM_PORT, stream.getsockname()[1])
        client.put(START, 1)
        for _ in range(packets):
            payload, source = stream.recvfrom(2048)
            client.capture.add(source, stream.getsockname(), payload)

    def check(self, extended: bool) -> None:
        """One frame and a packet of it again, with the control channel around them."""
        payload_bytes, header = WIDTH * HEIGHT * 3 // 2, 20 if extended else 8
        packets = 2 + -(-payload_bytes // (MTU - 28 - header))
        with camera(extended) as (client, stream):
            client.ask(DISCOVERY)
            client.ask(READREG, struct.pack(">I", PRIVILEGE))
            client.ask(READMEM, struct.pack(">IHH", 0x200, 0, 512))
            self.stream_of(client, stream, packets)
            client.ask(WRITEMEM, struct.pack(">II", HEARTBEAT, 30000))
            again = struct.pack(">HHII", 0, 0 if extended else 1, 1, 1) + (struct.pack(">Q", 1) if extended else b"")
            client.ask(RESEND, again, 0x10 if extended else 0)
            while True:
                payload, source = stream.recvfrom(2048)
                if payload[:2] != b"\0\0":  # one that says that it is sent again
                    client.capture.add(source, stream.getsockname(), payload)
                    break
            ids = ("gvsp.blockid64", "gvsp.packetid32") if extended else ("gvsp.blockid16", "gvsp.packetid24")
            names = ["_ws.malformed", "gvcp.cmd.command", "gvcp.ack", "gvsp.format", *ids, "gvsp.sizex", "gvsp.sizey"]
            port = stream.getsockname()[1]
            shown = client.capture.fields([*names, "gvsp.status"], "-d", f"udp.port=={port},gvsp")
        self.assertEqual([row for row in shown if row["_ws.malformed"]], [])
        commands = {int(row["gvcp.cmd.command"][0], 0) for row in shown if row["gvcp.cmd.command"]}
        self.assertEqual(commands, {DISCOVERY, READREG, WRITEREG, READMEM, WRITEMEM, RESEND})
        answers = {int(row["gvcp.ack"][0], 0) for row in shown if row["gvcp.ack"]}
        self.assertEqual(answers, {command + 1 for command in (DISCOVERY, READREG, WRITEREG, READMEM, WRITEMEM)})
        streamed = [row for row in shown if row["gvsp.format"]]
        self.assertEqual([int(row[ids[1]][0], 0) for row in streamed], [*range(packets), 1])
        self.assertEqual({int(row[ids[0]][0], 0) for row in streamed}, {1})
        self.assertEqual([int(streamed[0][name][0], 0) for name in ("gvsp.sizex", "gvsp.sizey")], [WIDTH, HEIGHT])
        self.assertEqual(int(streamed[-1]["gvsp.status"][0], 0), 0x100)

    def test_short_ids(self) -> None:
        """GigE Vision 1."""
        self.check(extended=False)

    def test_extended_ids(self) -> None:
        """GigE Vision 2."""
        self.check(extended=True)


if __name__ == "__main__":
    if not shutil.which("tshark"):
        print("SKIPPED: no tshark, so nobody but ourselves read the packets (apt install tshark)", file=sys.stderr)
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
