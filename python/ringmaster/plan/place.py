# SPDX-License-Identifier: Apache-2.0
"""A plan: which core of the machine has which role.

Each port gets a chiplet on its card's socket as its home: what its queues bring is then in one cache. A port whose card
can bring each sender to one queue of several gets as few queues as keep each core below the limit. A loop's application
and the role that sends its setpoints get a core each, in one chiplet, on the socket of most of its inputs. Where that
does not fit, any core of the socket is taken, then any of the machine; and the plan says so.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from time import process_time

from ringmaster.plan.assign import Assigned, Unit, assign
from ringmaster.plan.costs import Costs
from ringmaster.plan.demand import QUEUES_MAX, Demand, PortDemand
from ringmaster.plan.roles import LINUX_MAY_SHARE, OWN_PROCESS, WHOLE_CORE, Role, receive_load, role_load
from ringmaster.plan.topology import Machine

LIMIT = 0.7
"""Of a core: what is above it is kept for stalls, after which a core has to catch up."""
CHIPLETS_OF_A_LARGE_MACHINE = 8
"""Linux gets a whole chiplet of it, and one core of any other."""
TIERS = ("chiplet", "socket", "machine")


@dataclass(frozen=True)
class Rules:
    """What the plan keeps to."""

    limit: float = LIMIT
    linux: tuple[int, ...] = ()
    """CPUs that are left to Linux; none: chosen by the machine's size."""
    taken: tuple[int, ...] = ()
    """CPUs that another server of this host has."""
    keep_queues: bool = False
    """Ports keep the queues that the file gives them, as roles that move while the server runs have to."""


@dataclass(frozen=True)
class Plan:
    """What came of it."""

    machine: Machine
    demand: Demand
    costs: Costs
    rules: Rules
    roles: tuple[Role, ...]
    dealt: Mapping[str, int]
    """Queues of each port."""
    linux: tuple[int, ...]
    """CPUs left to Linux."""
    tier: str
    """How near to its card each port is: of TIERS."""
    proven: bool
    """Whether no other assignment has a lower peak, of those that keep ports so near."""
    seconds: float
    """Of computing that planning took."""
    remarks: tuple[str, ...]
    """What a person should know, though it fits."""


def make_plan(
    machine: Machine, demand: Demand, costs: Costs, rules: Rules | None = None, said: Iterable[str] = ()
) -> Plan:
    """``said`` is what there is to remark beforehand. Raises ValueError where no core is left to plan with."""
    begin = process_time()
    rules = rules or Rules()
    remarks = [*said, *machine.gaps]
    linux = linux_cpus(machine, rules)
    usable = _usable(machine, linux, rules.taken, remarks)
    dealt = {port.name: _queues_of(port, demand, costs, rules) for port in demand.ports}
    works = list(_works(demand, costs, dealt, rules))
    places = _Places(machine, demand, frozenset(usable), works, remarks)
    near = {work.name: places.near(work) for work in works}
    quiet = frozenset(core.number for core in machine.cores if core.number in linux) or frozenset(usable)
    found, tier = _assigned(works, near, quiet, rules.limit, remarks)
    roles = tuple(replace(work.role, core=found.core[work.name]) for work in works)
    return Plan(
        machine=machine,
        demand=demand,
        costs=costs,
        rules=rules,
        roles=_gathered(roles),
        dealt=dealt,
        linux=linux,
        tier=tier,
        proven=found.proven,
        seconds=process_time() - begin,
        remarks=tuple(dict.fromkeys(remarks)),
    )


def linux_cpus(machine: Machine, rules: Rules) -> tuple[int, ...]:
    """CPUs that are left to Linux: those that the rules name, else by the size of the machine."""
    if rules.linux:
        machine.check_cpus(rules.linux, "--linux")
        return tuple(sorted(set(rules.linux)))
    first = machine.cores[0]
    if len(machine.cores) == 1:
        return ()
    if len(machine.chiplets()) >= CHIPLETS_OF_A_LARGE_MACHINE:
        cores = [core for core in machine.cores if core.chiplet == first.chiplet]
    else:
        cores = [first]
    return tuple(sorted(thread for core in cores for thread in core.threads))


def _usable(machine: Machine, linux: Iterable[int], taken: Iterable[int], remarks: list[str]) -> list[int]:
    """First threads of cores that are whole: neither Linux nor another server has a thread of them."""
    away = {*linux, *taken}
    usable = [core.number for core in machine.cores if not away & set(core.threads)]
    if usable:
        return usable
    free = [core.number for core in machine.cores if not set(taken) & set(core.threads)]
    if not free:
        raise ValueError(
            f"{machine.name}: no core is left, all {len(machine.cores)} are taken by other servers, expected one at "
            f"least: stop one of them, or move its roles together"
        )
    remarks.append("the machine has no core beside Linux's: the server shares them, and will wait for Linux at times")
    return free


