# SPDX-License-Identifier: Apache-2.0
"""How fast the cores run, and how deep they sleep: what there is to see where energy cannot be read."""

import re
from collections.abc import Mapping
from pathlib import Path

from ringmaster.bench.energy import SYS

CPUINFO = Path("/proc/cpuinfo")
_FIELD = re.compile(r"^(processor|cpu MHz)\s*:\s*([0-9.]+)\s*$", re.MULTILINE)


def _cpu(sys: Path, core: int) -> Path:
    return sys / f"devices/system/cpu/cpu{core}"


def frequencies_mhz(sys: Path = SYS, cpuinfo: Path = CPUINFO) -> dict[int, float]:
    """By core: from cpufreq, else from /proc/cpuinfo, which in a virtual machine need not be that of the moment."""
    found: dict[int, float] = {}
    core = -1
    for name, value in _FIELD.findall(cpuinfo.read_text()) if cpuinfo.exists() else ():
        if name == "processor":
            core = int(value)
        elif core >= 0:
            found[core] = float(value)
    for path in sys.glob("devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq"):
        found[int(path.parts[-3].removeprefix("cpu"))] = int(path.read_text()) / 1e3
    return found


def has_cpufreq(core: int, sys: Path = SYS) -> bool:
    """Whether frequencies are those of the moment."""
    return (_cpu(sys, core) / "cpufreq/scaling_cur_freq").exists()


def residency_us(core: int, sys: Path = SYS) -> dict[str, int]:
    """Time that a core has been in each of its idle states, µs, shallowest first; empty without cpuidle."""
    states = sorted((_cpu(sys, core) / "cpuidle").glob("state*"), key=lambda path: int(path.name.removeprefix("state")))
    return {(path / "name").read_text().strip(): int((path / "time").read_text()) for path in states}


def residency_shares(before: Mapping[str, int], after: Mapping[str, int], seconds: float) -> dict[str, float]:
    """Of the time between two looks, 0–1 each. A sleep is counted when it ends, if only after the second look."""
    return {name: min(1.0, (after[name] - was) / (seconds * 1e6)) for name, was in before.items() if name in after}
