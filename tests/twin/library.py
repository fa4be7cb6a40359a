# SPDX-License-Identifier: Apache-2.0
"""The C library as the package sees it."""

from ringmaster.twin._library import call, ffi
from ringmaster.twin._library import lib as library

__all__ = ["call", "ffi", "library"]
