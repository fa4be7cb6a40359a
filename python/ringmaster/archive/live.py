# SPDX-License-Identifier: Apache-2.0
"""An HDF5 file that refers to the records in the files of an archive, without a copy of them.

::

    /bpm01/turn/records   structures of turn, tag and the lanes: virtual, of a dataset for each of the archive's files
    /bpm01/turn/part0000  where the archive's folder cannot be written: external storage in the archive's files

Beside each of the archive's files that it refers to lies a small one, NUMBER.rmlog.h5, whose datasets are external
storage in that file. The recorder removes it with its file, and when it stores that anew: then HDF5 gives fill values
in its place, and the rest can still be read.

A live file has the blocks that were written when it was made. Only what is not compressed can be seen so. A record that
is missing, or whose file is gone, has turn 2^64 − 1; turns that were not recorded are left out.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import h5py
import numpy as np

from ringmaster.archive.archive import Archive
from ringmaster.archive.stream import StoredStream
from ringmaster.archive.times import Edge
from ringmaster.errors import ArchiveArgument, ArchiveChanged
from ringmaster.fabric.layout import TURN_NONE

BLOCK_HEADER_BYTES = 64
SUFFIX = ".h5"
"""Of the file beside one of the archive's: the recorder knows it."""
MOST_PIECES = 1000
"""Of one dataset: HDF5 has 64 KiB for the list of them. What has more is several datasets."""
TRIES = 5
"""So often a recorder may store files anew while a live file is made."""


class Piece(NamedTuple):
    """Consecutive records in one of the archive's files."""

    offset: int
    bytes: int


@dataclass
class OfFile:
    """What a stream has in one of the archive's files."""

    path: Path
    pieces: list[Piece] = field(default_factory=list)
    """All of its blocks, in their order."""
    spans: list[tuple[int, int]] = field(default_factory=list)
    """Records that are wanted: the first of them in the file, and the one behind the last."""


def write_live(path: Path, archive: Archive, streams: list[StoredStream], start: Edge, stop: Edge) -> int:
    """Writes the file; returns the number of records in it. Raises FileExistsError, ArchiveArgument."""
    for _ in range(TRIES):
        before = _inodes(archive)
        archive.refresh()
        with h5py.File(path, "x") as file:
            file.attrs.update(NX_class="NXroot", format="ringmaster live", archive=archive.path)
            try:
                records = sum(_add(file, archive, stream, start, stop) for stream in streams)
            except BaseException:
                path.unlink()
                raise
        after = _inodes(archive)
        if all(after.get(name) == inode for name, inode in before.items()):
            return records
        path.unlink()
    raise ArchiveChanged(f"{archive.path}: its files are stored anew again and again; try again later")


def _inodes(archive: Archive) -> dict[str, int]:
    found = {}
    for file in archive.files:
        with suppress(FileNotFoundError):
            found[file.path] = Path(file.path).stat().st_ino
    return found


def _add(file: h5py.File, archive: Archive, stream: StoredStream, start: Edge, stop: Edge) -> int:
    group = file.create_group(stream.name)
    group.attrs.update(
        NX_class="NXdata",
        signal="records",
        period_turns=stream.period,
        lanes=[lane.name for lane in stream.lanes],
        units=[lane.unit for lane in stream.lanes],
    )
    group.parent.attrs["NX_class"] = "NXentry"
    files = _files(archive, stream, start, stop)
    wanted = sum(end - first for one in files for first, end in one.spans)
    layout = h5py.VirtualLayout((wanted,), stream.record_type)
    at = 0
    for one in files:
        for source, first, count in _sources(group, stream, one):
            layout[at : at + count] = source[first : first + count]
            at += count
    missing = np.zeros((), stream.record_type)
    missing["turn"] = TURN_NONE
    group.create_virtual_dataset("records", layout, fillvalue=missing)
    return at


