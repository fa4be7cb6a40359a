# SPDX-License-Identifier: Apache-2.0
"""What a host may be for: each use wants more of it than the one before."""

from enum import StrEnum

GIB = 1 << 30


class Use(StrEnum):
    """Chosen by `--for`."""

    TRY = "try"
    INGEST = "ingest"
    FEEDBACK = "feedback"

    @property
    def about(self) -> str:
        """One line for people."""
        return _ABOUT[self]

    @property
    def huge_bytes(self) -> int:
        """Memory on large pages. The paper on camera frames had four of 1 GiB; the demo's streams take 0.8 GiB."""
        return GIB if self is Use.TRY else 4 * GIB

    @property
    def cpus(self) -> int:
        """The fewest: one for Linux and one that polls; a server polls with several."""
        return 2 if self is Use.TRY else 4

    @property
    def idle_latency_us(self) -> int:
        """The longest that a core may take to wake up. 2 µs is what a receive core waits on purpose, and C1 takes."""
        return {Use.TRY: 1000, Use.INGEST: 50, Use.FEEDBACK: 2}[self]

    @property
    def ticks_hz(self) -> float:
        """Timer interrupts a second that a core may have; nohz_full leaves about one."""
        return {Use.TRY: 1e4, Use.INGEST: 100.0, Use.FEEDBACK: 20.0}[self]

    @property
    def coalescing_us(self) -> int:
        """How long a card may gather packets before its interrupt; 25 µs in the FPGA slides, page 18."""
        return 0 if self is Use.FEEDBACK else 25


_ABOUT = {
    Use.TRY: "a laptop or a virtual machine with virtual devices, to try things out",
    Use.INGEST: "a server with network cards that takes every packet of its instruments",
    Use.FEEDBACK: "hard real time: a loop is closed on isolated cores, and its slowest cycle counts",
}
