# SPDX-License-Identifier: Apache-2.0
"""What the process `ringmaster-standby` and its server are called, and what their numbers mean in words."""

from ringmaster.fabric.layout import StandbyReason, StandbyRole

OWNER = "standby"
"""Of the segment of `ringmaster-standby`, and first part of its parameters."""
READY = f"{OWNER}/ready"
WHY = f"{OWNER}/why"
PEER_ROLE = f"{OWNER}/peer_role"
PEER_TERM = f"{OWNER}/peer_term"
LAG_CYCLES = f"{OWNER}/lag_cycles"
DIFFERENCES = f"{OWNER}/differences"
SWITCH = f"{OWNER}/switch"
HOLD = f"{OWNER}/hold"
ACKNOWLEDGE = f"{OWNER}/acknowledge"
IN_STEP = "in_step"
"""Reading of an application: 1 while it follows the active server's decisions without a difference."""

REASONS: dict[StandbyReason, str] = {
    StandbyReason.STARTED: "it was started",
    StandbyReason.BEGAN: "the chains stood without a server, and it began",
    StandbyReason.TOOK_OVER: "the active server was silent, and it took over",
    StandbyReason.SWITCHED: "a planned switch",
    StandbyReason.DEPOSED: "a majority of the chains obeys a higher term",
    StandbyReason.UNANSWERED: "a majority of the chains did not answer",
    StandbyReason.LINK_LOST: "the link brings nothing any more",
    StandbyReason.COPIED: "what the active server knows was copied",
    StandbyReason.DIFFERS: "a record or an input was missing, or a step came to other bits",
    StandbyReason.HELD: "an operator's command",
    StandbyReason.REFUSED: "its peer cannot be one",
    StandbyReason.NO_TERM: "terms are at their end",
    StandbyReason.DEAF: "its instruments do not arrive",
}
"""Why a role began."""
CAN_SEND = frozenset({StandbyRole.ACTIVE})


def role_of(number: float) -> StandbyRole | None:
    """A role as the parameters of `ringmaster-standby` tell it; None for what is none, as −1 for a peer not heard."""
    return next((role for role in StandbyRole if role == number), None)


def role_name(role: StandbyRole | None) -> str:
    """As people read it: "READY"; of a peer that is not heard "not heard"."""
    return "not heard" if role is None else role.name
