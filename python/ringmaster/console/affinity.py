# SPDX-License-Identifier: Apache-2.0
"""Keeping off the server's cores."""

import os
from contextlib import suppress
from pathlib import Path

from ringmaster.fabric.workspace import Workspace


def server_cores(ws: Workspace) -> set[int]:
    """CPUs that the server's threads are pinned to, as its counters say."""
    return {block["core"] for block in ws.counter_blocks.values() if block.set_name == "core"}


def keep_off(cores: set[int], allowed: set[int]) -> set[int]:
    """Moves all threads of this process to those of ``allowed`` that are not among ``cores``; returns where they are.

    Stays where it is when nothing would be left: then there is one CPU for all.
    """
    free = allowed - cores or allowed
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # a thread that has just ended
            os.sched_setaffinity(int(task.name), free)
    return free
