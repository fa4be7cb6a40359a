# SPDX-License-Identifier: Apache-2.0
"""An archive that was opened.

::

    archive = ringmaster.Archive("/archive")
    window = archive["bpm01/turn"]["2026-11-25T14:00:00":"2026-11-25T14:00:01"]
    print(window.values("x1").std(), archive.marks)
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from fnmatch import fnmatchcase
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

from ringmaster.archive import events
from ringmaster.archive._library import call, description, ffi, lib, listed, text
from ringmaster.archive.images import StoredCamera, StoredFrame
from ringmaster.archive.stored import StoredObject
from ringmaster.archive.stream import StoredReduction, StoredStream, choose_view
from ringmaster.archive.times import END_NS, Edge, Time, iso
from ringmaster.archive.window import ArchiveWindow, ReducedWindow
from ringmaster.errors import ArchiveChanged, ObjectNotFound
from ringmaster.fabric import layout
from ringmaster.fabric.calibration import Calibration
from ringmaster.fabric.naming import not_found

if TYPE_CHECKING:
    import xarray

T = TypeVar("T")
SHOWN_BY = "ringmaster archive ls"
StoredT = TypeVar("StoredT", StoredStream, StoredReduction, StoredCamera)
_OF_KIND: dict[int, type[StoredStream] | type[StoredReduction] | type[StoredCamera]] = {
    lib.RM_BLOCK_RECORDS: StoredStream,
    lib.RM_BLOCK_REDUCED: StoredReduction,
    lib.RM_BLOCK_IMAGE: StoredCamera,
}


class MarkReason(IntEnum):
    """Why something was not recorded: enum rm_mark_reason."""

    BEGAN = 1
    LAPPED = 2
    DISK_FULL = 3
    DISK_SLOW = 4
    DISK_FAILED = 5
    RESTARTED = 6
    OWNER_GONE = 7
    REOPENED = 8
    CLOCK_STEPPED = 9
    UNKNOWN = 0


_REASONS = {int(reason): reason for reason in MarkReason}


@dataclass(frozen=True)
class Mark:
    """What is missing, and why."""

    reason: MarkReason
    log: str
    name: str | None
    """Of the stream; None: all of the log."""
    first_turn: int | None
    last_turn: int | None
    records: int
    """As far as they are known."""
    turn_epoch: int
    utc_ns: int
    """When it was written."""
    error: int
    """The system's number of an error, or 0."""

    def __str__(self) -> str:
        turns = "" if self.first_turn is None else f", from turn {self.first_turn} on"
        if self.first_turn is not None and self.last_turn is not None:
            turns = f", turns {self.first_turn}–{self.last_turn}"
        cause = f" ({os.strerror(self.error)})" if self.error else ""
        what = self.name or f"log {self.log}"
        return f"{iso(self.utc_ns)} {what}: {self.reason.name.lower().replace('_', ' ')}{cause}{turns}"


@dataclass(frozen=True)
class Damage:
    """A part of a file that cannot be read."""

    path: str
    offset: int
    bytes: int
    what: str


@dataclass(frozen=True)
class StoredFile:
    """A file of the archive."""

    path: str
    log: str
    number: int
    bytes: int
    read_bytes: int
    """How far it was looked at."""
    sealed: bool
    begun_tai_ns: int
    tai_minus_utc_s: int


