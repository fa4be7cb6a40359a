# SPDX-License-Identifier: Apache-2.0
"""Which of OpenBLAS's kernels is the fastest here: a peer is never measured with a slow one.

OpenBLAS picks its kernels by the model of the CPU, and of a model that came after it picks slow ones: Debian's takes
12.0 µs for an sgemv of 264 × 168 on Sapphire Rapids, and 2.7 µs with OPENBLAS_CORETYPE=SKYLAKEX.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ringmaster.bench.log import NotMeasured

VARIABLE = "OPENBLAS_CORETYPE"
ITS_CHOICE = "its own choice"
KERNELS = ("HASWELL", "ZEN", "SKYLAKEX", "COOPERLAKE", "SAPPHIRERAPIDS")
"""Of x86-64 with AVX2 and more. One that this CPU cannot run ends its program, and is left out."""


@dataclass(frozen=True)
class Kernels:
    """What was tried."""

    times_ns: Mapping[str, float]
    """By kernel, the fastest first; empty where none ran."""

    @property
    def chosen(self) -> str:
        """The fastest; its own choice where none ran."""
        return next(iter(self.times_ns), ITS_CHOICE)

    @property
    def environment(self) -> dict[str, str]:
        """That makes OpenBLAS use it."""
        return environment_of(self.chosen)

    def __str__(self) -> str:
        times = [f"{kernel} {ns:.0f} ns" for kernel, ns in self.times_ns.items()]
        return f"OpenBLAS kernels: {', '.join(times)}; used: {self.chosen}" if times else "OpenBLAS: no kernel ran"


def environment_of(kernel: str) -> dict[str, str]:
    """That makes OpenBLAS use a kernel."""
    return {} if kernel == ITS_CHOICE else {VARIABLE: kernel}


def fastest(time_ns: Callable[[Mapping[str, str]], float]) -> Kernels:
    """Tries each kernel: ``time_ns`` times a process in that environment, and raises NotMeasured where it fails."""
    times: dict[str, float] = {}
    for kernel in (ITS_CHOICE, *KERNELS):
        try:
            times[kernel] = time_ns(environment_of(kernel))
        except NotMeasured:
            continue
    return Kernels(dict(sorted(times.items(), key=lambda item: item[1])))
