# SPDX-License-Identifier: Apache-2.0
"""Roles on cores, planned or as a file has them; and how much of its core each takes."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ringmaster.plan.costs import Costs
from ringmaster.plan.demand import Demand, PortDemand, Sender

SMALL_LOAD = 0.02
"""Of housekeeping and of the exception path: room that is kept for them, not a measurement."""
WHOLE_CORE = ("forward", "generate")
"""Their load is that of what others send; they are given a core and no prediction."""
MEASURED_APPLICATIONS = ("feedback",)
"""By their code: what a step of any other takes, nobody measured for the planner."""
LINUX_MAY_SHARE = ("housekeeping", "exception_path")
AT_ONCE = ("memif", "ring")
"""Kinds of ports whose other end is a program, which hands over all datagrams of a turn together."""
OWN_PROCESS = "process"
"""Kind of an application that is a process of its own: no role of the server, but a core."""


@dataclass(frozen=True)
class Role:
    """One piece of work."""

    kind: str
    core: int
    queues: tuple[tuple[str, int], ...] = ()
    """Port and number."""
    application: str = ""
    written: Mapping[str, Any] = field(default_factory=dict)
    """The entry of the file that it was, with keys that the planner leaves alone."""

    @property
    def name(self) -> str:
        """For people and for units of work: "receive ring/0, ring/1"."""
        what = self.application or ", ".join(f"{port}/{queue}" for port, queue in self.queues)
        return f"{self.kind} {what}".strip()

    @property
    def ports(self) -> tuple[str, ...]:
        """That it polls, each once."""
        return tuple(dict.fromkeys(port for port, _ in self.queues))


def written_roles(demand: Demand) -> tuple[Role, ...]:
    """As the file has them, with the processes of applications that it binds to a core."""
    ports = {port.name: port for port in demand.ports}
    found = [
        Role(str(entry["role"]), int(entry["core"]), _queues(entry, ports), str(entry.get("application", "")), entry)
        for entry in demand.roles
        if isinstance(entry.get("core"), int)
    ]
    found += [
        Role(OWN_PROCESS, one.core, application=one.name)
        for one in demand.applications
        if not one.hosted and one.core is not None
    ]
    return tuple(found)


def _queues(entry: Mapping[str, Any], ports: Mapping[str, PortDemand]) -> tuple[tuple[str, int], ...]:
    found: list[tuple[str, int]] = []
    for text in entry.get("ports") or ():
        name, slash, number = str(text).partition("/")
        if name in ports:
            found += [(name, int(number))] if slash else [(name, i) for i in range(ports[name].queues)]
    return tuple(found)


def queues_of(demand: Demand, queues: Iterable[tuple[str, int]], dealt: Mapping[str, int]) -> list[tuple[Sender, ...]]:
    """Whose datagrams come by each of these queues; ``dealt`` is how many queues each port has."""
    ports = {port.name: port for port in demand.ports}
    by_port = {name: ports[name].dealt(dealt[name]) for name in {port for port, _ in queues}}
    return [by_port[port][queue] for port, queue in queues]


def senders_of(demand: Demand, queues: Iterable[tuple[str, int]], dealt: Mapping[str, int]) -> list[Sender]:
    """Of all these queues together."""
    return [sender for queue in queues_of(demand, queues, dealt) for sender in queue]


def packets_of(queue: Iterable[Sender]) -> float:
    """That come by it in a second."""
    return sum(one.packets_per_s for one in queue)


def burst_packets(demand: Demand, packets_per_s: float) -> float:
    """That polling comes to: its target, or fewer where they do not come within the longest wait."""
    return max(1.0, min(float(demand.target_packets), packets_per_s * demand.longest_wait_ns * 1e-9))


def bursts_per_s(demand: Demand, queue: Sequence[Sender], core_packets_per_s: float) -> float:
    """Polls of one queue that find something, on a core that has so many packets by all its queues.

    A core polls all its queues, then waits: until its target has come by all of them together, or for the longest wait.
    On a wire datagrams come one by one, so a poll finds none with the probability of random arrivals. By a port whose
    other end is a program a turn's datagrams come at once, and one poll finds them all.
    """
    packets = packets_of(queue)
    if not packets or not demand.target_packets or not demand.longest_wait_ns:
        return packets  # no waiting: a poll for each
    polls = max(core_packets_per_s / demand.target_packets, 1e9 / demand.longest_wait_ns)
    if queue[0].port_kind in AT_ONCE:
        return min(polls, max(one.records_per_s / len(one.instruments) for one in queue))
    return -polls * math.expm1(-packets / polls)


def receive_load(
    demand: Demand,
    costs: Costs,
    queues: Iterable[Sequence[Sender]],
    place: float = 0.0,
    *,
    instruments: int | None = None,
    core_packets_per_s: float | None = None,
) -> float:
    """Of a core that has these queues. ``instruments``, ``core_packets_per_s``: so many, where it has others, too."""
    listed = [queue for queue in queues if queue]
    senders = [one for queue in listed for one in queue]
    count = max(1, sum(len(one.instruments) for one in senders)) if instruments is None else instruments
    core_packets = packets_of(senders) if core_packets_per_s is None else core_packets_per_s
    records = sum(one.records_per_s for one in senders)
    bursts = sum(bursts_per_s(demand, queue, core_packets) * costs.burst(queue[0].port_kind, place) for queue in listed)
    return 1e-9 * (records * costs.receive(count, demand.sharp, place) + bursts)


def role_load(demand: Demand, costs: Costs, role: Role, dealt: Mapping[str, int], place: float = 0.0) -> float | None:
    """Share of its core; None where it cannot be told beforehand. ``place``: from low (−1) to high (1)."""
    if role.kind == "receive":
        return receive_load(demand, costs, queues_of(demand, role.queues, dealt), place)
    if role.kind == "spread":
        packets = sum(port.packets_per_s for port in demand.ports if port.name in role.ports)
        return 1e-9 * costs.spread_ns.at(place) * packets
    if role.kind == "transmit":
        return 1e-9 * costs.transmit_ns.at(place) * demand.setpoints_per_s
    if role.application:
        one = next((one for one in demand.applications if one.name == role.application), None)
        if one is None or one.code not in MEASURED_APPLICATIONS:
            return None
        return 1e-9 * costs.application_input_ns.at(place) * one.rate_hz * max(1, one.inputs)
    return None if role.kind in WHOLE_CORE else SMALL_LOAD


def dealt_by_file(demand: Demand) -> dict[str, int]:
    """Queues of each port, as the file has them."""
    return {port.name: port.queues for port in demand.ports}
