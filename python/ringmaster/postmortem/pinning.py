# SPDX-License-Identifier: Apache-2.0
"""Pinning: the files of an archive that overlap an event's windows get a second name in the event's folder.

They are hard links, so nothing is copied, and the recorder's retention may remove its own names. The file that is being
written is linked too: it is the same file, and grows in both places. A link takes some microseconds whatever the size.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ringmaster.archive.archive import Archive, StoredFile
from ringmaster.archive.stored import StoredObject
from ringmaster.archive.stream import StoredStream
from ringmaster.errors import ArchiveError
from ringmaster.fabric.layout import ON_CHANGE
from ringmaster.fabric.window import ReadResult
from ringmaster.postmortem.event import Event, Kept
from ringmaster.values import time_format

MARK = "archive"
"""The file that makes a folder an archive."""
MARGIN_NS = 2_000_000_000
"""What a file holds may be older than the file by so much: the recorder gathers blocks before it writes them."""
LIVES_NS = 3_000_000_000
"""A recorder that wrote nothing of a stream for so long is gone, or stands still."""
FUTURE_NS = 1 << 63
FULL = "the quota is full of events that are not reviewed"


class Pinning:
    """The archive in a folder, as a recorder writes it meanwhile; or a folder that is none."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._archive: Archive | None = None
        self._streams: tuple[StoredStream, ...] = ()
        self._of_frames: frozenset[str] = frozenset()
        self._files: dict[str, list[StoredFile]] = {}
        self.recorded: frozenset[str] = frozenset()
        """Streams that a living recorder writes, as of the last look."""

    def look(self) -> None:
        """Sees what has come since."""
        if not (self.directory / MARK).exists():
            return
        try:
            if self._archive is None:
                self._archive = Archive(self.directory)
            else:
                self._archive.refresh()
        except (ArchiveError, OSError):  # a recorder is just making it, or it is damaged: memory has what there is
            return
        self._streams = self._archive.streams
        self._of_frames = frozenset(camera.log for camera in self._archive.cameras)
        self._files = {}
        for file in sorted(self._archive.files, key=lambda file: (file.log, file.number)):
            self._files.setdefault(file.log, []).append(file)
        self.recorded = frozenset(stream.name for stream in self._streams if _lives(_newest_tai_ns([stream])))

    def _wanted(self, event: Event) -> dict[str, list[StoredFile]]:
        """Files that overlap the windows, by log: the slowest rates first, so that these get the room there is."""
        begin, end = event.span_tai_ns
        wanted: dict[str, list[StoredFile]] = {}
        for log, files in self._files.items():
            ends = [*(file.begun_tai_ns for file in files[1:]), self._end_of(log)]
            chosen = [
                file
                for file, ended in zip(files, ends, strict=True)
                if file.begun_tai_ns <= end + MARGIN_NS and ended >= begin - MARGIN_NS
            ]
            if chosen:
                wanted[log] = chosen
        return dict(sorted(wanted.items(), key=lambda pair: -self._period(pair[0])))

    def _raw(self, log: str) -> list[StoredStream]:
        return [stream for stream in self._streams if stream.log == log]

    def _end_of(self, log: str) -> int:
        """Of the newest file of a log: it still grows, or its recorder has gone."""
        newest = _newest_tai_ns(self._raw(log))
        return FUTURE_NS if not newest or _lives(newest) else newest

    def _end(self) -> int:
        """Of the newest record of all: what is on change goes on in silence as long as the recorder lives."""
        newest = _newest_tai_ns(self._streams)
        return FUTURE_NS if _lives(newest) else newest

    def _period(self, log: str) -> float:
        """Turns from record to record; reductions and events are slowest of all, frames of cameras fastest."""
        if log in self._of_frames:
            return 0.0
        return min((stream.period for stream in self._raw(log)), default=float("inf"))

    def wanted_bytes(self, event: Event) -> int:
        """Of the files that overlap the windows."""
        return sum(file.bytes for files in self._wanted(event).values() for file in files)

    def pin(self, event: Event, room: int) -> tuple[dict[str, int], dict[str, str]]:
        """Links what fits into ``room`` bytes; returns the bytes of each log, and what was refused and why.

        Reductions and events, which are small, are linked in any case.
        """
        logs: dict[str, int] = {}
        refused: dict[str, str] = {}
        for log, files in self._wanted(event).items():
            new = [Path(file.path) for file in files if not (event.folder / log / Path(file.path).name).exists()]
            size = sum(map(_size, new))
            if size > room and (self._raw(log) or log in self._of_frames):
                refused[f"log {log}"] = FULL
                continue
            room -= size
            for path in new:
                link(path, event.folder / log)
            logs[log] = sum(map(_size, (event.folder / log).glob("*")))
        if logs:
            link(self.directory / MARK, event.folder)
        return logs, refused

    def durable(self, event: Event) -> bool:
        """Whether all that a recorder writes has come to the windows' end."""
        self.look()
        end = event.span_tai_ns[1]
        newest = [_newest_tai_ns(self._raw(log)) for log in self._files if self._raw(log)]
        return all(tai_ns >= end or not _lives(tai_ns) for tai_ns in newest)

    def kept(self, event: Event) -> dict[str, Kept]:
        """What of each recorded stream is pinned."""
        begin, end = event.span_tai_ns
        found: dict[str, Kept] = {}
        for stream in self._streams:
            if not (event.folder / stream.log).is_dir():
                continue
            runs = [run for run in stream.runs if run.last_tai_ns >= begin and run.first_tai_ns <= end]
            if runs and stream.filter == ON_CHANGE:
                found[stream.name] = _kept(event, stream, self._files[stream.log][0].begun_tai_ns, self._end())
            elif runs:
                found[stream.name] = _kept(event, stream, runs[0].first_tai_ns, runs[-1].last_tai_ns)
        return found


def _kept(event: Event, stream: StoredStream, first_tai_ns: int, last_tai_ns: int) -> Kept:
    begin, end = event.span_tai_ns
    rate = event.turn_rate_hz
    slack = 2e9 * stream.period / rate if rate > 0 else 0.0
    why = []
    if first_tai_ns - begin > slack:
        why.append(f"the archive begins {1e-6 * (first_tai_ns - begin):.3g} ms late")
    if end - last_tai_ns > slack + 1e9 * stream.group_delay_turns / max(rate, 1.0):
        why.append(f"the archive ends {1e-6 * (end - last_tai_ns):.3g} ms early")
    window = stream.read(event.first_turn, event.last_turn + 1, turn_epoch=event.zero.turn_epoch & 0xFFFF)
    good = window.turn[window.ok]
    if stream.filter == ON_CHANGE:
        missing = int((window.result == ReadResult.DAMAGED).sum())
    else:
        missing = len(window) - len(good)
        why += [] if len(good) else ["no record of it lies in the windows"]
    if not len(good):
        return Kept("archive", missing=missing, why="; ".join(why))
    return Kept("archive", int(good[0]), int(good[-1]), len(good), missing, "; ".join(why))


def link(path: Path, folder: Path) -> None:
    """Gives a file a second name in the folder; does nothing where the recorder has just removed it."""
    folder.mkdir(exist_ok=True)
    with suppress(FileExistsError, FileNotFoundError):
        os.link(path, folder / path.name)


def _newest_tai_ns(objects: Iterable[StoredObject]) -> int:
    return max((stored.runs[-1].last_tai_ns for stored in objects if stored.runs), default=0)


def _lives(newest_tai_ns: int) -> bool:
    return time_format.now_tai_ns() - newest_tai_ns < LIVES_NS


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
