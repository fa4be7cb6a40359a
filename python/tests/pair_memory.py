# SPDX-License-Identifier: Apache-2.0
"""A server that is one of two, in memory: what it and the process of its link tell."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import fabric
import numpy as np
from conftest import MakeOwner

from ringmaster.fabric.layout import ElementType, ParameterFlags, StandbyReason, StandbyRole
from ringmaster.standby import names

FILE = """workspace: ring-{server}
setpoints: {terms: "{server}.terms"}
chains: [{name: c, count: 2}]
standby:
  servers:
    - {name: a, links: ["10.40.0.1:4671"]}
    - {name: b, links: ["10.40.0.2:4671"]}
"""
CHAINS, PERIOD_TURNS, TURN_RATE_HZ = 5, 10, 1000
TEXT_BYTES = 256


def write_file(folder: Path) -> Path:
    """The file of the pair."""
    path = folder / "pair.yaml"
    path.write_text(FILE)
    return path


def text(name: str, words: str) -> fabric.Spec:
    """A parameter that is text."""
    raw = np.frombuffer(words.encode().ljust(TEXT_BYTES, b"\0"), np.uint8)
    return fabric.parameter(name, raw, "utf-8", ElementType.U8)


def number(name: str, value: float, writable: bool = False) -> fabric.Spec:
    """A parameter that is a number; of the link's process, where others may ask for it."""
    members: dict[str, Any] = {"flags": ParameterFlags.WRITABLE, "owner": names.OWNER.encode()} if writable else {}
    return fabric.parameter(name, np.array([float(value)]), "", ElementType.F64, **members)


def of_link(
    peer: StandbyRole | None = StandbyRole.READY, why: str = "", held: bool = False, **counts: int
) -> list[fabric.Spec]:
    """What the process of the link publishes."""
    return [
        number(names.PEER_ROLE, -1 if peer is None else peer),
        text(names.WHY, why),
        number(names.PEER_TERM, 6),
        number(names.READY, peer == StandbyRole.READY),
        number(names.LAG_CYCLES, 2),
        number(names.DIFFERENCES, 0),
        number(names.SWITCH, 0, writable=True),
        number(names.HOLD, held, writable=True),
        number(names.ACKNOWLEDGE, 0, writable=True),
        fabric.counters("link", "link", **counts),
    ]


def make_server(
    make_owner: MakeOwner,
    role: StandbyRole = StandbyRole.ACTIVE,
    reason: StandbyReason = StandbyReason.STARTED,
    server: int = 1,
    link: list[fabric.Spec] | None = None,
    in_step: bool = True,
    more: Sequence[fabric.Spec] = (),
    **members: int,
) -> fabric.Owner:
    """Its workspace; without `link` that process does not run."""
    told = {"server": server, "chains": CHAINS, "majority": 3, "missed_cycles": 3, "period_turns": PERIOD_TURNS}
    state = {"role": role, "reason": reason, "term": 4 + server, "with_us": CHAINS, "turn": 1000, "since_turn": 1000}
    follows = fabric.counters("follow/ramp", "follow", followed=77, differences=0 if in_step else 3)
    objects = [
        fabric.text("server/config", FILE),
        fabric.standby_state(**{**told, **state, **members}),
        follows,
        fabric.counters("standby", "standby"),
        number("ramp/in_step", in_step),
        number("server/turn_rate_hz", TURN_RATE_HZ),
        *more,
    ]
    workspace = f"ring-{'ab'[server - 1]}"
    if link is not None:
        make_owner(link, workspace=workspace, name=names.OWNER)
    return make_owner(objects, workspace=workspace)
