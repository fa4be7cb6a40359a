# SPDX-License-Identifier: Apache-2.0
"""What follows from roles on cores: load of each core, bytes a second of memory, links and slots, latency."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ringmaster.plan.costs import Costs
from ringmaster.plan.demand import Demand, Sender
from ringmaster.plan.memory import traffic
from ringmaster.plan.roles import Role, burst_packets, packets_of, queues_of, receive_load, role_load, senders_of
from ringmaster.plan.topology import Machine

WIRE_BYTES = 24
"""Of a frame besides its own bytes: preamble, check sum, the gap after it."""
TLP_BYTES, TLP_PAYLOAD_BYTES = 24, 256
"""Of a PCIe write: headers and framing, and how much one carries."""
DESCRIPTOR_BYTES = 16
SAFE_SHARE = 0.7
"""Of a link, a slot or a memory: above it queues grow, and the paper would not run a controller there."""
READ_BYTES = 64
"""Of a record that an application reads from memory."""


@dataclass(frozen=True)
class CoreLoad:
    """One core."""

    core: int
    roles: tuple[Role, ...]
    load: float
    """Share of its time, with costs at their medians."""
    low: float
    high: float
    """With costs at the ends of their spreads."""
    packets_per_s: float
    instruments: int
    unknown: tuple[str, ...]
    """Roles whose load comes on top: it cannot be told beforehand."""


@dataclass(frozen=True)
class Flow:
    """Something that carries bytes: a link, a slot, a node's memory."""

    name: str
    bytes_per_s: float
    most_bytes_per_s: float | None
    """That it carries; None where that is not known."""

    @property
    def share(self) -> float | None:
        """Of what it carries."""
        return self.bytes_per_s / self.most_bytes_per_s if self.most_bytes_per_s else None


@dataclass(frozen=True)
class PortLatency:
    """From a datagram in the card's ring to its record in shared memory, nanoseconds."""

    port: str
    mean_ns: float
    worst_ns: float
    """Of all senders at once, as a turn brings them, behind the longest wait; stalls of the machine come on top."""


@dataclass(frozen=True)
class Prediction:
    """All of it."""

    cores: tuple[CoreLoad, ...]
    memory: tuple[Flow, ...]
    """By NUMA node; without nodes by socket."""
    links: tuple[Flow, ...]
    """By port; what comes in."""
    slots: tuple[Flow, ...]
    """By card; what it writes."""
    latency: tuple[PortLatency, ...]
    hand_over_ns: Mapping[str, float]
    """To each application: a record's cache line from the core that stored it, the furthest of its inputs."""

    @property
    def receive_cores(self) -> int:
        """Cores that receive."""
        return sum(any(role.kind == "receive" for role in one.roles) for one in self.cores)

    @property
    def peak(self) -> float:
        """Load of the fullest core."""
        return max((one.load for one in self.cores), default=0.0)

    @property
    def memory_bytes_per_s(self) -> float:
        """Of all nodes."""
        return sum(flow.bytes_per_s for flow in self.memory)


def predict(
    machine: Machine, demand: Demand, costs: Costs, roles: Sequence[Role], dealt: Mapping[str, int]
) -> Prediction:
    """Of these roles, planned or written."""
    by_core: dict[int, list[Role]] = defaultdict(list)
    for role in roles:
        by_core[role.core].append(role)
    senders = {core: _senders(demand, listed, dealt) for core, listed in by_core.items()}
    cores = tuple(_core_load(demand, costs, core, by_core[core], senders[core], dealt) for core in sorted(by_core))
    return Prediction(
        cores=cores,
        memory=tuple(_memory(machine, demand, roles, senders)),
        links=tuple(_links(machine, demand)),
        slots=tuple(_slots(machine, demand)),
        latency=tuple(_latency(demand, roles, {one.core: one for one in cores})),
        hand_over_ns=_hand_over(machine, demand, costs, roles),
    )


def _senders(demand: Demand, roles: Iterable[Role], dealt: Mapping[str, int]) -> list[Sender]:
    return [one for role in roles if role.kind == "receive" for one in senders_of(demand, role.queues, dealt)]


def _core_load(
    demand: Demand,
    costs: Costs,
    core: int,
    roles: Sequence[Role],
    senders: Sequence[Sender],
    dealt: Mapping[str, int],
) -> CoreLoad:
    count = sum(len(one.instruments) for one in senders)
    packets = packets_of(senders)
    queues = [queue for role in roles if role.kind == "receive" for queue in queues_of(demand, role.queues, dealt)]

    def at(place: float) -> float:
        parts = [role_load(demand, costs, role, dealt, place) for role in roles if role.kind != "receive"]
        return sum(part or 0.0 for part in parts) + receive_load(
            demand, costs, queues, place, instruments=max(1, count), core_packets_per_s=packets
        )

    unknown = tuple(role.name for role in roles if role_load(demand, costs, role, dealt) is None)
    return CoreLoad(core, tuple(roles), at(0.0), at(-1.0), at(1.0), packets, count, unknown)


