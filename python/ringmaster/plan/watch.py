# SPDX-License-Identifier: Apache-2.0
"""A running server beside its prediction, and the one move that would help it most.

What is measured is the share of its time that a core had work, and its packets and bursts, between two looks at the
server's counters. A role's part of a core that several share is split as predicted: the server counts by core.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from time import sleep

from ringmaster.fabric.workspace import Workspace
from ringmaster.plan.demand import Demand
from ringmaster.plan.place import Rules
from ringmaster.plan.predict import Prediction
from ringmaster.plan.roles import LINUX_MAY_SHARE, OWN_PROCESS, Role
from ringmaster.plan.topology import Core, Machine

CORE = "core/"
WORTH = 0.05
"""Of a core: a move that lowers the fullest one by less is not proposed."""
AGREES = 0.25
"""Prediction and measurement are said to agree within this."""


@dataclass(frozen=True)
class Observed:
    """One core between two looks."""

    busy: float
    """Share of its time with work, 0–1."""
    packets_per_s: float
    packets_per_burst: float
    """0 while none came."""


@dataclass(frozen=True)
class Beside:
    """One core, predicted and measured."""

    core: int
    roles: tuple[Role, ...]
    predicted: float
    unknown: tuple[str, ...]
    """Roles that the prediction leaves out."""
    measured: float | None
    """None where the server has no such core."""
    packets_per_s: float
    expected_packets_per_s: float

    @property
    def ratio(self) -> float | None:
        """Measured by predicted, for the packets that really came."""
        if not self.predicted or self.measured is None or self.unknown:
            return None
        part = self.packets_per_s / self.expected_packets_per_s if self.expected_packets_per_s else 1.0
        return self.measured / (self.predicted * part) if part > 0 else None


@dataclass(frozen=True)
class Move:
    """One role to another core."""

    role: Role
    core: int
    reason: str
    kept: bool = True
    """Whether the server has a place for that core: `roles` or `spare_cores` named it when it started."""


def look(ws: Workspace, seconds: float) -> dict[int, Observed]:
    """Two looks at the counters, so long apart."""
    before = _totals(ws)
    sleep(seconds)
    after = _totals(ws)
    tsc_hz = float(ws.clock.read().tsc_hz) or 0.0
    return observed(before, after, tsc_hz, seconds)


def _totals(ws: Workspace) -> dict[str, dict[str, int]]:
    return {name: dict(block) for name, block in ws.counter_blocks.items() if name.startswith(CORE)}


def observed(
    before: Mapping[str, Mapping[str, int]], after: Mapping[str, Mapping[str, int]], tsc_hz: float, seconds: float
) -> dict[int, Observed]:
    """From counters; the time is the cores' own where the rate of their clock is known."""
    found = {}
    for name, now in after.items():
        if name not in before:
            continue
        gone = {key: now[key] - before[name][key] for key in ("busy_ticks", "idle_ticks", "packets", "bursts")}
        whole = gone["busy_ticks"] + gone["idle_ticks"]
        passed = whole / tsc_hz if tsc_hz and whole else seconds
        found[now["core"]] = Observed(
            busy=gone["busy_ticks"] / whole if whole else 0.0,
            packets_per_s=gone["packets"] / passed,
            packets_per_burst=gone["packets"] / gone["bursts"] if gone["bursts"] else 0.0,
        )
    return found


def compare(prediction: Prediction, seen: Mapping[int, Observed]) -> tuple[Beside, ...]:
    """A row for each core that the configuration names."""
    rows = []
    for one in prediction.cores:
        measured = seen.get(one.core)
        rows.append(
            Beside(
                one.core,
                one.roles,
                one.load,
                one.unknown,
                None if measured is None else measured.busy,
                0.0 if measured is None else measured.packets_per_s,
                one.packets_per_s,
            )
        )
    return tuple(rows)


def agreement(rows: Sequence[Beside]) -> float | None:
    """Median of measured by predicted over the cores that receive; None where nothing came."""
    ratios = [one.ratio for one in rows if one.ratio is not None and one.packets_per_s > 0]
    return median(ratios) if ratios else None


def propose(
    machine: Machine, demand: Demand, rows: Sequence[Beside], linux: Sequence[int], rules: Rules
) -> Move | None:
    """The move that is needed most: of a role that breaks a rule, else from the fullest core. None: all is well."""
    loads = _loads(rows)
    roles = [role for one in rows for role in one.roles]
    free = _Free(machine, roles, loads, {*linux, *rules.taken})
    for role in (role for role in roles if role.kind != OWN_PROCESS):
        reason = _broken_rule(machine, demand, role, roles, linux)
        if reason is not None and (core := free.best(role, _socket(machine, demand, role), rules.limit)) is not None:
            return Move(role, core, reason)
    return _relief(machine, demand, rows, loads, free, rules)


