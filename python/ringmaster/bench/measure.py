# SPDX-License-Identifier: Apache-2.0
"""Running `ringmaster-measure`: the receive role on datagrams that lie in memory, beside poll and free."""

import resource
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

from ringmaster.bench.log import NotMeasured
from ringmaster.bench.printed import Times, figures
from ringmaster.bench.setups import Mapping, bpms, server
from ringmaster.bench.workspace import own_name
from ringmaster.programs.cores import cores
from ringmaster.programs.program import Program
from ringmaster.programs.remains import release_workspace, scratch_folder

TIMEOUT_S = 300.0
WHOLE_CORE = 0.85
"""Of its core that a run should have had: it sleeps a little while it starts."""
PROGRAM, SUFFIX = "ringmaster-measure", "-measure"
"""And what it appends to the workspace's name."""


@dataclass(frozen=True)
class Cost:
    """What one set of datagrams cost, nanoseconds per packet; low and high are the middle half of the rounds."""

    name: str
    """ "hot" or "cold"."""
    datagrams: int
    touched_bytes: int
    """Of packet buffers that a round goes through."""
    poll_ns: Times
    """Poll and free of the same buffers."""
    full_ns: Times
    """Poll, all that the role does, and free."""
    added_ns: Times
    """Full less poll, of adjacent rounds."""


@dataclass(frozen=True)
class Measured:
    """What the program says of one configuration."""

    simd: str
    huge_pages: bool
    rounds: int
    costs: tuple[Cost, ...]
    core_share: float = 1.0
    """Of its core that the program had while it ran, 0–1: where others took much of it, figures are too high."""


def _measured(said: dict[str, Any]) -> Measured:
    costs = tuple(_cost(figure) for figure in said["figures"])
    if not costs:
        raise ValueError("an empty list")
    return Measured(said["simd"], said["huge_pages"], said["rounds"], costs)


def _cost(said: dict[str, Any]) -> Cost:
    times = (Times(**said[name]) for name in ("poll_ns", "full_ns", "added_ns"))
    return Cost(said["name"], said["datagrams"], said["touched_bytes"], *times)


@dataclass(frozen=True)
class Setup:
    """What is measured: the configuration in so far as it differs."""

    instruments: int
    chain: str
    """Of setups.CHAINS."""
    turn_records: int

    def configuration(self) -> str:
        """As the server reads it."""
        port: Mapping = {"name": "ring", "kind": "ring"}
        return server(own_name(), [port], bpms(self.instruments), cores()[1], self.turn_records, self.chain)


def measure(setup: Setup, options: Sequence[str] = (), prefix: Sequence[str] = ()) -> Measured:
    """Runs it to its end, under another program where `prefix` names one. Raises NotMeasured with what it said.

    It makes a workspace of its own, of which nothing stays, even when it is interrupted.
    """
    with ExitStack() as stack:
        stack.callback(release_workspace, own_name() + SUFFIX)
        directory = stack.enter_context(scratch_folder("bench"))
        config = Path(directory) / "measure.yaml"
        config.write_text(setup.configuration())
        begin, cpu_s = monotonic(), _children_cpu_s()
        with Program(PROGRAM, config, *options, prefix=prefix) as program:
            try:
                status = program.wait(TIMEOUT_S)
            except subprocess.TimeoutExpired as error:
                raise NotMeasured(f"{PROGRAM} did not end in {TIMEOUT_S:.0f} s") from error
            measured = of_words(program.words, status)
    return replace(measured, core_share=(_children_cpu_s() - cpu_s) / (monotonic() - begin))


def _children_cpu_s() -> float:
    """Time that ended children have been on a CPU."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def of_words(words: str, status: int) -> Measured:
    """From all that the program said, progress and figures, and its exit status. Raises NotMeasured."""
    lines = words.splitlines()
    if status != 0:
        raise NotMeasured(f"{PROGRAM} ended with status {status}: {(lines or ['it said nothing'])[-1]}")
    return figures(PROGRAM, next((line for line in reversed(lines) if line.startswith("{")), ""), _measured)