def _memory(
    machine: Machine, demand: Demand, roles: Sequence[Role], senders: Mapping[int, Sequence[Sender]]
) -> Iterable[Flow]:
    """Rings lie where the receive core first wrote them; buffers of a card at its socket."""
    at: dict[int, float] = dict.fromkeys(_nodes(machine), 0.0)
    nodes = {core.number: core.socket if core.node is None else core.node for core in machine.cores}
    for core, listed in senders.items():
        records = sum(one.records_per_s for one in listed)
        if not records or core not in nodes:
            continue
        lanes = 12
        each = traffic(
            instruments=sum(len(one.instruments) for one in listed),
            lanes=lanes,
            chain="both" if demand.sharp else "low_latency",
            cache_injection=machine.cache_injection,
            cache_bytes=machine.cache_bytes,
        )
        at[nodes[core]] += records * (each.cpu_bytes + each.dma_bytes)
    for role in roles:
        if role.application and role.core in nodes:
            one = next(one for one in demand.applications if one.name == role.application)
            at[nodes[role.core]] += one.rate_hz * one.inputs * READ_BYTES
    word = "node" if any(core.node is not None for core in machine.cores) else "socket"
    for node, total in sorted(at.items()):
        yield Flow(f"memory of {word} {node}", total, machine.node_bytes_per_s)


def _nodes(machine: Machine) -> list[int]:
    return sorted({core.socket if core.node is None else core.node for core in machine.cores})


def _links(machine: Machine, demand: Demand) -> Iterable[Flow]:
    for port in demand.ports:
        device = machine.device(port.device) if port.device else None
        most = device.link_bits_per_s / 8 if device and device.link_bits_per_s else None
        if port.senders:
            yield Flow(f"link of {port.name}", port.bytes_per_s + WIRE_BYTES * port.packets_per_s, most)
        if port.sent_packets_per_s:
            sent = port.sent_bytes_per_s + WIRE_BYTES * port.sent_packets_per_s
            yield Flow(f"link of {port.name}, out", sent, most)


def _slots(machine: Machine, demand: Demand) -> Iterable[Flow]:
    total: dict[str, float] = defaultdict(float)
    most: dict[str, float | None] = {}
    for port in demand.ports:
        device = machine.device(port.device) if port.device else None
        if device is None:
            continue
        most[device.slot] = device.slot_bytes_per_s
        writes = port.bytes_per_s + DESCRIPTOR_BYTES * port.packets_per_s
        size = port.bytes_per_s / port.packets_per_s if port.packets_per_s else 0.0
        headers = TLP_BYTES * port.packets_per_s * (1 + -(-size // TLP_PAYLOAD_BYTES))
        total[device.slot] += writes + headers
    for slot, size in total.items():
        yield Flow(f"slot {slot}", size, most[slot])


def _latency(demand: Demand, roles: Sequence[Role], cores: Mapping[int, CoreLoad]) -> Iterable[PortLatency]:
    """The wait between polls, the burst itself, and the queue before it: that of random arrivals and equal work."""
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for role in roles:
        core = cores[role.core]
        if role.kind != "receive" or not core.packets_per_s:
            continue
        burst = burst_packets(demand, core.packets_per_s)
        waited_ns = min(demand.longest_wait_ns, 1e9 * burst / core.packets_per_s)
        packet_ns = 1e9 * core.load / core.packets_per_s
        load = min(core.load, 0.99)
        mean = waited_ns / 2 + burst * packet_ns + packet_ns * load / (2 * (1 - load))
        worst = demand.longest_wait_ns + packet_ns * max(core.instruments, burst)
        for port in role.ports:
            found[port].append((mean, worst))
    for name, seen in found.items():
        yield PortLatency(name, max(mean for mean, _ in seen), max(worst for _, worst in seen))


def _hand_over(machine: Machine, demand: Demand, costs: Costs, roles: Sequence[Role]) -> dict[str, float]:
    found = {}
    for role in roles:
        one = next((one for one in demand.applications if one.name == role.application), None)
        here = machine.core_of(role.core)
        if one is None or here is None:
            continue
        from_cores = [
            machine.core_of(other.core)
            for other in roles
            if other.kind == "receive" and set(other.ports) & set(one.ports)
        ]
        ways = [0.0]
        for core in from_cores:
            if core is None or core.number == here.number:
                continue
            if core.chiplet == here.chiplet:
                ways.append(costs.near_ns / 2)
            else:
                ways.append((costs.far_ns if core.socket == here.socket else costs.other_socket_ns) / 2)
        found[one.name] = max(ways)
    return found
