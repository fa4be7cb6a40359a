#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write the test vectors of capture devices (TECMP, ASAM CMP), by an implementation that shares nothing with the C one.

make_capture.py                write tecmp.txt, tecmp.pcap, cmp.txt and cmp.pcap beside this script
make_capture.py --check        exit 1 when one of them is not what this script makes
make_capture.py --seeds DIR FORMAT   write every packet of tecmp or cmp to a file of its own, for the fuzzer
"""

import struct
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "wire/vectors")]

from make_frames import HEADING, Vector  # noqa: E402
from make_vectors import write_files, write_pcap  # noqa: E402

MACS = bytes.fromhex("010000000001020000000c02")
TIME = 1_767_775_814_308_368_100
PIXELS = bytes(range(1, 13))
RAW12 = 0x2C


def tecmp_header(flags: int = 0x000F, kind: int = 3, data_type: int = 0x0101, device: int = 0x90) -> bytes:
    """Of a packet."""
    return struct.pack(">HHBBHHH", device, 0xFFFE, 3, kind, data_type, 0, flags)


def tecmp_entry(content: bytes, interface: int = 0x12345678, asynchronous: bool = False, flags: int = 0) -> bytes:
    """An entry with its bytes."""
    return struct.pack(">IQHH", interface, TIME | asynchronous << 63, len(content), flags) + content


def csi2(content: bytes, channel: int = 1, data_type: int = RAW12) -> bytes:
    """A long packet as on the link."""
    return struct.pack("<BHB", channel << 6 | data_type, len(content), 0x15) + content + struct.pack("<H", 0xBEEF)


def tecmp_vectors() -> list[Vector]:
    """All, in the order of the file."""
    said = {"device": 0x90, "counter": 0xFFFE, "version": 3, "message_type": 3, "data_type": 0x0101, "flags": 0x000F}
    one = {"entries": 1, "interface": 0x12345678, "time_ns": TIME}
    line = tecmp_entry(csi2(PIXELS))
    short = struct.pack("<BHB", 1 << 6, 77, 0x2A)
    lies = tecmp_entry(PIXELS)[:-1]
    return [
        Vector("line", "A line of pixels.", "good", tecmp_header() + line, said | one | {"length": 18}),
        Vector(
            "two",
            "A frame starts, and a line of it; the clock is not synchronised.",
            "good",
            tecmp_header() + tecmp_entry(short, asynchronous=True, flags=0x8000) + line,
            said | one | {"entries": 2, "unsynchronised": 1, "entry_flags": 0x8000, "length": 4},
        ),
        Vector(
            "first-part",
            "The first part of a line.",
            "good",
            tecmp_header(0x0002) + tecmp_entry(csi2(PIXELS)[:7]),
            said | one | {"flags": 2, "length": 7, "part": 1},
        ),
        Vector(
            "middle-part",
            "One within.",
            "good",
            tecmp_header(0x8000) + tecmp_entry(csi2(PIXELS)[7:9]),
            said | one | {"flags": 0x8000, "length": 2, "part": 2},
        ),
        Vector(
            "last-part",
            "The last one.",
            "good",
            tecmp_header(0x0001) + tecmp_entry(csi2(PIXELS)[9:]),
            said | one | {"flags": 1, "length": 9, "part": 3},
        ),
        Vector(
            "padded",
            "Zeros behind it, as a short frame of Ethernet has them.",
            "good",
            tecmp_header(kind=10, data_type=0x0102) + tecmp_entry(PIXELS) + bytes(20),
            said | one | {"message_type": 10, "data_type": 0x0102, "length": 12},
        ),
        Vector("lies", "An entry longer than the packet is none.", "good", tecmp_header() + lies, said),
        Vector("empty", "No packet at all.", "too_short", b""),
        Vector("half", "Eleven bytes.", "too_short", tecmp_header()[:11]),
        Vector("cmp", "One of ASAM CMP.", "is_cmp", cmp_packet() + cmp_message(PIXELS)),
        Vector("status", "A device's status.", "other_message", tecmp_header(kind=1) + tecmp_entry(PIXELS)),
        Vector("control", "And a command.", "other_message", tecmp_header(kind=0) + tecmp_entry(PIXELS)),
    ]


def cmp_packet(kind: int = 1, device: int = 0x4711, version: int = 1) -> bytes:
    """The header of a packet."""
    return struct.pack(">BBHBBH", version, 0, device, kind, 5, 0xFFFE)


def cmp_message(content: bytes, part: int = 0, flags: int = 2, kind: int = 12) -> bytes:
    """A message with its payload."""
    return struct.pack(">QIBBH", TIME, 0x12345678, flags | part << 2, kind, len(content)) + content


def cmp_csi2(word: int, content: bytes = b"", data_type: int = RAW12, flags: int = 0x70) -> bytes:
    """The payload of MIPI CSI-2."""
    return struct.pack(">HHHHBBBBHH", flags, 0, 300, 700, data_type, 0x0D, 0, 0x15, 0xBEEF, word) + content


STANDARD = bytes.fromhex(
    "0100471101000000 188866bcae608ee4 00000008 00 08 0034 0000 0000 002e ffffffffffff 600000000001 0806 0001 0800"
    "06 04 0001 600000000001 c0a80001 000000000000 c0a80002 11220000"
)
"""A message of the samples that come with the standard (asam_cmp_cap_0x08_Ethernet)."""


def cmp_vectors() -> list[Vector]:
    """All, in the order of the file."""
    said = {"version": 1, "device": 0x4711, "stream": 5, "counter": 0xFFFE}
    one = {"messages": 1, "time_ns": TIME, "interface": 0x12345678, "flags": 2, "payload_type": 12}
    packet = {"csi2_flags": 0x70, "frame": 300, "line": 700, "channel": 0x0D, "ecc": 0x15, "checksum": 0xBEEF}
    line, start = cmp_csi2(12, PIXELS), cmp_csi2(77, data_type=0)
    is_line = packet | {"data_type": RAW12, "bytes": 12}
    return [
        Vector(
            "standard",
            "Ethernet, from the samples of the standard.",
            "good",
            STANDARD,
            {
                "version": 1,
                "device": 0x4711,
                "messages": 1,
                "time_ns": TIME,
                "interface": 8,
                "payload_type": 8,
                "length": 52,
            },
        ),
        Vector(
            "line", "A line of pixels.", "good", cmp_packet() + cmp_message(line), said | one | is_line | {"length": 28}
        ),
        Vector(
            "start",
            "A frame starts, and a line of it.",
            "good",
            cmp_packet() + cmp_message(start) + cmp_message(line),
            said | one | packet | {"messages": 2, "length": 16, "number": 77},
        ),
        Vector(
            "first-part",
            "The first part of a line.",
            "good",
            cmp_packet() + cmp_message(line[:20], 1),
            said | one | {"length": 20, "part": 1},
        ),
        Vector(
            "middle-part",
            "One within, without a clock that is right.",
            "good",
            cmp_packet() + cmp_message(line[20:24], 2, flags=0x20),
            said | one | {"length": 4, "part": 2, "flags": 0x20},
        ),
        Vector(
            "last-part",
            "The last one.",
            "good",
            cmp_packet() + cmp_message(line[24:], 3),
            said | one | {"length": 4, "part": 3},
        ),
        Vector(
            "padded",
            "Zeros behind it, as a short frame of Ethernet has them.",
            "good",
            cmp_packet() + cmp_message(start) + bytes(40),
            said | one | packet | {"length": 16, "number": 77},
        ),
        Vector(
            "short-line",
            "A line that has less than it counts is none.",
            "good",
            cmp_packet() + cmp_message(cmp_csi2(13, PIXELS)),
            said | one | {"length": 28},
        ),
        Vector(
            "lies", "A message longer than the packet is none.", "good", (cmp_packet() + cmp_message(line))[:-1], said
        ),
        Vector("empty", "No packet at all.", "too_short", b""),
        Vector("half", "Seven bytes.", "too_short", cmp_packet()[:7]),
        Vector("tecmp", "One of TECMP.", "is_tecmp", tecmp_header() + tecmp_entry(PIXELS)),
        Vector("status", "A device's status.", "other_message", cmp_packet(3) + cmp_message(PIXELS, kind=1)),
        Vector("transmit", "Something to send.", "other_message", cmp_packet(4) + cmp_message(PIXELS)),
    ]


def main(arguments: list[str]) -> int:
    """Write, compare, or write seeds; returns the exit status."""
    formats = {"tecmp": ("TECMP", tecmp_vectors()), "cmp": ("ASAM CMP", cmp_vectors())}
    if arguments[:1] == ["--seeds"]:
        folder = Path(arguments[1])
        folder.mkdir(parents=True, exist_ok=True)
        for vector in formats[arguments[2]][1]:
            (folder / vector.name).write_bytes(vector.payload)
        return 0
    files = {}
    for name, (what, vectors) in formats.items():
        heading = HEADING.format(what=what).replace("make_frames.py", "make_capture.py")
        heading = heading.replace("one UDP payload", "what follows the EtherType")
        text = heading + "".join("\n" + v.block(number) for number, v in enumerate(vectors, 1))
        files[HERE / f"{name}.txt"] = text.encode()
        good = [MACS + b"\x99\xfe" + vector.payload for vector in vectors if vector.verdict == "good"]
        files[HERE / f"{name}.pcap"] = write_pcap(good)
    return write_files(files, Path(__file__), check="--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
