# SPDX-License-Identifier: Apache-2.0
"""Which programs hold a place to ask from in a workspace: an owner takes requests of so many, and of so many a user."""

import os
import pwd
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ringmaster.fabric.segment import owner_lives
from ringmaster.fabric.workspace import REQUESTS_FOLDER


@dataclass(frozen=True)
class RequesterPlace:
    """One program that may ask, as the system tells it; no word of its own."""

    name: str
    """As an owner: "put-4711-2a7f3c1b9d04"."""
    user: str
    """Whose file it is; a number where the system has no name for it."""
    pid: int | None
    """Which process, as it wrote itself; None where it wrote none."""
    program: str
    """That process's program, where it is that user's; else empty."""


def find_requesters(workspace: Path) -> list[RequesterPlace]:
    """All that live, by user and name. Raises PermissionError where the folder of requesters cannot be read."""
    folder = workspace / REQUESTS_FOLDER
    if not folder.is_dir():
        return []
    names = sorted(lock.stem for lock in folder.glob("*.lock"))
    found = [place for name in names if owner_lives(folder, name) and (place := _place(folder, name))]
    return sorted(found, key=lambda place: (place.user, place.name))


def _place(folder: Path, name: str) -> RequesterPlace | None:
    lock = folder / f"{name}.lock"
    try:
        uid = lock.lstat().st_uid
    except FileNotFoundError:  # it has ended meanwhile
        return None
    pid = _pid(lock)
    return RequesterPlace(name, _user(uid), pid, _program(pid, uid))


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _pid(lock: Path) -> int | None:
    try:
        file = os.open(lock, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return int(os.pread(file, 20, 0))
    except (OSError, ValueError):
        return None
    finally:
        os.close(file)


def _program(pid: int | None, uid: int) -> str:
    """A number in a file can be any: the program is named only where the process is that file's user's."""
    about = Path(f"/proc/{pid}")
    with suppress(OSError):
        if pid is not None and about.stat().st_uid == uid:
            return (about / "comm").read_text(errors="replace").strip()
    return ""
