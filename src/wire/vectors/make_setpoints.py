#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write the setpoint format's test vectors, by an implementation that shares nothing with the C one.

make_setpoints.py                write setpoints.txt and setpoints.pcap beside this script
make_setpoints.py --check        exit 1 when one of them is not what this script makes
make_setpoints.py --seeds DIR    write every payload to a file of its own, for the fuzzer
"""

import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from make_vectors import internet_checksum, write_files, write_pcap

HERE = Path(__file__).resolve().parent
SERVER_MAC, CHAIN_MAC = bytes.fromhex("020000000001"), bytes.fromhex("02000a1e0007")
SERVER, CHAIN = bytes([10, 30, 255, 1]), bytes([10, 30, 0, 7])
PORT = 4662
QUERY = 1

HEADING = """\
# SPDX-License-Identifier: Apache-2.0
# Test vectors of the setpoint datagram; docs/setpoint-format.md explains every field. Made by make_setpoints.py.
#
# A block is one frame, and packet N of setpoints.pcap is block N. The bytes of the frame are those of its lines
# `ethernet`, `ipv4`, `udp`, `payload`, in that order. `verdict` is `good`, or what a chain finds wrong first; only good
# ones have fields. `f32` are the setpoints as decimal numbers that are exactly those of the wire.
"""


@dataclass(frozen=True)
class Setpoints:
    """The fields of one datagram; `said` is the count that it claims, where that is not the number of its values."""

    chain: int
    turn: int
    term: int
    instance: int
    sequence: int
    values: Sequence[float]
    flags: int = 0
    magic: int = 0x5352
    version: int = 2
    zero: int = 0
    said: int | None = None

    def payload(self) -> bytes:
        """The datagram, 36 to 192 bytes."""
        count = len(self.values) if self.said is None else self.said
        head = struct.pack("<HBBHH", self.magic, self.version, self.flags, self.chain, count)
        head += struct.pack("<QHHIQ", self.turn, self.term, self.zero, self.instance, self.sequence)
        return head + struct.pack(f"<{len(self.values)}f", *self.values)


@dataclass(frozen=True)
class Vector:
    """One payload, what a chain must say of it, and the fields that it must find."""

    name: str
    about: str
    verdict: str
    payload: bytes
    fields: Setpoints | None = None
    tag: bytes = b""

    def ethernet(self) -> bytes:
        """From the server to the chain."""
        return CHAIN_MAC + SERVER_MAC + self.tag + b"\x08\x00"

    def ipv4(self) -> bytes:
        """Don't fragment, time to live 64."""

        def header(checksum: int) -> bytes:
            length = 28 + len(self.payload)
            return struct.pack(">BBHHHBBH", 0x45, 0, length, 0, 0x4000, 64, 17, checksum) + SERVER + CHAIN

        return header(internet_checksum(header(0)))

    def udp(self) -> bytes:
        """With its checksum."""
        length = 8 + len(self.payload)
        header = struct.pack(">HHHH", PORT, PORT, length, 0)
        checksum = internet_checksum(SERVER + CHAIN + struct.pack(">HH", 17, length) + header + self.payload)
        return header[:6] + struct.pack(">H", checksum or 0xFFFF)

    def frame(self) -> bytes:
        """All bytes from the destination MAC address on, without FCS."""
        return self.ethernet() + self.ipv4() + self.udp() + self.payload


EIGHT = Setpoints(7, 1_000_008, 5, 0x1797_9CFE, 83_334, [0.5, -0.25, 1.0, 0.0, 9.9609375, -10.0, 0.125, 2.5])
ONE = replace(EIGHT, chain=0, sequence=0, turn=0, term=1, instance=1, values=[-0.0])


def good(name: str, about: str, fields: Setpoints, tag: str = "") -> Vector:
    """A right datagram."""
    return Vector(name, about, "good", fields.payload(), fields, bytes.fromhex(tag))


def summing_to_zero(fields: Setpoints) -> Setpoints:
    """The same with the sequence that makes the UDP checksum come out as zero, which is sent as 0xFFFF."""
    start = replace(fields, sequence=0)
    checksum = good("", "", start).udp()[6:]
    found = replace(fields, sequence=int.from_bytes(checksum, "little"))
    assert good("", "", found).udp()[6:] == b"\xff\xff"
    return found


