# SPDX-License-Identifier: Apache-2.0
"""Configurations that only a measurement needs, written as the JSON that YAML takes."""

import json
from collections.abc import Sequence

Mapping = dict[str, object]
"""A mapping of the configuration file."""

LANES = 12
"""Of a native datagram that fills its 64 bytes: a frame of 106."""
UDP_PORT = 4660
TURN_RATE_HZ = 1_157_000.0
LOW_LATENCY_RATES: list[Mapping] = [
    {"name": "low_latency", "from": "turn", "filter": "low_latency", "decimation": 12},
    {"name": "loop_low_latency", "from": "low_latency", "filter": "low_latency", "decimation": 10},
    {"name": "slow_low_latency", "from": "loop_low_latency", "filter": "low_latency", "decimation": 1000},
]
"""The chain for loops alone."""
CHAINS = ("low_latency", "both")
"""The chain for loops alone; and the server's default, which has the one for archives beside it."""


def lanes_of(count: int) -> list[Mapping]:
    """So many lanes of whole numbers."""
    return [{"name": f"v{i + 1}", "unit": "counts", "type": "i32"} for i in range(count)]


def bpms(count: int, port: str = "ring", lanes: int = LANES) -> list[Mapping]:
    """So many instruments, each of its own address, as a ring has them."""
    return [
        {
            "name": f"bpm{i + 1:03d}",
            "kind": "bpm",
            "id": i + 1,
            "port": port,
            "source": f"10.20.{i // 200}.{i % 200 + 1}",
            "lanes": lanes_of(lanes),
        }
        for i in range(count)
    ]


def buffers(turn_records: int) -> Mapping:
    """Rings of so many turns, and decimated ones in proportion."""
    return {"turn_records": turn_records, "fast_records": max(1024, turn_records // 8)}


def server(
    workspace: str,
    ports: Sequence[Mapping],
    instruments: Sequence[Mapping],
    core: int,
    turn_records: int,
    chain: str = "both",
    turn_rate_hz: float = TURN_RATE_HZ,
    polling: Mapping | None = None,
    ahead_turns: int = 2048,
) -> str:
    """A whole server configuration: one receive role, all ports on it."""
    whole: Mapping = {
        "workspace": workspace,
        "turn_rate_hz": turn_rate_hz,
        "ports": list(ports),
        "instruments": list(instruments),
        "roles": [{"role": "receive", "core": core, "ports": [port["name"] for port in ports]}],
        "buffers": buffers(turn_records),
        "turn_window": {"ahead_turns": ahead_turns},
    }
    if chain == "low_latency":
        whole["rates"] = LOW_LATENCY_RATES
    if polling is not None:
        whole["polling"] = polling
    return json.dumps(whole, indent=1)
