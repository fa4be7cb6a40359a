#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write the native format's test vectors, by an implementation that shares nothing with the C one.

make_vectors.py                write native.txt and native.pcap beside this script
make_vectors.py --check        exit 1 when one of them is not what this script makes
make_vectors.py --seeds DIR    write every frame to a file of its own, for the fuzzer
"""

import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
ETHERNET = bytes.fromhex("02 00 00 00 00 01  02 00 00 00 00 02  08 00")
SOURCE = bytes([10, 0, 0, 7])
DESTINATION = bytes([10, 0, 0, 1])
PORT = 4660
UDP = 17

HEADING = """\
# SPDX-License-Identifier: Apache-2.0
# Test vectors of the native datagram; docs/native-format.md explains every field. Made by make_vectors.py.
#
# A block is one frame, and packet N of native.pcap is block N. The bytes of the frame are those of its lines
# `ethernet`, `ipv4`, `udp`, `payload`, `trailer`, in that order; lines that a broken frame has not got are left out.
# `verdict` is the counter that the server's port counts it under (docs/counters.md): `decoded` is a good one,
# and only those have fields, `vlan` where there is a tag.
"""


@dataclass(frozen=True)
class Native:
    """The fields of one native datagram; `lanes` are all integers or all floats."""

    kind: int
    instrument: int
    status: int
    turn: int
    lanes: Sequence[int] | Sequence[float]
    magic: int = 0x4D52
    version: int = 1

    def lane_type(self) -> str:
        """Of all lanes: i32 or f32."""
        return "f32" if isinstance(self.lanes[0], float) else "i32"

    def payload(self) -> bytes:
        """The datagram, 20 to 64 bytes."""
        head = struct.pack("<HBBHHQ", self.magic, self.version, self.kind, self.instrument, self.status, self.turn)
        code = "f" if self.lane_type() == "f32" else "i"
        return head + struct.pack(f"<{len(self.lanes)}{code}", *self.lanes)


@dataclass(frozen=True)
class Vector:
    """One frame in its parts, what the server must say of it, and the fields it must find."""

    name: str
    about: str
    verdict: str
    ethernet: bytes
    ipv4: bytes = b""
    udp: bytes = b""
    payload: bytes = b""
    trailer: bytes = b""
    native: Native | None = None
    vlan: int | None = None

    def frame(self) -> bytes:
        """All bytes from the destination MAC address on, without FCS."""
        return self.ethernet + self.ipv4 + self.udp + self.payload + self.trailer


def tagged(tags: str, ethertype: str = "0800") -> bytes:
    """An Ethernet header with VLAN tags, given in hexadecimal."""
    return ETHERNET[:12] + bytes.fromhex(tags) + bytes.fromhex(ethertype)


def internet_checksum(data: bytes) -> int:
    """RFC 1071, one 16-bit word after the other."""
    total: int = sum(struct.unpack(f">{(len(data) + 1) // 2}H", data + b"\0" * (len(data) % 2)))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return 0xFFFF - total


def ipv4_header(
    content_bytes: int,
    *,
    version: int = 4,
    protocol: int = UDP,
    flags: int = 0x4000,
    options: bytes = b"",
    words: int | None = None,
    wrong: int = 0,
) -> bytes:
    """An IPv4 header; `words` overrides the length it claims of itself, `wrong` is put over its checksum."""
    length = 20 + len(options)
    first = version << 4 | (length // 4 if words is None else words)

    def header(checksum: int) -> bytes:
        fixed = struct.pack(">BBHHHBBH", first, 0, length + content_bytes, 0, flags, 64, protocol, checksum)
        return fixed + SOURCE + DESTINATION + options

    covered = header(0) if words is None else header(0)[: 4 * words]
    return header(internet_checksum(covered) ^ wrong)


def udp_header(payload: bytes, *, present: bool = True, length: int | None = None, wrong: int = 0) -> bytes:
    """A UDP header with its checksum, or with the zero that says there is none."""
    said = 8 + len(payload) if length is None else length
    header = struct.pack(">HHHH", PORT, PORT, said, 0)
    pseudo = SOURCE + DESTINATION + struct.pack(">BBH", 0, UDP, said)
    checksum = (internet_checksum(pseudo + header + payload) or 0xFFFF) ^ wrong
    return header[:6] + struct.pack(">H", checksum if present else 0)


def around(name: str, about: str, verdict: str, payload: bytes) -> Vector:
    """A right frame around any payload, padded as a network card would to Ethernet's least length."""
    padding = bytes(max(0, 60 - 14 - 28 - len(payload)))
    return Vector(name, about, verdict, ETHERNET, ipv4_header(8 + len(payload)), udp_header(payload), payload, padding)


