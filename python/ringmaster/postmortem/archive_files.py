# SPDX-License-Identifier: Apache-2.0
"""The files of an archive by their headers, without what is in them: which span each covers, and of which streams.

include/ringmaster/archive.h has the layout. Who wants records reads them by the archive's own reader.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ringmaster.fabric.memory import text

LOG_MAGIC, BLOCK_MAGIC, VERSION = 0x474F4C4352414D52, 0x4B424D52, 1
HEADER_BYTES, ALIGNMENT = 4096, 64
_HEADER = (
    "magic:u8 version:u4 crc:u4 archive_uuid:S16 log:S32 number:u8 file_id:u8 begun_tai_ns:u8 tai_minus_utc_s:i4 "
    "abi_version:u4 turn_rate_hz:f8"
)
_BLOCK = (
    "magic:u4 header_crc:u4 payload_crc:u4 kind:u1 codec:u1 turn_epoch:u2 object:u4 sequence:u4 file_id:u4 count:u4 "
    "stored_bytes:u4 plain_bytes:u4 first_turn:u8 first_tai_ns:u8 last_tai_ns:u8"
)
_OBJECT = "name:S96 kind:u4 record_bytes:u4 period_turns:u8"


def _packed(members: str) -> np.dtype[np.void]:
    """Little-endian members without holes, as "NAME:TYPE …"."""
    return np.dtype([(name, f"<{kind}") for name, _, kind in (one.partition(":") for one in members.split())])


HEADER, BLOCK, OBJECT = map(_packed, (_HEADER, _BLOCK, _OBJECT))
"""OBJECT is the beginning of a description."""


class BlockKind(IntEnum):
    """enum rm_block_kind"""

    DESCRIPTION = 1
    RECORDS = 2
    REDUCED = 3
    EVENTS = 4
    MARK = 5
    INDEX = 6
    END = 7
    PADDING = 8


@dataclass(frozen=True)
class Described:
    """An object of a file."""

    name: str
    kind: BlockKind
    period_turns: int


class LogFile:
    """One file, walked from block to block as far as it goes; it goes on where it was when it has grown."""

    def __init__(self, path: Path) -> None:
        """Raises ValueError where it is none of ours, OSError."""
        self.path = path
        with path.open("rb") as file:
            raw = file.read(HEADER.itemsize)
        header = np.frombuffer(raw, HEADER)[0] if len(raw) == HEADER.itemsize else None
        if header is None or int(header["magic"]) != LOG_MAGIC or int(header["version"]) != VERSION:
            raise ValueError(f"{path}: is no file of an archive of version {VERSION}")
        self.number = int(header["number"])
        self.begun_tai_ns = int(header["begun_tai_ns"])
        self._file_id = int(header["file_id"]) & 0xFFFFFFFF
        self._end = HEADER_BYTES
        self.objects: dict[int, Described] = {}
        """By their number in the file."""
        self.newest_tai_ns = 0
        """Of the records and events so far; 0 before there are any."""
        self.objects_tai_ns: dict[int, tuple[int, int]] = {}
        """Of each object the span of its blocks."""

    def walk(self) -> None:
        """Goes on to the present end of the file."""
        with self.path.open("rb") as file:
            for block, offset in self._blocks(file):
                number, last = int(block["object"]), int(block["last_tai_ns"])
                if block["kind"] == BlockKind.DESCRIPTION:
                    file.seek(offset + BLOCK.itemsize)
                    self._describe(number, file.read(OBJECT.itemsize))
                elif block["kind"] in (BlockKind.RECORDS, BlockKind.REDUCED, BlockKind.EVENTS):
                    first = self.objects_tai_ns.get(number, (int(block["first_tai_ns"]), 0))[0]
                    self.objects_tai_ns[number] = (first, last)
                    self.newest_tai_ns = max(self.newest_tai_ns, last)

    def _blocks(self, file: BinaryIO) -> Iterator[tuple[np.void, int]]:
        """Headers from where it was on, each with its offset."""
        while True:
            file.seek(self._end)
            raw = file.read(BLOCK.itemsize)
            if len(raw) < BLOCK.itemsize:
                return
            block = np.frombuffer(raw, BLOCK)[0]
            if int(block["magic"]) != BLOCK_MAGIC or int(block["file_id"]) != self._file_id:
                return
            offset, size = self._end, BLOCK.itemsize + int(block["stored_bytes"])
            self._end += -(-size // ALIGNMENT) * ALIGNMENT
            yield block, offset

    def _describe(self, number: int, raw: bytes) -> None:
        if len(raw) < OBJECT.itemsize:
            return
        said = np.frombuffer(raw, OBJECT)[0]
        kinds = BlockKind._value2member_map_
        kind = BlockKind(int(said["kind"])) if int(said["kind"]) in kinds else BlockKind.EVENTS
        self.objects[number] = Described(text(said["name"]), kind, int(said["period_turns"]))


def log_folders(directory: Path) -> list[Path]:
    """The logs of an archive: folders with log files."""
    return sorted({path.parent for path in directory.glob("*/*.rmlog")})
