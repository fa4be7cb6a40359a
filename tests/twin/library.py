# SPDX-License-Identifier: Apache-2.0
"""The C library as the package sees it."""

from pathlib import Path

from ringmaster.twin._library import call, ffi
from ringmaster.twin._library import lib as library

ROOT = Path(__file__).parents[2]

__all__ = ["ROOT", "call", "ffi", "library"]
