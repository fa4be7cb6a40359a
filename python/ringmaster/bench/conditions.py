# SPDX-License-Identifier: Apache-2.0
"""What the machine does while something is measured: the distance of its cores, and who has them."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from ringmaster.programs import find_program

NEAR_NS = 150.0
"""Cores whose cache-line round trip is below this are near: one cluster of caches, and not two."""


def core_to_core_ns(first: int, second: int) -> float:
    """Median round trip of a cache line between two cores, now."""
    probe = subprocess.run(
        [find_program("ringmaster-core-to-core"), str(first), str(second)], capture_output=True, text=True, check=True
    )
    return float(probe.stdout)


def class_of(before_ns: float, after_ns: float) -> str:
    """The class of a window by the probes before and after it: "near", "far", or "mixed" when it changed meanwhile."""
    near = (before_ns < NEAR_NS) + (after_ns < NEAR_NS)
    return ("far", "mixed", "near")[near]


def run_times_ns(pid: int) -> dict[int, int]:
    """Time that each thread of a process has been on a CPU, by thread id."""
    times = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        times[int(task.name)] = int((task / "schedstat").read_text().split()[0])
    return times


def busiest_share(before: Mapping[int, int], after: Mapping[int, int], seconds: float) -> float:
    """Share of a core that the busiest thread had between two looks at run_times_ns."""
    return max((after[task] - time for task, time in before.items() if task in after), default=0) / (seconds * 1e9)


@dataclass(frozen=True)
class Spread:
    """A repeated figure."""

    median: float
    lowest: float
    highest: float
    count: int

    @classmethod
    def of(cls, values: list[float]) -> "Spread":
        """Of at least one value."""
        return cls(median(values), min(values), max(values), len(values))
