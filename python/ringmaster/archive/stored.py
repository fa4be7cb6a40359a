# SPDX-License-Identifier: Apache-2.0
"""An object of an archive: a stream or a reduction of one. It reads its records by turn or by time."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ringmaster.archive._library import BLOCK, call, description, ffi, lib, pointer, text
from ringmaster.archive.times import END_NS, Edge, Time, datetimes, utc_ns
from ringmaster.errors import ArchiveArgument, ArchiveChanged
from ringmaster.fabric import layout
from ringmaster.fabric.layout import Calibrated, InstrumentKind, LaneType
from ringmaster.fabric.stream import Lane, delay_turns
from ringmaster.fabric.window import ReadResult

if TYPE_CHECKING:
    from ringmaster.archive.archive import Archive

MOST_BYTES = 2**32
"""A window that would take more is refused."""


class Run(NamedTuple):
    """A stretch in which the turns grow: the machine's turn counter did not restart in it."""

    first_turn: int
    last_turn: int
    first_tai_ns: int
    last_tai_ns: int
    turn_epoch: int
    tai_minus_utc_s: int

    @property
    def first_utc_ns(self) -> int:
        """Time of its first record."""
        return self.first_tai_ns - self.tai_minus_utc_s * 10**9

    def is_of(self, other: "Run") -> bool:
        """Whether it is what has become of another one, which grew, or whose oldest records are gone."""
        return (
            self.turn_epoch == other.turn_epoch
            and self.first_turn <= other.last_turn
            and self.last_turn >= other.first_turn
            and self.last_tai_ns >= other.first_tai_ns
            and self.first_tai_ns <= other.last_tai_ns
        )

    @property
    def last_utc_ns(self) -> int:
        """Time of its last record."""
        return self.last_tai_ns - self.tai_minus_utc_s * 10**9


class Range(NamedTuple):
    """Consecutive records of a run."""

    run: int
    first_turn: int
    records: int


@dataclass(frozen=True)
class Raw:
    """Records as they were read, of one range or of several behind each other."""

    turn: npt.NDArray[np.uint64]
    result: npt.NDArray[np.uint8]
    records: npt.NDArray[np.void]
    epochs: npt.NDArray[np.uint16]
    tai_ns: npt.NDArray[np.uint64]
    utc_ns: npt.NDArray[np.uint64]


