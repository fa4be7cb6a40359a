#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write test vectors for described datagrams: payloads of the formats in docs/instruments.md, and what they hold.

make_layout_vectors.py            write layouts.txt beside this script
make_layout_vectors.py --check    exit 1 when it is not what this script makes

Each format is packed here by hand, after the tables of that page; nothing knows of layouts.
"""

import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent

HEADING = """\
# SPDX-License-Identifier: Apache-2.0
# Test vectors of described datagrams: UDP payloads of the formats in docs/instruments.md.
# Made by make_layout_vectors.py.
#
# `verdict` is the counter that the server's port counts the datagram under (docs/counters.md): `decoded` is a good one,
# and only those have records: `record id status counter lanes`, in the order of the datagram. Lanes of type f32 are in
# hexadecimal, as their bits.
"""

INT32_MAX = 2**31 - 1


@dataclass(frozen=True)
class Record:
    """What the server must make of one turn of one instrument."""

    id: int
    status: int
    counter: int
    lanes: Sequence[int | float]

    def line(self) -> str:
        """As it stands in layouts.txt."""
        lanes = (f"0x{struct.pack('>f', lane).hex()}" if isinstance(lane, float) else str(lane) for lane in self.lanes)
        return f"record {self.id} 0x{self.status:04x} {self.counter} {' '.join(lanes)}"


@dataclass(frozen=True)
class Vector:
    """One datagram."""

    name: str
    format: str
    about: str
    verdict: str
    payload: bytes
    records: Sequence[Record] = ()


def four_turns(*, magic: int = 0x42504D34, version: int = 2, unit: int = 7, first: int = 0xFFFFFFFE) -> bytes:
    """A vendor's big-endian packet."""
    head = struct.pack(">IHHI", magic, version, unit << 4 | 0xB, first)
    turns = b"".join(struct.pack(">iiIhH", -1000 - t, 2000 + t, 0xFFFFFFF0 + t, -512 + t, 1 << t) for t in range(4))
    return head + turns + bytes.fromhex("c0ffee00")


def four_turns_records(unit: int = 7) -> list[Record]:
    """Its records: the counter comes round after the second; a sum that no i32 holds is stored as the greatest."""
    counters = (0xFFFFFFFE, 0xFFFFFFFF, 0, 1)
    return [Record(unit, 1 << t, counters[t], [-1000 - t, 2000 + t, INT32_MAX, -512 + t]) for t in range(4)]


def i24(value: int) -> bytes:
    """Three bytes, little-endian, two's complement."""
    return value.to_bytes(3, "little", signed=True)


def loss_crate(turn: int = 2**40 + 3) -> bytes:
    """A crate with four beam-loss cards."""
    head = struct.pack("<HHIQ", 0x4C42, 12, 0xDEADBEEF, turn)
    cards = b""
    for card in range(1, 5):
        cards += struct.pack("<HH", card, 0x8000 | card) + b"".join(i24(v) for v in losses(card)) + b"\xff\xff"
    return head + cards


def losses(card: int) -> list[int]:
    """Ten integrals, some negative, some at the ends of 24 bits."""
    return [card * 1000 + i for i in range(7)] + [-card, -(2**23), 2**23 - 1]


def loss_crate_records(turn: int = 2**40 + 3) -> list[Record]:
    """One record per card."""
    return [Record(card, 0x8000 | card, turn, losses(card)) for card in range(1, 5)]


def libera(entries: int, counter: int, *, counter_first: bool) -> bytes:
    """A group of Libera units: PLL locked, valid, and every hundredth interlocked."""
    out = b""
    for bpm in range(entries):
        words = (counter, libera_status(bpm)) if counter_first else (libera_status(bpm), counter)
        out += struct.pack("<iiiHH", 100_000_000 + bpm, -5000 * bpm, 250 * bpm, *words)
    return out


def libera_status(bpm: int) -> int:
    """Bits 0 PLL locked, 2-9 number, 11 valid, 15 interlock."""
    return 1 | bpm << 2 | 1 << 11 | (bpm % 100 == 99) << 15


def libera_records(entries: int, counter: int) -> list[Record]:
    """Lanes x, y, sum."""
    return [
        Record(bpm, libera_status(bpm), counter, [-5000 * bpm, 250 * bpm, 100_000_000 + bpm]) for bpm in range(entries)
    ]


def vectors() -> list[Vector]:
    """All of them."""
    newer, older = "libera_grouping", "libera_grouping_counter_first"
    right = four_turns()
    crate = loss_crate()
    group = libera(8, 513, counter_first=False)
    return [
        Vector("four-turns", "four-turns", "A counter that comes round.", "decoded", right, four_turns_records()),
        Vector("four-turns-unit", "four-turns", "The last unit of twelve bits.", "decoded", four_turns(unit=4095),
               four_turns_records(4095)),
        Vector("four-turns-version", "four-turns", "Another version.", "bad_magic", four_turns(version=3)),
        Vector("four-turns-magic", "four-turns", "Sent little-endian.", "bad_magic", four_turns(magic=0x344D5042)),
        Vector("four-turns-no-crc", "four-turns", "Four bytes less.", "too_short", right[:-4]),
        Vector("four-turns-more", "four-turns", "A byte more.", "too_long", right + b"\0"),
        Vector("loss-crate", "loss-crate", "Four cards of ten 24-bit lanes.", "decoded", crate, loss_crate_records()),
        Vector("loss-crate-three", "loss-crate", "Only three cards.", "too_short", crate[:-36]),
        Vector("xbpm", "xbpm", "Floats and a 16-bit counter.", "decoded",
               struct.pack("<BBHff", 3, 0x81, 65535, 1.5, -0.1), [Record(3, 0x81, 65535, [1.5, -0.1])]),
        Vector("xbpm-empty", "xbpm", "Nothing at all.", "too_short", b""),
        Vector("libera-8", newer, "Eight units.", "decoded", group, libera_records(8, 513)),
        Vector("libera-168", newer, "A whole ring: 2688 bytes.", "decoded", libera(168, 65535, counter_first=False),
               libera_records(168, 65535)),
        Vector("libera-256", newer, "All numbers there are: 4096 bytes.", "decoded",
               libera(256, 0, counter_first=False), libera_records(256, 0)),
        Vector("libera-older", older, "Eight older units.", "decoded", libera(8, 513, counter_first=True),
               libera_records(8, 513)),
        Vector("libera-cut", newer, "Ends in the middle of an entry.", "bad_length", group[:-8]),
        Vector("libera-none", newer, "Less than one entry.", "too_short", group[:15]),
    ]  # fmt: skip


def block(vector: Vector) -> str:
    """One block of layouts.txt."""
    lines = [f"# {vector.about}", f"name {vector.name}", f"format {vector.format}", f"verdict {vector.verdict}"]
    lines.append(f"payload {vector.payload.hex()}".rstrip())
    return "\n".join(lines + [record.line() for record in vector.records]) + "\n"


def main(arguments: list[str]) -> int:
    """Write or compare; returns the exit status."""
    path = HERE / "layouts.txt"
    text = HEADING + "".join("\n" + block(vector) for vector in vectors())
    if path.exists() and path.read_text() == text:
        return 0
    if "--check" in arguments:
        print(f"{path}: not what make_layout_vectors.py makes; run {Path(__file__)}", file=sys.stderr)
        return 1
    path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
