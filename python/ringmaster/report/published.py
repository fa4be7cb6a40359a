# SPDX-License-Identifier: Apache-2.0
"""What the sources published, as data: columns beside what is measured here. Other machines, other years, real links.

A figure that a source gives in a plot alone is not among them.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from ringmaster.report.section import Table


@dataclass(frozen=True)
class Source:
    """A document."""

    kind: str
    """For the head of a column: "paper", "poster", …"""
    title: str
    by: str
    link: str = ""
    """Where it is to be read, or what it refers to; only what a source itself states. Empty: it states none."""

    @property
    def words(self) -> str:
        """To name it by."""
        return f"“{self.title}”, {self.by}" + (f" ({self.link})" if self.link else "")


PAPER = Source(
    "paper",
    "High-throughput DPDK-based framework for real-time applications in Elettra 2.0",
    "G. Gaio et al., Elettra-Sincrotrone Trieste",
    "on its operation it refers to https://doi.org/10.1109/TII.2025.3547016",
)
POSTER = Source("poster", "DPDK for the fast orbit feedback at Elettra", "Elettra-Sincrotrone Trieste")
SLIDES = Source(
    "slides",
    "R&D on data transmission FPGA → PC using UDP over 10-Gigabit Ethernet",
    "D. Galli, Università di Bologna and INFN, 2010",
    "the author's page: http://www.unibo.it/docenti/domenico.galli",
)
CAMERA_PAPER = Source(
    "camera paper",
    "Latency optimization and analysis through the use of a high-speed packet IO framework for high-bandwidth data "
    "processing",
    "M. Glübert, Deggendorf Institute of Technology",
)
TALK = Source(
    "talk",
    "An experiment on a backpack-size DPDK development and test environment",
    "A. Kovács and L. Vadkerti, Ericsson, DPDK Summit San Jose 2017",
)


@dataclass(frozen=True)
class Stated:
    """A figure as its source states it."""

    what: str
    value: float
    unit: str
    source: Source
    to: float | None = None
    """The other end of a range."""
    sign: str = ""
    """Before the figure: "≈", "<", "≤"."""
    about: str = ""

    @property
    def words(self) -> str:
        """The figure with its unit."""
        end = "" if self.to is None else f"–{self.to:g}"
        return f"{self.sign} {self.value:g}{end} {self.unit}".strip()


def table(title: str, stated: Iterable[Stated]) -> Table:
    """A row for each figure."""
    rows, sources = [], {}
    for one in stated:
        rows.append((one.what, one.words, one.source.kind, one.about))
        sources[one.source] = f"{one.source.kind}: {one.source.words}"
    return Table(title, ("published", "figure", "where", "how"), rows, about="; ".join(sources.values()))


_R750 = "Dell PowerEdge 750, two Xeon 6346, X710 looped back, Linux 5.10, DPDK 22.11, under stress-ng and top -d0"
_D1718T = "Supermicro, one Xeon D-1718T; of I350 and E823, on their own PCI roots: the text does not say which"
RTT_RAW_US = Stated("raw socket, isolated core, mean", 24.0, "µs", PAPER, about=_R750)
RTT_DPDK_US = Stated("DPDK, isolated core, CPU 2, mean", 8.04, "µs", PAPER, about=_R750)
RTT_DPDK_SHARED_US = Stated("DPDK, CPU 1 that Linux shares, mean", 8.96, "µs", PAPER, about=_R750)
RTT_DPDK_OTHER_US = (
    Stated("DPDK, other hardware, mean", 13.0, "µs", PAPER, about=_D1718T),
    Stated("DPDK, other hardware, mean", 22.0, "µs", PAPER, about=_D1718T),
)
RTT = (RTT_RAW_US, RTT_DPDK_US, RTT_DPDK_SHARED_US, *RTT_DPDK_OTHER_US)
"""Round trip times; one way is half of it."""

SETPOINT_TO_BPM_US = Stated(
    "setpoint sent, to the BPM that shows it",
    40.0,
    "µs",
    PAPER,
    to=50.0,
    about="10 µs of it come and go: regulation at 100 kHz, free of the setting period",
)
MATRIX_US = Stated("264 × 168 matrix times vector", 1.0, "µs", PAPER)
INTER_PACKET_NS = Stated("of one BPM's packets, nominal (Figure 11)", 864.0, "ns", PAPER, about="turn by turn")

JITTER_BOUNDS_US = (1.0, 2.0, 3.0, 4.0, 5.0, 10.0, 20.0, 30.0, 40.0)
"""Upper ends of the poster's rows; the last row has all that is more."""
JITTER_ROWS = (*(f"< {bound:g} µs" for bound in JITTER_BOUNDS_US), f"> {JITTER_BOUNDS_US[-1]:g} µs")
JITTER_DPDK_PERCENT = {
    "core 2": (0.0, 99.91, 0.049, 0.0, 0.032, 0.026, 0.0, 0.0, 0.006, 0.0),
    "core 3": (0.0, 99.88, 0.05, 0.0, 0.0598, 0.0038, 0.0, 0.0006, 0.0, 0.0),
    "core 5": (0.0, 99.98, 0.015, 0.0, 0.0018, 0.0004, 0.0, 0.0002, 0.0, 0.0),
    "core 6": (0.0, 99.98, 0.013, 0.0, 0.0023, 0.0006, 0.0, 0.0002, 0.0, 0.0),
}
"""Share of cycles in each row, as printed: a column may add up to a little more than 100."""
_POSTER = "dual Xeon 2637, four ports of X710, 96 BPMs at 10 kHz in groups of 24, DPDK 18.04, stress on core 0"
_SOCKET = "POSIX socket on isolated core 2, one port"
JITTER = (
    Stated("DPDK, cycles below 3 µs", 99.95, "%", POSTER, about=_POSTER),
    Stated("DPDK, worst", 40.0, "µs", POSTER, sign="<", about="cache misses"),
    Stated("POSIX socket, packets received in less than 10 µs", 88.0, "%", POSTER, about=_SOCKET),
    Stated("POSIX socket, packets received in less than 100 µs", 10.0, "%", POSTER, about=_SOCKET),
    Stated("POSIX socket, worst", 12_100.0, "µs", POSTER, about=_SOCKET),
)
MOST_PER_CORE_MPPS = Stated("estimated highest rate, one core", 8.0, "Mpps", POSTER, about=_POSTER)
MOST_MPPS = Stated("estimated highest rate, four cores", 33.0, "Mpps", POSTER, about=_POSTER)


