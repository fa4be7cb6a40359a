# SPDX-License-Identifier: Apache-2.0
"""Spans that are longer than memory, as xarray and Dask have them: a piece is read when it is computed.

Pieces are read where they are computed: by threads here, or by workers of a cluster, which open the archive by path.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ringmaster.archive.archive import Archive
from ringmaster.archive.pieces import Piecewise
from ringmaster.archive.stored import Range
from ringmaster.archive.stream import StoredReduction, StoredStream
from ringmaster.archive.times import Edge
from ringmaster.errors import ArchiveArgument

if TYPE_CHECKING:
    import xarray

PIECE_RECORDS = 1 << 20
"""64 MiB of records, and 8 MiB for each lane of them."""

F64 = npt.NDArray[np.float64]


class Span(NamedTuple):
    """Consecutive turns of a turn-counter epoch."""

    turn_epoch: int
    first_turn: int
    records: int


class Source(NamedTuple):
    """A stream or reduction, as another process finds it."""

    path: str
    name: str
    step: int | None

    def open(self) -> StoredStream | StoredReduction:
        """It, of an archive that this process has open."""
        archive = _opened(self.path)
        return archive[self.name] if self.step is None else archive.reduced(self.name, self.step)


@lru_cache(maxsize=8)
def _opened(path: str) -> Archive:
    return Archive(path)


def to_xarray(
    archive: Archive,
    names: Sequence[str],
    start: Edge = None,
    stop: Edge = None,
    step: int | None = None,
    records: int = PIECE_RECORDS,
) -> "xarray.Dataset":
    """The streams of these names, or their reductions of ``step`` turns: variable ``values`` over (instrument, record,
    lane), f8, NaN where a record was not had; coordinates ``turn``, ``epoch`` and ``utc`` over record.

    All streams have one rate and the same lanes. Raises ArchiveArgument where they do not.
    """
    try:
        import dask.array
        import xarray
    except ImportError:
        raise ArchiveArgument("lazy arrays need xarray and dask: install `ringmaster[archive]`") from None
    map_blocks: Any = dask.array.map_blocks
    sources = [Source(archive.path, name, step) for name in names]
    stored = [archive[name] if step is None else archive.reduced(name, step) for name in names]
    parts = [Piecewise.of(it, start, stop) for it in stored]
    _check_alike(parts)
    pieces = _pieces(_spans(parts), records, parts[0].period)
    lengths = tuple(piece.records for piece in pieces)
    lanes = parts[0].lanes

    def of_each_piece(what: Any, dtype: str, **more: Any) -> Any:
        return map_blocks(what, chunks=(lengths,), dtype=dtype, meta=np.empty(0, dtype), pieces=pieces, **more)

    values = map_blocks(
        _values,
        chunks=((1,) * len(parts), lengths, (len(lanes),)),
        dtype="f8",
        meta=np.empty((0, 0, 0)),
        pieces=pieces,
        sources=sources,
    )
    return xarray.Dataset(
        {"values": (("instrument", "record", "lane"), values)},
        coords={
            "instrument": list(names),
            "lane": [lane.name for lane in lanes],
            "unit": ("lane", [lane.unit for lane in lanes]),
            "turn": ("record", of_each_piece(_turns, "u8", period=parts[0].period)),
            "epoch": ("record", of_each_piece(_epochs, "u2")),
            "utc": ("record", of_each_piece(_times, "M8[ns]", source=sources[0])),
        },
        attrs={"archive": archive.path, "period_turns": parts[0].period, "turn_rate_hz": archive.turn_rate_hz},
    )


def _check_alike(parts: Sequence[Piecewise]) -> None:
    if not parts or not any(part.records for part in parts):
        raise ArchiveArgument("nothing was recorded in this span; `ringmaster archive ls` shows what was")
    names = [lane.name for lane in parts[0].lanes]
    for part in parts[1:]:
        if part.period != parts[0].period or [lane.name for lane in part.lanes] != names:
            raise ArchiveArgument(f"{part.name} has another rate or other lanes than {parts[0].name}: take them apart")


def _spans(parts: Sequence[Piecewise]) -> list[Span]:
    """What any of the streams has, by turn-counter epoch, in the order in which it was recorded."""
    first: dict[int, int] = {}
    end: dict[int, int] = {}
    for part in parts:
        runs = part.source.runs
        for one in part.ranges:
            epoch = runs[one.run].turn_epoch
            last = one.first_turn + one.records * part.period
            first[epoch] = min(first.get(epoch, one.first_turn), one.first_turn)
            end[epoch] = max(end.get(epoch, last), last)
    return [Span(epoch, first[epoch], (end[epoch] - first[epoch]) // parts[0].period) for epoch in first]


def _pieces(spans: Sequence[Span], records: int, period: int) -> list[Span]:
    return [
        Span(span.turn_epoch, span.first_turn + at * period, min(records, span.records - at))
        for span in spans
        for at in range(0, span.records, records)
    ]


def _range(source: StoredStream | StoredReduction, piece: Span) -> Range | None:
    """The piece in the newest run of its epoch that reaches into it."""
    end = piece.first_turn + piece.records * source.period
    for i, run in reversed(list(enumerate(source.runs))):
        if run.turn_epoch == piece.turn_epoch and run.first_turn < end and run.last_turn >= piece.first_turn:
            return Range(i, piece.first_turn, piece.records)
    return None


def _values(block_id: tuple[int, ...], pieces: list[Span], sources: list[Source]) -> F64:
    """One piece of one stream, shape (1, records, lanes)."""
    source, piece = sources[block_id[0]].open(), pieces[block_id[1]]
    part = Piecewise(source, [one] if (one := _range(source, piece)) is not None else [])
    lanes = [lane.name for lane in part.lanes]
    out = np.full((1, piece.records, len(lanes)), np.nan)
    for window in part.windows(piece.records):
        for i, lane in enumerate(lanes):
            out[0, :, i] = window.values(lane)
    return out


def _turns(block_id: tuple[int, ...], pieces: list[Span], period: int) -> npt.NDArray[np.uint64]:
    piece = pieces[block_id[0]]
    return np.uint64(piece.first_turn) + np.arange(piece.records, dtype=np.uint64) * np.uint64(period)


def _epochs(block_id: tuple[int, ...], pieces: list[Span]) -> npt.NDArray[np.uint16]:
    piece = pieces[block_id[0]]
    return np.full(piece.records, piece.turn_epoch, np.uint16)


def _times(block_id: tuple[int, ...], pieces: list[Span], source: Source) -> npt.NDArray[np.datetime64]:
    piece = pieces[block_id[0]]
    stored = source.open()
    one = _range(stored, piece)
    if one is None:
        return np.full(piece.records, np.datetime64("NaT"), "M8[ns]")
    return stored.times(one)
