# SPDX-License-Identifier: Apache-2.0
"""An HDF5 file that refers to the records in the files of an archive, without a copy of them.

::

    /bpm01/turn/records   structures of turn, tag and the lanes: external storage in the archive's files

It has the blocks that were written when it was made, as long as the archive keeps them. Only what is not compressed can
be seen so. A record that is missing has turn 2^64 − 1, and turns that were not recorded are left out.
"""

from pathlib import Path

import h5py
import numpy as np

from ringmaster.archive.archive import Archive
from ringmaster.archive.stream import StoredStream
from ringmaster.archive.times import Edge
from ringmaster.errors import ArchiveArgument

BLOCK_HEADER_BYTES = 64
MOST_PIECES = 1000
"""Of one dataset: HDF5 has 64 KiB for the list of them. What has more is several datasets, joined by a virtual one."""

Piece = tuple[str, int, int]
"""File, offset, bytes."""


def write_live(path: Path, archive: Archive, streams: list[StoredStream], start: Edge, stop: Edge) -> int:
    """Writes the file; returns the number of records in it. Raises FileExistsError, ArchiveArgument."""
    with h5py.File(path, "x") as file:
        file.attrs.update(NX_class="NXroot", format="ringmaster live", archive=archive.path)
        return sum(_add(file.create_group(stream.name), archive, stream, start, stop) for stream in streams)


def _add(group: h5py.Group, archive: Archive, stream: StoredStream, start: Edge, stop: Edge) -> int:
    group.attrs.update(
        NX_class="NXdata",
        signal="records",
        period_turns=stream.period,
        lanes=[lane.name for lane in stream.lanes],
        units=[lane.unit for lane in stream.lanes],
    )
    group.parent.attrs["NX_class"] = "NXentry"
    pieces = _pieces(archive, stream, start, stop)
    parts = [pieces[i : i + MOST_PIECES] for i in range(0, len(pieces), MOST_PIECES)]
    if len(parts) == 1:
        return _external(group, "records", stream, parts[0])
    counts = [_external(group, f"part{i:04d}", stream, part) for i, part in enumerate(parts)]
    layout = h5py.VirtualLayout((sum(counts),), stream.record_type)
    ends = np.cumsum([0, *counts])
    for i, count in enumerate(counts):
        whole = h5py.VirtualSource(".", f"{group.name}/part{i:04d}", (count,), stream.record_type)
        layout[ends[i] : ends[i + 1]] = whole
    group.create_virtual_dataset("records", layout)
    return int(ends[-1])


def _external(group: h5py.Group, name: str, stream: StoredStream, pieces: list[Piece]) -> int:
    count = sum(size for _, _, size in pieces) // stream.record_bytes
    group.create_dataset(name, (count,), stream.record_type, external=pieces)
    return count


def _pieces(archive: Archive, stream: StoredStream, start: Edge, stop: Edge) -> list[Piece]:
    """The records of the span in the archive's files. Raises ArchiveArgument for compressed ones, and for none."""
    files = archive.files
    blocks = stream.blocks
    pieces: list[Piece] = []
    for one in stream.ranges(start, stop):
        end = one.first_turn + one.records * stream.period
        for block in blocks[blocks["run"] == one.run]:
            first = max(int(block["first_turn"]), one.first_turn)
            last = min(int(block["first_turn"]) + int(block["count"]) * stream.period, end)
            if first >= last:
                continue
            path = files[block["file"]].path
            if block["codec"] != 0:
                raise ArchiveArgument(
                    f"{stream.name}: {path} is compressed, and HDF5 cannot see its records in place; export them "
                    f"without --live, or record the log without `compress`"
                )
            skipped = (first - int(block["first_turn"])) // stream.period
            offset = int(block["offset"]) + BLOCK_HEADER_BYTES + skipped * stream.record_bytes
            size = (last - first) // stream.period * stream.record_bytes
            pieces.append((str(Path(path).absolute()), offset, size))
    if not pieces:
        raise ArchiveArgument(f"{stream.name}: nothing was recorded in this span")
    return pieces
