# SPDX-License-Identifier: Apache-2.0
"""One frame of a camera in shared memory: its description, arrays on its bytes without a copy, pixels as numbers."""

from dataclasses import dataclass
from functools import cached_property
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ringmaster.errors import WorkspaceDamaged
from ringmaster.fabric import layout
from ringmaster.fabric._library import ffi, lib
from ringmaster.fabric._library import text as c_text
from ringmaster.fabric.layout import ImageMarks, ImageStatus


@dataclass(frozen=True)
class Geometry:
    """What the pixels of a frame are, and how many."""

    pixel_format: str
    """By PFNC: "Mono12p". A number that this version does not know stands as "0x010C0047"."""
    pixel_format_number: int
    bits: int
    """Significant bits of a pixel; 0: unknown."""
    pixel_bytes: int
    """1 or 2 where each pixel has bytes of its own; 0: pixels share bytes."""
    line_bytes: int
    """Of a line, without padding; 0: unknown."""
    width: int
    height: int
    offset_x: int
    """Of the first pixel in the sensor, pixels."""
    offset_y: int
    padding_x: int
    """Bytes behind each line."""
    padding_y: int
    """Bytes behind the last line."""
    changed: bool
    """Another geometry than the frame before."""


def _status(camera: str, status: int) -> ImageStatus:
    try:
        return ImageStatus(status)
    except ValueError as error:
        raise WorkspaceDamaged(f"{camera}: {error}; start its receiver anew") from None


class Memory:
    """Bytes of a leased frame, as NumPy takes them. The lease lasts as long as an array looks into them."""

    def __init__(self, lease: object, pointer: Any, size: int) -> None:
        self.lease = lease
        address = int(ffi.cast("uintptr_t", pointer))
        self.__array_interface__ = {"version": 3, "shape": (size,), "typestr": "|u1", "data": (address, True)}

    def array(self) -> npt.NDArray[np.uint8]:
        """Shape (size,), read-only."""
        return np.asarray(self, np.uint8)


