# SPDX-License-Identifier: Apache-2.0
"""Other servers of the same host, whose cores and cards are not ours: those that run, and those that are planned."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ringmaster.doctor import cpu_list
from ringmaster.errors import WorkspaceError
from ringmaster.fabric.workspace import attach, workspaces_roots
from ringmaster.plan.demand import Demand, read_demand
from ringmaster.plan.roles import written_roles

CORE = "core/"


def planned(demand: Demand, beside: Sequence[Path]) -> tuple[dict[int, str], list[str]]:
    """Cores of other configurations for this host, each with the file's name, and what to say of them.

    Raises ValueError where two of them want one card: no plan can mend that.
    """
    taken: dict[int, str] = {}
    ours = {port.device: port.name for port in demand.ports if port.device}
    for path in beside:
        other = read_demand(path)
        for port in other.ports:
            if port.device and port.device in ours:
                raise ValueError(
                    f"{path}: port {port.name} has the card {port.device}, and so has our port {ours[port.device]}: "
                    f"two plans for one host need a card each, expected another device in one of them"
                )
        if other.workspace == demand.workspace:
            raise ValueError(
                f"{path}: its workspace is {other.workspace}, and so is ours: two servers of one host need a name each"
            )
        for role in written_roles(other):
            taken[role.core] = str(path)
    return taken, list(_words(taken, "{} has a plan for {}, which this one leaves alone"))


def running(demand: Demand) -> tuple[dict[int, str], list[str]]:
    """The same of servers that run on this host now."""
    taken = {core: name for name, cores in _running() if name != demand.workspace for core in cores}
    return taken, list(_words(taken, "the server {} runs on {}, which this plan leaves alone"))


def _running() -> Iterator[tuple[str, list[int]]]:
    for root in workspaces_roots():
        for folder in sorted(root.iterdir()) if root.is_dir() else ():
            try:
                with attach(str(folder)) as ws:
                    blocks = ws.counter_blocks
                    yield folder.name, [blocks[name]["core"] for name in blocks if name.startswith(CORE)]
            except (WorkspaceError, OSError, KeyError):
                continue


def _words(taken: dict[int, str], text: str) -> Iterator[str]:
    for owner in dict.fromkeys(taken.values()):
        yield text.format(owner, cpu_list.words(core for core, name in taken.items() if name == owner))
