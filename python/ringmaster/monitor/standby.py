# SPDX-License-Identifier: Apache-2.0
"""Two servers, as the console shows them: figures of this one and its peer, and what keeps the standby from READY."""

from dataclasses import dataclass

from ringmaster.fabric.workspace import Workspace
from ringmaster.standby import names
from ringmaster.standby.figures import StandbyFigures, read_standby
from ringmaster.standby.why import read_sentences

SOON_CYCLES = 100
"""From a key to the turn of the switch: until then both servers have heard of it."""


@dataclass(frozen=True)
class StandbyLook:
    """One look at one of two servers."""

    figures: StandbyFigures
    missing: tuple[str, ...]
    """What keeps the standby from READY, in sentences; empty where nothing does."""


def read_standby_look(ws: Workspace) -> StandbyLook | None:
    """None where the server is not one of two."""
    figures = read_standby(ws)
    return None if figures is None else StandbyLook(figures, tuple(read_sentences(ws, figures)))


def presses(look: StandbyLook, character: str | None) -> list[tuple[str, float | str]]:
    """What a key of the page asks for: parameters and their new values."""
    figures = look.figures
    if not figures.link.runs:
        return []
    if character == "s" and figures.sends and figures.followed:
        return [(names.SWITCH, float(figures.turn + SOON_CYCLES * figures.period_turns))]
    if character == "h" and (figures.link.held or not figures.sends):
        return [(names.HOLD, 0.0 if figures.link.held else 1.0)]
    if character == "a" and figures.unacknowledged:
        return [(names.ACKNOWLEDGE, 1.0)]
    return []
