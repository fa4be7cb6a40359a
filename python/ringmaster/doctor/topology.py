# SPDX-License-Identifier: Apache-2.0
"""Do cards, memory and cores lie together?"""

import re

from ringmaster.doctor import cpu_list
from ringmaster.doctor.check import SERVER_HINT, SERVER_NEEDS, Answer, Check, Look, absent, bad, good, unknown
from ringmaster.doctor.host import Host

NODES = "/sys/devices/system/node"


def nodes(host: Host) -> dict[int, tuple[int, ...]]:
    """CPUs of each NUMA node that has some."""
    found = [int(name[4:]) for name in host.names(NODES) if re.fullmatch("node[0-9]{1,4}", name)]
    return {node: cpus for node in found if (cpus := host.cpus(f"{NODES}/node{node}/cpulist"))}


def nodes_per_socket(look: Look) -> Answer:
    """NPS."""
    online = look.host.online
    sockets = {look.host.number(f"/sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id") for cpu in online}
    found = nodes(look.host)
    if not found or not sockets or None in sockets:
        return unknown()
    shown = (
        f"{len(found)} node{'s' if len(found) > 1 else ''} on {len(sockets)} socket{'s' if len(sockets) > 1 else ''}"
    )
    if len(found) <= len(sockets):
        return good(shown)
    hand = "In the firmware's setup: NPS1 (AMD), or sub-NUMA clustering off (Intel)."
    return bad(shown, "one node a socket (NPS1)", by_hand=hand)


def card_nodes(look: Look) -> Answer:
    """Chosen cores on the card's node?"""
    found = nodes(look.host)
    if len(found) < 2:
        return absent("one node") if found else unknown()
    placed = [card for card in look.cards if card.node in found]
    if not placed:
        return absent("no card that says its node")
    ours = {node for node, cpus in found.items() if set(cpus) & set(look.cores)}
    far = [f"{card.name} on node {card.node}" for card in placed if card.node not in ours]
    where = f"{cpu_list.words(look.cores)} on node {cpu_list.write(ours)}"
    if not far:
        return good(where)
    near = cpu_list.write(cpu for card in placed for cpu in found[card.node or 0])
    return bad(
        f"{', '.join(far)}; {where}",
        f"cores out of {near}",
        by_hand="Give the receive roles cores of the card's node, or put the card into a slot of the other socket.",
        mild=not any(card.wanted for card in placed),
    )


CHECKS = (
    Check(
        "nodes-per-socket",
        nodes_per_socket,
        SERVER_HINT,
        "The paper's server runs with one node a socket: memory is spread over all its channels, for all cores alike.",
        "Elettra 2.0 paper, Test Facility: NPS1",
    ),
    Check(
        "card-node",
        card_nodes,
        SERVER_NEEDS,
        "Between sockets a core gets 22 GB/s, within a die 60; half of that when caches miss.",
        "Elettra 2.0 paper, Test Facility",
    ),
)
