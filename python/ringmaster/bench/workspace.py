# SPDX-License-Identifier: Apache-2.0
"""Workspaces of a measurement's own, which leave nothing behind."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ringmaster.programs.remains import release_workspace


def own_name() -> str:
    """A name that nobody else on this machine uses."""
    return f"bench-{os.getpid()}"


@contextmanager
def own_workspace() -> Iterator[str]:
    """Such a name; what is left of the workspace in the end is removed."""
    try:
        yield own_name()
    finally:
        release_workspace(own_name())
