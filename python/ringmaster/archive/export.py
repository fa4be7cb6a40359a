# SPDX-License-Identifier: Apache-2.0
"""Parts of an archive written to files that other programs read: HDF5, Parquet, SDDS."""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from ringmaster.archive.archive import Archive
from ringmaster.archive.pieces import Piecewise
from ringmaster.archive.window import ArchiveWindow
from ringmaster.errors import ArchiveArgument
from ringmaster.recordings.export import Exported, Hdf5Writer

SUFFIXES = (".h5", ".hdf5", ".nxs", ".parquet", ".sdds")


class Writer(Protocol):
    """A file that is written stream by stream, each piece by piece."""

    def __enter__(self) -> "Writer":
        """Itself."""

    def __exit__(self, kind: type[BaseException] | None, it: BaseException | None, at: TracebackType | None) -> None:
        """Finishes the file."""

    def begin(self, stream: Exported) -> None:
        """What is appended from here on is of this stream."""

    def append(self, window: ArchiveWindow) -> None:
        """More records of it."""


def open_writer(path: Path, archive: Archive, compress: bool) -> Writer:
    """By the suffix of the path. Raises FileExistsError; an existing file is not overwritten."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ArchiveArgument(f"{path}: found suffix {path.suffix!r}, expected one of {', '.join(SUFFIXES)}")
    if path.exists():
        raise FileExistsError(f"{path}: is there already; it is not overwritten")
    if suffix == ".parquet":
        from ringmaster.archive.parquet import ParquetWriter

        return ParquetWriter(path)
    if suffix == ".sdds":
        from ringmaster.archive.sdds_file import SddsWriter

        return SddsWriter(path)
    return Hdf5Writer(path, archive.path, archive.configuration(), blosc() if compress else None)


def blosc() -> Any:
    """Keywords of create_dataset."""
    try:
        import hdf5plugin
    except ImportError:
        raise ArchiveArgument("compression needs hdf5plugin: install `ringmaster[archive]`, or leave it out") from None
    return hdf5plugin.Blosc(cname="lz4", clevel=5, shuffle=hdf5plugin.Blosc.BITSHUFFLE)


def export(writer: Writer, parts: Sequence[Piecewise], progress: Callable[[int], None] = lambda _: None) -> None:
    """Writes all parts. ``progress`` is called with the number of records after each piece.

    The caller closes the writer; what was written by then stays in the file.
    """
    for part in parts:
        writer.begin(part)
        for window in part.windows():
            writer.append(window)
            progress(len(window))
