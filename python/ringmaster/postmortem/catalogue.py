# SPDX-License-Identifier: Apache-2.0
"""The catalogue of events: the folders below DIRECTORY/pinned of an archive, each with its event.json.

::

    DIRECTORY/pinned/20261125T194354.123456Z/
        event.json          what it is
        archive             makes the folder an archive that can be read as any other, where there is one
        LOG/….rmlog         hard links of the archive's files
        memory.h5           what was saved from shared memory
        workspace.json      configuration, parameters and counters at the trigger
        report.html         the first look, once it was opened

Who changes an event while a watch runs changes what the watch does not: the review, the cause, the release.
"""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ringmaster.postmortem.event import CAPTURING, FILE, Event, Review, Seen, load
from ringmaster.values import time_format

PINNED = "pinned"
LOCK = ".lock"
KEPT_FILES = (FILE, "report.html")
"""Of an event whose data were released."""


class EventAbsent(LookupError):
    """No such event. The text names those that there are."""

    def __str__(self) -> str:
        return str(self.args[0])


class Catalogue:
    """The events of one archive, or of a folder that is only theirs."""

    def __init__(self, directory: Path) -> None:
        """``directory`` is the archive's; nothing is made there before the first event."""
        self.directory = directory
        self.folder = directory / PINNED
        self.damaged: dict[str, str] = {}
        """Folders whose event cannot be read, and why; as of the last look."""

    def events(self) -> list[Event]:
        """All of them, the oldest first."""
        found, self.damaged = [], {}
        for path in sorted(self.folder.glob(f"*/{FILE}")):
            try:
                found.append(load(path.parent))
            except (ValueError, OSError) as error:
                self.damaged[path.parent.name] = str(error)
        return found

    def find(self, id_: str) -> Event:
        """By its ID, by the beginning of one, or "last". Raises EventAbsent."""
        events = self.events()
        found = events[-1:] if id_ == "last" else [event for event in events if event.id.startswith(id_)]
        if len(found) == 1:
            return found[0]
        if not events:
            raise EventAbsent(f"{self.folder}: no events; `ringmaster postmortem now` makes one")
        names = ", ".join(event.id for event in (found or events)[-5:])
        what = f"{len(found)} events begin with {id_!r}" if found else f"no event {id_!r}"
        raise EventAbsent(f"{self.folder}: {what}; the newest: {names}")

    def new_folder(self, tai_ns: int, offset_s: int) -> Path:
        """A folder that no event has yet, named by the UTC of the turn zero."""
        name = time_format.iso(tai_ns, offset_s).replace("-", "").replace(":", "")
        for suffix in ("", *(f"-{i}" for i in range(2, 1000))):
            folder = self.folder / f"{name}{suffix}"
            try:
                folder.mkdir(parents=True)
                return folder
            except FileExistsError:
                continue
        raise FileExistsError(f"{self.folder / name}: a thousand events of one microsecond")

    def add_trigger(self, id_: str, seen: Seen) -> Event:
        """What was seen shortly after an event belongs to it."""
        return self._changed(id_, lambda event: replace(event, triggers=(*event.triggers, seen)))

    def review(self, id_: str, by: str, note: str) -> Event:
        """Says that a person has looked at it: from then on its data may go when the quota needs room."""
        reviewed = Review(by, note, time_format.iso(time_format.now_tai_ns()))
        return self._changed(id_, lambda event: replace(event, reviewed=reviewed))

    def name_cause(self, id_: str, cause: str) -> Event:
        """Writes what the report found first."""
        return self._changed(id_, lambda event: replace(event, cause=cause))

    def release(self, id_: str) -> Event:
        """Gives the data of a reviewed event back; its entry and report stay. Raises ValueError where it is not."""
        event = self.find(id_)
        if event.reviewed is None:
            raise ValueError(
                f"{event.id} is not reviewed, so its data stay; `ringmaster postmortem reviewed {event.id} --by NAME`"
            )
        return self._changed(event.id, release_data)

    def _changed(self, id_: str, change: Callable[[Event], Event]) -> Event:
        with self.changing():
            event = self.find(id_)
            if event.state == CAPTURING:
                raise ValueError(f"{event.id} is still being captured; try again when its windows have passed")
            event = change(event)
            event.save()
            return event

    @contextmanager
    def changing(self) -> Iterator[None]:
        """One process at a time changes entries."""
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)


def release_data(event: Event) -> Event:
    """Removes all but the entry and the report; the entry is still to be saved."""
    for path in event.folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name not in KEPT_FILES:
            path.unlink()
    return replace(event, released=True)
