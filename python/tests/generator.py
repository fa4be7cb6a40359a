# SPDX-License-Identifier: Apache-2.0
"""A generator that is none: ports with figures, and commands that are only noted."""

import json
from collections.abc import Callable
from dataclasses import replace
from time import monotonic
from typing import Any, cast

from ringmaster.fabric._counters import COUNTERS
from ringmaster.fabric.commands import CommandRefused
from ringmaster.traffic.session import Session
from ringmaster.traffic.settings import PortSettings, read_settings
from ringmaster.traffic.watch import GeneratorWatch, PortLook, Rates

FRAME: dict[str, Any] = {
    "size": 64,
    "type": "ipv4",
    "proto": "udp",
    "pattern": "abc",
    "src_mac": "02:00:00:00:00:01",
    "dst_mac": "02:00:00:00:01:01",
    "src_ip": "192.168.0.1",
    "dst_ip": "192.168.1.1",
    "sport": 1234,
    "dport": 5678,
    "vlan": 1,
    "tagged": False,
    "cos": 0,
    "tos": 0,
    "ttl": 64,
}
LATENCY = {"min": 900, "p50": 1400, "p99": 4200, "p99.9": 9000, "max": 123456}
FLOW = {"template": 0, "sent": 1000, "received": 990, "lost": 10, "duplicate": 1, "reordered": 2, "latency_ns": LATENCY}


def told(name: str, **settings: Any) -> dict[str, Any]:
    """One port as `show json` tells it."""
    return {
        **FRAME,
        "name": name,
        "kind": "memif",
        "device": f"/run/{name}.sock",
        "capture": "",
        "captured": 0,
        "source": "",
        "asked": "",
        "mac": "02:00:00:00:00:01",
        "longest_frame": 1518,
        "link_up": True,
        "sending": True,
        "pace": "percent",
        "rate": 99.0,
        "line_bits_per_s": 1e10,
        "count": 0,
        "burst": 64,
        "late": "send",
        "late_max_ns": 1000000,
        "seed": 0,
        "process": False,
        "imix": False,
        "mix": [[64, 7], [594, 4], [1518, 1]],
        "range": False,
        "random": False,
        "latency": False,
        "flow_count": 1,
        "ranges": [],
        "sequence": [],
        "flows": [],
        **settings,
    }


def settings(*ports: dict[str, Any]) -> tuple[PortSettings, ...]:
    """As they are read out of the answer to `show json`."""
    return read_settings([json.dumps({"ports": ports})])


class NotedCommands:
    """A server that does all but what begins with "wrong", and knows how to complete "s"."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.answer: list[str] = []

    def run(self, line: str) -> list[str]:
        """Notes it."""
        if line.startswith("wrong"):
            raise CommandRefused('"wrong" begins no command, expected one of those that "help" lists')
        self.said.append(line)
        return self.answer

    def complete(self, text: str) -> list[str]:
        """What a server would list."""
        known = {"s": ["set", "start", "stop"], "set ": ["PORTS"], "set 0 ": ["rate", "size"], "set 0 ra": ["rate"]}
        return known.get(text, ["PERCENT"] if text == "set 0 rate " else [])


class StillWatch:
    """A watch whose ports stand still."""

    def __init__(self, *ports: dict[str, Any]) -> None:
        self.workspace = "demo"
        self.trouble = ""
        self.server_cores: set[int] = set()
        self.cleared = 0
        self.commands = NotedCommands()
        counts = dict.fromkeys((counter.name for counter in COUNTERS["generator"]), 0)
        counts |= {"sent": 123_456_789, "received": 123_000_000, "size_64": 122_999_000, "jumbo": 7, "refused": 3}
        self.ports = tuple(
            PortLook(one, counts, Rates(14.1e6, 9.5e9), Rates(14.0e6, 9.4e9), Rates(14.88e6, 1e10), Rates(14.7e6, 1e10))
            for one in settings(*ports)
        )

    def look(self) -> tuple[PortLook, ...]:
        """The same."""
        return self.ports

    def clear(self) -> None:
        """Notes it."""
        self.cleared += 1

    def change(self, **changes: Any) -> None:
        """Other counts of all ports."""
        self.ports = tuple(replace(port, counts={**port.counts, **changes}) for port in self.ports)

    def close(self) -> None:
        """Nothing is open."""


def session_of(watch: StillWatch, clock: Callable[[], float] = monotonic) -> Session:
    """What is said to it."""
    return Session(cast(GeneratorWatch, watch), clock)