def good(name: str, about: str, native: Native) -> Vector:
    """A right frame around a right datagram."""
    return replace(around(name, about, "decoded", native.payload()), native=native)


def summing_to_zero(native: Native) -> Native:
    """The same datagram with the status that makes the UDP checksum come out as zero, which is sent as 0xFFFF."""
    found = replace(native, status=0)
    found = replace(found, status=int.from_bytes(udp_header(found.payload())[6:], "little"))
    assert udp_header(found.payload())[6:] == b"\xff\xff"
    return found


BPM = Native(1, 7, 0x0001, 1_000_000, [120_500, -87_250, 1_834_000_000, 12, 119_900, -86_100, 1_829_500_000, -3])


def good_vectors() -> list[Vector]:
    """Those that a server must take."""
    bpm, payload = BPM, BPM.payload()
    udp = udp_header(payload)
    nops = bytes([1, 1, 1, 0])
    return [
        good("bpm", "Two BPMs in one electronics: x, y in nm, sum, quality, twice.", bpm),
        good(
            "blm-longest",
            "Twelve lanes, the longest datagram: 64 bytes of payload.",
            Native(2, 300, 0, 1_000_001, [0, 1, -1, 2**31 - 1, -(2**31), 5, 6, 7, 8, 9, 10, 11]),
        ),
        good(
            "llrf-f32",
            "Lanes as 32-bit floats: amplitude in V, phase in rad, and two more.",
            Native(3, 1, 0x8000, 1_000_002, [1.5, -0.25, 0.0, 1024.0]),
        ),
        good(
            "one-lane",
            "The shortest datagram: 20 bytes of payload, 62 of frame, so never padded.",
            Native(5, 65535, 0xFFFF, 2**32 + 5, [-1]),
        ),
        good("turn-zero", "Turn numbers start anywhere; 0 is as good as another.", Native(4, 0, 0, 0, [1, 2])),
        good(
            "turn-greatest",
            "The greatest turn. The one above, 2^64 - 1, means `no turn` and is never sent.",
            Native(6, 12, 0, 2**64 - 2, [1, 2, 3]),
        ),
        replace(
            good("no-udp-checksum", "A UDP checksum of zero says that there is none.", bpm),
            udp=udp_header(payload, present=False),
        ),
        good("udp-checksum-ffff", "A UDP checksum that computes to zero is sent as 0xFFFF.", summing_to_zero(bpm)),
        replace(
            good("ip-options", "An IPv4 header with options is longer than 20 bytes.", bpm),
            ipv4=ipv4_header(len(udp) + len(payload), options=nops),
        ),
        replace(
            good("trailer", "Bytes after the IPv4 total length do not belong to the datagram.", bpm),
            trailer=bytes.fromhex("de ad be ef"),
        ),
        replace(
            good("udp-surplus", "Nor do bytes after the UDP length, inside the IPv4 total length.", bpm),
            ipv4=ipv4_header(len(udp) + len(payload) + 4),
            trailer=bytes.fromhex("de ad be ef"),
        ),
        replace(
            good("vlan", "A VLAN tag (802.1Q): VLAN 100, priority 5.", bpm),
            ethernet=tagged("8100 a064"),
            vlan=100,
        ),
        replace(
            good("vlan-in-vlan", "Two tags (802.1ad): the inner one is the VLAN.", bpm),
            ethernet=tagged("88a8 0007 8100 0ffe"),
            vlan=4094,
        ),
        replace(
            good("vlan-twice", "Two tags of the same kind, as older switches stack them.", bpm),
            ethernet=tagged("8100 0064 8100 0065"),
            vlan=101,
        ),
        replace(
            good("vlan-service", "A service provider's tag (802.1ad) alone.", bpm),
            ethernet=tagged("88a8 0064"),
            vlan=100,
        ),
        replace(
            good("vlan-priority", "A tag with VLAN 0 only gives a priority.", bpm),
            ethernet=tagged("8100 e000"),
            vlan=0,
        ),
    ]


