# SPDX-License-Identifier: Apache-2.0
"""Roles on cores, planned or as a file has them; and how much of its core each takes."""

from collections.abc import Iterable, Mapping
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


def senders_of(demand: Demand, queues: Iterable[tuple[str, int]], dealt: Mapping[str, int]) -> list[Sender]:
    """Whose datagrams come by these queues; ``dealt`` is how many queues each port has."""
    ports = {port.name: port for port in demand.ports}
    by_port = {name: ports[name].dealt(dealt[name]) for name in {port for port, _ in queues}}
    return [sender for port, queue in queues for sender in by_port[port][queue]]


def burst_packets(demand: Demand, packets_per_s: float) -> float:
    """That polling comes to: its target, or fewer where they do not come within the longest wait."""
    return max(1.0, min(float(demand.target_packets), packets_per_s * demand.longest_wait_ns * 1e-9))


def receive_load(
    demand: Demand, costs: Costs, senders: Iterable[Sender], place: float = 0.0, instruments: int | None = None
) -> float:
    """Of one core that has all of these. ``instruments``: so many, where it has others beside them."""
    listed = list(senders)
    records, packets = sum(one.records_per_s for one in listed), sum(one.packets_per_s for one in listed)
    count = max(1, sum(len(one.instruments) for one in listed)) if instruments is None else instruments
    record_s = 1e-9 * costs.receive(count, demand.sharp, place)
    return records * record_s + 1e-9 * costs.burst_ns.at(place) * packets / burst_packets(demand, packets)


def role_load(demand: Demand, costs: Costs, role: Role, dealt: Mapping[str, int], place: float = 0.0) -> float | None:
    """Share of its core; None where it cannot be told beforehand. ``place``: from low (−1) to high (1)."""
    if role.kind == "receive":
        return receive_load(demand, costs, senders_of(demand, role.queues, dealt), place)
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
