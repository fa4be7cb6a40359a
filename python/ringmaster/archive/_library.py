# SPDX-License-Identifier: Apache-2.0
"""The C library that reads archives, as Python sees it.

``lib`` has its functions and constants, ``ffi`` makes and reads its structs.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmaster.archive import _ffi
from ringmaster.errors import ArchiveAbsent, ArchiveArgument, ArchiveChanged, ArchiveDamaged, ArchiveError
from ringmaster.fabric.naming import without_controls
from ringmaster.fabric.structs import check_structs
from ringmaster.places import ProgramNotFound, find_library

NAME = "libringmaster-archive.so"


def _load(foreign: Any) -> Any:
    path = find_library(NAME)
    try:
        opened = foreign.dlopen(path)
        check_structs(foreign, opened.rm_archive_size_of)
    except (OSError, AttributeError, ValueError) as error:
        raise ProgramNotFound(f"{path} cannot be loaded ({error}); build it with `make build`, or install it") from None
    return opened


ffi: Any = _ffi.ffi
lib: Any = _load(ffi)

_BY_CODE: dict[int, type[Exception]] = {
    lib.RM_E_ABSENT: ArchiveAbsent,
    lib.RM_E_NOT_FOUND: ArchiveAbsent,
    lib.RM_E_ARGUMENT: ArchiveArgument,
    lib.RM_E_BUSY: ArchiveChanged,
    lib.RM_E_CONFIG: ArchiveDamaged,
    lib.RM_E_NO_SPACE: MemoryError,
    lib.RM_E_SYSTEM: OSError,
}


def call(function: Any, *arguments: Any) -> None:
    """Calls a function that returns an `enum rm_code` and takes a `struct rm_error *` last; raises what it says."""
    error = ffi.new("struct rm_error *")
    code = function(*arguments, error)
    if code != lib.RM_OK:
        raise _BY_CODE.get(code, ArchiveError)(text(error.text))


def text(characters: Any) -> str:
    """A C string, as it may come to a terminal."""
    return without_controls(str(ffi.string(characters).decode(errors="replace")))


def description(stored: Any) -> Any:
    """The member `is`, a word of Python's, of a struct rm_archive_object."""
    return getattr(stored, "is")


def listed(function: Any, archive: Any) -> list[Any]:
    """What a function of the library gives as an array and its count."""
    count = ffi.new("uint32_t *")
    items = function(archive, count)
    return [items[i] for i in range(count[0])]


def pointer(kind: str, array: NDArray[Any]) -> Any:
    """An array's memory, written in place by the call."""
    return ffi.cast(kind, array.ctypes.data)


BLOCK = np.dtype(
    {
        "names": [
            *("count", "stored_bytes", "plain_bytes", "codec", "epoch", "first_turn", "first_tai_ns", "last_tai_ns"),
            *("offset", "file", "run", "number"),
        ],
        "formats": ["<u4", "<u4", "<u4", "u1", "<u2", "<u8", "<u8", "<u8", "<u8", "<u4", "<u4", "<u8"],
        "offsets": [28, 32, 36, 13, 14, 40, 48, 56, 64, 72, 76, 80],
        "itemsize": 88,
    }
)
"""struct rm_archive_block."""

__all__ = ["BLOCK", "call", "description", "ffi", "lib", "listed", "pointer", "text"]
