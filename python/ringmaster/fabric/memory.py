# SPDX-License-Identifier: Apache-2.0
"""Looking at structures in shared memory that change under one's eyes.

What must be copied consistently is copied by the C library, whose readers are the only ones: clocks, parameters,
records, vectors, grants. Here are the places of structures for it, and single u64 members, whose one aligned load needs
no order with others.
"""

import mmap

import numpy as np
import numpy.typing as npt

from ringmaster.errors import WorkspaceDamaged
from ringmaster.fabric._library import ffi


def text(raw: bytes) -> str:
    """A zero-terminated UTF-8 member as text."""
    return raw.split(b"\0", 1)[0].decode("utf-8", "replace")


def structure(memory: mmap.mmap, dtype: np.dtype[np.void], offset: int) -> npt.NDArray[np.void]:
    """The structure at ``offset`` bytes, shape (1,), without a copy."""
    return np.frombuffer(memory, dtype=dtype, count=1, offset=offset)


def structures(memory: mmap.mmap, dtype: np.dtype[np.void], offset: int, count: int) -> npt.NDArray[np.void]:
    """The same of an array of structures."""
    return np.frombuffer(memory, dtype=dtype, count=count, offset=offset)


class Words:
    """The u64 members of one structure, each read afresh at every call."""

    def __init__(self, memory: mmap.mmap, dtype: np.dtype[np.void], offset: int) -> None:
        self._word = {
            name: np.frombuffer(memory, dtype="<u8", count=1, offset=offset + dtype.fields[name][1])
            for name in dtype.names or ()
            if dtype.fields is not None and dtype.fields[name][0] == np.dtype("<u8")
        }

    def __call__(self, name: str) -> int:
        """The member as it is now."""
        return int(self._word[name][0])


class Place:
    """A structure in shared memory, for the C library. The memory stays mapped as long as this is referenced."""

    def __init__(self, kind: str, dtype: np.dtype[np.void], memory: mmap.mmap, offset: int) -> None:
        """``kind`` is the structure's name in C. Raises WorkspaceDamaged where it does not lie whole in the memory."""
        if offset % 8 or not 0 <= offset <= len(memory) - dtype.itemsize:
            raise WorkspaceDamaged(f"a {kind} at byte {offset} of {len(memory)} is none; start its owner anew")
        self._held = np.frombuffer(memory, np.uint8, dtype.itemsize, offset)
        self.pointer = ffi.cast(f"struct {kind} const *", self._held.ctypes.data)


def half_written(name: str) -> WorkspaceDamaged:
    """The C library has waited for a writer for a tenth of a second, in vain."""
    return WorkspaceDamaged(f"{name} stayed half-written: its owner was killed while it changed it")
