# SPDX-License-Identifier: Apache-2.0
"""Cards that must stay with the kernel: that of an SSH connection, of a file system, of a route, of an address."""

import os
import re
import socket
import struct
from collections.abc import Collection, Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address

from ringmaster.doctor.cards import DEVICES, DPDK_DRIVERS, Card
from ringmaster.doctor.host import Host

NET = "/sys/class/net"
BRIDGE = "0x0604"
ESTABLISHED = "01"
SSH_PORT = 22
LINK_LOCAL = "20"
"""Scope in /proc/net/if_inet6: an address that each interface gives itself."""
NETWORK_FILE_SYSTEMS = ("nfs", "nfs4", "cifs", "ceph")


def why_it_stays(host: Host, card: Card, ssh: str | None = None, beside: Collection[str] = ()) -> str | None:
    """Why DPDK must not have a card; None where it may.

    ``ssh``: as $SSH_CONNECTION has it. ``beside``: addresses of cards that DPDK gets too, perhaps of the same board.
    """
    names = {name for interface in card.interfaces for name in _with_above(host, interface)}
    shown = f"{card.address} ({', '.join(sorted(names))})" if names else card.address
    for peer in _ssh_peers(host, ssh):
        if _interface_to(host, peer) in names:
            return f"{shown} carries the SSH connection of {peer}"
    for where, peer in _mounted_from(host):
        if _interface_to(host, peer) in names:
            return f"{shown} carries the file system at {where}, from {peer}"
    for name, network, mask in _routes(host):
        if name in names and network == mask == 0:
            return f"{shown} has the default route"
    addressed = {name for name, _, _ in _routes(host)} | {name for name, _ in _addresses_v6(host)}
    if here := sorted(names & addressed):
        return f"{shown} has an address and routes; if nothing needs them: ip address flush dev {here[0]}"
    return _shares_its_group(host, card, beside)


def _with_above(host: Host, interface: str) -> Iterator[str]:
    """An interface, and what stands on it: bonds, bridges, VLANs."""
    todo, seen = [interface], set()
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            yield name
            todo += [entry[6:] for entry in host.names(f"{NET}/{name}") if entry.startswith("upper_")]


def _shares_its_group(host: Host, card: Card, beside: Collection[str]) -> str | None:
    group = host.target(f"{card.folder}/iommu_group")
    for other in host.names(f"/sys/kernel/iommu_groups/{group}/devices") if group else []:
        driver = host.target(f"{DEVICES}/{other}/driver")
        is_bridge = (host.text(f"{DEVICES}/{other}/class") or "").startswith(BRIDGE)
        if other not in (card.address, *beside) and not is_bridge and driver is not None and driver not in DPDK_DRIVERS:
            used = f", which holds {where}" if (where := _mounted_on(host, other)) else ""
            return (
                f"{card.address} shares IOMMU group {group} with {other} ({driver}){used}: vfio takes all of a group "
                "or none; put the card into another slot"
            )
    return None


def _mounted_on(host: Host, address: str) -> str | None:
    """Where a file system is mounted whose block device is behind that PCI device."""
    for device, where, *_ in _mounts(host):
        if device.startswith("/dev/") and address in str(_resolved(host, f"/sys/class/block/{device[5:]}")):
            return where
    return None


def _resolved(host: Host, name: str) -> str:
    try:
        return str(host.path(name).resolve())
    except (OSError, RuntimeError, ValueError):
        return ""


def _mounts(host: Host) -> list[list[str]]:
    lines = (host.text("/proc/mounts") or "").split("\n")
    return [words for line in lines if len(words := line.split()) >= 4]


def _mounted_from(host: Host) -> Iterator[tuple[str, IPv4Address]]:
    for _, where, kind, options, *_ in _mounts(host):
        found = re.search(r"(?:^|,)addr=([0-9.]+)", options)
        if kind in NETWORK_FILE_SYSTEMS and found:
            yield from ((where, peer) for peer in _v4(found[1]))


def _v4(text: str) -> list[IPv4Address]:
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return []
    if isinstance(address, IPv6Address):
        return [address.ipv4_mapped] if address.ipv4_mapped else []
    return [address]


def _routes(host: Host) -> list[tuple[str, int, int]]:
    """IPv4: interface, network and mask, as numbers."""
    found = re.findall(
        r"^(\S+)\t([0-9A-F]{8})\t[0-9A-F]{8}\t[0-9A-F]+(?:\t[0-9]+){3}\t([0-9A-F]{8})",
        host.text("/proc/net/route") or "",
        re.MULTILINE,
    )
    return [(name, _number(network), _number(mask)) for name, network, mask in found]


def _number(little_endian: str) -> int:
    return (
        socket.ntohl(int(little_endian, 16)) if struct.pack("=I", 1) == struct.pack("<I", 1) else int(little_endian, 16)
    )


def _interface_to(host: Host, peer: IPv4Address | IPv6Address) -> str | None:
    """That of the longest route to an IPv4 address; of an IPv6 address that is ours, the one that has it."""
    if isinstance(peer, IPv6Address):
        return next((name for name, address in _addresses_v6(host, link_local=True) if address == peer), None)
    fitting = [(mask, name) for name, network, mask in _routes(host) if int(peer) & mask == network]
    return max(fitting)[1] if fitting else None


def _addresses_v6(host: Host, link_local: bool = False) -> list[tuple[str, IPv6Address]]:
    found = re.findall(
        r"^([0-9a-f]{32}) [0-9a-f]+ [0-9a-f]+ ([0-9a-f]{2}) [0-9a-f]+ +(\S+)$",
        host.text("/proc/net/if_inet6") or "",
        re.MULTILINE,
    )
    return [(name, IPv6Address(int(digits, 16))) for digits, scope, name in found if link_local or scope != LINK_LOCAL]


def _ssh_peers(host: Host, ssh: str | None) -> list[IPv4Address | IPv6Address]:
    """The other ends of SSH connections by IPv4; this host's own ends by IPv6. sudo takes $SSH_CONNECTION away."""
    peers: list[IPv4Address | IPv6Address] = []
    words = (ssh or "").split()
    if len(words) == 4:
        peers += _v4(words[0])
        if not peers and ":" in words[2]:
            peers += _v6(words[2])
    pattern = (
        r"^ *[0-9]+: ([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4}) ([0-9A-F]{8}|[0-9A-F]{32}):[0-9A-F]{4} ([0-9A-F]{2})"
    )
    for file in ("/proc/net/tcp", "/proc/net/tcp6"):
        for own, port, other, state in re.findall(pattern, host.text(file) or "", re.MULTILINE):
            if int(port, 16) == SSH_PORT and state == ESTABLISHED:
                far, near = _end(other), _end(own)
                peers += [near] if isinstance(far, IPv6Address) else [far]
    return peers


def _v6(text: str) -> list[IPv6Address]:
    try:
        return [IPv6Address(text.partition("%")[0])]
    except ValueError:
        return []


def _end(digits: str) -> IPv4Address | IPv6Address:
    """Words of 32 bits, each in the order of this processor."""
    numbers = [_number(digits[i : i + 8]) for i in range(0, len(digits), 8)]
    if len(numbers) == 1:
        return IPv4Address(numbers[0])
    whole = IPv6Address(b"".join(struct.pack(">I", number) for number in numbers))
    return whole.ipv4_mapped or whole


def ssh_connection() -> str | None:
    """Of the person who asks, where it is by SSH."""
    return os.environ.get("SSH_CONNECTION")
