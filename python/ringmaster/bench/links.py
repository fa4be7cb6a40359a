# SPDX-License-Identifier: Apache-2.0
"""Links that a bench may measure on, made for it and gone with it: memif, and veth pairs between two namespaces; or a
person's own, two cards with a cable.

A link has two ends, written as the programs take them: ``memif:/run/x/link0,role=server``, ``raw:veth0``. What runs at
an end of a veth pair has to be in its namespace: ``enter_left`` and ``enter_right`` stand before its command.

Nothing is left behind, however the bench ends: the namespaces have no name and are held by processes that end when the
pipe to their parent does.
"""

import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ringmaster.bench.log import NotMeasured
from ringmaster.places import find_program
from ringmaster.programs.remains import scratch_folder

DPDK_KINDS = ("memif", "af_xdp", "af_packet")
"""Polled without a system call, or through a driver of DPDK."""
KERNEL_KINDS = ("raw", "udp", "raw-spin", "udp-spin")
"""By one system call for each datagram."""
KINDS = (*DPDK_KINDS, *KERNEL_KINDS)

STANDARD_MTU = 1500
JUMBO_MTU = 9000
HEADERS_BYTES = 28
"""IPv4 and UDP: so much less than the MTU is the largest payload that goes in one frame."""
LEAST_BYTES = 18
"""The probe that each payload begins with, and what the smallest Ethernet frame carries."""
UDP_PORT = 4660
_TIMEOUT_S = 10.0
_AF_XDP = 44
"""socket.AF_XDP, which Python does not name."""

_ABOUT = {
    "memif": "DPDK: memory shared by the two processes",
    "af_xdp": "DPDK over AF_XDP, on a veth pair",
    "af_packet": "DPDK over AF_PACKET rings, on a veth pair",
    "raw": "packet socket, sleeps until something comes, on a veth pair",
    "udp": "UDP socket, sleeps until something comes, on a veth pair",
    "raw-spin": "packet socket, asked without pause, on a veth pair",
    "udp-spin": "UDP socket, asked without pause, on a veth pair",
}


Endpoints = Sequence[tuple[str, str]]
"""Links of one's own, left and right: "pci:0000:03:00.0" and "pci:0000:03:00.1"."""


def about(kind: str, endpoints: Endpoints = ()) -> str:
    """What a kind is, for people: a few words; of one's own links, which they are."""
    own = [f"{left} to {right}" for left, right in endpoints if way_of(left) == kind]
    return ", ".join(own) or _ABOUT[kind]


def way_of(link: str) -> str:
    """The kind of a link by its text: "pci", "raw-spin"."""
    kind = link.partition(":")[0]
    return f"{kind}-spin" if "wait=spin" in link else kind


def largest(mtu: int) -> int:
    """The largest payload that goes in one frame, bytes."""
    return mtu - HEADERS_BYTES


def mtu_of(size: int) -> int:
    """Of links for payloads of so many bytes."""
    return STANDARD_MTU if size <= largest(STANDARD_MTU) else JUMBO_MTU


@dataclass(frozen=True)
class Pair:
    """Two ends and what lies between them."""

    name: str
    """For tables; the kind, where the bench made it."""
    kind: str
    left: tuple[str, ...]
    """The ends on this side, one for each link."""
    right: tuple[str, ...]
    enter_left: tuple[str, ...] = ()
    """Words before a command that runs at the left."""
    enter_right: tuple[str, ...] = ()


@contextmanager
def linked(kind: str, links: int = 1, mtu: int = STANDARD_MTU, endpoints: Endpoints = ()) -> Iterator[Pair]:
    """Makes links of a kind, and removes them; of one's own, it takes the first of that kind.

    Raises NotMeasured, with the reason, where it cannot.
    """
    if endpoints:
        yield _own(kind, links, mtu, endpoints)
        return
    if kind not in KINDS:
        raise NotMeasured(f"{kind}: no such kind of link, expected one of {', '.join(KINDS)}")
    if kind == "af_xdp":
        _require_af_xdp()
    with (_shared_memory if kind == "memif" else _namespaces)(kind, links, mtu) as pair:
        yield pair


def _own(kind: str, links: int, mtu: int, endpoints: Endpoints) -> Pair:
    chosen = [pair for pair in endpoints if way_of(pair[0]) == kind][:links]
    left, right = (
        tuple(link if "mtu=" in link else link + _keys(mtu) for link in side) for side in zip(*chosen, strict=True)
    )
    return Pair(kind, kind, left, right)


def _require_af_xdp() -> None:
    try:
        socket.socket(_AF_XDP, socket.SOCK_RAW, 0).close()
    except OSError as error:
        raise NotMeasured(f"af_xdp: this kernel or user has no AF_XDP sockets: {error.strerror}") from error


def _keys(mtu: int) -> str:
    return "" if mtu == STANDARD_MTU else f",mtu={mtu}"


@contextmanager
def _shared_memory(kind: str, links: int, mtu: int) -> Iterator[Pair]:
    with scratch_folder("bench") as folder:
        sockets = [Path(folder) / f"link{link}.sock" for link in range(links)]
        left, right = (
            tuple(f"memif:{path},role={role}{_keys(mtu)}" for path in sockets) for role in ("server", "client")
        )
        yield Pair(kind, kind, left, right)


@contextmanager
def _namespaces(kind: str, links: int, mtu: int) -> Iterator[Pair]:
    with _holders(kind, links, mtu) as (left, right):
        yield Pair(
            name=kind,
            kind=kind,
            left=tuple(_end(kind, link, 0, mtu) for link in range(links)),
            right=tuple(_end(kind, link, 1, mtu) for link in range(links)),
            enter_left=("nsenter", f"--net=/proc/{left}/ns/net"),
            enter_right=("nsenter", f"--net=/proc/{right}/ns/net"),
        )


def _end(kind: str, link: int, end: int, mtu: int) -> str:
    """As the programs take it; names and addresses are ringmaster-veth-pair's."""
    way, _, spin = kind.partition("-")
    wait = f",wait={spin}" if spin else ""
    if way == "udp":
        own, other = (f"10.99.{link}.{host}:{UDP_PORT}" for host in (1 + end, 2 - end))
        return f"udp:{own},peer={other}{wait}{_keys(mtu)}"
    return f"{way}:veth{2 * link + end}{wait}{_keys(mtu)}"


@contextmanager
def _holders(kind: str, links: int, mtu: int) -> Iterator[tuple[int, int]]:
    """The processes that hold the two namespaces; they end with a pipe that ends with us."""
    command = [find_program("ringmaster-veth-pair"), "--links", str(links), "--mtu", str(mtu)]
    pipe = subprocess.PIPE
    # A session of its own: Ctrl-C is for us, who still have programs to end in these namespaces.
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as pair:
        assert pair.stdin is not None
        assert pair.stdout is not None
        assert pair.stderr is not None
        try:
            line = pair.stdout.readline()
            if not line:
                raise NotMeasured(f"{kind}: {pair.stderr.read().strip()}")
            left, right = map(int, line.split())
            yield left, right
        finally:
            pair.stdin.close()
            pair.wait(_TIMEOUT_S)
