# SPDX-License-Identifier: Apache-2.0
"""The C library as Python sees it: its public headers, less comments and directives, through cffi."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import cffi

ROOT = Path(__file__).parents[2]
HEADERS = ("error.h", "lattice.h", "twin.h")
LIBRARY = ROOT / "build/twin/libringmaster-twin.so"

ffi: Any = cffi.FFI()


def declarations() -> str:
    """What cffi can parse of the headers."""
    text = "".join((ROOT / "include/ringmaster" / header).read_text() for header in HEADERS)
    return re.sub(r"/\*.*?\*/|//[^\n]*|^#[^\n]*", "", text, flags=re.S | re.M)


ffi.cdef(declarations())
library: Any = ffi.dlopen(str(LIBRARY))


def call(function: Any, *arguments: Any) -> None:
    """Calls what returns an enum rm_code and takes an error last; raises RuntimeError with its text."""
    error = ffi.new("struct rm_error *")
    if function(*arguments, error) != library.RM_OK:
        raise RuntimeError(ffi.string(error.text).decode())
