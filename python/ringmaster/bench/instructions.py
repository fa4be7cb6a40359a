# SPDX-License-Identifier: Apache-2.0
"""Instructions per packet: the figure of added cost that does not depend on the machine.

callgrind counts what `ringmaster-measure` executes. The two functions that empty the port count with all that
they call; each of their calls takes the same number of packets. valgrind knows no AVX-512, so the filters are those for
AVX2.
"""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ringmaster.bench.added import HEADLINE, turn_records
from ringmaster.bench.log import NotMeasured
from ringmaster.bench.measure import Setup, measure
from ringmaster.programs.remains import scratch_folder

DATAGRAMS = 1024
ROUNDS = 3
RINGS_BYTES = 96 << 20
"""Small: valgrind keeps books of every page, and instructions do not depend on the rings' size."""
FULL, POLL = "drain_whole", "drain_unseen"
"""What `ringmaster-measure` calls the two: through the role, and polled and freed alone."""


@dataclass(frozen=True)
class Row:
    """Instructions per packet of one configuration."""

    instruments: int
    chain: str
    simd: str
    full: float
    """Poll, all that the role does, and free."""
    poll: float
    """Poll and free alone."""
    added: float
    packets: int
    """That each was counted over."""

    @property
    def words(self) -> str:
        """On one line."""
        return f"instructions per packet, {self.chain}: {self.full:.0f}, of these added {self.added:.0f}"


def inclusive(annotated: str, function: str) -> tuple[int, int]:
    """Instructions of a function with all it calls, and how often it was called.

    `annotated` is the output of ``callgrind_annotate --tree=caller --inclusive=yes``: before each function's own line,
    marked ``*``, stand its callers, marked ``<``, with the number of calls. Raises NotMeasured where it is not there.
    """
    calls = 0
    for line in annotated.splitlines():
        found = re.match(r"\s*([\d,]+) \([^)]*\)\s+([<*])\s+(\S+?)(?: \((\d+)x\))?(?: \[.*\])?$", line)
        if found is None:
            calls = 0
            continue
        count, mark, name, times = found.groups()
        if mark == "<":
            calls += int(times or 0)
        elif name.rpartition(":")[2] == function:
            return int(count.replace(",", "")), calls
    raise NotMeasured(f"callgrind saw no function {function}")


def _annotated(directory: Path, setup: Setup) -> tuple[str, int, str]:
    """What callgrind_annotate says of a run, datagrams per call, and the instructions' name."""
    out = directory / "callgrind.out"
    prefix = ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={out}"]
    options = ["--datagrams", str(DATAGRAMS), "--rounds", str(ROUNDS), "--simd", "avx2"]
    measured = measure(setup, options, prefix)
    datagrams = {cost.datagrams for cost in measured.costs}
    if len(datagrams) != 1:
        raise NotMeasured(f"rounds of {sorted(datagrams)} datagrams, expected all alike")
    command = ["callgrind_annotate", "--tree=caller", "--inclusive=yes", "--auto=no", "--threshold=100", str(out)]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    if said.returncode != 0:
        raise NotMeasured(f"callgrind_annotate: {said.stderr.strip()}")
    return said.stdout, datagrams.pop(), measured.simd


def count(chain: str) -> Row:
    """Counts at 96 instruments. Raises NotMeasured."""
    if shutil.which("valgrind") is None or shutil.which("callgrind_annotate") is None:
        raise NotMeasured("valgrind is not installed")
    setup = Setup(HEADLINE, chain, turn_records(HEADLINE, RINGS_BYTES))
    with scratch_folder("bench") as directory:
        annotated, datagrams, simd = _annotated(Path(directory), setup)
    return row_of(annotated, setup, datagrams, simd)


def row_of(annotated: str, setup: Setup, datagrams: int, simd: str) -> Row:
    """The row of one run, from what callgrind_annotate says of it."""
    full, full_calls = inclusive(annotated, FULL)
    poll, poll_calls = inclusive(annotated, POLL)
    if full_calls == 0 or poll_calls == 0:
        raise NotMeasured("callgrind saw no calls")
    packets = full_calls * datagrams
    each, poll_each = full / packets, poll / (poll_calls * datagrams)
    return Row(setup.instruments, setup.chain, simd, each, poll_each, each - poll_each, packets)
