# SPDX-License-Identifier: Apache-2.0
"""Cameras of an archive, and their frames.

::

    for frame in archive.images("cam01", "2026-11-25T14:00:00", "2026-11-25T14:00:01"):
        print(frame.number, frame.turn, frame.unpacked().mean(), frame.status)
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ringmaster.archive._library import BLOCK, call, description, ffi, lib, text
from ringmaster.archive.times import END_NS, Edge, datetimes, utc_ns
from ringmaster.errors import ArchiveArgument, ArchiveChanged, ArchiveDamaged
from ringmaster.fabric.frame import Frame, Memory
from ringmaster.fabric.layout import TURN_NONE, ImageMarks, ImageStatus

if TYPE_CHECKING:
    from ringmaster.archive.archive import Archive

_OF_GEOMETRY = (
    *("flags", "pixel_format", "width", "height"),
    *("offset_x", "offset_y", "padding_x", "padding_y"),
)


class StoredFrame(Frame):
    """A frame of an archive: a Frame in memory of its own, with times instead of stamps of the recorder's processor."""

    def __init__(self, camera: str, what: Any, payload: npt.NDArray[np.uint8], tai_minus_utc_s: int) -> None:
        """``payload`` is that of its block: struct rm_archived_image, its map, its bytes."""
        self._slot = {name: int(getattr(what, name)) for name in _OF_GEOMETRY}
        flags = int(what.flags)
        self.camera = camera
        self.sequence, self.number, self.passed_over = int(what.sequence), int(what.number), int(what.passed_over)
        self.turn = int(what.turn) if flags & ImageMarks.HAS_TURN else None
        self.turn_sent = bool(flags & ImageMarks.TURN_SENT)
        self.device_time = int(what.device_time)
        self.tai_ns = int(what.tai_ns)
        self.utc_ns = max(self.tai_ns - tai_minus_utc_s * 10**9, 0)
        """The same in UTC, by the offset that the recorder's host knew."""
        exposure = (int(what.exposure_start_ns), int(what.exposure_end_ns))
        self.exposure_ns = exposure if flags & ImageMarks.HAS_EXPOSURE else None
        self.status = ImageStatus(what.status)
        self.fragments, self.fragment_bytes = int(what.fragments), int(what.fragment_bytes)
        self.placed, self.resent = int(what.placed), int(what.resent)
        self.last_tai_ns, self.closed_tai_ns = int(what.last_tai_ns), int(what.closed_tai_ns)
        """The arrival of its last fragment; when it closed."""
        self.published_tai_ns = int(what.published_tai_ns)
        """When readers had it."""
        head = ffi.sizeof("struct rm_archived_image")
        begin = head + int(what.map_bytes)
        self._map = Memory(payload, payload.ctypes.data + head, (self.fragments + 7) // 8)
        self._bytes = Memory(payload, payload.ctypes.data + begin, int(what.length))

    @property
    def utc(self) -> np.datetime64:
        """The arrival of its first fragment, datetime64[ns]."""
        return np.datetime64(self.utc_ns, "ns")


class StoredCamera:
    """A camera whose frames are in an archive."""

    def __init__(self, archive: "Archive", number: int) -> None:
        self._archive, self._number = archive, number
        self.name = text(description(self._its).name)
        self.log = text(self._its.log)
        """Name of the log that they are in."""
        self._next = 0
        """Where the frame after the one that was read last may be."""

    def __repr__(self) -> str:
        return f"<camera {self.name}: {self.records} frames>"

    @property
    def _its(self) -> Any:
        return self._archive.object_at(self._number)

    @property
    def records(self) -> int:
        """Frames."""
        return int(self._its.records)

    @property
    def stored_bytes(self) -> int:
        """On the disk."""
        return int(self._its.stored_bytes)

    @property
    def plain_bytes(self) -> int:
        """Decoded."""
        return int(self._its.plain_bytes)

    @property
    def blocks(self) -> npt.NDArray[np.void]:
        """One for each frame: number, first_turn, first_tai_ns, stored_bytes, offset, file and so on."""
        with self._archive.lock:
            its = self._its
            if its.block_count == 0:
                return np.empty(0, BLOCK)
            return np.frombuffer(ffi.buffer(its.block, its.block_count * BLOCK.itemsize), BLOCK).copy()

    @property
    def utc(self) -> npt.NDArray[np.datetime64]:
        """Shape (records,): when each frame came, datetime64[ns]."""
        with self._archive.lock:
            blocks = self.blocks
            offsets = np.array([file.tai_minus_utc_s * 10**9 for file in self._archive.files], np.int64)
        return datetimes((blocks["first_tai_ns"].astype(np.int64) - offsets[blocks["file"]]).astype(np.uint64))

    def find(self, start: Edge = None, stop: Edge = None, by: str = "turn") -> list[int]:
        """The frames in [start, stop), as places in ``blocks``.

        Whole numbers are turns, or, ``by`` "number", the camera's own numbers; all else is times in UTC.
        """
        order, begin, end = self._order(start, stop, by)
        with self._archive.lock:
            most = int(self._its.block_count)
            found = ffi.new("uint32_t[]", max(most, 1))
            count = lib.rm_archive_images_between(self._archive.handle, self._number, order, begin, end, found, most)
            return list(found[0:count])

    def _order(self, start: Edge, stop: Edge, by: str) -> tuple[int, int, int]:
        if by not in ("turn", "number"):
            raise ArchiveArgument(f"by {by!r}: expected 'turn' or 'number'")
        whole = [isinstance(edge, int | np.integer) for edge in (start, stop) if edge is not None]
        if any(whole) and not all(whole):
            raise ArchiveArgument(f"{self.name}: one end is a {by} and the other a time; give two of a kind")
        if whole and all(whole):
            order = lib.RM_IMAGE_BY_TURN if by == "turn" else lib.RM_IMAGE_BY_NUMBER
            return order, 0 if start is None else int(start), TURN_NONE if stop is None else int(stop)  # type: ignore[arg-type]
        begin = 0 if start is None else utc_ns(start)  # type: ignore[arg-type]
        return lib.RM_IMAGE_BY_UTC, begin, END_NS if stop is None else utc_ns(stop)  # type: ignore[arg-type]

    def frames(self, start: Edge = None, stop: Edge = None, by: str = "turn") -> Iterator[StoredFrame]:
        """The frames in [start, stop), see ``find``, in the order in which they were recorded.

        One is read when it is asked for. Where the recorder has deleted it by then, or it is damaged
        (``archive.damages``), it is left out.
        """
        with self._archive.lock:
            wanted = self.blocks[self.find(start, stop, by)]
        for key in wanted[["first_tai_ns", "number"]]:
            frame = self._read(key)
            if frame is not None:
                yield frame

    def _read(self, key: np.void) -> StoredFrame | None:
        """A frame by its time and number: its place may have become another one since."""
        with self._archive.lock:
            for _ in range(2):
                place = self._place(key)
                try:
                    return None if place is None else self._frame(place)
                except ArchiveDamaged:
                    return None
                except ArchiveChanged:
                    self._archive.refresh()
        return None

    def _place(self, key: np.void) -> int | None:
        its = self._its
        places: tuple[int, ...] = (self._next, *range(its.block_count))
        for place in places:
            if place < its.block_count:
                block = its.block[place]
                if block.number == key["number"] and block.block.first_tai_ns == key["first_tai_ns"]:
                    self._next = place + 1
                    return place
        return None

    def _frame(self, place: int) -> StoredFrame:
        block = self._its.block[place]
        payload = np.empty(-(-int(block.block.plain_bytes) // 8), np.uint64)
        image = ffi.new("struct rm_archive_image *")
        call(
            *(lib.rm_archive_image, self._archive.handle, self._number, place),
            *(ffi.cast("void *", payload.ctypes.data), image),
        )
        offset_s = self._archive.file_at(block.file).header.tai_minus_utc_s
        return StoredFrame(self.name, getattr(image, "is"), payload.view(np.uint8), offset_s)
