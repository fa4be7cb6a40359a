# SPDX-License-Identifier: Apache-2.0
"""For the doctor's checks: the changes that mend what they find."""

import re
from collections.abc import Callable, Mapping

from ringmaster.doctor import cpu_list
from ringmaster.doctor.check import Look
from ringmaster.doctor.interrupts import goes_to
from ringmaster.doctor.interrupts import names as interrupt_names
from ringmaster.doctor.memory import POOLS, meminfo, pools, wanted_bytes
from ringmaster.doctor.power import CPUS, idle_states
from ringmaster.doctor.sockets import BACKLOG_PACKETS, BUFFER_BYTES
from ringmaster.doctor.topology import NODES, nodes
from ringmaster.doctor.uses import Use
from ringmaster.setup.changes import Bind, Change, Run, Set

SYSCTLS: Mapping[str, tuple[str, Callable[[Look], object]]] = {
    "numa-balancing": ("kernel.numa_balancing", lambda _: 0),
    "swappiness": ("vm.swappiness", lambda _: 1),
    "rt-throttling": ("kernel.sched_rt_runtime_us", lambda _: -1),
    "watchdog": ("kernel.watchdog_cpumask", lambda look: cpu_list.write(look.housekeeping)),
    "nmi-watchdog": ("kernel.nmi_watchdog", lambda _: 0),
    "rmem-max": ("net.core.rmem_max", lambda _: BUFFER_BYTES),
    "wmem-max": ("net.core.wmem_max", lambda _: BUFFER_BYTES),
    "backlog": ("net.core.netdev_max_backlog", lambda _: BACKLOG_PACKETS),
}
"""By check: kernel parameters, which /etc/sysctl.d keeps."""


def sysctl_path(name: str) -> str:
    """Its file."""
    return f"/proc/sys/{name.replace('.', '/')}"


def huge_pages(look: Look) -> tuple[Change, ...]:
    """On the nodes of the server's cores, of the default size: DPDK takes no other. A boot may bring larger ones."""
    default = meminfo(look.host, "Hugepagesize") or 2 << 20
    pages = -(-wanted_bytes(look) // default)
    ours = [node for node, cpus in nodes(look.host).items() if set(cpus) & set(look.cores)]
    folders = [f"{NODES}/node{node}/hugepages" for node in ours] if len(nodes(look.host)) > 1 else [POOLS]
    stays = look.use is Use.TRY  # for other uses the kernel's command line asks for them
    name = f"hugepages-{default // 1024}kB"
    found = {folder: pools(look.host, folder) or {} for folder in folders}
    return tuple(
        Set(f"{folder}/{name}/nr_hugepages", str(pages), each_boot=stays)
        for folder in folders
        if default in found[folder] and found[folder][default] < pages
    )


def huge_pages_boot(look: Look, asked: tuple[str, ...]) -> tuple[str, ...]:
    """Where there are several nodes: on those of the server's cores, which kernels since 5.17 understand."""
    version = re.match(r"([0-9]+)\.([0-9]+)", look.host.text("/proc/sys/kernel/osrelease") or "")
    known = nodes(look.host)
    if len(known) < 2 or version is None or (int(version[1]), int(version[2])) < (5, 17):
        return asked
    ours = [node for node, cpus in known.items() if set(cpus) & set(look.cores)]
    return tuple(
        re.sub(r"^hugepages=([0-9]+)$", lambda n: f"hugepages={','.join(f'{node}:{n[1]}' for node in ours)}", word)
        for word in asked
    )


def _interrupts(look: Look) -> tuple[Change, ...]:
    listed = cpu_list.write(look.housekeeping)
    on_cores = [irq for irq in interrupt_names(look.host) if set(goes_to(look.host, irq) or ()) & set(look.cores)]
    return tuple(
        Set(f"/proc/irq/{irq}/smp_affinity_list", listed, each_boot=False, may_refuse=True) for irq in on_cores
    )


def _governor(look: Look) -> tuple[Change, ...]:
    files = [f"{CPUS}/cpu{cpu}/cpufreq/scaling_governor" for cpu in look.cores]
    return tuple(Set(file, "performance") for file in files if look.host.text(file) not in (None, "performance"))


def _c_states(look: Look) -> tuple[Change, ...]:
    deep = sorted(state for state, latency in idle_states(look).items() if latency > look.use.idle_latency_us)
    files = [f"{CPUS}/cpu{cpu}/cpuidle/{state}/disable" for cpu in look.cores for state in deep]
    return tuple(Set(file, "1") for file in files if look.host.number(file) == 0)


def _bind(look: Look) -> tuple[Change, ...]:
    cards = [card for card in look.cards if card.wanted == "dpdk" and not card.bound]
    module = (Run(("modprobe", "vfio-pci"), each_boot=True),) if cards else ()
    return module + tuple(Bind(card.address) for card in cards)


MAKERS: Mapping[str, Callable[[Look], tuple[Change, ...]]] = {
    "irq-affinity": _interrupts,
    "irqbalance": lambda _: (
        Run(
            ("systemctl", "disable", "--now", "irqbalance.service"),
            ("systemctl", "enable", "--now", "irqbalance.service"),
        ),
    ),
    "governor": _governor,
    "c-states": _c_states,
    "hugepages": huge_pages,
    "hugepages-nodes": huge_pages,
    "hugetlbfs": lambda _: (
        Run(
            ("systemctl", "start", "dev-hugepages.mount"), ("systemctl", "stop", "dev-hugepages.mount"), each_boot=True
        ),
    ),
    "transparent-hugepages": lambda _: (Set("/sys/kernel/mm/transparent_hugepage/enabled", "madvise"),),
    "ksm": lambda _: (Set("/sys/kernel/mm/ksm/run", "0"),),
    "clock-source": lambda _: (Set("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc"),),
    "driver": _bind,
}
"""By check: all but kernel parameters and arguments of its command line."""
OF_CARDS = ("iommu", "iommu-passthrough", "driver", "card-node")
"""Checks that matter where the configuration has cards."""
OF_THE_BOOT = ("isolated", "nohz-full", "rcu-nocbs", "hugepages-1g", "iommu", "iommu-passthrough")
"""Checks that only arguments of the kernel's command line mend."""
TOLD = ("smt", "linux-socket", "card-node", "tsc")
"""Checks that only a person can mend, and that a setup is in vain without."""
