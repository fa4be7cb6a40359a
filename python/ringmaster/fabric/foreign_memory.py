# SPDX-License-Identifier: Apache-2.0
"""Mapping another process's file so that neither its kind nor its truncation harms the reader.

The protection from truncation is that of include/ringmaster/truncation.h: it takes a signal handler, which Python
cannot write. Three functions of the C library are called by ctypes, which starts faster than all of ``_library``.
"""

import ctypes
import mmap
import os
import stat
from functools import cache
from pathlib import Path

import numpy as np

from ringmaster.errors import WorkspaceDamaged
from ringmaster.places import find_library

_HUGETLBFS_MAGIC = 0x958458F6


class ForeignMemory(mmap.mmap):
    """A file of another process, mapped read-only. Where that process cuts it, zeros stand."""

    _start = 0

    def watch(self) -> None:
        """Protects it from now on, as far as the C library is there."""
        library = _library()
        start = np.frombuffer(self, np.uint8, 1).ctypes.data
        if library is None:
            return
        if not library.rm_truncation_watch(start, len(self)):
            raise WorkspaceDamaged("this process maps too many segments: close some workspaces")
        self._start = start

    @property
    def cut(self) -> bool:
        """Whether a part of it was cut, and read since."""
        library = _library()
        return bool(library is not None and self._start and library.rm_truncation_cut(self._start))

    def _forget(self) -> None:
        library = _library()
        if library is not None and self._start:
            library.rm_truncation_forget(self._start)
            self._start = 0

    def close(self) -> None:
        """Unmaps it. Raises BufferError while an array looks into it."""
        self._forget()
        try:
            super().close()
        except BufferError:
            self.watch()
            raise

    def __del__(self) -> None:
        """Runs before the memory is unmapped, which it then is."""
        self._forget()


def map_file(path: Path, at_least: int) -> tuple[ForeignMemory | None, tuple[int, int]]:
    """Maps a file, and says which one it is: device and inode. None where it is shorter than ``at_least`` bytes.

    Only an ordinary file is opened, and a link only to one on huge pages: so opening waits for no pipe.
    In a folder of one user the file belongs to that user, or to root. Raises WorkspaceDamaged, OSError.
    """
    descriptor = _open(path)
    try:
        status = os.fstat(descriptor)
        key = (status.st_dev, status.st_ino)
        if status.st_size < at_least:
            return None, key
        try:
            memory = ForeignMemory(descriptor, status.st_size, prot=mmap.PROT_READ, flags=mmap.MAP_SHARED)
        except ValueError:  # it was cut since
            return None, key
    finally:
        os.close(descriptor)
    memory.watch()
    return memory, key


def _open(path: Path) -> int:
    """First a place is opened, which touches nothing; then it is judged; then that same place is read."""
    place = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    link = stat.S_ISLNK(os.fstat(place).st_mode)
    if link:
        os.close(place)
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        status = os.fstat(place)
        what = _unfit(path, status, link)
        if what is not None:
            raise WorkspaceDamaged(f"{path}: {what}; it is not read: remove it, and start its owner again")
        return os.open(f"/proc/self/fd/{place}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    finally:
        os.close(place)


def _unfit(path: Path, status: os.stat_result, link: bool) -> str | None:
    if not stat.S_ISREG(status.st_mode):
        return "is no ordinary file"
    if link and not _on_huge_pages(status):
        return "is a link to a file that is not on huge pages"
    folder = path.parent.stat()
    own_folder = path.parent.name == path.name.removesuffix(".segment")
    if own_folder and status.st_uid not in (folder.st_uid, 0):
        return f"belongs to user {status.st_uid}, the folder to user {folder.st_uid}"
    return None


def _on_huge_pages(status: os.stat_result) -> bool:
    """Of a hugetlbfs a file's block size is that of a huge page; statfs, which tells the kind, is not in Python."""
    return status.st_blksize >= 2 << 20


@cache
def _library() -> ctypes.CDLL | None:
    """The C library; None where it is not installed, or an older one."""
    try:
        library = ctypes.CDLL(find_library("libringmaster.so"))
        library.rm_truncation_watch.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
        library.rm_truncation_forget.argtypes = library.rm_truncation_cut.argtypes = [ctypes.c_void_p]
        library.rm_truncation_watch.restype = library.rm_truncation_cut.restype = ctypes.c_bool
        library.rm_truncation_forget.restype = None
    except (OSError, AttributeError):
        return None
    return library
