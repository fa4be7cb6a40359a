# SPDX-License-Identifier: Apache-2.0
"""How many frames readers hold just now: who holds one has locked a byte of a file (include/ringmaster/images.h)."""

import fcntl
import os
from pathlib import Path

from ringmaster.fabric._abi import RM_IMAGE_SLOTS_MAX
from ringmaster.fabric.segment import LOCK


def held(file: Path, lease_base: int, lease_count: int) -> int | None:
    """Leases of images that are held; None where the file may not be read."""
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        first = lease_base + RM_IMAGE_SLOTS_MAX
        return sum(_is_locked(descriptor, first + ticket) for ticket in range(lease_count))
    finally:
        os.close(descriptor)


def _is_locked(descriptor: int, byte: int) -> bool:
    answer = fcntl.fcntl(descriptor, fcntl.F_OFD_GETLK, LOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, byte, 1, 0))
    return bool(LOCK.unpack(answer)[0] != fcntl.F_UNLCK)
