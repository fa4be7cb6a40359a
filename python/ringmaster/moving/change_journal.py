# SPDX-License-Identifier: Apache-2.0
"""A journal of changes: a folder with each that was applied, so that the last one can be undone without its file.

An entry is the change's own file with the keys `workspace`, `state`, `applied` and `undone` at its top. It is written
before anything moves: one that is still `applying` was interrupted by what no program can answer, as `kill -9`.
"""

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from ringmaster.moving.change import Change, joined, load_with

FOLDER = "change-journal"
"""Beside the file of a change, unless another is said."""
APPLYING, APPLIED, UNDONE = "applying", "applied", "undone"
_ENTRY = re.compile(r"(\d+)-.*\.yaml")


@dataclass(frozen=True)
class Entry:
    """A change that was applied."""

    number: int
    path: Path
    change: Change
    workspace: str
    state: str
    """``APPLYING``, ``APPLIED`` or ``UNDONE``."""
    applied: str
    """When, UTC."""
    undone: str
    """When, or empty."""


class Journal:
    """Of one folder, made with its first entry."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def entries(self) -> list[Entry]:
        """In their order. Raises ValueError for a file that is none."""
        found = [(path, _ENTRY.fullmatch(path.name)) for path in sorted(self.folder.glob("*.yaml"))]
        return sorted((_read(path, int(it[1])) for path, it in found if it), key=lambda entry: entry.number)

    def entry(self, number: int) -> Entry:
        """By its number. Raises ValueError."""
        entries = self.entries()
        found = next((entry for entry in entries if entry.number == number), None)
        if found is None:
            told = f"it has {entries[0].number} to {entries[-1].number}" if entries else "it is empty"
            raise ValueError(f"{self.folder}: there is no change {number}; {told}")
        return found

    def last(self, workspace: str) -> Entry:
        """The newest of this workspace that is not undone. Raises ValueError."""
        found = [entry for entry in self.entries() if entry.workspace == workspace and entry.state != UNDONE]
        if not found:
            raise ValueError(
                f"{self.folder}: no change of workspace {workspace!r} to undo; say which by its file, or where its "
                f"journal is by --journal"
            )
        return found[-1]

    def of(self, change: Change, workspace: str) -> Entry | None:
        """The newest entry of these moves in this workspace that is not undone."""
        found = [entry for entry in self.entries() if entry.workspace == workspace and entry.state != UNDONE]
        return next((entry for entry in reversed(found) if entry.change.moves == change.moves), None)

    def begin(self, change: Change, workspace: str) -> Entry:
        """Before it is applied."""
        self.folder.mkdir(parents=True, exist_ok=True)
        number = max((entry.number for entry in self.entries()), default=0) + 1
        words = re.sub(r"[^a-z0-9]+", "-", change.title.lower()).strip("-")[:40] or "change"
        path = self.folder / f"{number:04d}-{words}.yaml"
        return _write(Entry(number, path, change, workspace, APPLYING, _now(), ""))

    def applied(self, entry: Entry) -> Entry:
        """All of it stands where it should."""
        return _write(replace(entry, state=APPLIED))

    def undone(self, entry: Entry) -> Entry:
        """All of it is back."""
        return _write(replace(entry, state=UNDONE, undone=_now()))

    def join(self, first: Entry, second: Entry) -> Entry:
        """Two that were applied one after the other become one."""
        one = _write(replace(first, change=joined(first.change, second.change)))
        second.path.unlink(missing_ok=True)
        return one

    def drop(self, entry: Entry) -> None:
        """It was not applied, and all is back where it stood."""
        entry.path.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()  # where it was the first one


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _write(entry: Entry) -> Entry:
    more = {"workspace": entry.workspace, "state": entry.state, "applied": entry.applied}
    entry.change.save(entry.path, more | ({"undone": entry.undone} if entry.undone else {}))
    return entry


def _read(path: Path, number: int) -> Entry:
    change, more = load_with(path)
    state = more.get("state", "")
    if state not in (APPLYING, APPLIED, UNDONE):
        raise ValueError(f"{path}: state: found {state!r}, expected {APPLYING}, {APPLIED} or {UNDONE}")
    return Entry(
        number, path, change, more.get("workspace", ""), state, more.get("applied", ""), more.get("undone", "")
    )
