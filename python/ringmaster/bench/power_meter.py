# SPDX-License-Identifier: Apache-2.0
"""Two looks at the machine, and what it took in between: energy where there is a counter, work and sleep where not."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from ringmaster.bench import cpu_time
from ringmaster.bench.core_state import CPUINFO, frequencies_mhz, has_cpufreq, residency_shares, residency_us
from ringmaster.bench.cpu_time import STAT, CpuTime, Shares
from ringmaster.bench.energy import SYS, Counter, counters, joules
from ringmaster.bench.log import NotMeasured


@dataclass(frozen=True)
class Look:
    """At one moment."""

    when_s: float
    energy_uj: tuple[int, ...]
    """Of each package."""
    times: dict[int, CpuTime]
    residency_us: dict[int, dict[str, int]]


@dataclass(frozen=True)
class Taken:
    """Between two looks."""

    seconds: float
    package_w: float | None
    """Of all packages together; None where there is no counter."""
    shares: dict[int, Shares]
    """By core."""
    mhz: dict[int, float]
    """By core, at the second look."""
    residency: dict[int, dict[str, float]]
    """By core and idle state, shares of the time."""


class Meter:
    """Knows what this machine has. ``missing`` says what it has not, for people."""

    def __init__(self, cores: Sequence[int], sys: Path = SYS, stat: Path = STAT, cpuinfo: Path = CPUINFO) -> None:
        self.cores = sorted(set(cores))
        self.missing: list[str] = []
        self._sys, self._stat, self._cpuinfo = sys, stat, cpuinfo
        self._counters = self._packages()
        if not all(has_cpufreq(core, sys) for core in self.cores):
            self.missing.append("frequency: no cpufreq: what /proc/cpuinfo says need not be that of the moment")
        states = {name for core in self.cores for name in residency_us(core, sys)}
        if not states:
            self.missing.append("idle states: no cpuidle")
        elif not any(name.startswith("C") for name in states):
            named = ", ".join(sorted(states))
            self.missing.append(f"idle states: only {named}: the host has the C-states, and does not show them here")

    @property
    def has_energy(self) -> bool:
        """Whether there are watts."""
        return bool(self._counters)

    def _packages(self) -> list[Counter]:
        try:
            return counters(self._sys)
        except NotMeasured as error:
            self.missing.append(str(error))
            return []

    def look(self) -> Look:
        """Now. Raises NotMeasured or NoCpuTime when a counter has gone."""
        return Look(
            when_s=monotonic(),
            energy_uj=tuple(counter.read_uj() for counter in self._counters),
            times=cpu_time.read(self._stat),
            residency_us={core: residency_us(core, self._sys) for core in self.cores},
        )

    def between(self, before: Look, after: Look) -> Taken:
        """What was taken."""
        seconds = after.when_s - before.when_s
        packages = zip(self._counters, before.energy_uj, after.energy_uj, strict=True)
        taken_j = [joules(was, now, counter.range_uj) for counter, was, now in packages]
        frequencies = frequencies_mhz(self._sys, self._cpuinfo)
        return Taken(
            seconds=seconds,
            package_w=sum(taken_j) / seconds if taken_j else None,
            shares={core: cpu_time.since(before.times, after.times, core) for core in self.cores},
            mhz={core: frequencies[core] for core in self.cores if core in frequencies},
            residency={
                core: residency_shares(before.residency_us[core], after.residency_us[core], seconds)
                for core in self.cores
            },
        )