@dataclass(frozen=True)
class _Work:
    role: Role
    load: float
    alone: bool

    @property
    def name(self) -> str:
        return self.role.name


def _queues_of(port: PortDemand, demand: Demand, costs: Costs, rules: Rules) -> int:
    if not port.divisible or rules.keep_queues or not port.senders:
        return port.queues
    most = min(QUEUES_MAX, len(port.senders))
    fullest = {
        count: max(receive_load(demand, costs, [queue]) for queue in port.dealt(count)) for count in range(1, most + 1)
    }
    fits = [count for count, load in fullest.items() if load <= rules.limit]
    return fits[0] if fits else min(fullest, key=lambda count: fullest[count])


def _works(demand: Demand, costs: Costs, dealt: Mapping[str, int], rules: Rules) -> Iterable[_Work]:
    for role in _roles(demand, dealt):
        load = role_load(demand, costs, role, dealt)
        single = role.kind == "transmit" or bool(role.application) or role.kind in WHOLE_CORE
        yield _Work(role, rules.limit if load is None else load, single)


def _roles(demand: Demand, dealt: Mapping[str, int]) -> Iterable[Role]:
    """All that there is to do, each as finely as it may be divided, on no core yet."""
    kept = [entry for entry in demand.roles if entry.get("role") in WHOLE_CORE]
    polled = {str(name).partition("/")[0] for entry in kept for name in entry.get("ports") or ()}
    joined = {port: group for group in demand.joined for port in group}
    done: set[str] = set()
    for port in demand.ports:
        if port.name in done | polled or port.cameras:
            continue
        group = sorted(joined.get(port.name, {port.name}))
        done |= set(group)
        queues = tuple((name, i) for name in group for i in range(dealt[name]))
        if port.divisible and len(group) == 1:
            yield from (Role("receive", 0, (queue,)) for queue in queues)
        else:
            yield Role("receive", 0, queues)
        yield from (Role("spread", 0, ((one.name, 0),)) for one in demand.ports if one.name in group and one.spread)
    if demand.setpoints_per_s > 0:
        yield Role("transmit", 0)
    for one in demand.applications:
        yield Role("application" if one.hosted else OWN_PROCESS, 0, application=one.name)
    ports = {port.name: port for port in demand.ports}
    for entry in kept:
        names = [str(name).partition("/")[0] for name in entry.get("ports") or ()]
        queues = tuple((name, i) for name in dict.fromkeys(names) if name in ports for i in range(ports[name].queues))
        yield Role(str(entry["role"]), 0, queues, written=entry)
    yield Role("housekeeping", 0)
    if demand.exception_path:
        yield Role("exception_path", 0)


