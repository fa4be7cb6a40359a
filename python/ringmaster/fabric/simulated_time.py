# SPDX-License-Identifier: Apache-2.0
"""Workspaces in simulated time, where a virtual ring waits for the loop: its seconds are not those of the clock."""

from time import monotonic, sleep

from ringmaster.errors import WorkspaceError
from ringmaster.fabric.workspace import Workspace

FLAG = "server/simulated_time"
NOMINAL = "server/turn_rate_hz"
STANDS_S = 1.0
LOOKS_S = 0.02


def is_simulated(ws: Workspace) -> bool:
    """Whether the server of this workspace runs in simulated time."""
    return FLAG in ws.parameters and bool(ws.parameters[FLAG].number)


def machine_turn_rate_hz(ws: Workspace) -> float:
    """Turns per second of the machine, as the clock has fitted them; in simulated time the nominal ones. 0: unknown."""
    return ws.parameters[NOMINAL].number if is_simulated(ws) else ws.clock.read().turn_rate_hz


def real_time_ratio(ws: Workspace) -> float | None:
    """Seconds of the machine per second of the clock, lately; None where time is real."""
    try:
        return ws.clock.read().turn_rate_hz / ws.parameters[NOMINAL].number if is_simulated(ws) else None
    except WorkspaceError:
        return None


def stands_still(ws: Workspace) -> bool:
    """Whether simulated time stands: looks for a second at most, in which no turn comes."""
    if not is_simulated(ws):
        return False
    turn, begun = ws.clock.read().turn, monotonic()
    while ws.clock.read().turn == turn:
        if monotonic() - begun > STANDS_S:
            return True
        sleep(LOOKS_S)
    return False
