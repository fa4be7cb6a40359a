# SPDX-License-Identifier: Apache-2.0
"""One event of the catalogue: what noticed it, its turn zero, its windows, and what of them was kept.

It is the file ``event.json`` of the event's folder, written anew as a whole whenever something changes.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ringmaster.values import time_format

FILE = "event.json"
VERSION = 1
CAPTURING, COMPLETE, INCOMPLETE = "capturing", "complete", "incomplete"
STATES = (CAPTURING, COMPLETE, INCOMPLETE)


@dataclass(frozen=True)
class Zero:
    """The turn zero of an event."""

    turn: int
    turn_epoch: int
    """Turn-counter epoch of the turn, as in the streams."""
    how: str
    """How it was found, in words: "lane loss_turn of mps/turn"."""
    within_turns: int = 1
    """It may be off by less than so many turns: 1 says that it is exact."""
    from_interlock: bool = False
    """Whether it stands in the record of an interlock: then it comes before those of other triggers."""
    tai_ns: int = 0
    """Nanoseconds of TAI since 1970-01-01 by the turn clock; 0 where there was none."""


@dataclass(frozen=True)
class Seen:
    """That a trigger saw something."""

    trigger: str
    """Its name in the configuration; "command" where a person asked."""
    kind: str
    reason: str
    """What it saw, in words."""
    zero: Zero
    noticed_tai_ns: int
    before_turns: int
    after_turns: int


@dataclass(frozen=True)
class Kept:
    """What of one stream's windows is kept."""

    where: str
    """"archive", "memory" or "nowhere"."""
    first_turn: int = -1
    last_turn: int = -1
    records: int = 0
    missing: int = 0
    """Records of the windows that are not there."""
    why: str = ""
    """Why something is missing; empty where nothing is."""


@dataclass(frozen=True)
class Review:
    """That a person has looked at it."""

    by: str
    note: str
    utc: str


@dataclass(frozen=True)
class Event:
    """See above. ``folder`` is where it lies."""

    id: str
    folder: Path
    workspace: str
    """Path of the workspace."""
    turn_rate_hz: float
    tai_minus_utc_s: int
    """As the host knew it: 37, or 0 where nothing told it."""
    zero: Zero
    before_turns: int
    after_turns: int
    triggers: tuple[Seen, ...]
    state: str = CAPTURING
    why: str = ""
    """Why it is not complete."""
    notes: tuple[str, ...] = ()
    """What a reader must know: the turn counter restarted, the quota was full."""
    streams: Mapping[str, Kept] = field(default_factory=dict)
    logs: Mapping[str, int] = field(default_factory=dict)
    """Bytes of the files that are pinned, by log of the archive."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """What was not kept though it was there, and why: logs, streams."""
    entry_tai_ns: int = 0
    """When it stood in the catalogue for the first time."""
    done_tai_ns: int = 0
    """When nothing more was waited for; 0 before."""
    cause: str = ""
    """The first cause, as the report found it; empty before there is one."""
    reviewed: Review | None = None
    released: bool = False
    """Its data were given back; the entry stays."""

    @property
    def reason(self) -> str:
        """What the first trigger saw."""
        return self.triggers[0].reason

    @property
    def first_turn(self) -> int:
        """Of the windows."""
        return max(0, self.zero.turn - self.before_turns)

    @property
    def last_turn(self) -> int:
        """Of the windows, included."""
        return self.zero.turn + self.after_turns

    @property
    def span_tai_ns(self) -> tuple[int, int]:
        """TAI of the first and of the last turn of the windows."""
        rate = self.turn_rate_hz or 1.0
        before, after = (round(1e9 * turns / rate) for turns in (self.before_turns, self.after_turns))
        return self.zero.tai_ns - before, self.zero.tai_ns + after

    @property
    def utc(self) -> str:
        """Of the turn zero, to the microsecond."""
        return time_format.iso(self.zero.tai_ns, self.tai_minus_utc_s)

    def noted(self, note: str) -> "Event":
        """With one more note, once."""
        return self if note in self.notes else replace(self, notes=(*self.notes, note))

    def as_json(self) -> dict[str, Any]:
        """As the file has it, with what is computed from it for those who read it without us."""
        plain = asdict(self)
        del plain["folder"]
        return {"version": VERSION, **plain, "reason": self.reason, "utc": self.utc}

    def save(self) -> None:
        """Writes the file anew, durably: a reader sees the one before, or this one."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_file(self.folder / FILE, json.dumps(self.as_json(), indent=1, ensure_ascii=False) + "\n")


def load(folder: Path) -> Event:
    """Reads an event. Raises ValueError where the file is none of ours, OSError."""
    path = folder / FILE
    try:
        plain = json.loads(path.read_text())
        if plain["version"] != VERSION:
            raise ValueError(f"its version is {plain['version']}, expected {VERSION}")
        return _event(folder, plain)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: is no event: {error}; move it away, or mend it") from error


def _event(folder: Path, plain: dict[str, Any]) -> Event:
    for computed in ("version", "reason", "utc"):
        del plain[computed]
    triggers = tuple(Seen(**{**seen, "zero": Zero(**seen["zero"])}) for seen in plain.pop("triggers"))
    streams = {name: Kept(**kept) for name, kept in plain.pop("streams").items()}
    reviewed = plain.pop("reviewed")
    if plain["state"] not in STATES or not triggers:
        raise ValueError(f"its state is {plain['state']!r}, with {len(triggers)} triggers")
    return Event(
        **{
            **plain,
            "folder": folder,
            "zero": Zero(**plain["zero"]),
            "triggers": triggers,
            "streams": streams,
            "notes": tuple(plain["notes"]),
            "reviewed": Review(**reviewed) if reviewed else None,
        }
    )


def write_file(path: Path, text: str) -> None:
    """Replaces a file as a whole, durably."""
    new = path.with_name(f".{path.name}.new")
    with new.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
