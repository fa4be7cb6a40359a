# SPDX-License-Identifier: Apache-2.0
"""Looking at a generator again and again: its settings, what it has counted, and how fast that goes."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import NamedTuple

from ringmaster.console.affinity import server_cores
from ringmaster.errors import WorkspaceError
from ringmaster.fabric.commands import Commands
from ringmaster.fabric.workspace import Workspace, attach
from ringmaster.monitor.figures import Reading
from ringmaster.traffic.settings import PortSettings, read_settings

RATE_WINDOW_S = 1.0
"""Rates are over this time, however often it is looked."""
FCS_BYTES = 4
LINE_BYTES = 24
"""Of each frame on a line, beside what is counted: preamble, FCS and gap."""
SET = "generator"


class Rates(NamedTuple):
    """Of one direction of a port."""

    pps: float = 0.0
    """Packets per second."""
    bps: float = 0.0
    """Bits per second on the line: preamble, FCS and gap are in it."""


@dataclass(frozen=True)
class PortLook:
    """One port at one time."""

    settings: PortSettings
    counts: Mapping[str, int]
    """Of the counter set "generator", since the start or the last clear."""
    sent: Rates
    received: Rates
    sent_max: Rates
    """The highest that was seen since the start of the watch, or the last clear."""
    received_max: Rates


class _Sample(NamedTuple):
    time_s: float
    totals: Mapping[str, Mapping[str, int]]


class GeneratorWatch:
    """Looks at the generator of a workspace, and tells it what to do; also after a restart of its server."""

    def __init__(self, ws: Workspace, commands: Commands) -> None:
        """Both are closed with it."""
        self._ws = ws
        self.commands = commands
        self._base: dict[str, Mapping[str, int]] = {}
        self._max: dict[str, tuple[Rates, Rates]] = {}
        self._samples = deque([self._sample()])
        self.ports: tuple[PortLook, ...] = ()
        """As they were at the last look."""
        self.trouble = ""
        """Why there is nothing new."""

    @property
    def workspace(self) -> str:
        """Its name."""
        return self._ws.name

    @property
    def server_cores(self) -> set[int]:
        """CPUs that the server's threads are pinned to."""
        return server_cores(self._ws)

    def look(self) -> tuple[PortLook, ...]:
        """All ports as they are now, or as they were last."""
        try:
            settings = read_settings(self.commands.run("show json"))
        except (WorkspaceError, OSError) as error:
            self.trouble = " ".join(str(error).split())
            self._attach_anew()
            return self.ports
        self.trouble = ""
        now = self._sample()
        while len(self._samples) > 1 and self._samples[1].time_s <= now.time_s - RATE_WINDOW_S:
            self._samples.popleft()
        before = self._samples[0]
        self._samples.append(now)
        self.ports = tuple(self._port(one, before, now) for one in settings)
        return self.ports

    def clear(self) -> None:
        """Counts and highest rates begin anew; the server's own counters stay as they are."""
        self._base = dict(self._samples[-1].totals)
        self._max = {}

    def close(self) -> None:
        """Ends the connection, and detaches."""
        self.commands.close()
        self._ws.close()

    def _attach_anew(self) -> None:
        """To the server that has come in its place, if there is one: all counts begin with it."""
        try:
            ws = attach(str(self._ws.path))
        except (WorkspaceError, OSError):
            return
        try:
            commands = Commands(ws.path)
        except (WorkspaceError, OSError):
            ws.close()
            return
        self.close()
        self._ws, self.commands = ws, commands
        self._samples = deque([self._sample()])
        self.clear()

    def _sample(self) -> _Sample:
        blocks = self._ws.counter_blocks.values()
        totals = {block.name.partition("/")[2]: dict(block) for block in blocks if block.set_name == SET}
        return _Sample(monotonic(), totals)

    def _port(self, settings: PortSettings, before: _Sample, now: _Sample) -> PortLook:
        name = settings.name
        reading = Reading(
            name,
            now.totals[name],
            before.totals[name],
            self._base.get(name, {}),
            max(now.time_s - before.time_s, 1e-9),
        )
        sent, received = _rates(reading, "sent"), _rates(reading, "received")
        sent_max, received_max = self._max.get(name, (Rates(), Rates()))
        highest = (max(sent, sent_max), max(received, received_max))
        if now.time_s - before.time_s >= RATE_WINDOW_S / 2:
            self._max[name] = highest
        return PortLook(settings, reading.counts(), sent, received, *self._max.get(name, (sent, received)))


def _rates(reading: Reading, direction: str) -> Rates:
    packets = reading.rate(direction)
    return Rates(packets, 8 * (reading.rate(f"{direction}_bytes") + LINE_BYTES * packets))
