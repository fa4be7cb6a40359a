# SPDX-License-Identifier: Apache-2.0
"""Configurations of a server that sends setpoints, for measuring; written as the JSON that YAML takes."""

import json
from collections.abc import Sequence
from pathlib import Path

from ringmaster.bench.setups import Mapping

FLOOD_TURN_RATE_HZ = 50e6
"""Beyond what any core sends: every cycle comes too late, and the next follows at once."""
TURN_RATE_HZ = 1_157_000.0
ANSWER = "10.30.200.1"
LIMIT = 10.0
SLEW = 1e6
"""Per second: a step of the whole range takes a few cycles at most."""


def port(socket: Path, role: str = "client") -> Mapping:
    """The link to the supplies; the exception path of a memif client has the last of its rings for itself."""
    return {"name": "supplies", "kind": "memif", "socket": str(socket), "role": role, "queues": 2, "answer": ANSWER}


def chains(count: int, supplies: int) -> list[Mapping]:
    """So many, of so many supplies each, that do not answer; and one that should and is never there, because a server
    needs a chain to listen to: it gets queries, which are as long.
    """
    supply: Mapping = {"count": supplies, "unit": "A", "limits": [-LIMIT, LIMIT], "slew": SLEW, "safe": 0}
    common: Mapping = {"port": "supplies", "mac": "02:00:0a:1e:00:01"}
    silent = {"name": "c", "count": count, "id": 1, "address": "10.30.0.1", "readback": False}
    absent = {"name": "absent", "id": 1000, "address": "10.30.199.1"}
    return [
        common | silent | {"supplies": [supply | {"name": "sr/ps/s{chain}_"}]},
        common | absent | {"supplies": [supply | {"name": "sr/absent/s_"}]},
    ]


def transmitting(
    workspace: str,
    socket: Path,
    core: int,
    setpoints: Mapping,
    chain_list: Sequence[Mapping],
    turn_rate_hz: float = TURN_RATE_HZ,
    applications: Sequence[Mapping] = (),
) -> str:
    """A whole server configuration: the transmit role, whose turns TAI tells, for no instrument does."""
    whole: Mapping = {
        "workspace": workspace,
        "turn_rate_hz": turn_rate_hz,
        "ports": [port(socket)],
        "setpoints": setpoints,
        "chains": list(chain_list),
        "roles": [
            {"role": "transmit", "core": core},
            {"role": "receive", "core": core, "ports": ["supplies"]},
        ],
        "buffers": {"turn_records": 1 << 14, "fast_records": 1024},
    }
    if applications:
        whole["applications"] = list(applications)
    return json.dumps(whole, indent=1)


def flooding(workspace: str, socket: Path, core: int, count: int, supplies: int) -> str:
    """One that sends as fast as it can."""
    setpoints: Mapping = {"period_turns": 1, "phase_turns": 0}
    return transmitting(workspace, socket, core, setpoints, chains(count, supplies), FLOOD_TURN_RATE_HZ)


LED_PERIOD_TURNS = 116
"""A cycle of 10 kHz."""


def led(workspace: str, socket: Path, core: int, count: int, supplies: int) -> str:
    """One whose cycles the application "bench" leads, which owns all supplies."""
    setpoints: Mapping = {"period_turns": LED_PERIOD_TURNS, "phase_turns": LED_PERIOD_TURNS // 4, "lead": "bench"}
    # The bench writes the rows itself; the code is one that is there and takes any number of supplies.
    application: Mapping = {"name": "bench", "code": "ramp", "supplies": ["sr/ps/*"]}
    return transmitting(workspace, socket, core, setpoints, chains(count, supplies), applications=[application])
