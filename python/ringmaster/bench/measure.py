# SPDX-License-Identifier: Apache-2.0
"""Running `ringmaster-measure`: the receive role on datagrams that lie in memory, beside poll and free."""

import json
import resource
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

from ringmaster.bench.log import NotMeasured
from ringmaster.bench.setups import Mapping, bpms, server
from ringmaster.bench.workspace import own_name
from ringmaster.programs.cores import cores
from ringmaster.programs.program import Program
from ringmaster.programs.remains import release_workspace, scratch_folder

TIMEOUT_S = 300.0
WHOLE_CORE = 0.85
"""Of its core that a run should have had: it sleeps a little while it starts."""
SUFFIX = "-measure"
"""That the program appends to the workspace's name."""


@dataclass(frozen=True)
class Range:
    """A figure over the rounds, in nanoseconds per packet."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Figure:
    """What one set of datagrams cost."""

    name: str
    """ "hot" or "cold"."""
    datagrams: int
    touched_bytes: int
    """Of packet buffers that a round goes through."""
    poll_ns: Range
    """Poll and free of the same buffers."""
    full_ns: Range
    """Poll, all that the role does, and free."""
    added_ns: Range
    """Full less poll, of adjacent rounds."""


@dataclass(frozen=True)
class Measured:
    """What the program says of one configuration."""

    instruments: int
    frame_bytes: int
    rates: tuple[str, ...]
    simd: str
    huge_pages: bool
    ring_bytes: int
    rounds: int
    figures: tuple[Figure, ...]
    core_share: float = 1.0
    """Of its core that the program had while it ran, 0–1: where others took much of it, figures are too high."""

    def figure(self, name: str) -> Figure:
        """By its name; the first where there is but one."""
        return next((figure for figure in self.figures if figure.name == name), self.figures[0])


def parse(text: str) -> Measured:
    """The program's JSON object. Raises NotMeasured where it is none of its kind."""
    try:
        said = json.loads(text)
        figures = tuple(_figure(figure) for figure in said["figures"])
        fields = {
            key: said[key] for key in ("instruments", "frame_bytes", "simd", "huge_pages", "ring_bytes", "rounds")
        }
        measured = Measured(**fields, rates=tuple(said["rates"]), figures=figures)
    except (ValueError, KeyError, TypeError) as error:
        raise NotMeasured(f"ringmaster-measure printed no figures: {error!r}") from error
    if not measured.figures:
        raise NotMeasured("ringmaster-measure printed no figures")
    return measured


def _figure(said: dict[str, Any]) -> Figure:
    poll, full, added = (_range(said[name]) for name in ("poll_ns", "full_ns", "added_ns"))
    return Figure(said["name"], said["datagrams"], said["touched_bytes"], poll, full, added)


def _range(said: dict[str, float]) -> Range:
    return Range(said["median"], said["low"], said["high"])


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
        with Program("ringmaster-measure", config, *options, prefix=prefix) as program:
            try:
                status = program.wait(TIMEOUT_S)
            except subprocess.TimeoutExpired as error:
                raise NotMeasured(f"ringmaster-measure did not end in {TIMEOUT_S:.0f} s") from error
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
        raise NotMeasured(f"ringmaster-measure ended with status {status}: {(lines or ['it said nothing'])[-1]}")
    return parse(next((line for line in reversed(lines) if line.startswith("{")), ""))
