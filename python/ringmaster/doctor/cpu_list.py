# SPDX-License-Identifier: Apache-2.0
"""CPUs as the kernel lists them: "0-3,8"."""

import re
from collections.abc import Iterable

MOST = 8192
"""NR_CPUS of the largest kernels; a larger number is no CPU."""


def parse(text: str) -> tuple[int, ...] | None:
    """The CPUs of a list, rising; None for what is no list. An empty one is empty."""
    cpus: set[int] = set()
    for part in text.strip().split(",") if text.strip() else []:
        found = re.fullmatch(r"([0-9]{1,4})(?:-([0-9]{1,4}))?", part.strip())
        if found is None:
            return None
        first, last = int(found[1]), int(found[2] or found[1])
        if last >= MOST or last < first:
            return None
        cpus.update(range(first, last + 1))
    return tuple(sorted(cpus))


def write(cpus: Iterable[int]) -> str:
    """The shortest list of them."""
    runs: list[list[int]] = []
    for cpu in sorted(set(cpus)):
        if runs and runs[-1][1] == cpu - 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(f"{first}-{last}" if last > first else str(first) for first, last in runs)


def words(cpus: Iterable[int]) -> str:
    """For people: "core 1", "cores 2-5"."""
    listed = sorted(set(cpus))
    return f"core{'s' if len(listed) != 1 else ''} {write(listed) or 'none'}"
