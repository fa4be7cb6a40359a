# SPDX-License-Identifier: Apache-2.0
"""What work costs on one core: measured by `ringmaster plan costs` on a machine of the kind, and kept in a file."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

KEY = "costs"
PCI = "pci"


@dataclass(frozen=True)
class Cost:
    """Nanoseconds: the median, and between which values it lies by the spread of its rounds."""

    low: float
    median: float
    high: float

    def at(self, place: float) -> float:
        """Between low (−1), median (0) and high (+1), by ratios."""
        end = self.high if place > 0 else self.low
        return self.median * (end / self.median) ** abs(place) if self.median > 0 else 0.0


@dataclass(frozen=True)
class Costs:
    """Of one kind of core."""

    processor: str
    """On which they were measured."""
    measured: str
    """By what, and where the figures stand."""
    receive_ns: Mapping[int, Cost]
    """Of a datagram, poll and all that the role does, by how many instruments the core has."""
    low_latency_ns: Mapping[int, Cost]
    """The same without the sharp filters."""
    burst_ns: Mapping[str, Cost]
    """That a burst costs besides its packets, by the kind of its port; PCI's for kinds that have none of their own."""
    transmit_ns: Cost
    """Of a datagram to a chain, from the guard to the link."""
    spread_ns: Cost
    """Of a datagram that software deals out."""
    near_ns: float
    """A cache line from core to core and back: within a chiplet …"""
    far_ns: float
    """… from chiplet to chiplet …"""
    other_socket_ns: float
    """… and from socket to socket."""
    application_input_ns: Cost
    """Of an application's step, for each input: as the orbit feedback has it."""

    def receive(self, instruments: int, sharp: bool, place: float = 0.0) -> float:
        """Of a datagram on a core that has so many, by interpolation over the logarithm of their number."""
        table = self.receive_ns if sharp else self.low_latency_ns
        known = sorted(table)
        count = min(max(instruments, known[0]), known[-1])
        for low, high in pairwise(known):
            if low <= count <= high:
                part = (math.log(count) - math.log(low)) / (math.log(high) - math.log(low))
                return table[low].at(place) * (1 - part) + table[high].at(place) * part
        return table[known[0]].at(place)

    def burst(self, port_kind: str, place: float = 0.0) -> float:
        """That a poll takes which finds something, by a port of this kind."""
        return self.burst_ns.get(port_kind, self.burst_ns[PCI]).at(place)

    def scaled(self, factor: float) -> "Costs":
        """Of a core that takes so many times as long."""

        def of(cost: Cost) -> Cost:
            return Cost(cost.low * factor, cost.median * factor, cost.high * factor)

        return replace(
            self,
            receive_ns={count: of(cost) for count, cost in self.receive_ns.items()},
            low_latency_ns={count: of(cost) for count, cost in self.low_latency_ns.items()},
            burst_ns={kind: of(cost) for kind, cost in self.burst_ns.items()},
            transmit_ns=of(self.transmit_ns),
            spread_ns=of(self.spread_ns),
            application_input_ns=of(self.application_input_ns),
        )

    def as_json(self) -> dict[str, Any]:
        """As read_costs reads it."""
        return asdict(self)


DEFAULT = Costs(
    processor="AMD EPYC, virtual, Zen 4, TSC 2.6 GHz",
    measured="docs/notes/receive-role.md, cost against size: cold, 12 lanes; setpoints.md, parameters.md; plan.md",
    receive_ns={
        1: Cost(46, 50, 54),
        8: Cost(53, 62, 71),
        32: Cost(56, 65, 74),
        96: Cost(68, 84, 100),
        168: Cost(74, 90, 106),
        512: Cost(105, 109, 113),
    },
    low_latency_ns={8: Cost(46, 51, 55), 96: Cost(51, 58, 65), 168: Cost(52, 66, 79)},
    burst_ns={PCI: Cost(20, 40, 60), "memif": Cost(150, 200, 300)},
    transmit_ns=Cost(17, 20, 24),
    spread_ns=Cost(15, 25, 35),
    near_ns=67,
    far_ns=250,
    other_socket_ns=500,
    application_input_ns=Cost(10, 15, 19),
)
"""Where nobody measured: of the virtual machine that this was developed on."""


def read_costs(path: Path) -> Costs:
    """What `ringmaster plan costs` wrote. Raises OSError, or ValueError."""
    try:
        said = json.loads(path.read_text())
        found = _found(said)
        return Costs(
            processor=str(found["processor"]),
            measured=str(found["measured"]),
            receive_ns=_table(found["receive_ns"]),
            low_latency_ns=_table(found["low_latency_ns"]),
            burst_ns=_bursts(found["burst_ns"]),
            transmit_ns=_cost(found["transmit_ns"]),
            spread_ns=_cost(found["spread_ns"]),
            near_ns=float(found["near_ns"]),
            far_ns=float(found["far_ns"]),
            other_socket_ns=float(found["other_socket_ns"]),
            application_input_ns=_cost(found["application_input_ns"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{path}: found no costs ({error!r}), expected what `ringmaster plan costs -o {path}` writes"
        ) from error


def _found(said: Any) -> Any:
    if not isinstance(said, dict):
        raise TypeError("no JSON object")
    if "receive_ns" in said:
        return said
    return _found(said[KEY] if KEY in said else said["data"])


def _table(said: Mapping[str, Any]) -> dict[int, Cost]:
    table = {int(count): _cost(cost) for count, cost in said.items()}
    if not table or min(table) < 1:
        raise ValueError("no cost of receiving")
    return table


def _bursts(said: Mapping[str, Any]) -> dict[str, Cost]:
    table = {kind: _cost(cost) for kind, cost in said.items()}
    if PCI not in table:
        raise ValueError(f"no cost of a burst by a port of kind {PCI}")
    return table


def _cost(said: Mapping[str, Any]) -> Cost:
    cost = Cost(*(float(said[name]) for name in ("low", "median", "high")))
    if not 0 < cost.low <= cost.median <= cost.high < math.inf:
        raise ValueError(f"found {cost}, expected 0 < low <= median <= high")
    return cost
