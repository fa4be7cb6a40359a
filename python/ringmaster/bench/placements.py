# SPDX-License-Identifier: Apache-2.0
"""Which cores two programs of a bench may run on, by what the host has: isolated or ordinary, near the card or far.

The kernel tells it under /sys; what a host has not is said, and the rest is measured.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ringmaster.doctor import cpu_list

SYS = Path("/sys")


@dataclass(frozen=True)
class Placement:
    """Two cores, one for each program."""

    name: str
    """"ordinary cores", "isolated cores, the card's socket", …"""
    cores: tuple[int, int]


@dataclass(frozen=True)
class Placements:
    """What the host offers."""

    found: tuple[Placement, ...]
    notes: tuple[str, ...]
    """What cannot be had here, and why."""


def isolated_cores(sys: Path = SYS) -> tuple[int, ...]:
    """Cores that the scheduler leaves alone: `isolcpus=` on the kernel's command line."""
    return cpu_list.parse(_read(sys / "devices/system/cpu/isolated")) or ()


def threads_of(cpu: int, sys: Path = SYS) -> tuple[int, ...]:
    """CPUs that are threads of the same core (SMT), this one too: a loop that polls takes from the other."""
    return cpu_list.parse(_read(sys / f"devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")) or ()


def sockets(sys: Path = SYS) -> dict[int, tuple[int, ...]]:
    """CPUs by NUMA node, those nodes that have any."""
    nodes = {}
    for folder in sorted((sys / "devices/system/node").glob("node[0-9]*")):
        if cpus := cpu_list.parse(_read(folder / "cpulist")):
            nodes[int(folder.name.removeprefix("node"))] = cpus
    return nodes


def card_node(link: str, sys: Path = SYS) -> int | None:
    """NUMA node of the card behind the text of a link; None for virtual links, and where the kernel does not know."""
    kind, _, where = link.partition(":")
    name = where.partition(",")[0]
    folder = sys / "bus/pci/devices" / name if kind == "pci" else sys / "class/net" / name / "device"
    text = _read(folder / "numa_node") if kind in ("pci", "raw", "af_packet", "af_xdp") else ""
    return int(text) if text and int(text) >= 0 else None


def find_placements(allowed: Iterable[int], card: int | None, sys: Path = SYS) -> Placements:
    """Pairs of the cores that this process may use, of every sort that the host has; not two threads of one core.

    ``card`` is the NUMA node of the card, or None: then no socket is nearer than another. Both cores of a pair are on
    one socket. One core is given twice where there is but one.
    """
    isolated = set(isolated_cores(sys))
    usable = sorted({*allowed, *isolated})
    nodes = sockets(sys) or {0: tuple(usable)}
    found, notes = [], []
    for sort in ("ordinary", "isolated"):
        pairs = _pairs(sort, [cpu for cpu in usable if (cpu in isolated) == (sort == "isolated")], nodes, card, sys)
        found += pairs
        if not pairs:
            notes.append(_WITHOUT[sort])
    if len(nodes) < 2:
        notes.append("cores on another socket than the card's: this host has one socket")
    elif card is None:
        notes.append("cores on the card's socket and on another: these links have no card")
    if not found:
        found = [Placement("one core", (usable[0], usable[0]))]
    return Placements(tuple(found), tuple(notes))


_WITHOUT = {
    "isolated": "isolated cores: the kernel has none (isolcpus= on its command line isolates them)",
    "ordinary": "ordinary cores: this process may use fewer than two",
}


def _pairs(
    sort: str, cpus: Sequence[int], nodes: dict[int, tuple[int, ...]], card: int | None, sys: Path
) -> list[Placement]:
    """The first two of each socket; of the first that has two, where no socket is nearer."""
    pairs = []
    for node in sorted(nodes, key=lambda node: (node != card, node)):
        there = [cpu for cpu in cpus if cpu in nodes[node]]
        if len(there) < 2:
            continue
        near = "the card's socket" if node == card else "another socket"
        where = "" if card is None or len(nodes) < 2 else f", {near}"
        apart = [cpu for cpu in there[1:] if cpu not in threads_of(there[0], sys)]
        shared = "" if apart else ", two threads of one core"
        pairs.append(Placement(f"{sort} cores{where}{shared}", (there[0], (apart or there[1:])[0])))
        if card is None:
            break
    return pairs


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
