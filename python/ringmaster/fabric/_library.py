# SPDX-License-Identifier: Apache-2.0
"""The C library of the fabric as Python sees it.

``lib`` has its functions and constants, ``ffi`` makes and reads its structs.
"""

from typing import Any

from ringmaster.errors import (
    ObjectNotFound,
    OwnerBusy,
    WorkspaceAbsent,
    WorkspaceDead,
    WorkspaceHalfMade,
    WorkspaceVersion,
)
from ringmaster.fabric import _ffi
from ringmaster.places import ProgramNotFound, find_library

NAME = "libringmaster.so"


def _load(foreign: Any) -> Any:
    path = find_library(NAME)
    try:
        opened = foreign.dlopen(path)
        _ = opened.rm_owner_new  # an older one has none
    except (OSError, AttributeError) as error:
        raise ProgramNotFound(f"{path} cannot be loaded ({error}); build it with `make build`, or install it") from None
    return opened


ffi: Any = _ffi.ffi
lib: Any = _load(ffi)

_BY_CODE: dict[int, type[Exception]] = {
    lib.RM_E_ABSENT: WorkspaceAbsent,
    lib.RM_E_HALF_MADE: WorkspaceHalfMade,
    lib.RM_E_VERSION: WorkspaceVersion,
    lib.RM_E_DEAD: WorkspaceDead,
    lib.RM_E_BUSY: OwnerBusy,
    lib.RM_E_NOT_FOUND: ObjectNotFound,
    lib.RM_E_CONFIG: ValueError,
    lib.RM_E_ARGUMENT: ValueError,
    lib.RM_E_SYSTEM: OSError,
    lib.RM_E_NO_SPACE: OSError,
}


def call(function: Any, *arguments: Any) -> None:
    """Calls a function that returns an `enum rm_code` and takes a `struct rm_error *` last; raises what it says."""
    error = ffi.new("struct rm_error *")
    code = function(*arguments, error)
    if code != lib.RM_OK:
        raise _BY_CODE.get(code, OSError)(text(error.text))


def text(characters: Any) -> str:
    """A C string."""
    return str(ffi.string(characters).decode(errors="replace"))
