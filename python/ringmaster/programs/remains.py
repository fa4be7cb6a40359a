# SPDX-License-Identifier: Apache-2.0
"""What programs that have ended left behind, and removing it: workspaces, folders of DPDK, scratch folders.

Whether the owner of a segment lives is asked of the kernel (:func:`ringmaster.fabric.segment.owner_lives`). While a
workspace is removed its locks are held, so that no server begins in it meanwhile. Folders that are named after a
process count as left behind when there is no such process.
"""

import fcntl
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from ringmaster.fabric.segment import LOCK, owner_lives
from ringmaster.fabric.workspace import COMMON_ROOT, directory_of, workspaces_roots

OF_A_PROCESS = re.compile(r"ringmaster-(?:ring|wire|bench|demo|generate)-(\d+)(?:-\w+)?")
"""Names of folders with the process that made them."""
SHARED_MEMORY = Path("/dev/shm")


class StillOwned(RuntimeError):
    """An owner lives, so nothing of the workspace was removed."""


@dataclass(frozen=True)
class Remains:
    """One folder that a program which has ended left behind."""

    what: str
    """"workspace", "DPDK folder" or "scratch folder"."""
    path: Path
    owners: tuple[str, ...]
    """Of a workspace, whose segments lie in it; else the process."""
    bytes: int
    """That removing it gives back."""


def scratch_folder(word: str, directory: str | None = None) -> "tempfile.TemporaryDirectory[str]":
    """A folder that goes with its ``with``. After a kill :func:`find_remains` knows it by the process in its name."""
    return tempfile.TemporaryDirectory(prefix=f"ringmaster-{word}-{os.getpid()}-", dir=directory)


def find_remains() -> list[Remains]:
    """All of this user's and, for root, everybody's."""
    found = (path for root in _roots() for path in sorted(root.glob("*")))
    workspaces = [path for path in found if path.is_dir() and not path.is_symlink()]
    return [*(left for path in workspaces if (left := _dead_workspace(path))), *_folders_of_processes()]


def _roots() -> list[Path]:
    """For root, the folders of all users."""
    roots = workspaces_roots()
    if COMMON_ROOT in roots and os.geteuid() == 0:
        roots += [path for path in COMMON_ROOT.parent.glob(f"{COMMON_ROOT.name}-[0-9]*") if path not in roots]
    return [root for root in roots if not root.is_symlink()]


def remove_remains(remains: Remains) -> None:
    """Removes one. Raises StillOwned when an owner lives by now, OSError for what this user may not remove."""
    if remains.what == "workspace":
        remove_workspace(remains.path)
    else:
        shutil.rmtree(remains.path)


def remove_workspace(path: Path) -> None:
    """Removes a workspace whose owners have all ended, with its huge pages. Does nothing where there is none."""
    with ExitStack() as held:
        for segment in _segments(path):
            lock = segment.with_suffix(".lock")
            if not _hold(lock, held):
                raise StillOwned(f"{lock}: {segment.stem} lives; stop it first")
        for segment in _segments(path):
            huge = _huge_file(segment)
            if huge is not None:
                huge.unlink(missing_ok=True)
        with suppress(FileNotFoundError):
            shutil.rmtree(path)


def release_workspace(name: str) -> None:
    """Gives back the memory that an ended server's rings still hold; does nothing while one of their owners lives."""
    with suppress(StillOwned, OSError):
        remove_workspace(directory_of(name))


def _segments(path: Path) -> list[Path]:
    return sorted([*path.glob("*.segment"), *path.glob("*/*.segment")])


def _dead_workspace(path: Path) -> Remains | None:
    """A folder without a segment is one that a server is just making."""
    segments = _segments(path)
    if not segments or any(owner_lives(segment.parent, segment.stem) for segment in segments):
        return None
    size = sum(_bytes_of(_huge_file(segment) or segment) for segment in segments)
    return Remains("workspace", path, tuple(segment.stem for segment in segments), size)


def _bytes_of(path: Path) -> int:
    try:
        status = path.lstat()
    except OSError:
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


def _huge_file(segment: Path) -> Path | None:
    """Where a segment on huge pages lies: at MOUNT/ringmaster/PATH-OF-THE-WORKSPACE. Other links are not followed."""
    if not segment.is_symlink():
        return None
    target = segment.readlink()
    expected = f"/ringmaster{os.path.realpath(segment.parent)}/{segment.name}"
    return target if str(target).endswith(expected) and stat.S_ISREG(_mode(target)) else None


def _mode(path: Path) -> int:
    try:
        return path.lstat().st_mode
    except OSError:
        return 0


def _hold(lock: Path, held: ExitStack) -> bool:
    """Takes the lock that an owner holds while it lives; True as well where there is none."""
    try:
        file = os.open(lock, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    held.callback(os.close, file)
    try:
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, LOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
    except BlockingIOError:
        return False
    return True


def _folders_of_processes() -> Iterator[Remains]:
    places = [(Path(tempfile.gettempdir()), "scratch folder"), (SHARED_MEMORY, "scratch folder")]
    places += [(run, "DPDK folder") for run in _dpdk_run_folders()]
    for place, what in places:
        for path in sorted(place.glob("ringmaster-*")):
            found = OF_A_PROCESS.fullmatch(path.name)
            if found is None or path.is_symlink() or not path.is_dir() or Path(f"/proc/{found[1]}").exists():
                continue
            if path.lstat().st_uid == os.geteuid():
                size = sum(_bytes_of(file) for file in path.rglob("*"))
                yield Remains(what, path, (f"process {found[1]}",), size)


def _dpdk_run_folders() -> list[Path]:
    """Where DPDK keeps a folder for each process, for root and for others."""
    user = os.environ.get("XDG_RUNTIME_DIR", "/tmp")
    return [Path("/var/run/dpdk"), Path(user) / "dpdk"]