def bad_frames() -> list[Vector]:
    """Those that it must refuse before it looks at the payload."""
    payload = BPM.payload()
    udp = udp_header(payload)
    ipv4 = ipv4_header(8 + len(payload))
    bad = Vector("", "", "", ETHERNET, ipv4, udp, payload)
    arp = bytes.fromhex("0001 0800 06 04 0001  020000000002 0a000007  000000000000 0a000001")
    echo = bytes.fromhex("08 00 f7ff 0000 0000")

    def broken(name: str, about: str, verdict: str, **parts: bytes) -> Vector:
        return replace(replace(bad, name=name, about=about, verdict=verdict), **parts)  # type: ignore[arg-type]

    return [
        Vector("arp", "Another EtherType.", "not_ipv4", ETHERNET[:12] + b"\x08\x06", trailer=arp + bytes(18)),
        Vector("vlan-arp", "Another EtherType, tagged.", "not_ipv4", tagged("8100 0064", "0806"), trailer=arp),
        broken(
            "vlan-three",
            "One tag too many.",
            "not_ipv4",
            ethernet=tagged("88a8 0064 8100 0065 8100 0066"),
        ),
        Vector("cut-vlan", "Ends in the VLAN tag.", "truncated", tagged("8100 0064", "08")),
        Vector(
            "icmp",
            "Another protocol over IPv4.",
            "not_udp",
            ETHERNET,
            ipv4_header(8, protocol=1),
            trailer=echo + bytes(18),
        ),
        broken(
            "fragment-first",
            "The first piece of a fragmented datagram.",
            "fragment",
            ipv4=ipv4_header(8 + len(payload), flags=0x2000),
        ),
        broken(
            "fragment-last",
            "The last piece, at offset 64.",
            "fragment",
            ipv4=ipv4_header(8 + len(payload), flags=0x0008),
        ),
        Vector("cut-ethernet", "Ends in the Ethernet header.", "truncated", ETHERNET[:12]),
        Vector("cut-ipv4", "Ends in the IPv4 header.", "truncated", ETHERNET, ipv4[:19]),
        broken("cut-payload", "Ends before the IPv4 total length.", "truncated", payload=payload[:-1]),
        Vector(
            "cut-udp", "The IPv4 total length ends in the UDP header.", "truncated", ETHERNET, ipv4_header(4), udp[:4]
        ),
        broken(
            "udp-length-beyond",
            "The UDP length is beyond the IPv4 total length.",
            "truncated",
            udp=udp_header(payload, length=9 + len(payload)),
        ),
        broken(
            "udp-length-below",
            "The UDP length is below its own header.",
            "truncated",
            udp=udp_header(payload, length=7),
        ),
        broken(
            "ip-checksum",
            "A wrong IPv4 header checksum.",
            "bad_ip_header",
            ipv4=ipv4_header(8 + len(payload), wrong=0x0100),
        ),
        broken(
            "ip-version",
            "IPv6's version under IPv4's EtherType.",
            "bad_ip_header",
            ipv4=ipv4_header(8 + len(payload), version=6),
        ),
        broken(
            "ip-header-length",
            "An IPv4 header that says it has 16 bytes, and whose checksum is right over those.",
            "bad_ip_header",
            ipv4=ipv4_header(8 + len(payload), words=4),
        ),
        broken(
            "ip-total-length", "An IPv4 total length below the header's own.", "bad_ip_header", ipv4=ipv4_header(-1)
        ),
        broken("udp-checksum", "A wrong UDP checksum.", "bad_udp_checksum", udp=udp_header(payload, wrong=0x0001)),
    ]


