# SPDX-License-Identifier: Apache-2.0
"""Figures of what moves the machine: applications, chains and power supplies."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ringmaster.errors import WorkspaceError
from ringmaster.fabric.grant import Grant
from ringmaster.fabric.layout import ApplicationState, SupplyState
from ringmaster.fabric.supply import Chain
from ringmaster.fabric.workspace import Workspace
from ringmaster.monitor.figures import Reading

REFUSALS = (
    "refused_grant",
    "refused_stale",
    "refused_future",
    "refused_number",
    "refused_low",
    "refused_high",
    "refused_ownership",
    "refused_fault",
)
"""Counters of set "guard" for what an application wanted and did not get at all."""
FIRST_LANE = 2
"""Of a readback: before it stand the sequence and the states."""
STATE = "supply/state"


@dataclass(frozen=True)
class ApplicationFigures:
    """One application, as the server's guard sees it and as its host counts."""

    name: str
    state: ApplicationState
    since_tai_ns: int
    pid: int
    grant_number: int
    stop: str
    """What follows when it stops: "hold" or "ramp"."""
    vectors_per_s: float
    taken: int
    """Rows that were not refused whole."""
    refused: int
    slew_limited: int
    stalls: int
    restarts: int
    offence: str
    """The newest refusal in words; empty while there was none."""
    guard: Mapping[str, int]
    host: Mapping[str, int]
    """Counters of its host; empty where it never ran."""
    steps_per_s: float


@dataclass(frozen=True)
class ChainFigures:
    """One daisy chain."""

    name: str
    supplies: int
    sent_per_s: float
    sent: int
    answered_per_s: float
    answered: int
    unanswered: int
    counts: Mapping[str, int]
    status: Sequence[str]
    """What its newest answer says of it; empty where all is well."""


@dataclass(frozen=True)
class SupplyFigures:
    """One power supply."""

    name: str
    chain: str
    unit: str
    low: float
    high: float
    setpoint: float
    """What was sent last; NaN before anything was."""
    readback: float
    """NaN where none came."""
    state: Sequence[str]
    """Words; empty where all is well."""

    @property
    def worst(self) -> str:
        """The most serious of its states; "good" where all is well."""
        return next((word for word in BY_SEVERITY if word in self.state), "good")

    @property
    def share(self) -> float:
        """Where the setpoint stands between its limits, 0–1."""
        return (self.setpoint - self.low) / (self.high - self.low)


SEVERE = frozenset({"tripped", "lost"})
"""States in which a supply does not obey."""
BY_SEVERITY = ("tripped", "lost", "saturated", "deviates", "joining", "ramping", "held", "slewing")
"""All states, the most serious first; a cause before what follows from it."""


def read_applications(
    ws: Workspace, guards: Iterable[Reading], hosts: Iterable[Reading]
) -> tuple[ApplicationFigures, ...]:
    """All applications, the operator too, in the order of the workspace."""
    by_name = {reading.name: reading for reading in guards}
    running = {reading.name: reading for reading in hosts}
    return tuple(
        _application(grant, by_name[name], running.get(name)) for name, grant in ws.grants.items() if name in by_name
    )


def _application(grant: Grant, guard: Reading, host: Reading | None) -> ApplicationFigures:
    now, counts = grant.read(), guard.counts()
    return ApplicationFigures(
        name=guard.name,
        state=now.state,
        since_tai_ns=now.since_tai_ns,
        pid=now.pid,
        grant_number=now.grant_number,
        stop=grant.stop.name.lower(),
        vectors_per_s=guard.rate("taken"),
        taken=counts["taken"],
        refused=sum(counts[name] for name in REFUSALS),
        slew_limited=counts["slew_limited"],
        stalls=counts["stalls"],
        restarts=counts["restarts"],
        offence=now.offence.reason if now.offence else "",
        guard=counts,
        host=host.counts() if host else {},
        steps_per_s=host.rate("steps") if host else 0.0,
    )


def read_chains(ws: Workspace, readings: Iterable[Reading]) -> tuple[ChainFigures, ...]:
    """All chains, in the order of the workspace."""
    return tuple(_chain(ws.chains[reading.name], reading) for reading in readings if reading.name in ws.chains)


def _chain(chain: Chain, reading: Reading) -> ChainFigures:
    counts = reading.counts()
    return ChainFigures(
        name=reading.name,
        supplies=sum(len(stream.lanes) - FIRST_LANE for stream in chain.streams),
        sent_per_s=reading.rate("sent"),
        sent=counts["sent"],
        answered_per_s=reading.rate("answered"),
        answered=counts["answered"],
        unanswered=counts["unanswered"],
        counts=counts,
        status=chain.status,
    )


class SupplyReader:
    """Reads all supplies at once: two arrays, and the newest record of each chain."""

    def __init__(self, ws: Workspace) -> None:
        self._ws = ws
        names = list(ws.supplies)
        setpoints = [ws.supplies[name].setpoint for name in names]
        self._constant = [
            (name, parameter.unit, parameter.limits.control_low, parameter.limits.control_high)
            for name, parameter in zip(names, setpoints, strict=True)
        ]

    def read(self) -> tuple[SupplyFigures, ...]:
        """In the order of the configuration; nothing where the server drives none."""
        if not self._constant:
            return ()
        ws = self._ws
        count = len(self._constant)
        states = np.atleast_1d(np.asarray(ws.parameters[STATE].value, np.uint32))
        row = ws.setpoints["sent"].read()
        sent = row.values if row is not None else np.full(count, np.nan)
        chains, readbacks = self._readbacks(count)
        return tuple(
            SupplyFigures(
                name=name,
                chain=chains[i],
                unit=unit,
                low=np.nan if low is None else low,
                high=np.nan if high is None else high,
                setpoint=float(sent[i]),
                readback=readbacks[i],
                state=[bit.name.lower() for bit in SupplyState if states[i] & bit],
            )
            for i, (name, unit, low, high) in enumerate(self._constant)
        )

    def _readbacks(self, count: int) -> tuple[list[str], list[float]]:
        """Chain and current of each supply, chain by chain as they are configured."""
        chains, values = [], []
        for chain in self._ws.chains.values():
            for stream in chain.streams:
                newest = stream.latest(1)
                there = len(newest) == 1 and bool(newest.ok[0])
                for lane in stream.lanes[FIRST_LANE:]:
                    chains.append(chain.name)
                    values.append(float(newest[lane.name][0]) if there else float("nan"))
        missing = count - len(values)
        return [*chains, *[""] * missing], [*values, *[float("nan")] * missing]


def read_supplies(reader: SupplyReader) -> tuple[SupplyFigures, ...]:
    """The same, and nothing where the server was killed while it wrote."""
    try:
        return reader.read()
    except WorkspaceError:
        return ()
