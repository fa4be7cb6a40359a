# SPDX-License-Identifier: Apache-2.0
"""A second implementation of include/ringmaster/archive.h, for tests: it writes what the reading library must read.

It knows nothing of the recorder and shares no code with it. It stands on the standard library alone, so that the build
can make the seeds of a fuzzer with it.
"""

import ctypes
import json
import struct
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TURN_NONE = 2**64 - 1
NO_OBJECT = 2**32 - 1
HEADER_BYTES, ALIGNMENT = 4096, 64
DESCRIPTION, RECORDS, REDUCED, EVENTS, MARK, INDEX, END, PADDING, IMAGE = range(1, 10)
PLAIN, DELTA_BLOSC, BLOSC = 0, 1, 2
VERSION = 2
I32, F32 = 1, 2

_HEADER = struct.Struct("<QII16s32sQQQiId")
_BLOCK = struct.Struct("<IIIBBHIIIIIIQQQ")
_OBJECT = struct.Struct("<96sIIQIIIIddd16s")
_LANE = struct.Struct("<16s16sII24x")
_IMAGE = struct.Struct("<12Q16I32x")


def _table() -> list[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _table()


def crc32c(data: bytes) -> int:
    """CRC-32C, bit for bit as RFC 3720 has it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


@dataclass(frozen=True)
class Description:
    """What an object is."""

    name: str
    kind: int = RECORDS
    period: int = 1
    lanes: Sequence[tuple[str, str, int]] = (("x1", "nm", I32), ("y1", "nm", I32))
    """Name, unit, type."""
    instrument_kind: int = 1
    instrument_id: int = 1
    calibrated: int = 0
    filter: str = "none"
    group_delay_turns: float = 0.0
    closing_delay_turns: float = 0.0

    def packed(self) -> bytes:
        """As struct rm_archived_object."""
        record_bytes = {RECORDS: 64, REDUCED: 16 + 16 * len(self.lanes)}.get(self.kind, 0)
        head = _OBJECT.pack(
            *(self.name.encode(), self.kind, record_bytes, self.period, len(self.lanes), self.instrument_kind),
            *(self.instrument_id, self.calibrated, self.group_delay_turns, self.closing_delay_turns, 1.0),
            self.filter.encode(),
        )
        lanes = [_LANE.pack(name.encode(), unit.encode(), kind, 0) for name, unit, kind in self.lanes]
        return head + b"".join(lanes).ljust(12 * _LANE.size, b"\0")


@dataclass(frozen=True)
class Image:
    """What is said of a frame: struct rm_archived_image."""

    number: int
    turn: int = TURN_NONE
    tai_ns: int = 10**18
    pixel_format: int = 0x01080001
    width: int = 8
    height: int = 4
    fragments: int = 2
    placed: int = 2
    status: int = 0
    passed_over: int = 0
    padding_x: int = 0

    def packed(self, map_bytes: int, length: int) -> bytes:
        """As the struct."""
        flags = 1 | (self.turn != TURN_NONE) << 1
        times = (self.tai_ns, self.tai_ns + 1000, self.tai_ns + 2000, self.tai_ns + 3000)
        return _IMAGE.pack(
            *(self.number + 1, self.number, self.number * 1000, self.turn, 5, 6, *times, length, self.passed_over),
            *(map_bytes, self.pixel_format, self.width, self.height, 0, 0, self.padding_x, 0, self.status, flags),
            *(-(-length // self.fragments), self.fragments, self.placed, 0, 0, 0),
        )


@dataclass
class ArchiveWriter:
    """A directory that is an archive."""

    path: Path
    identity: uuid.UUID = field(default_factory=lambda: uuid.UUID(int=7))
    version: int = VERSION

    def __post_init__(self) -> None:
        self.path.mkdir(exist_ok=True)
        (self.path / "archive").write_text(f"RMARCHIVE {self.version} {self.identity}\n")

    def file(self, log: str, number: int = 1, **more: Any) -> "LogWriter":
        """The next file of a log."""
        (self.path / log).mkdir(exist_ok=True)
        return LogWriter(self.path / log / f"{number:016d}.rmlog", log, number, self.identity, self.version, **more)


class LogWriter:
    """A file of a log. What is written stands in ``data`` until ``save`` or ``seal`` puts it on the disk."""

    def __init__(
        self,
        path: Path,
        log: str,
        number: int,
        identity: uuid.UUID,
        version: int = VERSION,
        tai_minus_utc_s: int = 37,
        tai_ns: int = 10**18,
    ) -> None:
        self.path = path
        self.file_id = crc32c(f"{log} {number}".encode()) << 32 | number
        self.sequence = 0
        self.objects = 0
        self.index: list[tuple[bytes, int, int]] = []
        self.tai_ns = tai_ns
        head = (log.encode(), number, self.file_id, tai_ns, tai_minus_utc_s, 9, 1.157e6)
        fixed = (0x474F4C4352414D52, version)
        crc = crc32c(_HEADER.pack(*fixed, 0, identity.bytes, *head))
        self.data = bytearray(_HEADER.pack(*fixed, crc, identity.bytes, *head).ljust(HEADER_BYTES, b"\0"))

    def block(
        self,
        kind: int,
        payload: bytes = b"",
        *,
        object: int = NO_OBJECT,  # noqa: A002
        count: int = 0,
        plain_bytes: int | None = None,
        codec: int = PLAIN,
        epoch: int = 0,
        first_turn: int = TURN_NONE,
        times: tuple[int, int] | None = None,
        number: int = 0,
    ) -> int:
        """Appends a block; returns its offset."""
        plain = len(payload) if plain_bytes is None else plain_bytes
        tail = (kind, codec, epoch, object, self.sequence, self.file_id & 0xFFFFFFFF, count, len(payload), plain)
        ends = (first_turn, *(times or (self.tai_ns, self.tai_ns)))
        payload_crc = crc32c(payload)
        header_crc = crc32c(_BLOCK.pack(0x4B424D52, 0, payload_crc, *tail, *ends))
        header = _BLOCK.pack(0x4B424D52, header_crc, payload_crc, *tail, *ends)
        offset = len(self.data)
        self.data += header + payload + bytes(-len(payload) % ALIGNMENT)
        self.sequence += 1
        self.index.append((header, offset, number))
        return offset

    def describe(self, what: Description) -> int:
        """Appends a description; returns the object's number."""
        self.objects += 1
        self.block(DESCRIPTION, what.packed(), object=self.objects - 1, count=1)
        return self.objects - 1

    def records(
        self,
        number: int,
        payload: bytes,
        record_bytes: int,
        first_turn: int,
        times: tuple[int, int],
        *,
        epoch: int = 0,
        codec: int = PLAIN,
        kind: int = RECORDS,
    ) -> int:
        """Appends records, or steps of a reduction; returns the block's offset."""
        stored = delta_blosc(payload, record_bytes) if codec == DELTA_BLOSC else payload
        return self.block(
            *(kind, stored),
            object=number,
            count=len(payload) // record_bytes,
            plain_bytes=len(payload),
            codec=codec,
            epoch=epoch,
            first_turn=first_turn,
            times=times,
        )

    def image(self, number: int, what: Image, pixels: bytes, came: Sequence[int] = (0, 1), codec: int = PLAIN) -> int:
        """Appends a frame of which these fragments came; returns the block's offset."""
        bits = sum(1 << fragment for fragment in came)
        fragments = bits.to_bytes(-(-what.fragments // 64) * 8, "little")
        head, rest = what.packed(len(fragments), len(pixels)), fragments + pixels
        return self.block(
            *(IMAGE, head + (blosc(rest, 1) if codec == BLOSC else rest)),
            object=number,
            count=1,
            plain_bytes=len(head) + len(rest),
            codec=codec,
            first_turn=what.turn,
            times=(what.tai_ns, what.tai_ns),
            number=what.number,
        )

    def events(self, number: int, events: Sequence[dict[str, Any]], times: tuple[int, int]) -> int:
        """Appends events."""
        payload = "".join(json.dumps(event) + "\n" for event in events).encode()
        return self.block(EVENTS, payload, object=number, count=len(events), times=times)

    def mark(
        self, number: int, reason: int, first_turn: int = TURN_NONE, last_turn: int = TURN_NONE, records: int = 0
    ) -> int:
        """Appends a mark."""
        return self.block(MARK, struct.pack("<IiQQQ", reason, 0, first_turn, last_turn, records), object=number)

    def save(self) -> Path:
        """Puts on the disk what there is, unsealed."""
        self.path.write_bytes(self.data)
        return self.path

    def seal(self) -> Path:
        """Appends index and end, and puts it all on the disk."""
        entries = b"".join(header + struct.pack("<QQ", offset, number) for header, offset, number in self.index)
        at = self.block(INDEX, entries, count=len(self.index))
        self.block(END, first_turn=at)
        return self.save()


def delta_blosc(payload: bytes, record_bytes: int) -> bytes:
    """RM_CODEC_DELTA_BLOSC: columns of 32-bit words, each less the one before, in a chunk of Blosc."""
    count, columns = len(payload) // record_bytes, record_bytes // 4
    words = struct.unpack(f"<{count * columns}I", payload)
    differences = [
        (words[i * columns + column] - (words[(i - 1) * columns + column] if i else 0)) & 0xFFFFFFFF
        for column in range(columns)
        for i in range(count)
    ]
    return blosc(struct.pack(f"<{len(differences)}I", *differences), 4)


def blosc(plain: bytes, word_bytes: int) -> bytes:
    """A chunk of Blosc with shuffled bits."""
    out = ctypes.create_string_buffer(len(plain) + 16)
    library = ctypes.CDLL("libblosc.so.1")
    size = ctypes.c_size_t
    got = library.blosc_compress_ctx(
        5, 2, size(word_bytes), size(len(plain)), plain, out, size(len(out)), b"lz4", size(0), 1
    )
    assert got > 0
    return out.raw[:got]
