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
    fired: Mapping[int, frozenset[int]]
    """By interrupt: the CPUs that it came to."""
    steal: Mapping[int, float]
    """Share of the time that the hypervisor gave to others, 0–1."""


def take(host: Host, seconds: float) -> Sample:
    """Takes so long."""
    counts, times = interrupts(host), cpu_times(host)
    passed = host.wait(seconds)
    later_counts, later_times = interrupts(host), cpu_times(host)
    more = {
        name: {cpu: later_counts[name][cpu] - count for cpu, count in row.items() if cpu in later_counts[name]}
        for name, row in counts.items()
        if name in later_counts
    }
    return Sample(
        {cpu: count / passed for cpu, count in more.get("LOC", {}).items()},
        {
            int(name): frozenset(cpu for cpu, count in row.items() if count)
            for name, row in more.items()
            if name.isdecimal()
        },
        {cpu: _steal(before, later_times[cpu]) for cpu, before in times.items() if cpu in later_times},
    )


def interrupts(host: Host) -> dict[str, dict[int, int]]:
    """/proc/interrupts: by the name of a line the count of each CPU. Lines that do not count by CPU are left out."""
    head, *lines = (host.text("/proc/interrupts") or "").split("\n")
    cpus = [int(name[3:]) for name in head.split() if re.fullmatch(r"CPU[0-9]{1,4}", name)]
    found: dict[str, dict[int, int]] = {}
    for line in lines:
        name, _, rest = line.strip().partition(":")
        counts = [int(word) for word in rest.split()[: len(cpus)] if re.fullmatch(r"[0-9]{1,19}", word)]
        if re.fullmatch(r"[0-9]{1,6}|LOC", name) and len(counts) == len(cpus):
            found[name] = dict(zip(cpus, counts, strict=True))
    return found


def cpu_times(host: Host) -> dict[int, tuple[int, ...]]:
    """The lines of /proc/stat, in ticks."""
    found = re.findall(r"^cpu([0-9]{1,4})((?: +[0-9]{1,19}){8,})", host.text("/proc/stat") or "", re.MULTILINE)
    return {int(cpu): tuple(map(int, times.split()))[: STEAL + 1] for cpu, times in found}


def _steal(before: tuple[int, ...], after: tuple[int, ...]) -> float:
    passed = sum(after) - sum(before)
    return (after[STEAL] - before[STEAL]) / passed if passed > 0 else 0.0
