# SPDX-License-Identifier: Apache-2.0
"""A planned switch: asked for, waited for, and what the chains' answers say of the cycles around its turn."""

from dataclasses import dataclass
from time import monotonic, sleep

import numpy as np

from ringmaster.errors import RequestRefused
from ringmaster.fabric.layout import StandbyRole
from ringmaster.fabric.stream import Stream
from ringmaster.fabric.workspace import Workspace
from ringmaster.standby import names
from ringmaster.standby.figures import StandbyFigures, need_standby

TIMEOUT_S = 30.0
LOOKS_S = 0.01
AROUND_CYCLES = 32
"""Cycles before the turn and behind it that are looked at."""
LEAD_S = 0.5
"""From asking to the turn of the switch, where none is given: longer than it may take to tell both servers of it."""
PASSED_CYCLES = 100
"""So many behind the agreed turn the peer sends, or nothing was switched."""


class NotSwitched(RuntimeError):
    """It was agreed and did not come. The text says what is."""


@dataclass(frozen=True)
class Switched:
    """What came of it."""

    turn: int
    """With which the peer began to send."""
    server: str
    """That sends now."""
    cycles: int
    """That were looked at."""
    missing_cycles: int
    """To which no chain has answered."""
    duplicate_cycles: int
    """To which a chain has answered twice."""


def switch(ws: Workspace, turn: int | None = None, timeout_s: float = TIMEOUT_S) -> Switched:
    """Asks the active server of ``ws`` to hand over to its peer, at a turn or in half a second, and waits.

    Raises RequestRefused with the reason where the peer is not READY, NotSwitched where it did not come in time.
    """
    before = need_standby(ws)
    if not before.sends:
        raise RequestRefused(
            f"{before.server} does not send, it is {before.role.name}: ask its peer {before.peer}, which is "
            f"{names.role_name(before.link.peer_role)}"
        )
    ws.check(names.OWNER)
    duplicates = _duplicates(ws)
    agreed = ws.put(names.SWITCH, _soon(ws) if turn is None else turn, timeout=timeout_s)
    give_up = monotonic() + timeout_s
    after = _handed_over(ws, int(float(agreed.value)), give_up)
    _wait_answers(ws, after, give_up)
    cycles, missing = _missing(ws, after)
    return Switched(after.since_turn, after.peer, cycles, missing, max(0, _duplicates(ws) - duplicates))


def _soon(ws: Workspace) -> int:
    """The turn in half a second."""
    turn_rate_hz = ws.parameters["server/turn_rate_hz"].number
    return need_standby(ws).turn + round(LEAD_S * turn_rate_hz)


def _handed_over(ws: Workspace, agreed: int, give_up: float) -> StandbyFigures:
    """What this server is when its peer sends."""
    while True:
        figures = need_standby(ws)
        if not figures.sends and figures.link.peer_role == StandbyRole.ACTIVE:
            return figures
        if monotonic() > give_up or figures.turn > agreed + PASSED_CYCLES * figures.period_turns:
            peer = names.role_name(figures.link.peer_role)
            raise NotSwitched(
                f"turn {agreed} was agreed and has passed; {figures.server} is {figures.role.name}, {figures.peer} is "
                f"{peer}: try again"
            )
        sleep(LOOKS_S)


def _wait_answers(ws: Workspace, figures: StandbyFigures, give_up: float) -> None:
    """Until the chains have answered to what the peer sent."""
    last = figures.since_turn + AROUND_CYCLES * figures.period_turns
    while _newest(ws) < last:
        if monotonic() > give_up:
            raise NotSwitched(f"{figures.peer} says that it sends, and the chains do not answer: look at both consoles")
        sleep(LOOKS_S)


def _newest(ws: Workspace) -> int:
    """Newest turn that any chain has answered."""
    return max((stream.head or 0 for stream in _answers(ws)), default=0)


def _answers(ws: Workspace) -> list[Stream]:
    """Of each chain that answers: the first part, for all parts come together."""
    return [chain.streams[0] for chain in ws.chains.values() if chain.streams]


def _missing(ws: Workspace, figures: StandbyFigures) -> tuple[int, int]:
    """Cycles around the turn, and those that no chain has answered to."""
    period = figures.period_turns
    first = -(-(figures.since_turn - AROUND_CYCLES * period) // period) * period
    count = 2 * AROUND_CYCLES
    there = np.zeros(count, bool)
    for stream in _answers(ws):
        there |= stream.read(first, count).ok
    return count, int(count - np.count_nonzero(there))


def _duplicates(ws: Workspace) -> int:
    """Second answers to one cycle, of all chains, so far, less those that this server's own queries may have brought:
    having handed over, it asks the chains whom they obey.
    """
    seconds = sum(ws.counters(f"stream/{stream.instrument}")["duplicate"] for stream in _answers(ws))
    return seconds - ws.counters("standby")["asked"]
