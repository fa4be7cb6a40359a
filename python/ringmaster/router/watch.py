# SPDX-License-Identifier: Apache-2.0
"""What a router does, looked at again and again: rates of its ports, what was dropped and why, neighbours, routes."""

import json
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any, NamedTuple

from ringmaster.errors import ObjectNotFound, WorkspaceError
from ringmaster.fabric._counters import COUNTERS
from ringmaster.fabric.commands import CommandRefused, Commands
from ringmaster.fabric.workspace import Workspace

RATE_WINDOW_S = 1.0
LISTS_EVERY_S = 1.0
"""Neighbours and routes are asked for; counters are in shared memory."""
PASSED = ("received", "forwarded", "to_kernel", "waiting", "cut", "errors_sent", "sent", "stations")
DROPS = tuple(counter.name for counter in COUNTERS["forward"] if counter.name not in PASSED)
"""Counters of packets that went nowhere."""

Counts = Mapping[str, int]


class PortFigures(NamedTuple):
    """One port, all roles together."""

    name: str
    counts: Counts
    """Since the start."""
    rates: Mapping[str, float]
    """Packets per second."""

    @property
    def dropped(self) -> int:
        """Of all that came."""
        return sum(self.counts[name] for name in DROPS)


@dataclass(frozen=True)
class Look:
    """What there was at one moment."""

    workspace: str
    ports: tuple[PortFigures, ...]
    control: Counts
    interfaces: list[dict[str, Any]]
    neighbours: list[dict[str, Any]]
    routes: list[dict[str, Any]]
    trouble: str = ""
    """Why there is nothing new; "" when there is."""


class RouterWatch:
    """Looks at one router. One thread's."""

    def __init__(self, ws: Workspace) -> None:
        """Attaches to a server that forwards. Raises ObjectNotFound where it does not."""
        self._ws = ws
        blocks = ws.counter_blocks.values()
        self._blocks = [block for block in blocks if block.set_name == "forward"]
        if not self._blocks:
            raise ObjectNotFound(f"{ws.path}: no role of its server forwards, expected one: {{role: forward, …}}")
        self._control = next((block for block in blocks if block.set_name == "router"), None)
        self._commands: Commands | None = None
        self._samples: deque[tuple[float, dict[str, dict[str, int]]]] = deque()
        self._lists: tuple[float, list[Any], list[Any], list[Any]] = (float("-inf"), [], [], [])

    @property
    def routes_packets(self) -> bool:
        """Whether it has a control side; without one it is in a plain mode."""
        return (self._ws.path / "commands").exists()

    def run(self, line: str) -> list[str]:
        """Has the router do a command; returns its answer."""
        if self._commands is None:
            self._commands = Commands(self._ws.path)
        return self._commands.run(line)

    def look(self) -> Look:
        """What there is now."""
        now, totals = monotonic(), self._totals()
        while len(self._samples) > 1 and self._samples[1][0] <= now - RATE_WINDOW_S:
            self._samples.popleft()
        self._samples.append((now, totals))
        trouble = ""
        if now - self._lists[0] >= LISTS_EVERY_S and self.routes_packets:
            try:
                lists = [json.loads("".join(self.run(f"{word} show json"))) for word in _LISTS]
                self._lists = (now, lists[0], lists[1], lists[2])
            except (WorkspaceError, CommandRefused) as error:
                trouble = " ".join(str(error).split())
        control = dict(self._control) if self._control is not None else {}
        ports = tuple(self._port(name) for name in totals)
        return Look(self._ws.path.name, ports, control, *self._lists[1:], trouble=trouble)

    def close(self) -> None:
        """Ends the connection, and detaches."""
        if self._commands is not None:
            self._commands.close()
        self._ws.close()

    def _totals(self) -> dict[str, dict[str, int]]:
        totals: dict[str, dict[str, int]] = {}
        for block in self._blocks:
            port = block.name.split("/")[-2]
            sums = totals.setdefault(port, dict.fromkeys(block, 0))
            for name, value in block.items():
                sums[name] += value
        return totals

    def _port(self, name: str) -> PortFigures:
        (begin, before), (end, now) = self._samples[0], self._samples[-1]
        seconds = max(end - begin, 1e-9)
        rates = {counter: max(0, now[name][counter] - before[name][counter]) / seconds for counter in now[name]}
        return PortFigures(name, now[name], rates)


_LISTS = ("interface", "neighbour", "route")
