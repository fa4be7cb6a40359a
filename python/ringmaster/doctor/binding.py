# SPDX-License-Identifier: Apache-2.0
"""Can DPDK have the cards? IOMMU and drivers."""

from ringmaster.doctor.cards import DEVICES, Card
from ringmaster.doctor.check import (
    NEVER,
    SERVER_HINT,
    SERVER_NEEDS,
    Answer,
    Check,
    Look,
    absent_if,
    bad,
    good,
    unknown,
)


def without_cards(look: Look) -> Answer:
    """What to answer where there is no card to ask about."""
    return absent_if(look, DEVICES, "no Ethernet card on the PCI bus")


def iommu(look: Look) -> Answer:
    """On?"""
    host = look.host
    groups = host.names("/sys/kernel/iommu_groups")
    if groups:
        return good(f"on, {len(groups)} groups")
    if not look.cards:
        return without_cards(look)
    if host.virtual:
        hand = (
            "Have the hypervisor give this machine an IOMMU; or, without its protection, "
            "echo 1 > /sys/module/vfio/parameters/enable_unsafe_noiommu_mode."
        )
        return bad("none in this virtual machine", "on", by_hand=hand, mild=True)
    intel = "GenuineIntel" in (host.text("/proc/cpuinfo") or "")  # AMD's is on unless the firmware hides it
    hand = "If it stays away: VT-d, AMD-Vi or IOMMU in the firmware's setup."
    return bad("off", "on", boot=("intel_iommu=on", "iommu=pt") if intel else ("iommu=pt",), by_hand=hand)


def passthrough(look: Look) -> Answer:
    """iommu=pt."""
    host = look.host
    groups = host.names("/sys/kernel/iommu_groups")
    if not groups:
        return absent_if(look, "/sys/kernel", "no IOMMU")
    if host.arguments is None:
        return unknown()
    types = {host.text(f"/sys/kernel/iommu_groups/{group}/type") for group in groups}
    if host.arguments.get("iommu") == "pt" or host.arguments.get("iommu.passthrough") == "1" or types == {"identity"}:
        return good("passes the kernel's devices through")
    return bad("translates for the kernel's devices too", "iommu=pt", boot=("iommu=pt",))


def driver(look: Look) -> Answer:
    """Whose is each card?"""
    if not look.cards:
        return without_cards(look)
    shown = ", ".join(_shown(card) for card in look.cards)
    named = any(card.wanted for card in look.cards)
    wrong = [card for card in look.cards if (card.wanted == "dpdk" and not card.bound) or _lost(card)]
    if not named and any(card.bound for card in look.cards):
        wrong = []
    elif not named:
        wrong = list(look.cards)
    if not wrong:
        return good(shown)
    lost = [card for card in wrong if _lost(card)]
    hand = "; ".join(f"dpdk-devbind.py --bind=vfio-pci {card.address}" for card in wrong if not _lost(card))
    back = "; ".join(f"dpdk-devbind.py --bind=KERNEL_DRIVER {card.address}" for card in lost)
    note = " for each card that shall be DPDK's. The kernel loses it: never the one that you are logged in by."
    keep = " To make it stay: driverctl set-override ADDRESS vfio-pci."
    text = (f"modprobe vfio-pci; {hand}{note}{keep} " if hand else "") + back
    should = "vfio-pci for DPDK's" + (", a driver of the kernel for the others" if lost else "")
    return bad(shown, should, by_hand=text.strip(), mild=not named)


def _lost(card: Card) -> bool:
    """Wanted by its interface, so the kernel must have it."""
    return card.wanted == "kernel" and not card.interfaces


def _shown(card: Card) -> str:
    inside = f" ({', '.join(card.interfaces)})" if card.interfaces else ""
    return f"{card.address}{inside}: {card.driver or 'no driver'}"


def firmware(look: Look) -> Answer:
    """Versions."""
    if not look.cards:
        return without_cards(look)
    said = {card.name: look.host.drivers.driver(card.name) for card in look.cards if card.interfaces}
    if not said:
        return unknown("the cards are DPDK's; ask before binding them (ethtool -i)")
    shown = [
        f"{name}: {known.name} {known.version}, firmware {known.firmware or 'not told'}"
        for name, known in said.items()
        if known is not None
    ]
    return good("; ".join(shown)) if shown else unknown("the drivers do not say")


CHECKS = (
    Check(
        "iommu",
        iommu,
        SERVER_NEEDS,
        "vfio, which hands a card to a program, lets it write only where the IOMMU allows.",
        "camera paper, IV.A: VFIO means that the IOMMU must be activated",
    ),
    Check(
        "iommu-passthrough",
        passthrough,
        SERVER_HINT,
        "Cards that stay with the kernel need no translation, which costs each of their packets time.",
        "camera paper, IV.A: the IOMMU configuration among the kernel's arguments",
    ),
    Check(
        "driver",
        driver,
        SERVER_NEEDS,
        "A card of `kind: pci` must be bound to vfio-pci (cards of mlx5 stay as they are); one of af_xdp, af_packet "
        "and udp stays the kernel's.",
        "camera paper, III.A and V.A; poster, 3",
    ),
    Check("firmware", firmware, NEVER, "Compare it with what DPDK's release notes were tested with."),
)