def _sources(group: h5py.Group, stream: StoredStream, one: OfFile) -> Iterator[tuple[h5py.VirtualSource, int, int]]:
    """Datasets with what is wanted of a file: each, the first record in it, and how many."""
    try:
        beside = _write_beside(stream, one)
    except OSError:  # an archive that may only be read
        where, parts = ".", _externals(group, stream, one.path, one.pieces)
    else:
        where, parts = str(beside.absolute()), _parts(beside, stream.name)
    for first, end in one.spans:
        begin = 0
        for name, count in parts:
            low, high = max(first, begin), min(end, begin + count)
            if low < high:
                yield h5py.VirtualSource(where, name, (count,), stream.record_type), low - begin, high - low
            begin += count


def _parts(beside: Path, stream: str) -> list[tuple[str, int]]:
    with h5py.File(beside, "r") as file:
        group = file[stream]
        return [(f"{group.name}/{name}", len(group[name])) for name in sorted(group)]


def _write_beside(stream: StoredStream, one: OfFile) -> Path:
    """Writes the file beside one of the archive's, or adds to it what has come since; what it had stays as it is."""
    beside = one.path.with_name(one.path.name + SUFFIX)
    new = beside.with_name(f".{beside.name}.{os.getpid()}")
    inode = one.path.stat().st_ino
    try:
        if beside.exists() and _inode_of(beside) == inode:
            shutil.copyfile(beside, new)
        with h5py.File(new, "a") as file:
            file.attrs["inode"] = inode
            group = file.require_group(stream.name)
            had = sum(len(group[name]) for name in group)
            _externals(group, stream, one.path, _behind(one.pieces, had * stream.record_bytes))
        new.replace(beside)
    finally:
        new.unlink(missing_ok=True)
    return beside


def _inode_of(beside: Path) -> int:
    with h5py.File(beside, "r") as file:
        return int(file.attrs["inode"])


def _behind(pieces: list[Piece], size: int) -> list[Piece]:
    """Those behind the first ones of that size in all."""
    ends = np.cumsum([piece.bytes for piece in pieces])
    return pieces[int(np.searchsorted(ends, size, "right")) :]


def _externals(group: h5py.Group, stream: StoredStream, path: Path, pieces: list[Piece]) -> list[tuple[str, int]]:
    """Adds datasets that are these pieces of one of the archive's files; their names, and how many records each has."""
    made = []
    for i in range(0, len(pieces), MOST_PIECES):
        part = pieces[i : i + MOST_PIECES]
        count = sum(piece.bytes for piece in part) // stream.record_bytes
        external = [(str(path.absolute()), *piece) for piece in part]
        name = f"part{len(group):04d}"
        made.append((group.create_dataset(name, (count,), stream.record_type, external=external).name, count))
    return made


def _files(archive: Archive, stream: StoredStream, start: Edge, stop: Edge) -> list[OfFile]:
    """What is wanted of each file. Raises ArchiveArgument for compressed ones, and where nothing is."""
    files, blocks = archive.files, stream.blocks
    wanted = stream.ranges(start, stop)
    found: dict[int, OfFile] = {}
    for block in blocks:
        number = int(block["file"])
        one = found.setdefault(number, OfFile(Path(files[number].path)))
        begin = sum(piece.bytes for piece in one.pieces) // stream.record_bytes
        one.pieces.append(Piece(int(block["offset"]) + BLOCK_HEADER_BYTES, int(block["count"]) * stream.record_bytes))
        begins = int(block["first_turn"])
        ends = begins + int(block["count"]) * stream.period
        for it in wanted:
            first, last = max(begins, it.first_turn), min(ends, it.first_turn + it.records * stream.period)
            if it.run != block["run"] or first >= last:
                continue
            if block["codec"] != 0:
                raise ArchiveArgument(
                    f"{stream.name}: {one.path} is compressed, and HDF5 cannot see its records in place; export them "
                    f"without --live, or record the log without `compress`"
                )
            low = begin + (first - begins) // stream.period
            _extend(one.spans, low, low + (last - first) // stream.period)
    kept = [one for one in found.values() if one.spans]
    if not kept:
        raise ArchiveArgument(f"{stream.name}: nothing was recorded in this span")
    return kept


def _extend(spans: list[tuple[int, int]], first: int, end: int) -> None:
    """Adds one, or makes the last one longer."""
    if spans and spans[-1][1] == first:
        spans[-1] = (spans[-1][0], end)
    else:
        spans.append((first, end))
