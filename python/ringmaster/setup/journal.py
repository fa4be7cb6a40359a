# SPDX-License-Identifier: Apache-2.0
"""What was changed, written down before it is changed: a setup that was killed half way is undone all the same.

    {"config": "/etc/ringmaster/ring.yaml", "use": "feedback", "cores": [4, 5], "cards": ["0000:81:00.0"], "at": "…"}
    {"step": "governor", "change": {"kind": "set", "path": "…", "before": "powersave", "after": "performance", …}}
    …
    {"complete": true}

A line is on the disk before its change begins. So a torn last line stands for a change that has not begun.
"""

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ringmaster.doctor.host import Host
from ringmaster.setup.changes import Change, as_json, from_json
from ringmaster.setup.writer import Writer

FOLDER = "/var/lib/ringmaster/setup"
JOURNAL = f"{FOLDER}/journal"
LOCK = f"{FOLDER}/lock"


@dataclass(frozen=True)
class Entry:
    """One change, and the step that it belongs to."""

    step: str
    change: Change


@dataclass(frozen=True)
class Journal:
    """Of this host's setup."""

    config: str
    use: str
    cores: tuple[int, ...]
    cards: tuple[str, ...]
    at: str
    entries: tuple[Entry, ...]
    complete: bool

    def head(self) -> dict[str, Any]:
        """The first line."""
        return {"config": self.config, "use": self.use, "cores": self.cores, "cards": self.cards, "at": self.at}

    def has(self, change: Change) -> bool:
        """Whether such a change was made, or begun."""
        return any(_key(entry.change) == _key(change) for entry in self.entries)


def _key(change: Change) -> tuple[object, ...]:
    return type(change), getattr(change, "path", None) or getattr(change, "address", None), change.after


def read(host: Host) -> Journal | None:
    """None where this host was not set up. Raises ValueError for a journal that cannot be read."""
    raw = host.raw(JOURNAL)
    if raw is None:
        return None
    *whole, _torn = raw.split(b"\n")  # what stands behind the last end of a line was not written whole
    try:
        lines = [json.loads(line) for line in whole]
        if not lines:
            return None
        head, rest = lines[0], lines[1:]
        entries = tuple(Entry(line["step"], from_json(line["change"])) for line in rest if "change" in line)
        complete = bool(rest) and "complete" in rest[-1]
        cores, cards = tuple(head["cores"]), tuple(head["cards"])
        return Journal(str(head["config"]), str(head["use"]), cores, cards, str(head["at"]), entries, complete)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{JOURNAL}: no journal of a setup ({error}): look at it, undo by hand what it names, and remove it"
        ) from None


class Pen:
    """Appends to the journal."""

    def __init__(self, host: Host) -> None:
        self._path = host.path(JOURNAL)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        raw = self._path.read_bytes() if self._path.exists() else b""
        self._file = self._path.open("r+b" if raw else "wb")
        self._file.truncate(raw.rfind(b"\n") + 1)  # a torn line goes
        self._file.seek(0, os.SEEK_END)
        self.is_new = self._file.tell() == 0

    def line(self, value: object) -> None:
        """On the disk when this returns."""
        self._file.write(json.dumps(value, ensure_ascii=True).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def entry(self, step: str, change: Change) -> None:
        """Before the change."""
        self.line({"step": step, "change": as_json(change)})

    def close(self) -> None:
        """Ends."""
        self._file.close()


def rewrite(host: Host, writer: Writer, journal: Journal, left: Sequence[Entry]) -> None:
    """Keeps what could not be undone; removes the journal where that is nothing."""
    lines: list[object] = [journal.head(), *({"step": one.step, "change": as_json(one.change)} for one in left)]
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    writer.put(host.path(JOURNAL), text if left else None)


@contextmanager
def alone(host: Host) -> Iterator[None]:
    """Holds the lock of the setup. Raises RuntimeError where another process has it."""
    path = host.path(LOCK)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RuntimeError(
                f"another `ringmaster setup` works on this host ({LOCK} is locked); wait for it"
            ) from None
        yield