def bad_payloads() -> list[Vector]:
    """Those whose frame is right and whose payload is not."""
    payload = BPM.payload()
    return [
        around("empty", "No payload at all.", "too_short", b""),
        around("no-lane", "A header without a lane.", "too_short", payload[:16]),
        around("thirteen-lanes", "One lane too many.", "too_long", payload + bytes(20)),
        around("half-a-lane", "Ends in the middle of a lane.", "bad_length", payload[:22]),
        around(
            "big-endian",
            "Sent big-endian: the magic's bytes are in the wrong order.",
            "bad_magic",
            struct.pack(">HBBHHQi", 0x4D52, 1, 1, 7, 1, 1_000_000, 1),
        ),
        around("version-2", "A version that does not exist yet.", "unknown_version", replace(BPM, version=2).payload()),
        around("kind-0", "Kinds start at 1.", "unknown_kind", replace(BPM, kind=0).payload()),
        around("kind-7", "The first kind that does not exist.", "unknown_kind", replace(BPM, kind=7).payload()),
    ]


def block(number: int, vector: Vector) -> str:
    """One block of native.txt."""
    lines = [f"# {number}. {vector.about}", f"name {vector.name}", f"verdict {vector.verdict}"]
    for part in ("ethernet", "ipv4", "udp", "payload", "trailer"):
        content: bytes = getattr(vector, part)
        if content:
            lines.append(f"{part} {content.hex(' ')}")
    if native := vector.native:
        lines += [
            f"kind {native.kind}",
            f"instrument {native.instrument}",
            f"status 0x{native.status:04x}",
            f"turn {native.turn}",
            f"{native.lane_type()} {' '.join(map(str, native.lanes))}",
        ]
    if vector.vlan is not None:
        lines.append(f"vlan {vector.vlan}")
    return "\n".join(lines) + "\n"


def write_pcap(frames: list[bytes]) -> bytes:
    """A little-endian pcap file with nanoseconds, one frame per turn of 864 ns."""
    out = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)
    for number, frame in enumerate(frames):
        out += struct.pack("<IIII", 1_700_000_000, number * 864, len(frame), len(frame)) + frame
    return out


def write_files(files: dict[Path, bytes], script: Path, *, check: bool) -> int:
    """Write what is not there yet, or with `check` complain of it; returns the exit status."""
    stale = [path for path, content in files.items() if not path.exists() or path.read_bytes() != content]
    for path in stale:
        if check:
            print(f"{path}: not what {script.name} makes; run {script}", file=sys.stderr)
        else:
            path.write_bytes(files[path])
    return 1 if stale and check else 0


def main(arguments: list[str]) -> int:
    """Write, compare, or write seeds; returns the exit status."""
    vectors = good_vectors() + bad_frames() + bad_payloads()
    if arguments[:1] == ["--seeds"]:
        folder = Path(arguments[1])
        folder.mkdir(parents=True, exist_ok=True)
        for vector in vectors:
            (folder / vector.name).write_bytes(vector.frame())
        return 0
    text = HEADING + "".join("\n" + block(number, vector) for number, vector in enumerate(vectors, 1))
    frames = [vector.frame() for vector in vectors]
    files = {HERE / "native.txt": text.encode(), HERE / "native.pcap": write_pcap(frames)}
    return write_files(files, Path(__file__), check="--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
