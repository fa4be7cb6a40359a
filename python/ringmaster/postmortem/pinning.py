# SPDX-License-Identifier: Apache-2.0
"""Pinning: the files of an archive that overlap an event's windows get a second name in the event's folder.

They are hard links, so nothing is copied, and the recorder's retention may remove its own names. The file that is being
written is linked too: it is the same file, and grows in both places. A link takes some microseconds whatever the size.
"""

import os
from contextlib import suppress
from pathlib import Path

from ringmaster.postmortem.archive_files import BlockKind, LogFile, log_folders
from ringmaster.postmortem.event import Event, Kept
from ringmaster.values import time_format

ARCHIVE = "archive"
MARGIN_NS = 2_000_000_000
"""What a file holds may be older than the file by so much: the recorder gathers blocks before it writes them."""
LIVES_NS = 3_000_000_000
"""A recorder that wrote nothing for so long is gone, or stands still."""
FUTURE_NS = 1 << 63
FULL = "the quota is full of events that are not reviewed"


class Archive:
    """The archive in a folder, as a recorder writes it meanwhile; or a folder that is none."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._files: dict[Path, LogFile] = {}
        self.recorded: frozenset[str] = frozenset()
        """Streams that a living recorder writes, as of the last look."""

    def look(self) -> None:
        """Sees what has come since."""
        paths = [path for folder in log_folders(self.directory) for path in folder.glob("*.rmlog")]
        self._files = {path: self._files[path] for path in paths if path in self._files}
        for path in paths:
            with suppress(OSError, ValueError):  # just made, or just removed; what is none of ours is no log
                file = self._files.setdefault(path, LogFile(path)) if path not in self._files else self._files[path]
                if self._is_newest(path, paths) or not file.newest_tai_ns:
                    file.walk()
        now = time_format.now_tai_ns()
        living = [file for file in self._files.values() if now - file.newest_tai_ns < LIVES_NS]
        self.recorded = frozenset(
            described.name
            for file in living
            for described in file.objects.values()
            if described.kind == BlockKind.RECORDS
        )

    @staticmethod
    def _is_newest(path: Path, paths: list[Path]) -> bool:
        return path == max(other for other in paths if other.parent == path.parent)

    def _wanted(self, event: Event) -> dict[str, list[LogFile]]:
        """Files that overlap the windows, by log: the slowest rates first, so that these get the room there is."""
        begin, end = event.span_tai_ns
        wanted: dict[str, list[LogFile]] = {}
        for folder in sorted({path.parent for path in self._files}):
            files = sorted((file for path, file in self._files.items() if path.parent == folder), key=_number)
            ends = [*(file.begun_tai_ns for file in files[1:]), self._end_of(files[-1])]
            chosen = [
                file
                for file, ended in zip(files, ends, strict=True)
                if file.begun_tai_ns <= end + MARGIN_NS and ended >= begin - MARGIN_NS
            ]
            if chosen:
                wanted[folder.name] = chosen
        return dict(sorted(wanted.items(), key=lambda pair: -_slowness(pair[1])))

    @staticmethod
    def _end_of(newest: LogFile) -> int:
        """Of the newest file of a log: it still grows, or its recorder has gone."""
        lives = time_format.now_tai_ns() - newest.newest_tai_ns < LIVES_NS
        return FUTURE_NS if lives or not newest.newest_tai_ns else newest.newest_tai_ns

    def wanted_bytes(self, event: Event) -> int:
        """Of the files that overlap the windows."""
        return sum(_size(file.path) for files in self._wanted(event).values() for file in files)

    def pin(self, event: Event, room: int) -> tuple[dict[str, int], dict[str, str]]:
        """Links what fits into ``room`` bytes; returns the bytes of each log, and what was refused and why.

        Reductions and events, which are small, are linked in any case.
        """
        logs: dict[str, int] = {}
        refused: dict[str, str] = {}
        for log, files in self._wanted(event).items():
            size = sum(_size(file.path) for file in files)
            already = (event.folder / log).is_dir()
            if size > room and not already and any(_is_raw(file) for file in files):
                refused[f"log {log}"] = FULL
                continue
            if not already:
                room -= size
            logs[log] = sum(self._link(file.path, event.folder / log) for file in files)
        if logs:
            self._link(self.directory / ARCHIVE, event.folder)
        return logs, refused

    @staticmethod
    def _link(path: Path, folder: Path) -> int:
        """Bytes of what is linked; 0 where the recorder has just removed it."""
        folder.mkdir(exist_ok=True)
        link = folder / path.name
        with suppress(FileExistsError, FileNotFoundError):
            os.link(path, link)
        return _size(link)

    def durable(self, event: Event) -> bool:
        """Whether all that a recorder writes of the windows' streams has come to the windows' end."""
        if not self._files:
            return True
        self.look()
        end = event.span_tai_ns[1]
        now = time_format.now_tai_ns()
        newest: dict[Path, int] = {}
        for path, file in self._files.items():
            if _is_raw(file):
                newest[path.parent] = max(newest.get(path.parent, 0), file.newest_tai_ns)
        return all(tai >= end or now - tai > LIVES_NS for tai in newest.values())

    def kept(self, event: Event) -> dict[str, Kept]:
        """What of each recorded stream is pinned, by the turn clock of its blocks."""
        begin, end = event.span_tai_ns
        spans: dict[str, tuple[int, int, int]] = {}
        for log, files in self._wanted(event).items():
            for file in files:
                if not (event.folder / log / file.path.name).exists():
                    continue
                for number, (first, last) in file.objects_tai_ns.items():
                    described = file.objects.get(number)
                    if described is None or described.kind != BlockKind.RECORDS or last < begin or first > end:
                        continue
                    one = spans.get(described.name, (first, last, described.period_turns))
                    spans[described.name] = (min(first, one[0]), max(last, one[1]), described.period_turns)
        return {name: _kept(event, *span) for name, span in spans.items()}


def _kept(event: Event, first_tai_ns: int, last_tai_ns: int, period: int) -> Kept:
    begin, end = event.span_tai_ns
    rate = event.turn_rate_hz
    slack = 2e9 * period / rate if rate > 0 else 0.0
    why = []
    if first_tai_ns - begin > slack:
        why.append(f"the archive begins {1e-6 * (first_tai_ns - begin):.3g} ms late")
    if end - last_tai_ns > slack + MARGIN_NS:
        why.append(f"the recorder ended {1e-6 * (end - last_tai_ns):.3g} ms before the windows")
    first = event.zero.turn + round(1e-9 * (max(first_tai_ns, begin) - event.zero.tai_ns) * rate)
    last = event.zero.turn + round(1e-9 * (min(last_tai_ns, end) - event.zero.tai_ns) * rate)
    return Kept("archive", max(0, first), max(0, last), max(0, (last - first) // period + 1), 0, "; ".join(why))


def _is_raw(file: LogFile) -> bool:
    return any(described.kind == BlockKind.RECORDS for described in file.objects.values())


def _slowness(files: list[LogFile]) -> float:
    """Turns from record to record of the fastest raw stream; reductions and events are slowest of all."""
    periods = [
        described.period_turns if described.kind == BlockKind.RECORDS else float("inf")
        for file in files
        for described in file.objects.values()
    ]
    return min(periods, default=float("inf"))


def _number(file: LogFile) -> int:
    return file.number


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
