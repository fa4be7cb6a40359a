# SPDX-License-Identifier: Apache-2.0
"""Masks of detectors: for a time from now, as the turn before which one does not alarm."""

import numpy as np

from ringmaster.fabric.stream import Stream
from ringmaster.fabric.workspace import Workspace

STREAM = "levels"
"""The application's stream: a lane for each detector. Its newest turn is that of the last step."""


def levels_of(ws: Workspace) -> Stream:
    """The stream of the application in this workspace. Raises ValueError where there is not one."""
    found = [stream for name, stream in ws.streams.items() if name.endswith(f"/{STREAM}")]
    if len(found) != 1:
        raise ValueError(f"{ws.name}: expected one stream NAME/{STREAM}, found {len(found)}: is premortem running?")
    return found[0]


def mask(ws: Workspace, detector: int, seconds: float) -> int:
    """Masks a detector, by its index, from the last step on; returns the turn at which that ends.

    Raises ValueError, and what ``Workspace.put`` raises: the application refuses what is longer than `mask_most_s`.
    """
    levels = levels_of(ws)
    name = f"{levels.instrument}/masked_until"
    detectors = np.atleast_1d(np.asarray(ws.parameters[name].value)).size
    if not 0 <= detector < detectors:
        raise ValueError(f"{name} has {detectors} detectors, expected 0 to {detectors - 1}")
    if levels.head is None:
        raise ValueError(f"{levels.name}: no step was made yet")
    until = levels.head + round(seconds * ws.parameters["server/turn_rate_hz"].number)
    ws.put(name, np.array([float(until)]), first=detector)
    return until
