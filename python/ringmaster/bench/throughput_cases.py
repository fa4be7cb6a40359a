# SPDX-License-Identifier: Apache-2.0
"""What throughput is measured of: ways to send and receive, datagram sizes, MTUs, numbers of senders."""

from collections.abc import Sequence
from dataclasses import dataclass

from ringmaster.bench import links
from ringmaster.bench.links import JUMBO_MTU, KERNEL_KINDS, LEAST_BYTES, STANDARD_MTU, largest
from ringmaster.bench.log import NotMeasured

BATCH = 32
"""Of udp-32: datagrams per system call."""
KINDS = ("memif", "af_xdp", "af_packet", "raw", "udp", "udp-32")
SIZES = (18, 64, 106, 256, 512, 1024, 1472, 2048, 4096, 8192, 8972)
"""Up to the borders of a standard and of a jumbo frame."""
MTUS = {"1500": (STANDARD_MTU,), "9000": (JUMBO_MTU,), "both": (STANDARD_MTU, JUMBO_MTU)}
SENDERS = (1, 2)


@dataclass(frozen=True)
class Case:
    """One of them."""

    kind: str
    size: int
    """Payload of each datagram, bytes."""
    mtu: int
    senders: int

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.kind} {self.size} B, MTU {self.mtu}, {senders_words(self.senders)}"

    @property
    def polls(self) -> bool:
        """Whether sender and receiver poll without a pause: DPDK's ways."""
        return link_kind(self.kind) not in KERNEL_KINDS


def senders_words(count: int) -> str:
    """As "one sender", "2 senders"."""
    return "one sender" if count == 1 else f"{count} senders"


def link_kind(kind: str) -> str:
    """The link that it runs over."""
    return "udp" if kind == f"udp-{BATCH}" else kind


def link_text(kind: str, text: str) -> str:
    """An end of such a link, as the programs take it for this kind."""
    return f"{text},batch={BATCH}" if kind == f"udp-{BATCH}" else text


def about(kind: str, endpoints: links.Endpoints = ()) -> str:
    """What a kind is, for people."""
    return f"UDP socket, {BATCH} datagrams per system call" if link_kind(kind) != kind else links.about(kind, endpoints)


def check_sizes(sizes: Sequence[int], mtu: str) -> None:
    """Raises NotMeasured for a size that does not fit the largest of the MTUs, or is too small for the probe."""
    most = largest(MTUS[mtu][-1])
    for size in sizes:
        if not LEAST_BYTES <= size <= most:
            raise NotMeasured(
                f"datagrams of {size} B: expected {LEAST_BYTES} to {most}, which an MTU of {MTUS[mtu][-1]} carries in "
                "one frame"
            )


def mtu_of(size: int, mtu: str) -> int:
    """The smallest of the MTUs that carries it."""
    return next(one for one in MTUS[mtu] if size <= largest(one))


def at_borders(sizes: Sequence[int], mtu: str) -> list[int]:
    """Of each MTU the smallest and the largest: where the rate and where the throughput is highest."""
    groups = [[size for size in sizes if mtu_of(size, mtu) == one] for one in MTUS[mtu]]
    return sorted({size for group in groups if group for size in (min(group), max(group))})


def cases(kinds: Sequence[str], sizes: Sequence[int], mtu: str, senders: Sequence[int]) -> list[Case]:
    """In the order in which they are measured: kinds beside each other. More than one sender at_borders() alone."""
    check_sizes(sizes, mtu)
    return [
        Case(kind, size, mtu_of(size, mtu), count)
        for count in senders
        for size in (sorted(sizes) if count == 1 else at_borders(sizes, mtu))
        for kind in kinds
    ]
