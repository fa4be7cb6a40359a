# SPDX-License-Identifier: Apache-2.0
"""Figures of one of two servers: what it is, what its peer is, how far the standby is behind."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ringmaster.errors import ObjectNotFound, WorkspaceError
from ringmaster.fabric.layout import StandbyReason, StandbyRole
from ringmaster.fabric.workspace import Workspace
from ringmaster.machine.server_file import of_workspace
from ringmaster.standby import names
from ringmaster.standby.file import SECTION

STATE, ORDERS, FOLLOW = "standby/state", "standby/orders", "follow"


@dataclass(frozen=True)
class LinkFigures:
    """What `ringmaster-standby` tells of the other server."""

    runs: bool
    """Whether the process runs: without it nothing of the peer is known."""
    peer_role: StandbyRole | None
    """None where the peer is not heard."""
    peer_term: int
    ready: bool
    """Whether there is a standby that can take over."""
    why: str
    """What keeps it from READY; empty where nothing does."""
    lag_cycles: int
    """By which the peer's newest records are behind the newest cycle."""
    differences: int
    """Steps that came to other bits than the active server's, of all applications."""
    held: bool
    peer_unacknowledged: bool = False
    """The peer took over by itself, which is not acknowledged: this server does not until it is."""


@dataclass(frozen=True)
class Follower:
    """An application while its server is the standby."""

    application: str
    in_step: bool
    """It follows the active server's decisions without a difference."""
    counts: Mapping[str, int]
    """Counter set "follow"; empty where there is none."""


@dataclass(frozen=True)
class StandbyFigures:
    """One server of a pair, and its peer as the link tells."""

    server: str
    """Its name in the configuration; its number where that is not to be had."""
    peer: str
    role: StandbyRole
    reason: StandbyReason
    turn: int
    """Of its newest cycle."""
    since_turn: int
    since_tai_ns: int
    term: int
    highest_term: int
    chains: int
    """That vote."""
    majority: int
    with_us: int
    """Chains that answered its term lately."""
    unacknowledged: bool
    swap_cycles: int | None
    switch_turn: int | None
    missed_cycles: int
    period_turns: int
    link: LinkFigures
    followers: tuple[Follower, ...]

    @property
    def sends(self) -> bool:
        """Whether it is the one that sends setpoints."""
        return self.role == StandbyRole.ACTIVE

    @property
    def followed(self) -> bool:
        """Whether the standby of the pair is READY: this server, or its peer."""
        return self.role == StandbyRole.READY or self.link.peer_role == StandbyRole.READY


def as_json(figures: StandbyFigures) -> dict[str, Any]:
    """Plain values; roles and reasons by their names."""
    peer = figures.link.peer_role
    return {
        **asdict(figures),
        "role": figures.role.name.lower(),
        "reason": figures.reason.name.lower(),
        "link": {**asdict(figures.link), "peer_role": None if peer is None else peer.name.lower()},
    }


def read_standby(ws: Workspace) -> StandbyFigures | None:
    """None where the server is no part of a pair, or has not begun."""
    try:
        return need_standby(ws)
    except WorkspaceError:
        return None


def need_standby(ws: Workspace) -> StandbyFigures:
    """The same; raises ObjectNotFound, which says why there is none."""
    if STATE not in ws.standby:
        raise ObjectNotFound(f"the server of workspace {ws.name!r} is not one of two: its file has no `standby`")
    state = ws.standby[STATE]
    now = state.read()
    if now is None:
        raise ObjectNotFound(f"the server of workspace {ws.name!r} has not begun yet; try again in a moment")
    server, peer = _names(ws, state.server)
    return StandbyFigures(
        server=server,
        peer=peer,
        role=now.role,
        reason=now.reason,
        turn=now.turn,
        since_turn=now.since_turn,
        since_tai_ns=now.since_tai_ns,
        term=now.term,
        highest_term=now.highest_term,
        chains=state.chains,
        majority=state.majority,
        with_us=now.with_us,
        unacknowledged=now.unacknowledged,
        swap_cycles=now.swap_cycles,
        switch_turn=now.switch_turn,
        missed_cycles=state.missed_cycles,
        period_turns=state.period_turns,
        link=_link(ws),
        followers=tuple(_followers(ws)),
    )


def _names(ws: Workspace, number: int) -> tuple[str, str]:
    """Of the server and its peer."""
    section = of_workspace(ws).get(SECTION)
    listed = section.get("servers") if isinstance(section, dict) else None
    found = [str(entry["name"]) for entry in listed or [] if isinstance(entry, dict) and "name" in entry]
    if len(found) != 2 or number not in (1, 2):
        return str(number), str(3 - number)
    return found[number - 1], found[2 - number]


NO_LINK = LinkFigures(False, None, 0, False, "`ringmaster standby run` does not run beside this server", 0, 0, False)


def _link(ws: Workspace) -> LinkFigures:
    if names.OWNER not in ws.segments or not ws.segments[names.OWNER].alive:
        return NO_LINK
    peer_role = names.role_of(ws.parameters[names.PEER_ROLE].number)
    orders = ws.standby_orders[ORDERS].read() if ORDERS in ws.standby_orders else None
    return LinkFigures(
        runs=True,
        peer_role=peer_role,
        peer_term=_whole(ws, names.PEER_TERM),
        ready=_whole(ws, names.READY) != 0,
        why=str(ws.parameters[names.WHY].value),
        lag_cycles=_whole(ws, names.LAG_CYCLES),
        differences=_whole(ws, names.DIFFERENCES),
        held=_whole(ws, names.HOLD) != 0,
        peer_unacknowledged=orders is not None and orders.peer_unacknowledged,
    )


def _whole(ws: Workspace, name: str) -> int:
    return int(ws.parameters[name].number)


def _followers(ws: Workspace) -> list[Follower]:
    found = []
    for block in ws.counter_blocks.values():
        if block.set_name == FOLLOW:
            application = block.name.rpartition("/")[2]
            reading = f"{application}/{names.IN_STEP}"
            in_step = reading in ws.parameters and ws.parameters[reading].number != 0
            found.append(Follower(application, in_step, dict(block)))
    return found
