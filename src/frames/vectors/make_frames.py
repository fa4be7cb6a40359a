#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write the test vectors of image streams, by an implementation that shares nothing with the C one.

make_frames.py                write gvsp.txt, gvsp.pcap, resend.txt and images.txt beside this script
make_frames.py --check        exit 1 when one of them is not what this script makes
make_frames.py --seeds DIR FORMAT   write every payload of gvsp or images to a file of its own, for the fuzzer
"""

import struct
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "wire/vectors"))

from make_vectors import internet_checksum, write_files, write_pcap  # noqa: E402

CAMERA_MAC, HOST_MAC = bytes.fromhex("020000000c01"), bytes.fromhex("020000000001")
CAMERA, HOST = bytes([10, 40, 0, 1]), bytes([10, 40, 255, 1])
STREAM_PORT, CONTROL_PORT = 20202, 3956

HEADING = """\
# SPDX-License-Identifier: Apache-2.0
# Test vectors of {what}. Made by make_frames.py.
#
# A block is one UDP payload. `verdict` is `good`, or what is found wrong first; only good ones have fields. Fields that
# are 0 are left out.
"""


@dataclass(frozen=True)
class Vector:
    """One payload, what its reader must say of it, and the fields that it must find."""

    name: str
    about: str
    verdict: str
    payload: bytes
    fields: Mapping[str, int] = field(default_factory=dict)

    def block(self, number: int) -> str:
        """Of the text file."""
        lines = [f"# {number}. {self.about}", f"name {self.name}", f"verdict {self.verdict}"]
        if self.payload:
            lines.append(f"payload {self.payload.hex(' ')}")
        lines += [f"{name} {value:#x}" for name, value in self.fields.items() if value]
        return "\n".join(lines) + "\n"

    def frame(self, port: int = STREAM_PORT) -> bytes:
        """From the camera to the host; control packets go the other way."""
        source, target = (CAMERA, HOST) if port == STREAM_PORT else (HOST, CAMERA)
        macs = HOST_MAC + CAMERA_MAC if port == STREAM_PORT else CAMERA_MAC + HOST_MAC
        length = 8 + len(self.payload)

        def header(checksum: int) -> bytes:
            return struct.pack(">BBHHHBBH", 0x45, 0, 20 + length, 0, 0x4000, 64, 17, checksum) + source + target

        udp = struct.pack(">HHHH", port, port, length, 0)
        return macs + b"\x08\x00" + header(internet_checksum(header(0))) + udp + self.payload


IMAGE, CHUNK_DATA, EXTENDED, CHUNKS = 1, 4, 5, 0x4000
GEOMETRY = {
    "pixel_format": 0x010C0047,
    "width": 1936,
    "height": 1216,
    "offset_x": 8,
    "offset_y": 4,
    "padding_x": 3,
    "padding_y": 2,
}
TIME = 0x1122334455667788


def gvsp_header(form: int, block: int, packet: int, status: int = 0, extended: bool = False, flags: int = 0) -> bytes:
    """Of a packet."""
    if extended:
        return struct.pack(">HHIQI", status, flags, (0x80 | form) << 24, block, packet)
    return struct.pack(">HHI", status, block, form << 24 | packet)


def leader(kind: int) -> bytes:
    """With the geometry, where the payload type has one."""
    head = struct.pack(">HHQ", 0, kind, TIME)
    return head if kind & 0xFF == CHUNK_DATA else head + struct.pack(">IIIIIHH", *GEOMETRY.values())


def trailer(kind: int, length: int = 0, layout: int = 0) -> bytes:
    """Of a whole block."""
    head = struct.pack(">HH", 0, kind)
    head += struct.pack(">I", GEOMETRY["height"] if kind & 0xFF == IMAGE else length)
    if kind & 0xFF == EXTENDED:
        head += struct.pack(">II", GEOMETRY["height"], layout)
    return head + (struct.pack(">II", length, layout) if kind & CHUNKS else b"")


def led(kind: int) -> dict[str, int]:
    """Fields of a leader."""
    return {"payload_type": kind, "time": TIME} | ({} if kind & 0xFF == CHUNK_DATA else GEOMETRY)


def gvsp_vectors() -> list[Vector]:
    """All, in the order of the file."""
    ids = {"block": 65535, "packet": 0}
    far = {"block": 2**63 + 5, "packet": 0, "extended_ids": 1, "flags": 1}
    pixels = bytes(range(24))
    lines = GEOMETRY["height"]

    def extended(form: int, packet: int = 0) -> bytes:
        return gvsp_header(form, far["block"], packet, extended=True, flags=1)

    return [
        Vector(
            "leader",
            "An image begins.",
            "good",
            gvsp_header(1, 65535, 0) + leader(IMAGE),
            {"format": 1} | ids | led(IMAGE),
        ),
        Vector(
            "payload",
            "Its first bytes.",
            "good",
            gvsp_header(3, 65535, 1) + pixels,
            {"format": 3, "block": 65535, "packet": 1, "length": 24},
        ),
        Vector(
            "resent",
            "The last packet that 24 bits count, sent again.",
            "good",
            gvsp_header(3, 1, 0xFFFFFF, 0x0100) + pixels,
            {"status": 0x0100, "format": 3, "block": 1, "packet": 0xFFFFFF, "length": 24},
        ),
        Vector(
            "trailer",
            "The image ends.",
            "good",
            gvsp_header(2, 65535, 99) + trailer(IMAGE),
            {"format": 2, "block": 65535, "packet": 99, "payload_type": IMAGE, "lines": lines},
        ),
        Vector(
            "all-in",
            "An image in one packet.",
            "good",
            gvsp_header(4, 7, 0) + leader(IMAGE) + trailer(IMAGE) + pixels,
            {"format": 4, "block": 7, "lines": lines, "length": 24} | led(IMAGE),
        ),
        Vector(
            "extended-leader",
            "Ids of 64 and 32 bits, and a flag.",
            "good",
            extended(1) + leader(IMAGE),
            {"format": 1} | far | led(IMAGE),
        ),
        Vector(
            "extended-payload",
            "A packet id of 32 bits.",
            "good",
            extended(3, 0xFFFFFFFF) + pixels,
            {"format": 3, "length": 24} | far | {"packet": 0xFFFFFFFF},
        ),
        Vector(
            "extended-trailer",
            "And its end.",
            "good",
            extended(2, 2**31) + trailer(IMAGE),
            {"format": 2, "payload_type": IMAGE, "lines": lines} | far | {"packet": 2**31},
        ),
        Vector(
            "extended-all-in",
            "In one packet.",
            "good",
            extended(4) + leader(IMAGE) + trailer(IMAGE) + pixels,
            {"format": 4, "lines": lines, "length": 24} | far | led(IMAGE),
        ),
        Vector(
            "chunks-leader",
            "An image with chunks of 2.x.",
            "good",
            extended(1) + leader(CHUNKS | IMAGE),
            {"format": 1} | far | led(CHUNKS | IMAGE),
        ),
        Vector(
            "chunks-trailer",
            "Its trailer says how long all is.",
            "good",
            extended(2, 3) + trailer(CHUNKS | IMAGE, 123456, 77),
            {"format": 2, "payload_type": CHUNKS | IMAGE, "lines": lines, "block_bytes": 123456, "layout": 77}
            | far
            | {"packet": 3},
        ),
        Vector(
            "chunk-data-leader",
            "Chunk data of 1.x have no geometry.",
            "good",
            gvsp_header(1, 9, 0) + leader(CHUNK_DATA),
            {"format": 1, "block": 9} | led(CHUNK_DATA),
        ),
        Vector(
            "chunk-data-trailer",
            "Their length is in the trailer.",
            "good",
            gvsp_header(2, 9, 4) + trailer(CHUNK_DATA, 5000),
            {"format": 2, "block": 9, "packet": 4, "payload_type": CHUNK_DATA, "block_bytes": 5000},
        ),
        Vector(
            "extended-chunk-leader",
            "Extended chunk data have one.",
            "good",
            gvsp_header(1, 9, 0) + leader(EXTENDED),
            {"format": 1, "block": 9} | led(EXTENDED),
        ),
        Vector(
            "extended-chunk-trailer",
            "And lines and a layout.",
            "good",
            gvsp_header(2, 9, 4) + trailer(EXTENDED, 5000, 3),
            {
                "format": 2,
                "block": 9,
                "packet": 4,
                "payload_type": EXTENDED,
                "block_bytes": 5000,
                "lines": lines,
                "layout": 3,
            },
        ),
        Vector(
            "unavailable",
            "A packet that was requested again and is gone.",
            "good",
            gvsp_header(3, 12, 345, 0x800C),
            {"status": 0x800C, "format": 3, "block": 12, "packet": 345},
        ),
        Vector("empty", "No payload at all.", "too_short", b""),
        Vector("half-a-header", "Seven bytes.", "too_short", gvsp_header(3, 1, 1)[:7]),
        Vector("half-extended", "Nineteen bytes of an extended header.", "too_short", extended(3, 1)[:19]),
        Vector("no-bytes", "A payload packet without bytes.", "too_short", gvsp_header(3, 1, 1)),
        Vector("half-a-leader", "Ends before the padding.", "too_short", (gvsp_header(1, 1, 0) + leader(IMAGE))[:-1]),
        Vector("half-a-trailer", "Ends within the lines.", "too_short", (gvsp_header(2, 1, 5) + trailer(IMAGE))[:-1]),
        Vector(
            "no-layout",
            "Chunks without their layout.",
            "too_short",
            (gvsp_header(2, 1, 5) + trailer(CHUNKS | IMAGE))[:-1],
        ),
        Vector("multi-zone", "A format that is not ours.", "other_format", gvsp_header(6, 1, 1) + pixels),
        Vector("format-0", "And none.", "other_format", gvsp_header(0, 1, 1) + pixels),
        Vector("test-packet", "Block 0 is a test packet's.", "no_block", gvsp_header(3, 0, 1) + pixels),
        Vector("file", "A block that is a file.", "other_payload", gvsp_header(1, 1, 0) + leader(3)),
        Vector("late-leader", "A leader is packet 0.", "bad_packet_id", gvsp_header(1, 1, 2) + leader(IMAGE)),
        Vector("early-payload", "And no other is.", "bad_packet_id", gvsp_header(3, 1, 0) + pixels),
    ]


def resend_vectors() -> list[Vector]:
    """Requests of GVCP, in both forms of ids."""
    fields = {"request": 0x1234, "channel": 1, "block": 65535, "first": 7, "last": 9}
    far = fields | {"extended_ids": 1, "block": 2**63 + 5, "last": 0xFFFFFFFF}
    return [
        Vector(
            "resend",
            "Packets 7 to 9 of a block.",
            "good",
            bytes.fromhex("42 00 0040 000c 1234 0001 ffff 00000007 00000009"),
            fields,
        ),
        Vector(
            "resend-extended",
            "With extended ids.",
            "good",
            bytes.fromhex("42 10 0040 0014 1234 0001 0000 00000007 ffffffff 8000000000000005"),
            far,
        ),
    ]


FRAGMENT, CONFIGURATION = 1, 2


def image_head(kind: int, total: int, each: int, flags: int = 0, magic: int = 0x4952, version: int = 1) -> bytes:
    """The 32 bytes that both kinds have."""
    return struct.pack("<HBBIQQIHBB", magic, version, kind, 0xBEEF, 2**40 + 3, TIME, total, each, flags, 0)


def image_vectors() -> list[Vector]:
    """All, in the order of the file."""
    said = {"camera": 0xBEEF, "frame": 2**40 + 3, "time": TIME, "total_bytes": 20, "fragment_bytes": 8}
    pixels = bytes(range(1, 9))
    geometry = dict(zip(GEOMETRY, (0x010C0047, 6, 2, 8, 4, 0, 2), strict=True))  # 2 lines of 9 bytes, and 2
    configured = struct.pack("<IIIIIHHQQ", *geometry.values(), 1_000, 2_000)
    exposure = {"exposure_start_ns": 1_000, "exposure_end_ns": 2_000}

    def piece(offset: int, length: int, total: int = 20, each: int = 8, content: bytes | None = None) -> bytes:
        place = struct.pack("<IHH", offset, length, 0)
        return image_head(FRAGMENT, total, each) + place + (pixels[:length] if content is None else content)

    def configuration(**changes: int) -> bytes:
        numbers: Sequence[int] = list((geometry | changes).values())
        return image_head(CONFIGURATION, 20, 8) + struct.pack("<IIIIIHHQQ", *numbers, 1_000, 2_000)

    return [
        Vector("first", "The first fragment of 20 bytes.", "good", piece(0, 8), {"kind": 1, "length": 8} | said),
        Vector(
            "last",
            "The last one has what is left.",
            "good",
            piece(16, 4),
            {"kind": 1, "offset": 16, "length": 4} | said,
        ),
        Vector(
            "only",
            "A frame in one fragment.",
            "good",
            piece(0, 5, 5, 5),
            {"kind": 1, "length": 5} | said | {"total_bytes": 5, "fragment_bytes": 5},
        ),
        Vector(
            "turn",
            "Its time is a turn.",
            "good",
            image_head(FRAGMENT, 20, 8, 1) + struct.pack("<IHH", 8, 8, 0) + pixels,
            {"kind": 1, "flags": 1, "offset": 8, "length": 8} | said,
        ),
        Vector(
            "configuration",
            "Geometry, pixel format and exposure.",
            "good",
            configuration(),
            {"kind": 2} | said | geometry | exposure,
        ),
        Vector("empty", "No payload at all.", "too_short", b""),
        Vector("half-a-head", "31 bytes.", "too_short", piece(0, 8)[:31]),
        Vector("native", "A native datagram.", "bad_magic", b"RM" + piece(0, 8)[2:]),
        Vector(
            "version-2",
            "A version that does not exist.",
            "unknown_version",
            image_head(FRAGMENT, 20, 8, version=2) + bytes(16),
        ),
        Vector("kind-3", "A kind that does not exist.", "unknown_kind", image_head(3, 20, 8) + bytes(16)),
        Vector("flag-2", "A flag that does not exist.", "unknown_flags", image_head(FRAGMENT, 20, 8, 2) + bytes(16)),
        Vector(
            "not-zero",
            "A byte that should be 0.",
            "unknown_flags",
            image_head(FRAGMENT, 20, 8)[:-1] + b"\1" + bytes(16),
        ),
        Vector("no-total", "A frame of no bytes.", "bad_place", piece(0, 0, 0)),
        Vector("no-fragment", "Fragments of no bytes.", "bad_place", piece(0, 0, 20, 0)),
        Vector("between", "An offset that is no multiple.", "bad_place", piece(4, 8)),
        Vector("beyond", "An offset beyond the frame.", "bad_place", piece(24, 8)),
        Vector("at-the-end", "And one right at its end.", "bad_place", piece(16, 4, 16)),
        Vector("short", "A fragment in the middle with less than it needs.", "bad_place", piece(8, 7)),
        Vector("long", "The last one with more than is left.", "bad_place", piece(16, 8)),
        Vector("colour", "A pixel format that is unknown.", "bad_geometry", configuration(pixel_format=0x02180014)),
        Vector("one-line-more", "Lines that are more than the total.", "bad_geometry", configuration(height=3)),
        Vector("no-place", "Ends within the place.", "bad_length", piece(0, 8)[:39]),
        Vector("half-configured", "Ends within the exposure.", "bad_length", configuration()[:-1]),
        Vector("cut", "One byte less than it says.", "bad_length", piece(0, 8)[:-1]),
        Vector("surplus", "One byte more.", "bad_length", piece(0, 8) + b"\0"),
        Vector("configured-twice", "Surplus bytes behind a configuration.", "bad_length", configuration() + configured),
    ]


def main(arguments: list[str]) -> int:
    """Write, compare, or write seeds; returns the exit status."""
    gvsp, resend, images = gvsp_vectors(), resend_vectors(), image_vectors()
    if arguments[:1] == ["--seeds"]:
        folder = Path(arguments[1])
        folder.mkdir(parents=True, exist_ok=True)
        for vector in gvsp if arguments[2] == "gvsp" else images:
            (folder / vector.name).write_bytes(vector.payload)
        return 0
    names = {"gvsp": "GigE Vision streams", "resend": "requests to send again", "images": "our format of image streams"}
    files = {}
    for (name, what), vectors in zip(names.items(), (gvsp, resend, images), strict=True):
        text = HEADING.format(what=what) + "".join("\n" + v.block(number) for number, v in enumerate(vectors, 1))
        files[HERE / f"{name}.txt"] = text.encode()
    packets = [vector.frame() for vector in gvsp] + [vector.frame(CONTROL_PORT) for vector in resend]
    files[HERE / "gvsp.pcap"] = write_pcap(packets)
    return write_files(files, Path(__file__), check="--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
