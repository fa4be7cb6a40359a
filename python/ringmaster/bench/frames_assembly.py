# SPDX-License-Identifier: Apache-2.0
"""What one core puts together from packets that lie in memory: ours beside a bare copy, and beside spead2.

Ours is `ringmaster-cost assembly`: headers are written and read, bytes go to their place, the frame is taken and
released. Its copy takes the same bytes from the same buffers by the same streaming stores, in the same rounds.
"""

import re
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from statistics import median

from ringmaster.bench.frames_run import FRAME_BYTES
from ringmaster.bench.log import NotMeasured
from ringmaster.bench.printed import figures, printed
from ringmaster.places import find_program
from ringmaster.programs.cores import cores

COST = "ringmaster-cost"
SPEAD2 = "spead2"
NO_SPEAD2 = "spead2 is not installed (pip install spead2): no peer beside our assembly"
STREAMS = {"GVSP, MTU 1500": 1500, "GVSP, MTU 9000": 9000, "ours, MTU 1500": 1500, "ours, MTU 9000": 9000}
"""Cases of the cost, and their MTU."""
COPIES = {1500: "copied, 1436 bytes each", 9000: "copied, 8936 bytes each"}
PACKETS = {1500: 1472, 9000: 8972}
"""Bytes of spead2's packets, by MTU."""
ROUNDS = 7
SPEAD2_ROUNDS = 3
_LIMIT_S = 60.0
_LINE = re.compile(r"^(.+?) +([0-9.]+) ns per")


@dataclass(frozen=True)
class Assembled:
    """A look at one core, GB/s."""

    ours: dict[str, float]
    """By stream."""
    copied: dict[int, float]
    """By MTU."""

    @property
    def words(self) -> str:
        """On one line."""
        ratios = (f"{stream}: {self.ratio(stream):.2f}" for stream in self.ours)
        return f"assembly to copy, {', '.join(ratios)}"

    def ratio(self, stream: str) -> float:
        """Its speed to the copy's."""
        return self.ours[stream] / self.copied[STREAMS[stream]]


@dataclass(frozen=True)
class Heaps:
    """A look at spead2 on one core, GB/s by MTU."""

    mtu: int
    memory: float
    pcap: float

    @property
    def words(self) -> str:
        """On one line."""
        return f"spead2, MTU {self.mtu}: {self.memory:.1f} GB/s from memory, {self.pcap:.1f} from a capture"


def assembled() -> Assembled:
    """On the first core. Raises NotMeasured."""
    on = str(cores()[0])
    said = printed(COST, ["taskset", "-c", on, find_program(COST), "assembly", "--rounds", str(ROUNDS)], _LIMIT_S)
    return read_cost(said)


def read_cost(said: str) -> Assembled:
    """From the lines that it prints: ns for 1000 bytes."""
    found = [_LINE.match(line) for line in said.splitlines()]
    ns = {line[1].strip(): float(line[2]) for line in found if line}
    try:
        return Assembled(
            ours={stream: 1e3 / ns[stream] for stream in STREAMS},
            copied={mtu: 1e3 / ns[case] for mtu, case in COPIES.items()},
        )
    except KeyError as error:
        raise NotMeasured(f"{COST} printed no line of {error}") from error


def has_spead2() -> bool:
    """Whether the peer is there."""
    return find_spec(SPEAD2) is not None


def heaps(mtu: int) -> Heaps:
    """On the first core. Raises NotMeasured."""
    words = (FRAME_BYTES, PACKETS[mtu], cores()[0], SPEAD2_ROUNDS)
    said = printed(SPEAD2, [sys.executable, "-m", "ringmaster.bench.spead2_heaps", *map(str, words)], _LIMIT_S)
    rates = figures(
        SPEAD2, said, lambda found: {way: median(found["gbits_per_s"][way]) / 8 for way in ("memory", "pcap")}
    )
    return Heaps(mtu, **rates)