class Frame:
    """A leased frame. Release it, best by a ``with`` statement or by going on in the loop over the camera.

    The description stays after the release; ``bytes``, ``image``, ``unpacked()`` and ``missing`` raise ValueError then.
    An array that was taken before stays valid: the lease lasts until the last such array is gone.
    """

    def __init__(self, camera: str, lease: object, leased: Any, most_bytes: int, most_fragments: int) -> None:
        """``leased`` is a ``struct rm_frame *`` with that lease; what its owner claims is cut to its slot."""
        size = layout.IMAGE_SLOT.itemsize
        slot = np.frombuffer(ffi.buffer(ffi.cast("char const *", leased.slot), size), layout.IMAGE_SLOT).copy()[0]
        flags = int(slot["flags"])
        self._slot = slot
        self.camera = camera
        self.sequence = int(leased.sequence)
        """Of the receiver; without gaps."""
        self.passed_over = int(leased.passed_over)
        """Frames between the one before and this one that this reader came too late for."""
        self.number = int(slot["number"])
        """As the camera counts."""
        self.turn = int(slot["turn"]) if flags & ImageMarks.HAS_TURN else None
        """Turn of the exposure; where the camera does not send it, that in which the first fragment arrived."""
        self.turn_sent = bool(flags & ImageMarks.TURN_SENT)
        """``turn`` came with the frame."""
        self.device_time = int(slot["device_time"])
        """The camera's time stamp, in its own units."""
        self.tai_ns = int(slot["tai_ns"])
        """Arrival of the first fragment by this host's clock, nanoseconds of TAI since 1970."""
        exposure = (int(slot["exposure_start_ns"]), int(slot["exposure_end_ns"]))
        self.exposure_ns = exposure if flags & ImageMarks.HAS_EXPOSURE else None
        """Begin and end by the camera's clock, nanoseconds."""
        self.status = _status(camera, int(slot["status"]))
        self.fragments = min(int(slot["fragments"]), most_fragments)
        self.fragment_bytes = int(slot["fragment_bytes"])
        """Of each fragment but the last."""
        self.placed = int(slot["placed"])
        """Fragments that came."""
        self.resent = int(slot["resent"])
        """Fragments that were asked for again."""
        self.first_tsc, self.last_tsc = int(slot["first_tsc"]), int(slot["last_tsc"])
        """TSC at the arrival of the first fragment and of the last one."""
        self.closed_tsc, self.published_tsc = int(slot["closed_tsc"]), int(slot["published_tsc"])
        self._bytes: Memory | None = Memory(lease, leased.bytes, min(int(slot["length"]), most_bytes))
        self._map: Memory | None = Memory(lease, leased.map, (self.fragments + 7) // 8)

    def __repr__(self) -> str:
        geometry = self.geometry
        what = f"{geometry.width} x {geometry.height} {geometry.pixel_format}" if geometry else "no geometry"
        return f"<frame {self.number} of {self.camera}: {what}, {self.status.name.lower()}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.release()

    def release(self) -> None:
        """Ends the lease, or lets it end with the last array. Doing it again does no harm."""
        self._bytes = self._map = None

    def _held(self, memory: Memory | None) -> npt.NDArray[np.uint8]:
        if memory is None:
            raise ValueError(
                f"frame {self.number} of {self.camera} was released: take `image` before, or `image.copy()` to keep it"
            )
        return memory.array()

    @cached_property
    def geometry(self) -> Geometry | None:
        """None where the frame came without."""
        slot, flags = self._slot, int(self._slot["flags"])
        if not flags & ImageMarks.HAS_GEOMETRY:
            return None
        number = int(slot["pixel_format"])
        pixels = ffi.new("struct rm_pixels *")
        known = lib.rm_pixels_find(number, pixels)
        return Geometry(
            c_text(pixels.name) if known else f"0x{number:08X}",
            number,
            int(pixels.bits),
            int(pixels.bytes),
            int(lib.rm_pixels_line_bytes(number, int(slot["width"]))),
            int(slot["width"]),
            int(slot["height"]),
            int(slot["offset_x"]),
            int(slot["offset_y"]),
            int(slot["padding_x"]),
            int(slot["padding_y"]),
            bool(flags & ImageMarks.GEOMETRY_CHANGED),
        )

    @property
    def bytes(self) -> npt.NDArray[np.uint8]:
        """All bytes as they came, shape (length,), without a copy."""
        return self._held(self._bytes)

    @property
    def missing(self) -> npt.NDArray[np.bool_]:
        """Shape (fragments,): which did not come; a copy."""
        came = np.unpackbits(self._held(self._map), count=self.fragments, bitorder="little")
        return np.equal(came, 0, dtype=np.bool_)

    @property
    def image(self) -> npt.NDArray[np.uint8] | npt.NDArray[np.uint16]:
        """Shape (height, width), without a copy. Raises ValueError where pixels share bytes: see ``unpacked()``."""
        geometry, raw = self._whole_geometry(), self.bytes
        if geometry.pixel_bytes == 0:
            raise ValueError(
                f"{self.camera}: pixels of {geometry.pixel_format} share bytes; use `unpacked()`, or `bytes`"
            )
        dtype: type[np.uint8] | type[np.uint16] = np.uint8 if geometry.pixel_bytes == 1 else np.uint16
        step = geometry.width * geometry.pixel_bytes + geometry.padding_x
        shape, strides = (geometry.height, geometry.width), (step, geometry.pixel_bytes)
        return np.ndarray(shape, dtype, raw, 0, strides)

    def unpacked(self, rows: npt.NDArray[np.intp] | None = None) -> npt.NDArray[np.uint16]:
        """The pixels as numbers, shape (height, width), in memory of their own; or of these lines alone."""
        geometry, raw = self._whole_geometry(), self.bytes
        padding, count = geometry.padding_x, geometry.height
        if rows is not None:
            step = geometry.line_bytes + padding
            lines = np.ndarray((geometry.height, geometry.line_bytes), np.uint8, raw, 0, (step, 1))
            raw, padding, count = lines[rows], 0, len(rows)
        values = np.empty((count, geometry.width), np.uint16)
        lib.rm_pixels_unpack(
            geometry.pixel_format_number,
            geometry.width,
            count,
            padding,
            ffi.cast("uint8_t const *", raw.ctypes.data),
            raw.size,
            ffi.cast("uint16_t *", values.ctypes.data),
        )
        return values

    def _whole_geometry(self) -> Geometry:
        """A geometry that is known, and that the bytes fill."""
        geometry, size = self.geometry, self._held(self._bytes).size
        if geometry is None:
            raise ValueError(f"frame {self.number} of {self.camera} came without a geometry; only `bytes` can be read")
        line = geometry.line_bytes
        if line == 0 or geometry.height == 0:
            raise ValueError(f"{self.camera}: no image of {geometry}; only `bytes` can be read")
        needed = (geometry.height - 1) * (line + geometry.padding_x) + line
        if needed > size:
            raise ValueError(
                f"frame {self.number} of {self.camera} has {size} of {needed} bytes of its geometry; read `bytes`"
            )
        return geometry
