# SPDX-License-Identifier: Apache-2.0
"""CPU time by kind per core, from /proc/stat.

The kernel counts in ticks of 1/100 s. Kernels without CONFIG_IRQ_TIME_ACCOUNTING or CONFIG_VIRT_CPU_ACCOUNTING only
look at each timer interrupt, every 1 to 10 ms, what the core does: what always runs between two of them is not seen.
Soft IRQ work is on the core that the kernel chose for it: on a veth link, the sender's.

A loop that polls is user time whether it finds anything or not. The program itself knows which: ``polled`` splits its
user time into poll-busy and poll-idle by the share that it reports.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from ringmaster.bench.log import NotMeasured

STAT = Path("/proc/stat")
KINDS = {
    "user": "user",
    "system": "system",
    "irq": "IRQ",
    "soft_irq": "soft IRQ",
    "steal": "steal",
    "poll_busy": "poll-busy",
    "poll_idle": "poll-idle",
    "idle": "idle",
}
"""Fields of Shares, and what people call them."""
WORTH_A_COLUMN = 0.005


class NoCpuTime(NotMeasured):
    """The kernel's account of CPU time cannot be read; the text says why."""


@dataclass(frozen=True)
class CpuTime:
    """Of one core since the machine started, seconds."""

    user: float
    """With what ran nice, and with guests."""
    system: float
    irq: float
    soft_irq: float
    steal: float
    """That the host gave to others, as far as it says so."""
    idle: float
    """With waiting for disks."""


@dataclass(frozen=True)
class Shares:
    """What a core did between two looks, each kind as a share of the time, 0–1; together 1."""

    user: float = 0.0
    system: float = 0.0
    irq: float = 0.0
    soft_irq: float = 0.0
    steal: float = 0.0
    poll_busy: float = 0.0
    poll_idle: float = 0.0
    idle: float = 0.0

    @property
    def total(self) -> float:
        """All but idle: what the slides call total."""
        return self.user + self.system + self.irq + self.soft_irq + self.steal + self.poll_busy + self.poll_idle

    def by_kind(self) -> dict[str, float]:
        """Under the names that people use, in the order of KINDS."""
        return {name: getattr(self, field) for field, name in KINDS.items()}


def _core(words: Sequence[str], tick_s: float) -> CpuTime:
    user, nice, system, idle, iowait, irq, soft_irq, steal = (int(word) * tick_s for word in words[:8])
    return CpuTime(user + nice, system, irq, soft_irq, steal, idle + iowait)


def read(stat: Path = STAT) -> dict[int, CpuTime]:
    """By core. Raises NoCpuTime."""
    tick_s = 1.0 / os.sysconf("SC_CLK_TCK")
    try:
        lines = [line.split() for line in stat.read_text().splitlines()]
        cores = [words for words in lines if words and words[0].startswith("cpu") and words[0] != "cpu"]
        found = {int(words[0].removeprefix("cpu")): _core(words[1:], tick_s) for words in cores}
    except (OSError, ValueError) as error:
        raise NoCpuTime(f"{stat}: {error}; expected lines `cpuN` with eight counts, see proc_stat(5)") from error
    if not found:
        raise NoCpuTime(f"{stat}: found no line `cpuN`, expected one for each core, see proc_stat(5)")
    return found


def shares(before: CpuTime, after: CpuTime) -> Shares:
    """Between two looks; all 0 where no tick passed. A count that fell, as the idle one may, counts as still."""
    grown = {f.name: max(0.0, getattr(after, f.name) - getattr(before, f.name)) for f in fields(CpuTime)}
    passed = sum(grown.values())
    return Shares(**{name: value / passed for name, value in grown.items()}) if passed > 0 else Shares()


def polled(seen: Shares, busy_share: float) -> Shares:
    """The same for a core whose user time is a polling loop, which had work in this share of its time."""
    busy = min(1.0, max(0.0, busy_share))
    return replace(seen, user=0.0, poll_busy=seen.user * busy, poll_idle=seen.user * (1.0 - busy))


def since(before: Mapping[int, CpuTime], after: Mapping[int, CpuTime], core: int) -> Shares:
    """Of one core. Raises NoCpuTime where it was offline at one of the looks."""
    if core not in before or core not in after:
        raise NoCpuTime(f"core {core} is not in {STAT}, expected one of {sorted(after)}")
    return shares(before[core], after[core])


def mean(seen: Sequence[Shares]) -> Shares:
    """Of several windows, at least one."""
    return Shares(**{f.name: sum(getattr(one, f.name) for one in seen) / len(seen) for f in fields(Shares)})


def kinds_seen(seen: Sequence[Shares]) -> tuple[str, ...]:
    """Names of the kinds that are worth a column: half a percent or more in one of them."""
    return tuple(name for name in KINDS.values() if any(one.by_kind()[name] >= WORTH_A_COLUMN for one in seen))