def vectors() -> list[Vector]:
    """All of them, the good ones first."""
    longest = [i / 4 - 5 for i in range(40)]
    limit = 2**64 - 1
    return [
        good("eight", "Eight supplies of chain 7.", EIGHT),
        good(
            "query", "The same chain is asked where its supplies stand.", replace(EIGHT, flags=QUERY, values=[0.0] * 8)
        ),
        good(
            "first-query",
            "A server that does not know of any term yet asks: term 0.",
            replace(EIGHT, flags=QUERY, term=0, sequence=0, values=[0.0] * 8),
        ),
        good("one", "The shortest: one supply, 36 bytes; the first datagram of a term may have sequence 0.", ONE),
        good("forty", "The longest: 40 supplies, 192 bytes.", replace(EIGHT, chain=65535, values=longest)),
        good(
            "largest",
            "All counters at their ends.",
            Setpoints(65535, limit - 1, 65535, 2**32 - 1, limit, [3.4028234663852886e38]),
        ),
        good("ten", "Ten supplies: they fit one answer.", replace(EIGHT, chain=96, values=longest[:10])),
        good("eleven", "Eleven need two answers.", replace(EIGHT, chain=96, values=longest[:11])),
        good("udp-checksum-ffff", "A UDP checksum that computes to zero is sent as 0xFFFF.", summing_to_zero(EIGHT)),
        good("vlan", "A VLAN tag: VLAN 100.", EIGHT, "8100 0064"),
        Vector("empty", "No payload at all.", "too_short", b""),
        Vector("no-value", "A header without a setpoint.", "too_short", EIGHT.payload()[:32]),
        Vector("native", "A native datagram.", "bad_magic", replace(EIGHT, magic=0x4D52).payload()),
        Vector(
            "big-endian", "The magic's bytes in the wrong order.", "bad_magic", replace(EIGHT, magic=0x5253).payload()
        ),
        Vector("version-1", "The version before this one.", "unknown_version", replace(EIGHT, version=1).payload()),
        Vector("version-3", "A version that does not exist.", "unknown_version", replace(EIGHT, version=3).payload()),
        Vector("flags-2", "A flag that does not exist.", "unknown_flags", replace(EIGHT, flags=2).payload()),
        Vector("flags-81", "And one beside a known one.", "unknown_flags", replace(EIGHT, flags=0x81).payload()),
        Vector("count-0", "Of no supply.", "bad_count", replace(EIGHT, said=0).payload()),
        Vector("count-41", "One supply too many.", "bad_count", replace(EIGHT, values=[*longest, 1.0]).payload()),
        Vector("count-high", "The count's second byte counts too.", "bad_count", replace(EIGHT, said=0x108).payload()),
        Vector("cut", "One value less than it says.", "bad_length", EIGHT.payload()[:-4]),
        Vector("half-a-value", "Ends in the middle of a value.", "bad_length", EIGHT.payload()[:-2]),
        Vector("surplus", "One value more than it says.", "bad_length", EIGHT.payload() + bytes(4)),
        Vector("term-0", "Setpoints of no term.", "bad_sender", replace(EIGHT, term=0).payload()),
        Vector("instance-0", "Of no server.", "bad_sender", replace(EIGHT, instance=0).payload()),
        Vector("zero-1", "Bytes 18 and 19 are not zero.", "bad_sender", replace(EIGHT, zero=1).payload()),
    ]


def block(number: int, vector: Vector) -> str:
    """One block of setpoints.txt."""
    lines = [f"# {number}. {vector.about}", f"name {vector.name}", f"verdict {vector.verdict}"]
    lines += [f"{part} {getattr(vector, part)().hex(' ')}" for part in ("ethernet", "ipv4", "udp")]
    if vector.payload:
        lines.append(f"payload {vector.payload.hex(' ')}")
    if fields := vector.fields:
        lines += [
            f"{name} {getattr(fields, name)}" for name in ("flags", "chain", "turn", "term", "instance", "sequence")
        ]
        lines.append(f"f32 {' '.join(map(str, fields.values))}")
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Write, compare, or write seeds; returns the exit status."""
    all_of_them = vectors()
    if arguments[:1] == ["--seeds"]:
        folder = Path(arguments[1])
        folder.mkdir(parents=True, exist_ok=True)
        for vector in all_of_them:
            (folder / vector.name).write_bytes(vector.payload)
        return 0
    text = HEADING + "".join("\n" + block(number, vector) for number, vector in enumerate(all_of_them, 1))
    frames = [vector.frame() for vector in all_of_them]
    files = {HERE / "setpoints.txt": text.encode(), HERE / "setpoints.pcap": write_pcap(frames)}
    return write_files(files, Path(__file__), check="--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
