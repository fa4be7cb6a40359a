# SPDX-License-Identifier: Apache-2.0
"""Who interrupts the chosen cores?"""

import re

from ringmaster.doctor import cpu_list
from ringmaster.doctor.cards import DEVICES
from ringmaster.doctor.check import (
    FEEDBACK_NEEDS,
    LEAVE_ONE,
    SERVER_HINT,
    Answer,
    Check,
    Look,
    absent_if,
    bad,
    good,
    unknown,
)
from ringmaster.doctor.host import Host

SHOWN = 4
"""So many interrupts are named; the others are counted."""


def names(host: Host) -> dict[int, str]:
    """Interrupts that a driver has asked for, and whose they are."""
    found = re.findall(r"^ *([0-9]{1,6}):.*?(\S+)$", host.text("/proc/interrupts") or "", re.MULTILINE)
    return {int(number): name for number, name in found}


def goes_to(host: Host, irq: int) -> tuple[int, ...] | None:
    """Where an interrupt arrives; where it may arrive, on kernels that do not say."""
    arrives = host.cpus(f"/proc/irq/{irq}/effective_affinity_list")
    return arrives or host.cpus(f"/proc/irq/{irq}/smp_affinity_list")


def affinity(look: Look) -> Answer:
    """Interrupts on the chosen cores: wrong if one came within the second, else they only might."""
    known = names(look.host)
    places = {irq: goes_to(look.host, irq) for irq in known}
    if not any(places.values()):
        return unknown()
    on_cores = [irq for irq, cpus in places.items() if set(cpus or ()) & set(look.cores)]
    if not on_cores:
        return good(f"{len(places)} interrupts, none on {cpu_list.words(look.cores)}")
    came = [irq for irq in on_cores if look.sample.fired.get(irq, frozenset()) & set(look.cores)]
    first = [*came, *(irq for irq in on_cores if irq not in came)][:SHOWN]
    shown = ", ".join(f"{irq} ({known[irq]})" for irq in first)
    more = f" and {len(on_cores) - SHOWN} more" if len(on_cores) > SHOWN else ""
    shown = f"{len(on_cores)} may come to {cpu_list.words(look.cores)}, {len(came) or 'none'} did: {shown}{more}"
    if look.leaves_none:
        return bad(shown, "none on the server's cores", by_hand=LEAVE_ONE)
    housekeeping = cpu_list.write(look.housekeeping)
    listed = " ".join(map(str, on_cores))
    move = (
        f"for irq in {listed}; do\n    echo {housekeeping} > /proc/irq/$irq/smp_affinity_list ||\n"
        '        echo "interrupt $irq stays: its driver decides" >&2\ndone'
    )
    return bad(
        shown,
        f"all on {cpu_list.words(look.housekeeping)}",
        mend=(move,),
        boot=(f"irqaffinity={housekeeping}",),
        mild=not came,
    )


def irqbalance(look: Look) -> Answer:
    """The daemon that moves interrupts."""
    if not look.host.programs:
        return unknown("no process can be seen")
    if "irqbalance" not in look.host.programs:
        return good("not running")
    return bad(
        "running",
        "not running, or kept off the chosen cores",
        mend=("systemctl stop irqbalance",),
        keep=("systemctl disable irqbalance",),
        by_hand=f"Or keep it, with IRQBALANCE_BANNED_CPULIST={cpu_list.write(look.cores)} in its settings.",
    )


def ticks(look: Look) -> Answer:
    """Timer interrupts, counted."""
    seen = {cpu: look.sample.ticks_hz[cpu] for cpu in look.cores if cpu in look.sample.ticks_hz}
    if not seen:
        return unknown()
    rate = max(seen.values())
    hz = (look.host.kernel_options or {}).get("HZ", "?")
    shown = f"{rate:.0f} a second on core {max(seen, key=lambda cpu: seen[cpu])} (HZ {hz[:6]})"
    if rate > look.use.ticks_hz:
        hand = "nohz_full, as its check has it; it helps cores on which one thread alone runs."
        return bad(shown, f"at most {look.use.ticks_hz:.0f} a second", by_hand=hand)
    return good(shown)


def card_interrupts(look: Look) -> Answer:
    """Do the interrupts of the kernel's cards arrive on the card's own NUMA node?"""
    far: list[str] = []
    asked = False
    for card in look.cards:
        cpus = look.host.cpus(f"/sys/devices/system/node/node{card.node}/cpulist") if card.node is not None else None
        irqs = [int(irq) for irq in look.host.names(f"{card.folder}/msi_irqs") if re.fullmatch("[0-9]{1,6}", irq)]
        if cpus is None or not irqs or not card.interfaces:
            continue
        asked = True
        arrive = {cpu for irq in irqs for cpu in goes_to(look.host, irq) or ()}
        if arrive - set(cpus):
            far.append(f"{card.name} on {cpu_list.words(arrive)}, its node has {cpu_list.words(cpus)}")
    if not asked:
        return absent_if(look, DEVICES, "no card of the kernel's on a NUMA node of its own")
    if far:
        hand = "echo CPUS > /proc/irq/N/smp_affinity_list for the interrupts in /sys/bus/pci/devices/CARD/msi_irqs."
        return bad("; ".join(far), "on the card's node", by_hand=hand)
    return good("on the cards' nodes")


CHECKS = (
    Check(
        "irq-affinity",
        affinity,
        FEEDBACK_NEEDS,
        "An interrupt takes a polling core away for microseconds, and what its soft IRQ does for milliseconds. One "
        "that a disk keeps for each core cannot be moved, and does not come while the disk is not used.",
        "FPGA slides, pages 6 and 7: interrupts on one core, the process on another",
    ),
    Check("irqbalance", irqbalance, FEEDBACK_NEEDS, "It moves interrupts about, also to where they were moved from."),
    Check(
        "ticks",
        ticks,
        FEEDBACK_NEEDS,
        "Counted for a second: a core that rests has few, one that polls has HZ a second unless nohz_full stops them.",
    ),
    Check(
        "card-irqs",
        card_interrupts,
        SERVER_HINT,
        "What a card wrote into one socket's cache would have to be fetched by the other.",
        "Elettra 2.0 paper, Test Facility: 60 GB/s within a die, 22 between sockets",
    ),
)
