# SPDX-License-Identifier: Apache-2.0
"""Figures of the post-mortem: how many events there are, as the watch of the workspace says."""

from dataclasses import dataclass

import numpy as np

from ringmaster.errors import WorkspaceError
from ringmaster.fabric.workspace import Workspace
from ringmaster.postmortem.names import DIRECTORY, EVENTS, LAST, OWNER, TO_REVIEW


@dataclass(frozen=True)
class PostmortemFigures:
    """What the watch tells."""

    events: int
    to_review: int
    last: str
    """ID of the newest event, empty where there is none."""
    directory: str
    """Where they are."""
    runs: bool
    """Whether the watch runs, so that the next loss is seen."""


def read_postmortem(ws: Workspace) -> PostmortemFigures | None:
    """None where the workspace has no watch."""
    if EVENTS not in ws.parameters or OWNER not in ws.segments:
        return None
    try:
        return PostmortemFigures(
            events=_whole(ws, EVENTS),
            to_review=_whole(ws, TO_REVIEW),
            last=str(ws.parameters[LAST].value),
            directory=str(ws.parameters[DIRECTORY].value),
            runs=ws.segments[OWNER].alive,
        )
    except WorkspaceError:
        return None


def _whole(ws: Workspace, name: str) -> int:
    return int(np.asarray(ws.parameters[name].value, np.int64))
