# SPDX-License-Identifier: Apache-2.0
"""Configurations of the latency test: a server with one BPM, one chain of one supply and the square wave; and the ring.

The square wave steps once per edge (its period is two steps), so each of its rows is an edge, and says when it was
committed. It is hosted by the server and leads the cycles: a row goes out as soon as it is seen.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from ringmaster.bench.setups import Mapping

BPM, CHAIN, SUPPLY, APPLICATION = "bpm01", "c", "ps/step", "square"
LANE = "x1"
ANSWER = "10.30.255.1"
CYCLE_TURNS, PHASE_TURNS = 12, 3
"""A row comes at a turn of its own, nine turns after the last cycle: the transmit role lets no two follow each other
within half a cycle, and would make it wait."""
EDGE_CYCLES, EDGE_S = 200, 12e-3
"""From one edge to the next, at least: for the process that looks once per edge has to share a core."""
AMPLITUDE_A = 1.0
NM_PER_A = 20_000.0
LIMIT_A = 10.0
SLEW_A_PER_S = 1e6
"""So much that the guard lets a whole step through in one cycle."""


@dataclass(frozen=True)
class Variant:
    """A supply to put between the setpoint and the beam."""

    name: str
    about: str
    supply: Mapping
    """As the virtual ring's configuration has it."""


ADDED = Variant(
    "added",
    "a supply that follows at once: software, links, one turn",
    {"delay_us": 0, "regulation_hz": 0, "bandwidth_hz": 0},
)
SOURCE = Variant(
    "source",
    "a supply that regulates freely at 100 kHz, 20 µs of chain, 10 kHz",
    {"delay_us": 20, "regulation_hz": 100_000, "drift_ppm": 20, "bandwidth_hz": 10_000},
)
VARIANTS = (ADDED, SOURCE)
"""Side by side."""


def edge_turns(turn_rate_hz: float) -> int:
    """From one edge to the next: whole cycles."""
    return CYCLE_TURNS * max(EDGE_CYCLES, round(EDGE_S * turn_rate_hz / CYCLE_TURNS))


def server(workspace: str, root: Path, core: int, turn_rate_hz: float) -> str:
    """The server's configuration: all of its roles on one core."""
    supply: Mapping = {
        "name": SUPPLY,
        "unit": "A",
        "limits": [-LIMIT_A, LIMIT_A],
        "slew": SLEW_A_PER_S,
        "safe": 0,
        "tolerance": LIMIT_A,
    }
    application: Mapping = {
        "name": APPLICATION,
        "code": "square_wave",
        "hosted": True,
        "period_turns": edge_turns(turn_rate_hz),
        "supplies": [SUPPLY],
        "settings": [
            {"name": "amplitude", "value": AMPLITUDE_A},
            {"name": "period_steps", "value": 2},
        ],
    }
    whole: Mapping = {
        "workspace": workspace,
        "turn_rate_hz": turn_rate_hz,
        "ports": [
            {"name": "ring", "kind": "memif", "socket": f"{root}/ring.sock", "role": "server"},
            {"name": "supplies", "kind": "memif", "socket": f"{root}/ps.sock", "role": "server", "answer": ANSWER},
        ],
        "instruments": [{"name": BPM, "kind": "bpm", "id": 1, "port": "ring", "source": "10.20.0.1"}],
        "setpoints": {"period_turns": CYCLE_TURNS, "phase_turns": PHASE_TURNS, "lead": APPLICATION, "lost_cycles": 500},
        "chains": [
            {"name": CHAIN, "id": 1, "port": "supplies", "address": "10.30.0.1", "supplies": [supply]},
        ],
        "applications": [application],
        "buffers": {"turn_records": 1 << 17, "fast_records": 1 << 14},
        "roles": [
            {"role": "receive", "core": core, "ports": ["ring", "supplies"]},
            {"role": "transmit", "core": core},
            {"role": "application", "core": core, "application": APPLICATION},
        ],
    }
    return json.dumps(whole, indent=1)


def ring(core: int, variant: Variant) -> str:
    """The virtual ring's overlay: a beam at rest but for noise and the step."""
    whole: Mapping = {
        "core": core,
        "beam": {"orbit_um": 0, "betatron_um": 0, "synchrotron_um": 0, "mains_um": 0, "drift_um": 0, "noise_um": 0.5},
        "chains": [{"name": CHAIN, "timeout_ms": 500}],
        "supplies": [{"supplies": CHAIN, **variant.supply}],
        "responses": [{"supply": f"{CHAIN}/1", "instrument": BPM, "lane": LANE, "per_unit": NM_PER_A}],
    }
    return json.dumps(whole, indent=1)