def propose_for(
    machine: Machine,
    demand: Demand,
    rows: Sequence[Beside],
    seen: Mapping[int, Observed],
    linux: Sequence[int],
    rules: Rules,
) -> Move | None:
    """The same for a running server: to a core that it keeps, and where none helps, to one that it would have to."""
    others = {core.number for core in machine.cores if not seen.keys() & set(core.threads)}
    move = propose(machine, demand, rows, linux, replace(rules, taken=(*rules.taken, *others)))
    if move is not None:
        return move
    move = propose(machine, demand, rows, linux, rules)
    return None if move is None else replace(move, kept=False)


def moved(roles: Sequence[Role], move: Move) -> tuple[Role, ...]:
    """The roles after it."""
    return tuple(replace(role, core=move.core) if role == move.role else role for role in roles)


def _loads(rows: Sequence[Beside]) -> dict[str, float]:
    """Of each role: its core's measured load, split as predicted; where nothing was measured, none."""
    found = {}
    for one in rows:
        known = [role for role in one.roles if role.kind not in LINUX_MAY_SHARE] or list(one.roles)
        for role in one.roles:
            found[role.name] = (one.measured or 0.0) / len(known) if role in known else 0.0
    return found


def _socket(machine: Machine, demand: Demand, role: Role) -> int | None:
    """Of the card that it polls; None where it polls none that the topology knows."""
    devices = [machine.device(port.device) for port in demand.ports if port.name in role.ports and port.device]
    return next((one.socket for one in devices if one is not None and one.socket is not None), None)


def _broken_rule(
    machine: Machine, demand: Demand, role: Role, roles: Sequence[Role], linux: Sequence[int]
) -> str | None:
    if role.kind in LINUX_MAY_SHARE:
        return None
    core = machine.core_of(role.core)
    if core is None:
        return f"core {role.core} is not in the topology of {machine.name}"
    twin = next((other for other in roles if other.core != role.core and other.core in core.threads), None)
    if twin is not None and twin.kind not in LINUX_MAY_SHARE and role.core != core.number:
        return (
            f"it runs on a second hardware thread of core {core.number}, where {twin.name} polls: both are slower than "
            f"on a core each"
        )
    socket = _socket(machine, demand, role)
    if socket is not None and core.socket != socket:
        return f"its card is on socket {socket}, and core {role.core} on socket {core.socket}"
    if role.core in linux:
        return f"core {role.core} is Linux's, which takes it away at times"
    return None


class _Free:
    """Cores that may take a role, and how full they are."""

    def __init__(self, machine: Machine, roles: Sequence[Role], loads: Mapping[str, float], away: set[int]) -> None:
        self._held: dict[int, list[Role]] = defaultdict(list)
        for role in roles:
            self._held[role.core].append(role)
        self._loads = loads
        used = {role.core for role in roles if role.kind not in LINUX_MAY_SHARE}
        self._cores = [one for one in machine.cores if not away & set(one.threads)]
        self._half_used = {one.number for one in self._cores if used & set(one.siblings)}

    def load(self, core: int) -> float:
        """Of all its roles."""
        return sum(self._loads[role.name] for role in self._held[core])

    def best(self, role: Role, socket: int | None, limit: float, chiplet: int | None = None) -> int | None:
        """The emptiest, near its card and in its chiplet where that is possible; None where each is full or taken."""
        fits = [one for one in self._cores if self._may(one, role, limit) and socket in (None, one.socket)]
        fits.sort(key=lambda one: (one.chiplet != chiplet, self.load(one.number), one.number))
        return fits[0].number if fits else None

    def _may(self, core: Core, role: Role, limit: float) -> bool:
        here = self._held[core.number]
        single = {"transmit", "application", OWN_PROCESS}
        if core.number == role.core or core.number in self._half_used:
            return False
        if here and (role.kind in single or any(other.kind in single for other in here)):
            return False
        return self.load(core.number) + self._loads[role.name] <= limit


def _relief(
    machine: Machine, demand: Demand, rows: Sequence[Beside], loads: Mapping[str, float], free: _Free, rules: Rules
) -> Move | None:
    """Takes a role from the fullest core, where that has several and is above the limit, or one waits for others."""
    shared = [one for one in rows if len([role for role in one.roles if role.kind not in LINUX_MAY_SHARE]) > 1]
    for one in sorted(shared, key=lambda one: -(one.measured or 0.0)):
        busy = one.measured or 0.0
        home = machine.core_of(one.core)
        for role in sorted(one.roles, key=lambda role: (role.kind == "receive", loads[role.name])):
            if role.kind in (*LINUX_MAY_SHARE, OWN_PROCESS):
                continue
            limit = min(rules.limit, busy - WORTH) if role.kind == "receive" else rules.limit
            chiplet = home.chiplet if home else None
            core = free.best(role, _socket(machine, demand, role), limit, chiplet)
            if core is None:
                continue
            if busy > rules.limit:
                why = f"core {one.core} is busy for {100 * busy:.0f} % of its time, more than {100 * rules.limit:.0f} %"
            elif role.kind != "receive":
                why = (
                    f"it waits on core {one.core} for a turn of the roles beside it, and core {core} has nothing to do"
                )
            else:
                continue
            return Move(role, core, why)
    return None
