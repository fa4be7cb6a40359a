# SPDX-License-Identifier: Apache-2.0
"""What a report says of the machine and the programs that it was made with."""

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

from ringmaster import __version__
from ringmaster.places import CHECKOUT

UNKNOWN = "unknown"
LIMIT_S = 10.0
TIMING = re.compile(
    r"(isolcpus|nohz|nohz_full|rcu_nocbs|irqaffinity|kthread_cpus|nosmt|mitigations|(default_)?hugepagesz|hugepages"
    r"|transparent_hugepage|iommu|(intel|amd)_iommu|(intel|amd)_pstate|intel_idle[.]max_cstate|processor[.]max_cstate|idle"
    r"|cpuidle.*|haltpoll.*|clocksource|tsc|nowatchdog|nmi_watchdog|skew_tick|preempt|numa_balancing)(=.*)?"
)
"""Arguments of the kernel that have to do with timing; of the others a report says nothing."""


def facts() -> dict[str, str]:
    """By name, in the order of what people ask first. What cannot be read is said to be unknown."""
    return {
        "CPU": _cpu_line("model name"),
        "cores": _cores(),
        "memory": _memory(),
        "huge pages": _huge_pages(),
        "hypervisor": _hypervisor(),
        "kernel": f"{platform.system()} {platform.release()}",
        "kernel arguments": timing_arguments(_read("/proc/cmdline")),
        "DPDK": _said("pkg-config", "--modversion", "libdpdk"),
        "Ringmaster": __version__,
        "git revision": revision(),
        "Python": platform.python_version(),
        "started as": " ".join([Path(sys.argv[0]).name, *sys.argv[1:]]),
    }


def revision(checkout: Path = CHECKOUT) -> str:
    """Of the checkout; says so where files were changed since."""
    if not (checkout / ".git").exists():
        return UNKNOWN
    return _said("git", "-C", str(checkout), "describe", "--always", "--dirty", "--abbrev=12")


def timing_arguments(command_line: str) -> str:
    """Of a kernel's command line, those that have to do with timing."""
    mine = command_line.partition(" -- ")[0].split()
    return " ".join(word for word in mine if TIMING.fullmatch(word)) or "none that have to do with timing"


def _said(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=LIMIT_S)
    except (OSError, subprocess.SubprocessError):
        return UNKNOWN
    return done.stdout.strip() or UNKNOWN


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip() or UNKNOWN
    except OSError:
        return UNKNOWN


def _cpu_line(name: str) -> str:
    found = re.search(rf"^{name}\s*:\s*(.*)$", _read("/proc/cpuinfo"), re.MULTILINE)
    return found[1] if found else UNKNOWN


def _cores() -> str:
    allowed = sorted(os.sched_getaffinity(0))
    isolated = _read("/sys/devices/system/cpu/isolated")
    words = f"{os.cpu_count()}, {len(allowed)} of them for this process"
    return words if isolated == UNKNOWN else f"{words}, isolated: {isolated}"


def _memory() -> str:
    found = re.search(r"^MemTotal:\s*(\d+) kB", _read("/proc/meminfo"), re.MULTILINE)
    return f"{int(found[1]) / (1 << 20):.1f} GiB" if found else UNKNOWN


def _huge_pages(root: str = "/sys/kernel/mm/hugepages") -> str:
    """How many there are of each size, and how many are free."""
    pages = []
    for folder in sorted(Path(root).glob("hugepages-*kB")):
        size_kib = int(re.sub(r"\D", "", folder.name))
        size = f"{size_kib >> 20} GiB" if size_kib >= 1 << 20 else f"{size_kib >> 10} MiB"
        pages.append(f"{_read(f'{folder}/nr_hugepages')} of {size} ({_read(f'{folder}/free_hugepages')} free)")
    return ", ".join(pages) or UNKNOWN


def _hypervisor() -> str:
    """Its name where the machine tells it; "none" on a machine of its own."""
    if " hypervisor" not in _cpu_line("flags"):
        return "none"
    vendor = _said("lscpu")
    found = re.search(r"^Hypervisor vendor:\s*(.*)$", vendor, re.MULTILINE)
    return found[1] if found else "there is one"
