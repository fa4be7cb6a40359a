# SPDX-License-Identifier: Apache-2.0
"""Writes files of an archive from Python: imports, and what measurements read. The recorder writes all others.

A file is written from its begin to its end, and appears under its name when it is sealed.
"""

import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from ringmaster.archive._library import ffi, lib
from ringmaster.errors import ArchiveArgument
from ringmaster.fabric.layout import ABI_VERSION, LANES, TURN_NONE, Calibrated, InstrumentKind
from ringmaster.fabric.stream import Lane

VERSION, ALIGNMENT, HEADER_BYTES = 2, 64, 4096
PAYLOAD_BYTES = 1 << 20
"""Of a block, about."""


@dataclass(frozen=True)
class Described:
    """An object to be written: see struct rm_archived_object."""

    name: str
    lanes: Sequence[Lane]
    period: int = 1
    reduced: bool = False
    instrument_kind: InstrumentKind = InstrumentKind.BPM
    instrument_id: int = 0
    calibrated: Calibrated = Calibrated.NOT
    filter: str = "none"

    @property
    def record_bytes(self) -> int:
        """Of a record or a step."""
        return 16 + 16 * len(self.lanes) if self.reduced else 64

    @property
    def kind(self) -> int:
        """Enum rm_block_kind"""
        return int(lib.RM_BLOCK_REDUCED if self.reduced else lib.RM_BLOCK_RECORDS)


@dataclass
class LogFile:
    """One file of a log, which is sealed when the block of ``with`` ends well, and removed when it does not."""

    archive: Path
    log: str
    turn_rate_hz: float
    tai_minus_utc_s: int = 37
    begun_tai_ns: int = 0
    _objects: int = field(default=0, init=False)
    _index: list[bytes] = field(default_factory=list, init=False)

    def __enter__(self) -> "LogFile":
        folder = self.archive / self.log
        identity = _identity(self.archive)
        folder.mkdir(exist_ok=True)
        number = 1 + max((int(path.stem) for path in folder.glob("*.rmlog") if path.stem.isdecimal()), default=0)
        self.path = folder / f"{number:016d}.rmlog"
        self._file_id = int.from_bytes(os.urandom(8), "little")
        self._file = self.path.with_suffix(".rmlog.new").open("xb")
        self._file.write(self._header(identity, number).ljust(HEADER_BYTES, b"\0"))
        return self

    def __exit__(self, kind: type[BaseException] | None, it: BaseException | None, at: TracebackType | None) -> None:
        with self._file:
            if kind is None:
                index = self._block(lib.RM_BLOCK_INDEX, b"".join(self._index), count=len(self._index))
                self._block(lib.RM_BLOCK_END, b"", first_turn=index)
                os.fsync(self._file.fileno())
        new = Path(self._file.name)
        if kind is None:
            new.rename(self.path)
        else:
            new.unlink()

    def describe(self, what: Described) -> int:
        """Adds an object; returns its number in the file."""
        found = ffi.new("struct rm_archived_object *")
        found.name, found.filter = what.name.encode(), what.filter.encode()
        found.kind, found.record_bytes, found.period_turns = what.kind, what.record_bytes, what.period
        found.lane_count, found.calibrated, found.gain = len(what.lanes), what.calibrated, 1.0
        found.instrument_kind, found.instrument_id = what.instrument_kind, what.instrument_id
        if len(what.lanes) > LANES:
            raise ArchiveArgument(f"{what.name}: {len(what.lanes)} lanes, expected at most {LANES}")
        for place, lane in zip(found.lane, what.lanes, strict=False):
            place.name, place.unit, place.type = lane.name.encode(), lane.unit.encode(), lane.type
        self._objects += 1
        self._block(lib.RM_BLOCK_DESCRIPTION, bytes(ffi.buffer(found)), object=self._objects - 1, count=1)
        return self._objects - 1

    def append(
        self, number: int, what: Described, records: npt.NDArray[np.void], first_turn: int, times: tuple[int, int]
    ) -> None:
        """Appends dense records, in blocks; ``times``: TAI of the first and the last, in nanoseconds."""
        step = max(1, PAYLOAD_BYTES // what.record_bytes)
        scale = (times[1] - times[0]) / max(len(records) - 1, 1)
        for at in range(0, len(records), step):
            part = records[at : at + step]
            self._block(
                what.kind,
                part.tobytes(),
                object=number,
                count=len(part),
                first_turn=first_turn + at * what.period,
                times=(times[0] + round(at * scale), times[0] + round((at + len(part) - 1) * scale)),
            )

    def _header(self, identity: uuid.UUID, number: int) -> bytes:
        header = ffi.new("struct rm_log_header *")
        header.magic, header.version = int.from_bytes(b"RMARCLOG", "little"), VERSION
        header.archive_uuid, header.log = identity.bytes, self.log.encode()
        header.number, header.file_id, header.begun_tai_ns = number, self._file_id, self.begun_tai_ns
        header.tai_minus_utc_s, header.abi_version = self.tai_minus_utc_s, ABI_VERSION
        header.turn_rate_hz = self.turn_rate_hz
        header.crc = lib.rm_crc32c(header, ffi.sizeof("struct rm_log_header"))
        return bytes(ffi.buffer(header))

    def _block(self, kind: int, payload: bytes, times: tuple[int, int] | None = None, **more: Any) -> int:
        block = ffi.new("struct rm_block *", {"kind": kind, "object": 0xFFFFFFFF, "first_turn": TURN_NONE} | more)
        block.magic, block.file_id = int.from_bytes(b"RMBK", "little"), self._file_id & 0xFFFFFFFF
        block.sequence = len(self._index)
        block.stored_bytes = block.plain_bytes = len(payload)
        block.first_tai_ns, block.last_tai_ns = times or (self.begun_tai_ns, self.begun_tai_ns)
        block.payload_crc = lib.rm_crc32c(payload, len(payload))
        block.header_crc = lib.rm_crc32c(block, ffi.sizeof("struct rm_block"))
        offset = self._file.tell()
        header = bytes(ffi.buffer(block))
        self._file.write(header + payload + bytes(-len(payload) % ALIGNMENT))
        self._index.append(header + offset.to_bytes(8, "little") + bytes(8))
        return offset


def _identity(archive: Path) -> uuid.UUID:
    """The archive's own; a folder that is empty, or not there, becomes one."""
    said = archive / "archive"
    if said.exists():
        words = said.read_text().split()
        if len(words) != 3 or words[0] != "RMARCHIVE" or words[1] not in ("1", "2"):
            raise ArchiveArgument(f"{said}: does not say that this is an archive of version 1 or 2")
        return uuid.UUID(words[2])
    if archive.is_dir() and any(archive.iterdir()):
        raise ArchiveArgument(f"{archive}: has other things in it and is no archive; name a new folder")
    archive.mkdir(exist_ok=True)
    identity = uuid.uuid4()
    said.write_text(f"RMARCHIVE {VERSION} {identity}\n")
    return identity
