# SPDX-License-Identifier: Apache-2.0
"""Asks all checks."""

from collections.abc import Mapping, Sequence

from ringmaster.doctor import (
    binding,
    clock,
    interrupts,
    isolation,
    kernel,
    link,
    memory,
    power,
    processor,
    rights,
    sockets,
    stalls,
    topology,
)
from ringmaster.doctor.cards import find_cards
from ringmaster.doctor.check import Check, Look
from ringmaster.doctor.findings import Finding
from ringmaster.doctor.host import Host
from ringmaster.doctor.sample import take
from ringmaster.doctor.stalls import Watched
from ringmaster.doctor.uses import Use

AREAS: Mapping[str, Sequence[Check]] = {
    "cores": isolation.CHECKS,
    "interrupts": interrupts.CHECKS,
    "power": power.CHECKS,
    "memory": memory.CHECKS,
    "topology": topology.CHECKS,
    "cards": binding.CHECKS + link.CHECKS,
    "sockets": sockets.CHECKS,
    "clock": clock.CHECKS,
    "kernel": kernel.CHECKS,
    "processor": processor.CHECKS,
    "rights": rights.CHECKS,
    "applications": stalls.CHECKS,
}
"""In the order in which they are shown."""
NAMES = tuple(check.name for checks in AREAS.values() for check in checks)
LOOK_S = 1.0
"""Interrupts and stolen time are counted for so long."""


def choose_cores(host: Host, cores: Sequence[int] = ()) -> tuple[int, ...]:
    """Those that are wanted; else those that are isolated; else all but the first. ValueError for one not online."""
    missing = [core for core in cores if core not in host.online]
    if missing and host.online:
        online = f"{host.online[0]}-{host.online[-1]}"
        raise ValueError(f"core {missing[0]} is not online on this host, expected cores out of {online}")
    isolated = host.cpus("/sys/devices/system/cpu/isolated") or ()
    return tuple(sorted(set(cores))) or isolated or host.online[1:] or host.online


def examine(
    host: Host,
    use: Use,
    cores: Sequence[int] = (),
    cards: Sequence[str] = (),
    look_s: float = LOOK_S,
    watched: Sequence[Watched] = (),
) -> list[Finding]:
    """All findings, by area, the worst first within each: ask() of look_at()."""
    return ask(look_at(host, use, cores, cards, look_s, watched))


def look_at(
    host: Host,
    use: Use,
    cores: Sequence[int] = (),
    cards: Sequence[str] = (),
    look_s: float = LOOK_S,
    watched: Sequence[Watched] = (),
    huge_bytes: int = 0,
) -> Look:
    """What the checks look at.

    ``cores``: the server's; without, those of choose_cores. ``cards``: Ethernet cards by address, when DPDK shall have
    them, or by interface, when they stay the kernel's; without, all. ``watched``: applications of the configuration.
    ``huge_bytes``: what it takes on large pages, where that is known. Raises ValueError for what the host has not.
    """
    chosen, found = choose_cores(host, cores), find_cards(host, cards)
    return Look(host, use, chosen, found, take(host, look_s), tuple(watched), huge_bytes)


def ask(look: Look) -> list[Finding]:
    """All findings, by area, the worst first within each."""
    found: list[Finding] = []
    for area, checks in AREAS.items():
        findings = [check.finding(area, look) for check in checks]
        found += sorted(findings, key=lambda finding: finding.verdict.rank)
    return found
