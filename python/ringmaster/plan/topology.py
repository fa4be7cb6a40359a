# SPDX-License-Identifier: Apache-2.0
"""A machine as the planner sees it: cores by the caches and the memory that they share, and ports of cards in slots."""

from collections.abc import Iterable
from dataclasses import dataclass

from ringmaster.doctor import cpu_list

LANE_BYTES_PER_S = {1: 250e6, 2: 500e6, 3: 984.6e6, 4: 1969.2e6, 5: 3938.5e6, 6: 7877e6}
"""Of one lane of a PCIe generation, one way, without its line code."""


@dataclass(frozen=True)
class Core:
    """A physical core."""

    number: int
    """Of its first hardware thread, as Linux counts: what a role's `core` names."""
    socket: int
    chiplet: int
    """Cores of one chiplet share their last level of cache. Counted through the machine."""
    node: int | None
    """Its NUMA node; None where the topology does not tell."""
    siblings: tuple[int, ...] = ()
    """Its other hardware threads."""

    @property
    def threads(self) -> tuple[int, ...]:
        """All CPU numbers of it."""
        return (self.number, *self.siblings)


@dataclass(frozen=True)
class Device:
    """A network port on the PCI bus."""

    address: str
    """As `lspci -D` writes it."""
    socket: int | None = None
    """Whose PCIe root it hangs on; None where the topology does not tell."""
    chiplet: int | None = None
    """Where the root belongs to one."""
    interface: str = ""
    """The kernel's name of it, where it has one."""
    link_bits_per_s: float | None = None
    slot_bytes_per_s: float | None = None
    """That its slot carries one way, for all ports of the card together."""

    @property
    def slot(self) -> str:
        """The card: its address without the function."""
        return self.address.rpartition(".")[0]


@dataclass(frozen=True)
class Machine:
    """All of it."""

    name: str
    cores: tuple[Core, ...]
    devices: tuple[Device, ...] = ()
    offline: frozenset[int] = frozenset()
    """CPU numbers that are there and do not run."""
    node_bytes_per_s: float | None = None
    """Of one NUMA node's memory, to and from; None where it is not known."""
    cache_bytes: int = 32 << 20
    """Last level of cache of one chiplet."""
    cache_injection: bool = False
    """Whether cards write frames into caches (DDIO, SDCI), and not to memory."""
    processor: str = ""
    """Its model, as /proc/cpuinfo names it; "" where it is not known."""
    gaps: tuple[str, ...] = ()
    """What the topology does not tell, and what the planner takes in its place."""

    def core_of(self, cpu: int) -> Core | None:
        """The core that a CPU number is a thread of."""
        return next((core for core in self.cores if cpu in core.threads), None)

    def device(self, name: str) -> Device | None:
        """By address, or by the kernel's interface."""
        return next((one for one in self.devices if name in (one.address, one.interface) and name), None)

    @property
    def sockets(self) -> tuple[int, ...]:
        """Numbers of the sockets."""
        return tuple(sorted({core.socket for core in self.cores}))

    def chiplets(self, socket: int | None = None) -> tuple[int, ...]:
        """Numbers of all chiplets, or of a socket's."""
        return tuple(sorted({core.chiplet for core in self.cores if socket is None or core.socket == socket}))

    def check_cpus(self, cpus: Iterable[int], what: str) -> None:
        """Raises ValueError where one of them does not exist, or is offline."""
        there = {thread for core in self.cores for thread in core.threads}
        for cpu in sorted(set(cpus)):
            if cpu in self.offline:
                raise ValueError(
                    f"{what}: core {cpu} of {self.name} is offline, expected one that runs: bring it back "
                    f"(echo 1 > /sys/devices/system/cpu/cpu{cpu}/online), or choose one of {cpu_list.write(there)}"
                )
            if cpu not in there:
                raise ValueError(f"{what}: {self.name} has no core {cpu}, expected one of {cpu_list.write(there)}")