class _Places:
    """Where each piece of work should be: sets of cores, the narrowest first."""

    def __init__(
        self, machine: Machine, demand: Demand, usable: frozenset[int], works: Iterable[_Work], remarks: list[str]
    ) -> None:
        self._machine, self._usable = machine, usable
        self._demand = demand
        self._claimed: dict[int, int] = defaultdict(int)
        self._home: dict[str, int] = {}
        self._socket = {port.name: self._socket_of(port, remarks) for port in demand.ports}
        needs: dict[str, list[_Work]] = defaultdict(list)
        for work in works:
            if work.role.kind in ("receive", "spread"):
                needs[work.role.ports[0]].append(work)
        for port, mine in sorted(needs.items(), key=lambda item: (-sum(work.load for work in item[1]), item[0])):
            self._home[port] = self._claim(self._socket[port], len(mine), self._chiplet_of(port))
        loop = [work for work in works if work.role.kind == "transmit" or work.role.application == demand.lead != ""]
        self._loop = {work.name for work in loop}
        self._loop_home = self._claim(self._inputs_socket(demand.lead), len(loop)) if loop else 0
        self._own = {
            work.name: self._claim(self._inputs_socket(work.role.application), 1)
            for work in works
            if work.role.application and work.name not in self._loop
        }

    def near(self, work: _Work) -> tuple[frozenset[int], ...]:
        """For each of TIERS."""
        if work.role.kind in LINUX_MAY_SHARE:
            return (self._usable,) * len(TIERS)
        if work.name in self._loop:
            return self._around(self._loop_home)
        if work.name in self._own:
            return self._around(self._own[work.name])
        if work.role.ports and work.role.ports[0] in self._home:
            return self._around(self._home[work.role.ports[0]])
        return (self._usable,) * len(TIERS)

    def _around(self, chiplet: int) -> tuple[frozenset[int], ...]:
        cores = [core for core in self._machine.cores if core.number in self._usable]
        socket = next((core.socket for core in self._machine.cores if core.chiplet == chiplet), 0)
        inner = frozenset(core.number for core in cores if core.chiplet == chiplet)
        outer = frozenset(core.number for core in cores if core.socket == socket)
        return inner, outer, self._usable

    def _claim(self, socket: int | None, cores: int, chiplet: int | None = None) -> int:
        """A chiplet for so many cores: one that nothing has claimed, else where most is left."""
        free: dict[int, int] = defaultdict(int)
        for core in self._machine.cores:
            wanted = socket is None or core.socket == socket
            if core.number in self._usable and wanted and (chiplet is None or core.chiplet == chiplet):
                free[core.chiplet] += 1
        if not free:
            return self._claim(None, cores) if socket is not None or chiplet is not None else 0
        left = {one: count - self._claimed[one] for one, count in free.items()}
        enough = [one for one, count in left.items() if count >= cores]
        alone = [one for one in enough if self._claimed[one] == 0]
        chosen = min(alone or enough or left, key=lambda one: (-left[one], one))
        self._claimed[chosen] += cores
        return chosen

    def _socket_of(self, port: PortDemand, remarks: list[str]) -> int | None:
        device = self._machine.device(port.device) if port.device else None
        if port.kind == "pci" and device is None:
            known = ", ".join(one.address for one in self._machine.devices) or "none"
            remarks.append(
                f"port {port.name}: {self._machine.name} has no card {port.device!r} (known: {known}); its socket, "
                f"slot and link are not known: correct `device`, or give --cards"
            )
        return None if device is None else device.socket

    def _chiplet_of(self, name: str) -> int | None:
        device = next((self._machine.device(port.device) for port in self._demand.ports if port.name == name), None)
        return None if device is None else device.chiplet

    def _inputs_socket(self, application: str) -> int | None:
        """That most of its inputs come to."""
        one = next((one for one in self._demand.applications if one.name == application), None)
        counts: dict[int, int] = defaultdict(int)
        for port, count in (one.ports if one else {}).items():
            if (socket := self._socket.get(port)) is not None:
                counts[socket] += count
        return max(counts, key=lambda socket: counts[socket]) if counts else None


def _assigned(
    works: list[_Work],
    near: Mapping[str, tuple[frozenset[int], ...]],
    quiet: frozenset[int],
    limit: float,
    remarks: list[str],
) -> tuple[Assigned, str]:
    """The nearest that keeps below the limit; where none does, the one with the lowest peak."""
    best: tuple[Assigned, str, bool] | None = None
    for alone in (True, False):
        for tier, name in enumerate(TIERS):
            units = [
                Unit(
                    work.name,
                    work.load,
                    quiet if work.role.kind in LINUX_MAY_SHARE else near[work.name][tier],
                    work.alone and alone,
                )
                for work in works
            ]
            found = assign(units)
            if found is None:
                continue
            if best is None or found.peak < best[0].peak - 1e-9:
                best = found, name, alone
            if found.peak <= limit + 1e-9:
                return _remarked((found, name, alone), works, remarks)
    if best is None:
        raise ValueError("the machine has no core that the roles could run on, expected one at least")
    return _remarked(best, works, remarks)


def _remarked(found: tuple[Assigned, str, bool], works: list[_Work], remarks: list[str]) -> tuple[Assigned, str]:
    assigned, tier, alone = found
    if not alone:
        names = [work.name for work in works if work.alone]
        remarks.append(
            f"there is no core for each of {', '.join(names)}: they share one with others, and their latency is that "
            f"of a turn of all of them"
        )
    if tier != TIERS[0]:
        where = "other chiplets of the card's socket" if tier == "socket" else "the other socket"
        remarks.append(f"the card's chiplet is too small for some ports: cores of {where} serve them")
    return assigned, tier


def _gathered(roles: Iterable[Role]) -> tuple[Role, ...]:
    """One receive role for all queues of a core, which it polls in turn; others as they are. In the order of cores."""
    queues: dict[int, list[tuple[str, int]]] = defaultdict(list)
    others = []
    for role in roles:
        if role.kind == "receive":
            queues[role.core] += role.queues
        else:
            others.append(role)
    receive = [Role("receive", core, tuple(sorted(listed))) for core, listed in sorted(queues.items())]
    return (*receive, *sorted(others, key=lambda role: (role.kind in LINUX_MAY_SHARE, role.core)))
