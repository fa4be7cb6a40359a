# SPDX-License-Identifier: Apache-2.0
"""Two looks at the kernel's counters, a second apart."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ringmaster.doctor.host import Host

STEAL = 7
"""Column of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal."""


@dataclass(frozen=True)
class Sample:
    """By CPU; without entry where the kernel does not say."""

    ticks_hz: Mapping[int, float]
    """Local timer interrupts."""
    steal: Mapping[int, float]
    """Share of the time that the hypervisor gave to others, 0–1."""


def take(host: Host, seconds: float) -> Sample:
    """Takes so long."""
    ticks, times = timer_interrupts(host), cpu_times(host)
    passed = host.wait(seconds)
    later_ticks, later_times = timer_interrupts(host), cpu_times(host)
    return Sample(
        {cpu: (later_ticks[cpu] - count) / passed for cpu, count in ticks.items() if cpu in later_ticks},
        {cpu: _steal(before, later_times[cpu]) for cpu, before in times.items() if cpu in later_times},
    )


def timer_interrupts(host: Host) -> dict[int, int]:
    """The line LOC of /proc/interrupts."""
    head, *lines = (host.text("/proc/interrupts") or "").split("\n")
    cpus = [int(name[3:]) for name in head.split() if re.fullmatch(r"CPU[0-9]{1,4}", name)]
    for line in lines:
        name, _, rest = line.strip().partition(":")
        if name == "LOC":
            counts = [int(word) for word in rest.split()[: len(cpus)] if re.fullmatch(r"[0-9]{1,19}", word)]
            return dict(zip(cpus, counts, strict=False)) if len(counts) == len(cpus) else {}
    return {}


def cpu_times(host: Host) -> dict[int, tuple[int, ...]]:
    """The lines of /proc/stat, in ticks."""
    found = re.findall(r"^cpu([0-9]{1,4})((?: +[0-9]{1,19}){8,})", host.text("/proc/stat") or "", re.MULTILINE)
    return {int(cpu): tuple(map(int, times.split()))[: STEAL + 1] for cpu, times in found}


def _steal(before: tuple[int, ...], after: tuple[int, ...]) -> float:
    passed = sum(after) - sum(before)
    return (after[STEAL] - before[STEAL]) / passed if passed > 0 else 0.0
