# SPDX-License-Identifier: Apache-2.0
"""Frames of cameras written to files that other programs read: HDF5 with NeXus classes, MCAP, pcapng."""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol

from ringmaster.archive.export import blosc
from ringmaster.archive.images import StoredCamera, StoredFrame
from ringmaster.archive.times import Edge
from ringmaster.errors import ArchiveArgument

HDF5 = (".h5", ".hdf5", ".nxs")
SUFFIXES = (*HDF5, ".mcap", ".pcapng")


class ImageWriter(Protocol):
    """A file that is written frame by frame."""

    def __enter__(self) -> "ImageWriter":
        """Itself."""

    def __exit__(self, kind: type[BaseException] | None, it: BaseException | None, at: TracebackType | None) -> None:
        """Finishes the file."""

    def append(self, frame: StoredFrame) -> bool:
        """One more frame, of any camera. False: the format cannot have it, as its pixels are not known."""


def open_image_writer(path: Path, compress: bool = False) -> ImageWriter:
    """By the suffix of the path. HDF5 is added to a file that is there; others are not overwritten: FileExistsError."""
    suffix = path.suffix.lower()
    if suffix in HDF5:
        from ringmaster.archive.image_hdf5 import Hdf5Images

        return Hdf5Images(path, blosc() if compress else None)
    if suffix not in SUFFIXES:
        raise ArchiveArgument(f"{path}: found suffix {path.suffix!r}, expected one of {', '.join(SUFFIXES)} for frames")
    if path.exists():
        raise FileExistsError(f"{path}: is there already; it is not overwritten")
    if suffix == ".mcap":
        from ringmaster.archive.image_mcap import McapImages

        return McapImages(path)
    from ringmaster.archive.image_packets import PacketImages

    return PacketImages(path)


def export_images(
    writer: ImageWriter,
    cameras: Sequence[StoredCamera],
    start: Edge = None,
    stop: Edge = None,
    progress: Callable[[int], None] = lambda _: None,
) -> tuple[int, int]:
    """Writes the frames of all cameras in [start, stop), one camera behind the other; how many, and how many were left
    out. ``progress`` is called with 1 after each.
    """
    written = left_out = 0
    for camera in cameras:
        for frame in camera.frames(start, stop):
            if writer.append(frame):
                written += 1
            else:
                left_out += 1
            progress(1)
    return written, left_out
