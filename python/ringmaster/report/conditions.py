# SPDX-License-Identifier: Apache-2.0
"""What the machine does while something is measured: its cores' distance, who has them, and how often it stops."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Self

from ringmaster.places import find_program

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


class Probed:
    """Round trips of a cache line between two cores, before and after what is done within it."""

    def __init__(self, first: int, second: int) -> None:
        self._cores, self.both_ns = (first, second), list[float]()

    def __enter__(self) -> Self:
        self.both_ns.append(core_to_core_ns(*self._cores))
        return self

    def __exit__(self, *_error: object) -> None:
        self.both_ns.append(core_to_core_ns(*self._cores))

    @property
    def ns(self) -> float:
        """The longer one."""
        return max(self.both_ns)

    @property
    def distance(self) -> str:
        """See class_of."""
        return class_of(*self.both_ns)


def run_times_ns(pid: int) -> dict[int, int]:
    """Time that each thread of a process has been on a CPU, by thread id."""
    times = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended since
            times[int(task.name)] = int((task / "schedstat").read_text().split()[0])
    return times


def busiest_share(before: Mapping[int, int], after: Mapping[int, int], seconds: float) -> float:
    """Share of a core that the busiest thread had between two looks at run_times_ns."""
    return max((after[task] - time for task, time in before.items() if task in after), default=0) / (seconds * 1e9)


class Watched:
    """Processes, and since when they are."""

    def __init__(self, *pids: int) -> None:
        self._pids, self._since, self._times = pids, monotonic(), [run_times_ns(pid) for pid in pids]

    def shares(self) -> list[float]:
        """Of a core that the busiest thread of each had since then, 0–1."""
        seconds, both = monotonic() - self._since, zip(self._times, self._pids, strict=True)
        return [busiest_share(then, run_times_ns(pid), seconds) for then, pid in both]


@dataclass(frozen=True)
class StallFloor:
    """What a loop that only looks at the clock sees: no program on these cores waits less."""

    seconds: float
    longest_us: float
    """The longest gap of any of the cores."""
    over_10us_per_second: float
    """Gaps of more than 10 µs, of all cores together."""
    over_1ms: int
    tsc_hz: float
    """Of the time stamp counter, as measured for it."""


def stall_floor(seconds: float, cores: Sequence[int], gaps: Path | None = None) -> StallFloor:
    """Watches the cores, all at once, for so long; writes down when the gaps were, as bench/stall_floor.c tells."""
    noted = ["--gaps", str(gaps)] if gaps else []
    command = [find_program("ringmaster-stall-floor"), *noted, f"{seconds:g}", *map(str, sorted(set(cores)))]
    said = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    seen = said["cores"]
    return StallFloor(
        seconds=seconds,
        longest_us=max(core["longest_us"] for core in seen),
        over_10us_per_second=sum(core["over_10us"] for core in seen) / seconds,
        over_1ms=sum(core["over_1ms"] for core in seen),
        tsc_hz=said["tsc_hz"],
    )
