# SPDX-License-Identifier: Apache-2.0
"""Ethernet cards on the PCI bus, and whose they are."""

from collections.abc import Sequence
from dataclasses import dataclass

from ringmaster.doctor.host import Host

DEVICES = "/sys/bus/pci/devices"
ETHERNET = "0x0200"
DPDK_DRIVERS = ("vfio-pci", "uio_pci_generic", "igb_uio")
SHARED_DRIVERS = ("mlx4_core", "mlx5_core", "mana")
"""Kernel drivers that DPDK shares the card with."""


@dataclass(frozen=True)
class Card:
    """One function of a card: a port, as a rule."""

    address: str
    """As `lspci -D` writes it."""
    driver: str | None
    """None where it has none."""
    interfaces: tuple[str, ...]
    """Their names in the kernel; none where the card is DPDK's."""
    node: int | None
    """The NUMA node that it is plugged into; None where there is one for all."""
    wanted: str = ""
    """Named by the person: "dpdk" by its address, "kernel" by its interface; "" where not named."""

    @property
    def name(self) -> str:
        """For people: the interface, or the address."""
        return self.interfaces[0] if self.interfaces else self.address

    @property
    def folder(self) -> str:
        """In /sys."""
        return f"{DEVICES}/{self.address}"

    @property
    def bound(self) -> bool:
        """Whether DPDK has it, or can have it beside the kernel."""
        return self.driver in DPDK_DRIVERS + SHARED_DRIVERS


def find_cards(host: Host, wanted: Sequence[str] = ()) -> tuple[Card, ...]:
    """All, or those with these addresses and interfaces. Raises ValueError for a name that no card has."""
    cards = [_read(host, address) for address in host.names(DEVICES) if _is_ethernet(host, address)]
    if not wanted:
        return tuple(cards)
    named = []
    for name in wanted:
        found = next((card for card in cards if name in (card.address, *card.interfaces)), None)
        if found is None:
            known = ", ".join(f"{card.address} ({card.name})" for card in cards) or "none"
            raise ValueError(f"no Ethernet card {name!r} on the PCI bus, expected one of: {known}")
        kind = "dpdk" if name == found.address else "kernel"
        named.append(Card(found.address, found.driver, found.interfaces, found.node, kind))
    return tuple(named)


def _is_ethernet(host: Host, address: str) -> bool:
    return (host.text(f"{DEVICES}/{address}/class") or "").startswith(ETHERNET)


def _read(host: Host, address: str) -> Card:
    folder = f"{DEVICES}/{address}"
    interfaces = host.names(f"{folder}/net")
    for child in host.names(folder) if not interfaces else []:  # virtio has its interface one level below
        interfaces += host.names(f"{folder}/{child}/net") if child.startswith("virtio") else []
    node = host.number(f"{folder}/numa_node")
    return Card(address, host.target(f"{folder}/driver"), tuple(interfaces), None if node == -1 else node)
