# SPDX-License-Identifier: Apache-2.0
"""The C library as Python sees it: ``lib`` has its functions and constants, ``ffi`` makes and reads its structs.

Calls release the interpreter's lock, so twins on several threads run at once.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmaster.errors import LatticeAbsent, LatticeInvalid, TwinArgument, TwinError, TwinNoAnswer
from ringmaster.fabric.naming import without_controls
from ringmaster.fabric.structs import check_structs
from ringmaster.places import ProgramNotFound, find_library
from ringmaster.twin import _ffi

NAME = "libringmaster-twin.so"
Floats = NDArray[np.float64]
Points = NDArray[np.uint32]


def _load(foreign: Any) -> Any:
    path = find_library(NAME)
    try:
        opened = foreign.dlopen(path)
        check_structs(foreign, opened.rm_twin_size_of)
    except (OSError, AttributeError, ValueError) as error:
        raise ProgramNotFound(f"{path} cannot be loaded ({error}); build it with `make build`, or install it") from None
    return opened


ffi: Any = _ffi.ffi
lib: Any = _load(ffi)


def call(function: Any, *arguments: Any, reading: bool = False) -> None:
    """Calls a function that returns an `enum rm_code` and takes a `struct rm_error *` last; raises what it says.

    `reading`: it reads a lattice, where a thing that cannot be is the file's fault and not the ring's.
    """
    error = ffi.new("struct rm_error *")
    code = function(*arguments, error)
    if code != lib.RM_OK:
        raise _error_of(code, text(error.text), reading)


def _error_of(code: int, words: str, reading: bool) -> Exception:
    by_code: dict[int, type[Exception]] = {
        lib.RM_E_NOT_FOUND: LatticeAbsent,
        lib.RM_E_CONFIG: LatticeInvalid if reading else TwinNoAnswer,
        lib.RM_E_ARGUMENT: TwinArgument,
        lib.RM_E_NO_SPACE: MemoryError,
        lib.RM_E_SYSTEM: OSError,
    }
    return by_code.get(code, TwinError)(words)


def text(characters: Any) -> str:
    """A C string, as it may come to a terminal."""
    return without_controls(str(ffi.string(characters).decode(errors="replace")))


def encoded(words: str | None) -> Any:
    """A C string for an argument, NULL for None."""
    return ffi.NULL if words is None else words.encode()


def buffer(kind: str, array: NDArray[Any] | None) -> Any:
    """An array's memory as C elements of `kind`, written in place; NULL for None. Keep the array as long."""
    return ffi.NULL if array is None else ffi.from_buffer(f"{kind}[]", array, require_writable=False)


def six_by(array: NDArray[Any] | None) -> Any:
    """Rows of six doubles."""
    return ffi.NULL if array is None else ffi.from_buffer("double[][6]", array)


def numbers(pointer: Any, *shape: int) -> Floats | None:
    """A copy of C doubles, which nobody can write to; None for NULL."""
    if pointer == ffi.NULL:
        return None
    count = int(np.prod(shape))
    copied = np.frombuffer(ffi.buffer(pointer, 8 * count), dtype=np.float64).copy().reshape(shape)
    copied.flags.writeable = False
    return copied
