# SPDX-License-Identifier: Apache-2.0
"""Recorded streams as a folder of files: a head and then records, as simulation/recorded_file.h lays them out.

``ringmaster simulate --archive FOLDER`` replays an application from them. Here they are written, from streams that are
live or from wherever records of 64 bytes come.
"""

from collections.abc import Iterable
from io import BufferedWriter
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from ringmaster.errors import StreamRestarted
from ringmaster.fabric import layout
from ringmaster.fabric.stream import Stream
from ringmaster.fabric.window import ReadResult

MAGIC = int.from_bytes(b"RMRECORD", "little")
VERSION = 1
HEAD_BYTES = 4096
HEAD = np.dtype(
    {
        "names": ["magic", "version", "abi_version", "name", "stream"],
        "formats": ["<u8", "<u4", "<u4", f"S{layout.NAME_BYTES}", f"V{layout.STREAM.itemsize}"],
        "offsets": [0, 8, 12, 16, 128],
        "itemsize": HEAD_BYTES,
    }
)
SUFFIX = ".records"


def head_of(name: str, described: bytes) -> bytes:
    """The first page of a file: the stream's name, and its head as it lies in shared memory."""
    head = np.zeros((), HEAD)
    head["magic"], head["version"], head["abi_version"] = MAGIC, VERSION, layout.ABI_VERSION
    head["name"], head["stream"] = name.encode(), np.void(described)
    return head.tobytes()


class StreamRecorder:
    """Copies what live streams get into a folder of files, as often as ``follow`` is called, until it is closed.

    Streams are read in the order in which they are given: first those that speak of others, such as an application's
    `decision`, whose other streams and inputs are there by then. It begins with the oldest records that there are. What
    was overwritten before it was read is counted in ``lost``: call it before a stream's ring has gone once round.
    """

    def __init__(self, folder: Path, streams: Iterable[Stream]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._streams = [(stream, self._open(folder, stream)) for stream in streams]
        self._next: dict[str, int] = {}
        self._epoch = {stream.name: stream.turn_epoch for stream, _ in self._streams}
        self.lost = 0
        """Records that were overwritten before they were read."""

    @staticmethod
    def _open(folder: Path, stream: Stream) -> BufferedWriter:
        file = (folder / (stream.name.replace("/", ".") + SUFFIX)).open("wb")
        file.write(head_of(stream.name, stream.described))
        return file

    def follow(self) -> None:
        """Copies all that has come since the last call.

        Raises StreamRestarted where the turns of a stream have begun anew; what was copied until then is whole.
        """
        for stream, file in self._streams:
            if stream.turn_epoch != self._epoch[stream.name]:
                raise StreamRestarted(
                    f"{stream.name}: its turns have begun anew; close this recording, and begin another in a new folder"
                )
            head, oldest = stream.head, stream.oldest()
            if head is None or oldest is None:
                continue
            first = self._next.get(stream.name, oldest)
            if first < oldest:
                self.lost += (oldest - first) // stream.period
                first = oldest
            count = (head - first) // stream.period + 1
            if count > 0:
                file.write(self._copy(stream, first, min(count, stream.capacity)).tobytes())
                self._next[stream.name] = head + stream.period

    def _copy(self, stream: Stream, first: int, count: int) -> npt.NDArray[np.void]:
        window = stream.read(first, count)
        self.lost += int(np.count_nonzero(window.result == ReadResult.LAPPED))
        records: npt.NDArray[np.void] = window.records[window.ok]
        return records

    def close(self) -> None:
        """Ends all files."""
        for _, file in self._streams:
            file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
