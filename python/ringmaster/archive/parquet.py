# SPDX-License-Identifier: Apache-2.0
"""Windows in a Parquet file: a row for each record; the column ``stream`` says of which stream, as ``turn_epoch``."""

from pathlib import Path
from types import TracebackType
from typing import Any

from ringmaster.archive.window import ArchiveWindow
from ringmaster.errors import ArchiveArgument
from ringmaster.recordings.export import Exported


class ParquetWriter:
    """All streams of a file have the same lanes: a table has one set of columns."""

    def __init__(self, path: Path) -> None:
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            raise ArchiveArgument("Parquet needs pyarrow: install `ringmaster[archive]`") from None
        self._arrow, self._parquet = pyarrow, pyarrow.parquet
        self._path = path
        self._writer: Any = None
        self._stream: Exported | None = None
        self._lanes: tuple[Any, ...] = ()

    def __enter__(self) -> "ParquetWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, it: BaseException | None, at: TracebackType | None) -> None:
        if self._writer is not None:
            self._writer.close()

    def begin(self, stream: Exported) -> None:
        """What is appended from here on is of this stream."""
        if self._stream is not None and stream.lanes != self._lanes:
            raise ArchiveArgument(
                f"{self._path}: {stream.name} has other lanes than {self._stream.name}; a table of Parquet has one set "
                f"of columns: export them to files of their own"
            )
        self._stream, self._lanes = stream, stream.lanes

    def append(self, window: ArchiveWindow) -> None:
        """More records; lanes of those that were not had are null."""
        assert self._stream is not None, "begin() a stream first"
        arrow = self._arrow
        columns = {
            "stream": arrow.repeat(arrow.scalar(self._stream.name), len(window)),
            "turn": arrow.array(window.turn),
            "turn_epoch": arrow.array(window.epochs),
            "utc": arrow.array(window.utc, type=arrow.timestamp("ns", tz="UTC")),
            "ok": arrow.array(window.ok),
            "status": arrow.array(window.status),
        }
        for lane in self._lanes:
            columns[lane.name] = arrow.array(window[lane.name], mask=~window.ok)
        units = {f"unit {lane.name}": lane.unit for lane in self._lanes}
        table = arrow.table(columns).replace_schema_metadata(units)
        if self._writer is None:
            self._writer = self._parquet.ParquetWriter(self._path, table.schema)
        self._writer.write_table(table)
