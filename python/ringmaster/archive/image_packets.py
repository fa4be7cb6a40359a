# SPDX-License-Identifier: Apache-2.0
"""Frames of cameras as packets in a pcapng file: GigE Vision streams with extended ids, as a 2.x camera sends them.

Each frame is a leader, a packet for each of its fragments that came, and a trailer; the frame's number is the block id.
A fragment that did not come has no packet, also where the frame was filled. Every camera is an interface of its own,
of its name, and has its own source address 192.0.2.N. Packets lie evenly between the arrivals of the first and the last
fragment. Read it by ``tshark -r FILE -d udp.port==20202,gvsp``.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from ringmaster.archive.images import StoredFrame

UDP_PORT = 20202
MAX_FRAGMENT_BYTES = 65000
"""What is longer does not go into a datagram."""
PIECE_BYTES = 1400
"""Of a frame that did not come in such fragments."""
IMAGE = 1
"""The payload type."""
LEADER, TRAILER, PAYLOAD = 1, 2, 3
_HOST = bytes((192, 0, 2, 254))


class PacketImages:
    """Writes frames into a new file."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("xb")
        self._interfaces: dict[str, int] = {}
        section = struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1) + _option(4, b"ringmaster archive export") + _option(0)
        self._block(0x0A0D0D0A, section)

    def __enter__(self) -> "PacketImages":
        return self

    def __exit__(self, kind: type[BaseException] | None, it: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()

    def append(self, frame: StoredFrame) -> bool:
        """One more frame, whatever its pixels are."""
        if frame.camera not in self._interfaces:
            self._interfaces[frame.camera] = len(self._interfaces)
            ethernet = struct.pack("<HHI", 1, 0, 0)
            options = _option(2, frame.camera.encode()) + _option(9, b"\x09")  # its name, and that times are ns
            self._block(1, ethernet + options + _option(0))
        number = self._interfaces[frame.camera]
        packets = list(packets_of(frame))
        lasts = max(frame.last_tai_ns - frame.tai_ns, 0)
        for i, packet in enumerate(packets):
            time = frame.utc_ns + lasts * i // max(len(packets) - 1, 1)
            self._packet(number, time, datagram(number + 1, packet))
        return True

    def _packet(self, interface: int, time_ns: int, data: bytes) -> None:
        head = struct.pack("<IIIII", interface, time_ns >> 32, time_ns & 0xFFFFFFFF, len(data), len(data))
        self._block(6, head + data + bytes(-len(data) % 4))

    def _block(self, kind: int, body: bytes) -> None:
        length = 12 + len(body)
        self._file.write(struct.pack("<II", kind, length) + body + struct.pack("<I", length))


def packets_of(frame: StoredFrame) -> Iterator[bytes]:
    """The UDP payloads of a frame."""
    geometry, pixels = frame.geometry, frame.bytes
    yield _header(LEADER, frame.number, 0) + struct.pack(
        ">HHQIIIIIHH",
        *(0, IMAGE, frame.device_time),
        *(geometry.pixel_format_number if geometry else 0,),
        *((geometry.width, geometry.height, geometry.offset_x, geometry.offset_y) if geometry else (0, 0, 0, 0)),
        *((geometry.padding_x & 0xFFFF, geometry.padding_y & 0xFFFF) if geometry else (0, 0)),
    )
    fragments = 0 < frame.fragment_bytes <= MAX_FRAGMENT_BYTES
    step = frame.fragment_bytes if fragments else PIECE_BYTES
    missing = frame.missing if fragments else ()
    for i, begin in enumerate(range(0, len(pixels), step)):
        if i >= len(missing) or not missing[i]:
            yield _header(PAYLOAD, frame.number, 1 + i) + pixels[begin : begin + step].tobytes()
    last = 1 + -(-len(pixels) // step)
    yield _header(TRAILER, frame.number, last) + struct.pack(">HHI", 0, IMAGE, geometry.height if geometry else 0)


def _header(form: int, block: int, packet: int) -> bytes:
    """Of a packet with extended ids."""
    return struct.pack(">HHIQI", 0, 0, (0x80 | form) << 24, block, packet)


def datagram(camera: int, payload: bytes) -> bytes:
    """An Ethernet frame of a UDP datagram from camera ``camera``, 1 to 253, to the host."""
    address = bytes((192, 0, 2, 1 + (camera - 1) % 253))
    udp = struct.pack(">HHHH", UDP_PORT, UDP_PORT, 8 + len(payload), 0)

    def header(checksum: int) -> bytes:
        return struct.pack(">BBHHHBBH", 0x45, 0, 28 + len(payload), 0, 0x4000, 64, 17, checksum) + address + _HOST

    words = sum(struct.unpack(">10H", header(0)))
    checksum = ~((words & 0xFFFF) + (words >> 16)) & 0xFFFF
    macs = bytes((2, 0, 0, 0, 0, 0xFE)) + bytes((2, 0, 0, 0, 0, address[3]))
    return macs + b"\x08\x00" + header(checksum) + udp + payload


def _option(code: int, value: bytes = b"") -> bytes:
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)
