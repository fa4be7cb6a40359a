# SPDX-License-Identifier: Apache-2.0
"""Whether a C library and this package are of one version."""

from collections.abc import Callable
from typing import Any


def check_structs(foreign: Any, size_of: Callable[[bytes], int]) -> None:
    """Raises ValueError where the library, by `size_of`, has another struct than the declarations of this package."""
    _, structs, _ = foreign.list_types()
    for name in structs:
        try:
            ours = foreign.sizeof(f"struct {name}")
        except foreign.error:  # known to C alone
            continue
        its = size_of(name.encode())
        if ours != its:
            raise ValueError(f"its struct {name} has {its} bytes, this package's {ours}: they are of two versions")