class StoredObject:
    """What streams and reductions have in common."""

    def __init__(self, archive: "Archive", number: int) -> None:
        self._archive = archive
        self._number = number
        what = description(self._its)
        self.name = text(what.name)
        """ "bpm01/turn"; that of a reduction is its stream's."""
        self.log = text(self._its.log)
        """Name of the log that it is in."""
        self.instrument, _, self.rate = self.name.rpartition("/")
        self.period = int(what.period_turns)
        """Turns from one record or step to the next."""
        self.record_bytes = int(what.record_bytes)
        self.instrument_kind = InstrumentKind(what.instrument_kind)
        self.instrument_id = int(what.instrument_id)
        self.calibrated = Calibrated(what.calibrated)
        self.filter = text(what.filter)
        self.group_delay_turns = float(what.group_delay_turns)
        self.closing_delay_turns = float(what.closing_delay_turns)
        """Turns from a record's turn to the arrival of its last input."""
        self.delay_turns = delay_turns(self.instrument_kind, self.group_delay_turns, self.closing_delay_turns)
        """From what a record is of to its turn: 0 of instruments, half a window of a tune."""
        self.gain = float(what.gain)
        self.lanes = tuple(
            Lane(text(lane.name), text(lane.unit), LaneType(lane.type)) for lane in what.lane[0 : what.lane_count]
        )

    @property
    def _its(self) -> Any:
        return self._archive.object_at(self._number)

    @property
    def stored_bytes(self) -> int:
        """On the disk."""
        return int(self._its.stored_bytes)

    @property
    def plain_bytes(self) -> int:
        """Decoded."""
        return int(self._its.plain_bytes)

    @property
    def records(self) -> int:
        """Records or steps, with those that are missing within."""
        return int(self._its.records)

    @property
    def runs(self) -> tuple[Run, ...]:
        """In the order in which they were recorded."""
        with self._archive.lock:
            its = self._its
            return tuple(
                Run(r.first_turn, r.last_turn, r.first_tai_ns, r.last_tai_ns, r.turn_epoch, r.tai_minus_utc_s)
                for r in its.run[0 : its.run_count]
            )

    @property
    def blocks(self) -> npt.NDArray[np.void]:
        """The blocks that hold it: count, stored_bytes, first_turn, offset, file and so on."""
        with self._archive.lock:
            its = self._its
            if its.block_count == 0:
                return np.empty(0, BLOCK)
            return np.frombuffer(ffi.buffer(its.block, its.block_count * BLOCK.itemsize), BLOCK).copy()

    def ranges(self, start: Edge, stop: Edge, turn_epoch: int | None = None) -> list[Range]:
        """What of the object lies in [start, stop): turns, or times. Empty where nothing does."""
        if start is None and stop is None:
            return [Range(i, run.first_turn, self._records(run)) for i, run in self._runs_of(turn_epoch)]
        by_turn = [isinstance(edge, int | np.integer) for edge in (start, stop) if edge is not None]
        if all(by_turn):
            return self._by_turn(start, stop, turn_epoch)  # type: ignore[arg-type]
        if any(by_turn):
            raise ArchiveArgument(f"{self.name}: one end is a turn and the other a time; give two of a kind")
        return self._by_time(start, stop)  # type: ignore[arg-type]

    def _records(self, run: Run) -> int:
        return (run.last_turn - run.first_turn) // self.period + 1

    def _runs_of(self, turn_epoch: int | None) -> list[tuple[int, Run]]:
        return [(i, run) for i, run in enumerate(self.runs) if turn_epoch in (None, run.turn_epoch)]

    def _by_turn(self, start: int | None, stop: int | None, turn_epoch: int | None) -> list[Range]:
        """In the newest run that has any of these turns; of that epoch, where one is given."""
        for i, run in reversed(self._runs_of(turn_epoch)):
            begin = run.first_turn if start is None else max(int(start), run.first_turn)
            end = run.last_turn + 1 if stop is None else min(int(stop), run.last_turn + 1)
            first = begin + -(begin - run.first_turn) % self.period
            if first < end:
                return [Range(i, first, -(-(end - first) // self.period))]
        return []

    def _by_time(self, start: Time | None, stop: Time | None) -> list[Range]:
        begin = 0 if start is None else utc_ns(start)
        end = END_NS if stop is None else utc_ns(stop)
        most = max(len(self.runs), 1)
        found = ffi.new("struct rm_archive_range[]", most)
        with self._archive.lock:
            count = lib.rm_archive_between(self._archive.handle, self._number, lib.RM_TIME_UTC, begin, end, found, most)
        return [Range(r.run, r.first_turn, r.count) for r in found[0 : min(count, most)]]

    @cached_property
    def record_type(self) -> np.dtype[np.void]:
        """One record of 64 bytes, or one step."""
        raise NotImplementedError

    def read_ranges(self, ranges: list[Range]) -> Raw:
        """Reads them, one behind the other."""
        count = sum(r.records for r in ranges)
        if count * self.record_bytes > MOST_BYTES:
            raise ArchiveArgument(
                f"{self.name}: {count} records are {count * self.record_bytes / 2**30:.1f} GiB in memory; ask for "
                f"fewer, for .view(start, stop, points=2000), or lazily by archive.to_xarray()"
            )
        runs = self.runs
        raw = Raw(
            turn=np.empty(count, np.uint64),
            result=np.full(count, ReadResult.NOT_RECORDED, np.uint8),
            records=np.zeros(count, self.record_type),
            epochs=np.empty(count, np.uint16),
            tai_ns=np.zeros(count, np.uint64),
            utc_ns=np.zeros(count, np.uint64),
        )
        at = 0
        for one in ranges:
            part = slice(at, at + one.records)
            self._read_range(one, raw, part)
            raw.epochs[part] = runs[one.run].turn_epoch  # of the runs before: a look in between may renumber them
            for times in (raw.tai_ns, raw.utc_ns):
                _fill_times(times[part], self._step_ns)
            at += one.records
        return raw

    def times(self, one: Range) -> npt.NDArray[np.datetime64]:
        """UTC of each record of a range, by the index alone."""
        utc_ns = np.zeros(one.records, np.uint64)
        self._ask(one, {"utc_ns": pointer("uint64_t *", utc_ns)})
        _fill_times(utc_ns, self._step_ns)
        return datetimes(utc_ns)

    @property
    def _step_ns(self) -> float:
        return self.period / self._archive.turn_rate_hz * 1e9

    def _read_range(self, one: Range, raw: Raw, part: slice) -> None:
        raw.turn[part] = np.uint64(one.first_turn) + np.arange(one.records, dtype=np.uint64) * np.uint64(self.period)
        answer = {
            "records": pointer("void *", raw.records[part]),
            "results": pointer("uint8_t *", raw.result[part]),
            "tai_ns": pointer("uint64_t *", raw.tai_ns[part]),
            "utc_ns": pointer("uint64_t *", raw.utc_ns[part]),
        }
        self._ask(one, answer)

    def _ask(self, one: Range, answer: dict[str, Any]) -> None:
        """Where files were removed or stored anew since, it looks again; what is gone by then is not recorded."""
        with self._archive.lock:
            run = self.runs[one.run]
            try:
                self._call(one, answer)
            except ArchiveChanged:
                self._archive.refresh()
                again = next((i for i, now in enumerate(self.runs) if now.is_of(run)), None)
                if again is not None:
                    self._call(one._replace(run=again), answer)

    def _call(self, one: Range, answer: dict[str, Any]) -> None:
        request = {"object": self._number, "run": one.run, "first_turn": one.first_turn, "count": one.records}
        call(
            lib.rm_archive_read,
            self._archive.handle,
            ffi.new("struct rm_archive_request *", request),
            ffi.new("struct rm_archive_answer *", answer),
        )


def _fill_times(times: npt.NDArray[np.uint64], step_ns: float) -> None:
    """Gives turns without a block their time: between their neighbours, or at the nominal rate before and behind."""
    known = np.flatnonzero(times)
    if len(known) in (0, len(times)):
        return
    first, last, base = known[0], known[-1], times[known[0]]
    places = np.arange(len(times))
    since = np.interp(places, known, (times[known] - base).astype(np.float64))
    since[:first] = (places[:first] - first) * step_ns
    since[last:] += (places[last:] - last) * step_ns
    gaps = times == 0
    times[gaps] = (base.astype(np.int64) + since[gaps].astype(np.int64)).astype(np.uint64)


def lane_type(lane: Lane) -> str:
    """NumPy's name of a lane's type."""
    return layout.LANE_FORMATS[lane.type]
