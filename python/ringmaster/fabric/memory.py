# SPDX-License-Identifier: Apache-2.0
"""Looking at structures in shared memory that change under one's eyes.

All members are naturally aligned. A ``Words`` member is loaded by one aligned 8-byte load, which is an acquire on
x86-64; the interpreter does not move loads past each other, so the protocols of the C headers hold as they are written
there.
"""

import mmap
from collections.abc import Callable
from time import monotonic
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ringmaster.errors import WorkspaceDamaged

T = TypeVar("T")

SEQUENCE_TIMEOUT_S = 0.2
"""How long a sequence lock may stay odd; its writer holds it for some 20 ns."""


def text(raw: bytes) -> str:
    """A zero-terminated UTF-8 member as text."""
    return raw.split(b"\0", 1)[0].decode("utf-8", "replace")


def structure(memory: mmap.mmap, dtype: np.dtype[np.void], offset: int) -> npt.NDArray[np.void]:
    """The structure at ``offset`` bytes, shape (1,), without a copy."""
    return np.frombuffer(memory, dtype=dtype, count=1, offset=offset)


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

    def f64(self, name: str) -> float:
        """The member's bits as a double."""
        return float(self._word[name].view("<f8")[0])

    def consistently(self, copy: Callable[[], T]) -> T:
        """Calls ``copy`` under the sequence lock of the member ``sequence``, until nobody wrote meanwhile.

        Raises WorkspaceDamaged when the lock stays taken: its writer was killed between two stores.
        """
        give_up = monotonic() + SEQUENCE_TIMEOUT_S
        while monotonic() < give_up:
            before = self("sequence")
            if before % 2:
                continue
            result = copy()
            if self("sequence") == before:
                return result
        raise WorkspaceDamaged("a value stayed half-written: its owner was killed while it changed it")
