# SPDX-License-Identifier: Apache-2.0
r"""Frames of cameras in an HDF5 file with NeXus classes.

::

    /cam01                     NXentry: the camera
    /cam01/images              NXdata; attributes: kind "images", pixel_format as "Mono12p", bits, offset_x, offset_y
        data                   u1 or u2, shape (frames, height, width): unpacked
        number, device_time    u8: the camera's own
        turn                   u8; 2^64 − 1 where it is not known
        utc                    i8, nanoseconds since 1970: the arrival of the first fragment
        exposure_start, exposure_end   u8, nanoseconds of the camera's clock; 0 where they are not known
        status                 u1: 0 whole, 1 incomplete, 2 filled from the frame before
        missing                u4: fragments that did not come
    /cam01/instrument/detector NXdetector: the same data by links

What has another geometry than the frame before begins another group: images_2, and so on.
"""

from pathlib import Path
from types import TracebackType
from typing import Any

import h5py
import numpy as np

from ringmaster.archive.images import StoredFrame
from ringmaster.fabric.frame import Geometry
from ringmaster.fabric.layout import TURN_NONE
from ringmaster.recordings.export import FORMAT, IMAGES, UTC_UNITS, VERSION

GROWS_BY = 256
"""Frames that a dataset has room for more each time."""
_SCALARS = {
    "number": "u8",
    "device_time": "u8",
    "turn": "u8",
    "utc": "i8",
    "exposure_start": "u8",
    "exposure_end": "u8",
    "status": "u1",
    "missing": "u4",
}


class Hdf5Images:
    """Writes frames into a file; one that is there already is added to."""

    def __init__(self, path: Path, compression: Any = None) -> None:
        """``compression``: keywords of h5py's create_dataset, as hdf5plugin gives them."""
        self._file = h5py.File(path, "a")
        self._file.attrs.update(format=FORMAT, version=VERSION, NX_class="NXroot")
        self._compression = dict(compression or {})
        self._groups: dict[str, _Group] = {}

    def __enter__(self) -> "Hdf5Images":
        return self

    def __exit__(self, kind: type[BaseException] | None, it: BaseException | None, at: TracebackType | None) -> None:
        for group in self._groups.values():
            group.finish()
        self._file.close()

    def append(self, frame: StoredFrame) -> bool:
        """One more frame, where its pixels are known."""
        try:
            pixels = frame.unpacked()
        except ValueError:
            return False
        geometry = frame.geometry
        assert geometry is not None, "it has pixels"
        group = self._groups.get(frame.camera)
        if group is None or not group.takes(geometry):
            if group is not None:
                group.finish()
            group = self._groups[frame.camera] = _Group(self._file, frame.camera, geometry, self._compression)
        group.append(frame, pixels)
        return True


class _Group:
    """Frames of one geometry."""

    def __init__(self, file: h5py.File, camera: str, geometry: Geometry, compression: dict[str, Any]) -> None:
        entry = file.require_group(camera)
        entry.attrs["NX_class"] = "NXentry"
        count = 1 + sum(name.startswith("images") for name in entry)
        name = "images" if count == 1 else f"images_{count}"
        self._geometry, self._frames = geometry, 0
        self._group = entry.create_group(name)
        self._group.attrs.update(
            kind=IMAGES,
            pixel_format=geometry.pixel_format,
            bits=geometry.bits,
            offset_x=geometry.offset_x,
            offset_y=geometry.offset_y,
            NX_class="NXdata",
            signal="data",
            axes=["number", ".", "."],
        )
        shape, kind = (geometry.height, geometry.width), "u1" if geometry.bits == 8 else "u2"
        self._make("data", kind, shape, (1, *shape), compression)
        for scalar, of in _SCALARS.items():
            self._make(scalar, of, (), (GROWS_BY,), {})
        self._group["utc"].attrs["units"] = UTC_UNITS
        for scalar in ("exposure_start", "exposure_end"):
            self._group[scalar].attrs["units"] = "ns"
        self._name_for_nexus(entry, name)

    def _make(
        self, name: str, kind: str, shape: tuple[int, ...], chunks: tuple[int, ...], compression: dict[str, Any]
    ) -> None:
        self._group.create_dataset(name, (0, *shape), kind, maxshape=(None, *shape), chunks=chunks, **compression)

    def _name_for_nexus(self, entry: h5py.Group, name: str) -> None:
        entry.attrs.setdefault("default", name)
        entry.file.attrs.setdefault("default", entry.name.lstrip("/"))
        instrument = entry.require_group("instrument")
        instrument.attrs.update(NX_class="NXinstrument", kind=IMAGES)
        detector = instrument.create_group(name.replace("images", "detector"))
        detector.attrs.update(NX_class="NXdetector", kind=IMAGES)
        detector["data"] = self._group["data"]
        detector["bit_depth_readout"] = self._geometry.bits
        detector["sequence_number"] = self._group["number"]

    def takes(self, geometry: Geometry) -> bool:
        """Whether a frame of that geometry goes here."""
        return _pixels_of(geometry) == _pixels_of(self._geometry)

    def append(self, frame: StoredFrame, pixels: np.typing.NDArray[np.uint16]) -> None:
        """One more."""
        if self._frames % GROWS_BY == 0:
            for name in ("data", *_SCALARS):
                self._group[name].resize(self._frames + GROWS_BY, axis=0)
        self._group["data"][self._frames] = pixels
        exposure = frame.exposure_ns or (0, 0)
        values = {
            "number": frame.number,
            "device_time": frame.device_time,
            "turn": TURN_NONE if frame.turn is None else frame.turn,
            "utc": frame.utc_ns,
            "exposure_start": exposure[0],
            "exposure_end": exposure[1],
            "status": int(frame.status),
            "missing": frame.fragments - frame.placed,
        }
        for name, value in values.items():
            self._group[name][self._frames] = value
        self._frames += 1

    def finish(self) -> None:
        """Gives back the room that was not needed."""
        for name in ("data", *_SCALARS):
            self._group[name].resize(self._frames, axis=0)


def _pixels_of(geometry: Geometry) -> tuple[str, int, int, int, int]:
    return (geometry.pixel_format, geometry.width, geometry.height, geometry.offset_x, geometry.offset_y)
