# SPDX-License-Identifier: Apache-2.0
"""The cores that programs of a measurement or a demonstration may have."""

import os


def allowed_cores() -> list[int]:
    """CPUs that this process may use."""
    return sorted(os.sched_getaffinity(0))


def cores() -> tuple[int, int]:
    """CPUs for the ring and the server: the first two that this process may use; one twice if there is but one."""
    allowed = allowed_cores()
    return allowed[0], allowed[min(1, len(allowed) - 1)]