_X3650 = "IBM X3650, Xeon E5335, Myricom 10G: kernel's UDP sockets, process and interrupts on cores of their own"
THROUGHPUT = (
    Stated("MTU 1500, one sender, most", 4.8, "Gb/s", SLIDES, sign="≈", about=_X3650),
    Stated("MTU 9000, one sender, most", 9.7, "Gb/s", SLIDES, sign="≈", about=_X3650),
    Stated("MTU 9000, two senders, most", 10.0, "Gb/s", SLIDES, sign="≈", about="the link is full, the receiver not"),
    Stated("one sender, small datagrams", 440.0, "kHz", SLIDES, sign="≈", about="either MTU"),
    Stated("two senders, small datagrams", 600.0, "kHz", SLIDES, sign="≈"),
    Stated("Pktgen-DPDK, eight ports, 740 B", 79.1, "Gb/s", TALK, about="Pktgen 3.1.2, DPDK 16.11.1"),
    Stated("Pktgen-DPDK, eight ports, 740 B", 13.0, "Mpps", TALK),
    Stated("Elettra's server, in use", 10.0, "Mpps", PAPER, sign="≈", about="eight turn-by-turn streams and feedback"),
    Stated("Elettra 2.0, estimated, in", 110.0, "Mpps", PAPER, 120.0),
    Stated("Elettra 2.0, estimated, out", 20.0, "Mpps", PAPER, sign="≈"),
    MOST_PER_CORE_MPPS,
    MOST_MPPS,
)
CPU_LOAD = (
    Stated("sending process, one sender: system", 100.0, "%", SLIDES, about="the bottleneck, at MTU 1500"),
    Stated("two senders, small datagrams, both cores", 200.0, "%", SLIDES, about="the bottleneck"),
    Stated("one sender: soft IRQ", 50.0, "%", SLIDES, sign="≈", about="a label in the plot"),
    Stated("one sender: system", 50.0, "%", SLIDES, sign="≈", about="a label in the plot"),
    Stated("two senders: soft IRQ", 25.0, "%", SLIDES, 75.0, about="a label in the plot"),
    Stated("two senders: system", 75.0, "%", SLIDES, 90.0, about="a label in the plot"),
)
CAMERA = (
    Stated("Linux network stack, min", 5.89, "ms", CAMERA_PAPER, about="packet to application, 100,000 packets"),
    Stated("Linux network stack, mean", 12.14, "ms", CAMERA_PAPER),
    Stated("Linux network stack, max", 18.93, "ms", CAMERA_PAPER),
    Stated("DPDK, min", 0.53, "ms", CAMERA_PAPER, about="i7-7700K, X550, DPDK 19.11"),
    Stated("DPDK, mean", 0.78, "ms", CAMERA_PAPER),
    Stated("DPDK, max", 0.89, "ms", CAMERA_PAPER),
)
POWER = (
    Stated("idle, at the wall", 35.0, "W", TALK, about="14-core low-power Xeon, two X710 cards"),
    Stated("polling without traffic, at the wall", 99.0, "W", TALK, about="2 background, 4 I/O, 22 worker threads"),
    Stated("highest load, at the wall", 111.0, "W", TALK),
)
