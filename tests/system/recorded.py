# SPDX-License-Identifier: Apache-2.0
"""What a recorder has written, read by docs/archive-format.md alone and without our library: a second opinion."""

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

HEADER = struct.Struct("<QII16s32sQQQiId")
BLOCK = struct.Struct("<IIIBBHIIIIIIQQQ")
MARK = struct.Struct("<IiQQQ")
HEADER_BYTES, ALIGNMENT, RECORD_BYTES, NAME_BYTES = 4096, 64, 64, 96
DESCRIPTION, RECORDS, REDUCED, EVENTS, MARKS, INDEX, END, PADDING = range(1, 9)
NONE = 2**64 - 1
MARK_REASONS = {1: "began", 2: "lapped", 3: "disk_full", 6: "restarted", 7: "owner_gone", 8: "reopened"}
POLYNOMIAL = 0x82F63B78
TABLE = []
for _byte in range(256):
    for _ in range(8):
        _byte = _byte >> 1 ^ (POLYNOMIAL if _byte & 1 else 0)
    TABLE.append(_byte)


def crc32c(data: bytes) -> int:
    """Of short pieces: it is slow."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


@dataclass(frozen=True)
class Block:
    """One of a file."""

    kind: int
    turn_epoch: int
    object: int
    count: int
    first_turn: int
    first_tai_ns: int
    last_tai_ns: int
    payload: bytes


def blocks(path: Path) -> Iterator[Block]:
    """All of a file up to the first that is none."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:  # it was made ahead, and given back since it was listed
        return
    if not any(data[:HEADER_BYTES]):  # the next one, made ahead
        return
    magic, _, _, _, _, number, file_id, *_ = HEADER.unpack_from(data)
    assert data[:8] == b"RMARCLOG", magic
    assert path.name == f"{number:016d}.rmlog"
    at, expected = HEADER_BYTES, 0
    while at + BLOCK.size <= len(data):
        fields = BLOCK.unpack_from(data, at)
        _, header_crc, _, kind, codec, epoch, number, sequence, of_file, count, stored, plain, turn, first, last = (
            fields
        )
        head = data[at : at + BLOCK.size]
        if head[:4] != b"RMBK" or of_file != file_id & 0xFFFFFFFF:
            return
        assert crc32c(head[:4] + bytes(4) + head[8:]) == header_crc
        assert sequence == expected
        expected += 1
        payload = data[at + BLOCK.size : at + BLOCK.size + stored]
        assert codec != 0 or stored == plain
        if kind != PADDING and (codec == 0 or kind == REDUCED):  # of steps that are compressed the number will do
            yield Block(kind, epoch, number, count, turn, first, last, payload)
        at += BLOCK.size + (stored + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


@dataclass
class Recorded:
    """All files of a log."""

    turns: dict[tuple[str, int], NDArray[np.uint64]]
    """Of each stream and turn-counter epoch, in the order of the blocks; NONE where one is missing."""
    marks: list[tuple[str, str, int, int]]
    """Stream, reason, first turn, number of records."""
    events: list[dict[str, Any]]
    sealed: list[bool]
    reduced: dict[str, int]
    """Steps of each stream."""

    @property
    def newest_tai_ns(self) -> int:
        """Of all records."""
        return self._newest

    _newest: int = 0


def recorded(folder: Path) -> Recorded:
    """Reads all files of a log."""
    found = Recorded({}, [], [], [], {})
    for path in sorted(folder.glob("*.rmlog")):
        names: dict[int, str] = {}
        sealed = False
        for block in blocks(path):
            if block.kind == DESCRIPTION:
                names[block.object] = block.payload[:NAME_BYTES].split(b"\0")[0].decode()
            elif block.kind == RECORDS:
                words = np.frombuffer(block.payload, np.uint64).reshape(block.count, RECORD_BYTES // 8)
                key = (names[block.object], block.turn_epoch)
                found.turns[key] = np.append(found.turns.get(key, np.empty(0, np.uint64)), words[:, 0])
                found._newest = max(found._newest, block.last_tai_ns)
            elif block.kind == REDUCED:
                found.reduced[names[block.object]] = found.reduced.get(names[block.object], 0) + block.count
            elif block.kind == MARKS:
                reason, _, first, _, count = MARK.unpack(block.payload)
                found.marks.append((names.get(block.object, ""), MARK_REASONS.get(reason, str(reason)), first, count))
            elif block.kind == EVENTS:
                lines = block.payload.decode().splitlines()
                assert len(lines) == block.count
                found.events += map(json.loads, lines)
            sealed = block.kind == END
        found.sealed.append(sealed)
    return found
