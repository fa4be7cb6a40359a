# SPDX-License-Identifier: Apache-2.0
"""Where the events are: as a person says, or as the watch of a workspace says."""

import os
from pathlib import Path

from ringmaster.errors import WorkspaceError
from ringmaster.fabric.workspace import attach
from ringmaster.postmortem.catalogue import Catalogue
from ringmaster.postmortem.names import DIRECTORY

VARIABLE = "RINGMASTER_ARCHIVE"


def find_catalogue(directory: Path | None, workspace: str | None = None) -> Catalogue:
    """In ``directory``, in $RINGMASTER_ARCHIVE, or where the workspace's watch says. Raises ValueError."""
    given = directory or os.environ.get(VARIABLE)
    if given:
        return Catalogue(Path(given))
    try:
        with attach(workspace, dead=True) as ws:
            if DIRECTORY in ws.parameters:
                return Catalogue(Path(str(ws.parameters[DIRECTORY].value)))
            where = f"workspace {ws.name!r} has no watch that says it"
    except WorkspaceError as error:
        where = " ".join(str(error).split())
    raise ValueError(
        f"it is not known where the events are: {where}; give --directory DIRECTORY, the archive's folder, or set "
        f"${VARIABLE}"
    )
