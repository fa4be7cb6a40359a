# SPDX-License-Identifier: Apache-2.0
"""One segment of a workspace, mapped read-only: is it whole, of our version, alive, and what is in it."""

import fcntl
import os
import stat
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ringmaster.errors import WorkspaceDamaged, WorkspaceHalfMade, WorkspaceVersion
from ringmaster.fabric import layout
from ringmaster.fabric.foreign_memory import map_file
from ringmaster.fabric.layout import ElementType, ObjectKind, SegmentState
from ringmaster.fabric.memory import Words, structure, text

LOCK = struct.Struct("@hhqqi4x")
"""struct flock of x86-64 Linux: type, whence, start, length, pid."""


@dataclass(frozen=True)
class ObjectInfo:
    """One entry of the directory: what an object is and where it lies."""

    name: str
    """Unique in its workspace: "stream/bpm01/turn"."""
    kind: ObjectKind
    unit: str
    """Of the elements; empty where lanes have their own."""
    description: str
    element_type: ElementType
    shape: tuple[int, int]
    """Elements; the second is 1 for one dimension."""
    variety: int
    """Of counters: which set; of streams: the instrument kind; else 0."""
    owner: str
    """Whose segment it is in: "server", "ring"."""
    offset: int
    """Bytes from the segment's start."""
    size: int
    """Bytes of the object, its header included."""


BYTE_OWNS, BYTE_TELLS = 0, 1
"""The bytes of ``OWNER.lock`` that its owner locks: at its start, and when the segment tells of it and no longer of an
owner before it (``src/fabric/segment_lock.h``).
"""


def owner_lives(directory: Path, owner: str, byte: int = BYTE_OWNS) -> bool:
    """Whether a process holds the write lock on ``OWNER.lock``; the kernel drops it however the owner ends."""
    try:
        how = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # neither through a link nor waiting
        descriptor = os.open(directory / f"{owner}.lock", how)
    except OSError:
        return False
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return False
        question = LOCK.pack(fcntl.F_RDLCK, os.SEEK_SET, byte, 1, 0)
        answer = fcntl.fcntl(descriptor, fcntl.F_OFD_GETLK, question)
    finally:
        os.close(descriptor)
    return bool(LOCK.unpack(answer)[0] != fcntl.F_UNLCK)


def is_finished(path: Path) -> bool:
    """Whether an owner has finished the segment there: it writes the magic number last."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.read(descriptor, 8) == layout.SEGMENT_MAGIC.to_bytes(8, "little")
    except OSError:
        return False
    finally:
        os.close(descriptor)


class Segment:
    """A mapped segment. Arrays that look into it keep its memory alive, even after ``close``."""

    def __init__(self, path: Path) -> None:
        """Maps ``path`` and checks it. Raises WorkspaceHalfMade, WorkspaceVersion, WorkspaceDamaged or OSError."""
        self.path = path
        self.owner = path.name.removesuffix(".segment")
        memory, self.file_key = map_file(path, layout.SEGMENT_HEADER.itemsize)
        if memory is None:
            raise self._half_made()
        self.memory = memory
        self._words = Words(self.memory, layout.SEGMENT_HEADER, 0)
        if self._words("magic") != layout.SEGMENT_MAGIC:
            raise self._half_made()
        self._header = structure(self.memory, layout.SEGMENT_HEADER, 0)
        self._check_version()
        self.objects = self._directory()

    def _half_made(self) -> WorkspaceHalfMade:
        if owner_lives(self.path.parent, self.owner):
            return WorkspaceHalfMade(f"{self.path}: {self.owner} is still making it; try again in a moment")
        return WorkspaceHalfMade(
            f"{self.path}: never finished, and {self.owner} has ended; start it again and look at what it says"
        )

    def _check_version(self) -> None:
        header = self._header[0]
        for what, found, expected in (
            ("ABI version", int(header["abi_version"]), layout.ABI_VERSION),
            ("layout", f"{int(header['layout_hash']):#x}", f"{layout.LAYOUT_HASH:#x}"),
            ("header size", int(header["header_bytes"]), layout.SEGMENT_HEADER.itemsize),
            ("directory entry size", int(header["object_bytes"]), layout.OBJECT.itemsize),
        ):
            if found != expected:
                raise WorkspaceVersion(
                    f"{self.path}: made by another version: its {what} is {found}, this package reads {expected}; "
                    f"use the package that came with {self.owner}, or start {self.owner} anew"
                )

    def _directory(self) -> list[ObjectInfo]:
        header = self._header[0]
        start, count = int(header["directory_offset"]), int(header["object_count"])
        if int(header["segment_bytes"]) > len(self.memory) or start + count * layout.OBJECT.itemsize > len(self.memory):
            raise WorkspaceDamaged(f"{self.path}: the file is shorter than its header says; start {self.owner} anew")
        entries = np.frombuffer(self.memory, dtype=layout.OBJECT, count=count, offset=start)
        return [self._object(entry) for entry in entries]

    def _object(self, entry: np.void) -> ObjectInfo:
        try:
            info = ObjectInfo(
                name=text(entry["name"]),
                kind=ObjectKind(entry["kind"]),
                unit=text(entry["unit"]),
                description=text(entry["description"]),
                element_type=ElementType(entry["element_type"]),
                shape=(int(entry["shape"][0]), int(entry["shape"][1])),
                variety=int(entry["variety"]),
                owner=self.owner,
                offset=int(entry["offset"]),
                size=int(entry["bytes"]),
            )
        except ValueError as error:
            raise WorkspaceDamaged(f"{self.path}: object {text(entry['name'])!r}: {error}") from None
        if info.offset + info.size > len(self.memory):
            raise WorkspaceDamaged(f"{self.path}: object {info.name!r} reaches beyond the end of the file")
        return info

    @property
    def state(self) -> SegmentState:
        """What its owner says of it; LIVE also when the owner was killed: ask ``alive``."""
        try:
            return SegmentState(structure(self.memory, layout.SEGMENT_HEADER, 0)[0]["state"])
        except ValueError as error:
            raise WorkspaceDamaged(f"{self.path}: {error}; start {self.owner} anew") from None

    @property
    def cut(self) -> bool:
        """Whether its owner cut its file, as far as it was read since: zeros stand there. Attach again."""
        return self.memory.cut

    @property
    def alive(self) -> bool:
        """Whether its owner lives and keeps it; one system call. The lock first: an owner that begins takes it after
        the state of the one before it is gone.
        """
        return owner_lives(self.path.parent, self.owner, BYTE_TELLS) and self.state == SegmentState.LIVE

    @property
    def stopped(self) -> bool:
        """Whether its owner's process lives and is stopped, by SIGSTOP or a debugger; as far as we may see it."""
        try:
            state = Path(f"/proc/{self.owner_pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
        except (OSError, IndexError):
            return False
        return state in (b"T", b"t")

    @property
    def generation(self) -> int:
        """1 for the first instance, one more for every owner that adopted it."""
        return self._words("generation")

    @property
    def owner_pid(self) -> int:
        """Process that made or adopted it last."""
        return int(self._header[0]["owner_pid"])

    @property
    def started_tai_ns(self) -> int:
        """When that process did so; nanoseconds of TAI since 1970."""
        return int(self._header[0]["started_tai_ns"])

    def close(self) -> None:
        """Lets go of the mapping; where an array still looks into it, the memory stays until that array is gone.

        Closing it again does no harm.
        """
        for view in ("_header", "_words"):
            vars(self).pop(view, None)
        try:
            self.memory.close()
        except BufferError:
            return