class Archive:
    """A directory that `ringmaster record` writes, an event's folder in it, or one file. One that grows is read, too.

    ``archive["bpm01/turn"]`` is the stream; of several that were called so, the one that was recorded last. Threads may
    share an archive; processes open their own.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self.lock = RLock()
        """Held by each call into the library."""
        opened = ffi.new("struct rm_archive **")
        call(lib.rm_archive_open, os.fsencode(self.path), opened)
        self.handle: Any = ffi.gc(opened[0], lib.rm_archive_close)
        """The library's."""
        self._made: list[StoredStream | StoredReduction | StoredCamera | None] = []

    def __repr__(self) -> str:
        return f"<archive {self.path}: {len(self.streams)} streams>"

    def __reduce__(self) -> tuple[type["Archive"], tuple[str]]:
        return Archive, (self.path,)

    def __enter__(self) -> "Archive":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes its files. What was read stays."""
        with self.lock:
            ffi.release(self.handle)

    def refresh(self) -> None:
        """Looks for what was recorded since."""
        with self.lock:
            call(lib.rm_archive_refresh, self.handle)

    def fresh(self, read: Callable[[], T]) -> T:
        """What ``read`` gives; where files were removed or stored anew since, it is called again after another look."""
        with self.lock:
            try:
                return read()
            except ArchiveChanged:
                self.refresh()
                return read()

    def object_at(self, number: int) -> Any:
        """The library's struct rm_archive_object."""
        return lib.rm_archive_object_at(self.handle, number)

    def file_at(self, number: int) -> Any:
        """The library's struct rm_archive_file."""
        return lib.rm_archive_files(self.handle, ffi.new("uint32_t *"))[number]

    def _numbers(self, kind: int) -> Iterator[int]:
        for number in range(lib.rm_archive_object_count(self.handle)):
            if description(self.object_at(number)).kind == kind:
                yield number

    def _stored(self, of_kind: type[StoredT]) -> tuple[StoredT, ...]:
        """What a number stands for never changes, so each is made once."""
        for number in range(len(self._made), lib.rm_archive_object_count(self.handle)):
            made = _OF_KIND.get(description(self.object_at(number)).kind)
            self._made.append(None if made is None else made(self, number))
        return tuple(it for it in self._made if isinstance(it, of_kind))

    @property
    def streams(self) -> tuple[StoredStream, ...]:
        """All of them, also those whose description has changed since."""
        return self._stored(StoredStream)

    @property
    def all_reductions(self) -> tuple[StoredReduction, ...]:
        """Of all streams."""
        return self._stored(StoredReduction)

    def __getitem__(self, name: str) -> StoredStream:
        return self._newest([stream for stream in self.streams if stream.name == name], name)

    @property
    def cameras(self) -> tuple[StoredCamera, ...]:
        """All of which it has frames."""
        return self._stored(StoredCamera)

    def camera(self, name: str) -> StoredCamera:
        """One of them; of two logs the one that has more of its frames."""
        of_that_name = [camera for camera in self.cameras if camera.name == name]
        if not of_that_name:
            raise not_found("camera of the archive", name, sorted({camera.name for camera in self.cameras}), SHOWN_BY)
        return max(of_that_name, key=lambda camera: camera.records)

    def images(self, name: str, start: Edge = None, stop: Edge = None, by: str = "turn") -> Iterator[StoredFrame]:
        """The frames of a camera in [start, stop): times in UTC, turns, or, ``by`` "number", numbers of frames."""
        return self.camera(name).frames(start, stop, by)

    def __contains__(self, name: object) -> bool:
        return any(stream.name == name for stream in self.streams)

    def _newest(self, of_that_name: list[StoredStream], name: str) -> StoredStream:
        if not of_that_name:
            raise not_found("stream of the archive", name, sorted({stream.name for stream in self.streams}), SHOWN_BY)
        return max(of_that_name, key=_last_tai_ns)

    def reductions(self, name: str) -> dict[int, StoredReduction]:
        """Those of a stream, by their steps in turns; of two of the same step the one that was recorded last."""
        of_it = sorted((it for it in self.all_reductions if it.name == name), key=_last_tai_ns)
        return dict(sorted({it.period: it for it in of_it}.items()))

    def reduced(self, name: str, step: int) -> StoredReduction:
        """A stream's reduction of that many turns a step."""
        there = self.reductions(name)
        if step not in there:
            words = ", ".join(map(str, there)) or "none"
            raise ObjectNotFound(f"{name}: no reduction of {step} turns; there are: {words}")
        return there[step]

    def view(
        self, name: str, start: Edge = None, stop: Edge = None, points: int = 2000
    ) -> ArchiveWindow | ReducedWindow:
        """A stream, or what reductions are left of it, in about ``points`` points: see StoredStream.view."""
        sources: list[StoredStream | StoredReduction] = list(self.reductions(name).values())
        if name in self or not sources:
            sources.insert(0, self[name])
        return choose_view(sources, start, stop, points)

    @property
    def turn_rate_hz(self) -> float:
        """The nominal rate of the turns, of the newest file."""
        with self.lock:
            found = listed(lib.rm_archive_files, self.handle)
            return float(max(found, key=lambda file: file.header.begun_tai_ns).header.turn_rate_hz) if found else 1.0

    @property
    def files(self) -> tuple[StoredFile, ...]:
        """Its files, by log and number."""
        with self.lock:
            return tuple(_stored_file(file) for file in listed(lib.rm_archive_files, self.handle))

    @property
    def marks(self) -> tuple[Mark, ...]:
        """What is missing, and why, as the recorder wrote it."""
        with self.lock:
            return tuple(self._mark(mark) for mark in listed(lib.rm_archive_marks, self.handle))

    def _mark(self, found: Any) -> Mark:
        its = found.mark
        its_object = self.object_at(found.object)
        return Mark(
            reason=_REASONS.get(its.reason, MarkReason.UNKNOWN),
            log=text(found.log),
            name=None if its_object == ffi.NULL else text(description(its_object).name),
            first_turn=_turn(its.first_turn),
            last_turn=_turn(its.last_turn),
            records=its.records,
            turn_epoch=found.turn_epoch,
            utc_ns=max(found.tai_ns - found.tai_minus_utc_s * 10**9, 0),
            error=its.error,
        )

    @property
    def damages(self) -> tuple[Damage, ...]:
        """What cannot be read, as far as it was looked at: payloads are judged when they are read."""
        return tuple(
            Damage(text(d.path), d.offset, d.bytes, text(d.what)) for d in listed(lib.rm_archive_damages, self.handle)
        )

    @property
    def foreign(self) -> dict[str, str]:
        """Files in it that are none of its own, and why."""
        with self.lock:
            return {text(f.path): text(f.what) for f in listed(lib.rm_archive_foreigns, self.handle)}

    def to_xarray(
        self,
        *patterns: str,
        start: Edge = None,
        stop: Edge = None,
        step: int | None = None,
        records: int | None = None,
    ) -> "xarray.Dataset":
        """The streams whose name matches, or their reductions of ``step`` turns, lazily: see archive/lazy.py.

        ``records``: of a piece, which is read at once.
        """
        from ringmaster.archive import lazy

        names = sorted({it.name for it in (*self.streams, *self.all_reductions)})
        chosen = [name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns or ("*",))]
        if not chosen:
            raise not_found("stream of the archive", patterns[0], names, SHOWN_BY)
        return lazy.to_xarray(self, chosen, start, stop, step, records or lazy.PIECE_RECORDS)

    def dask(self, name: str, start: Edge = None, stop: Edge = None, step: int | None = None) -> Any:
        """One stream, or a reduction of it, as a Dask array of shape (records, lanes), f8, NaN for what is missing."""
        return self.to_xarray(name, start=start, stop=stop, step=step)["values"].data[0]

    def events(self, start: Time | None = None, stop: Time | None = None) -> list[events.Event]:
        """What was recorded beside streams, in [start, stop) of UTC: parameters, puts, refusals, alarms."""
        return self.fresh(lambda: events.read(self, list(self._numbers(lib.RM_BLOCK_EVENTS)), start, stop))

    def configuration(self) -> str:
        """The newest configuration of the server that the events have, as text; "" where they have none."""
        numbers = list(self._numbers(lib.RM_BLOCK_EVENTS))
        found = self.fresh(lambda: events.last_value(self, numbers, "server/config"))
        return found if isinstance(found, str) else ""

    def calibration(self, instrument: str, until_utc_ns: int = END_NS) -> Calibration | None:
        """The calibration of an instrument at a time, by its parameter's events; without one, the newest."""
        numbers = list(self._numbers(lib.RM_BLOCK_EVENTS))
        return self.fresh(lambda: events.calibration(self, numbers, instrument, until_utc_ns))


def _stored_file(file: Any) -> StoredFile:
    return StoredFile(
        path=text(file.path),
        log=text(file.header.log),
        number=file.header.number,
        bytes=file.bytes,
        read_bytes=file.read_bytes,
        sealed=bool(file.sealed),
        begun_tai_ns=file.header.begun_tai_ns,
        tai_minus_utc_s=file.header.tai_minus_utc_s,
    )


def _turn(word: int) -> int | None:
    return None if word == layout.TURN_NONE else int(word)


def _last_tai_ns(stored: StoredObject) -> int:
    runs = stored.runs
    return runs[-1].last_tai_ns if runs else 0
