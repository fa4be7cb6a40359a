# SPDX-License-Identifier: Apache-2.0
"""What a server's configuration asks of a machine: packets by port and sender, setpoints, applications."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

from ringmaster.machine.server_file import DEFAULT_TURN_RATE_HZ, read_yaml
from ringmaster.plan.memory import frame_bytes

LANES = {"bpm": 8, "blm": 10, "llrf": 8, "photon_bpm": 3, "interlock": 4, "power_supply": 3}
"""Of each kind, unless the file lists others: src/config/kind_lanes.c."""
GROUPING_ENTRY_BYTES = 16
UDP_HEADERS_BYTES = 14 + 20 + 8
SETPOINT_HEADER_BYTES = 32
READBACKS_IN_ONE = 10
"""Supplies that one datagram of a chain's answer tells of."""
STEERED = "pci"
"""The kind of port whose card brings each sender's datagrams to one queue of several."""
QUEUES_MAX = 16
TARGET_PACKETS, LONGEST_WAIT_NS = 4, 2000.0
"""Of `polling`, by default."""


@dataclass(frozen=True)
class Sender:
    """All that comes from one address: one queue has it, whatever happens."""

    address: str
    packets_per_s: float
    records_per_s: float
    bytes_per_s: float
    """Of frames, without their check sums."""
    instruments: tuple[str, ...]
    port_kind: str
    """Of the port that it comes by."""


@dataclass(frozen=True)
class PortDemand:
    """What one port brings and sends."""

    name: str
    kind: str
    device: str
    """Address or interface of its card; "" where it has none."""
    queues: int
    """As the file has it."""
    divisible: bool
    """Whether several roles may share its queues."""
    spread: bool
    cameras: bool
    senders: tuple[Sender, ...]
    sent_packets_per_s: float = 0.0
    sent_bytes_per_s: float = 0.0

    @property
    def packets_per_s(self) -> float:
        """That come in."""
        return sum(one.packets_per_s for one in self.senders)

    @property
    def bytes_per_s(self) -> float:
        """Of frames that come in."""
        return sum(one.bytes_per_s for one in self.senders)

    def dealt(self, queues: int) -> tuple[tuple[Sender, ...], ...]:
        """The senders of each queue, as flow rules deal them out: number i goes to queue i modulo the queues."""
        return tuple(self.senders[i::queues] for i in range(queues))


@dataclass(frozen=True)
class Application:
    """One of the file's."""

    name: str
    code: str
    hosted: bool
    core: int | None
    """Of its own process, where the file names one."""
    rate_hz: float
    """Steps a second."""
    inputs: int
    """Streams that it reads."""
    ports: Mapping[str, int] = field(default_factory=dict)
    """How many of them come by each port."""


@dataclass(frozen=True)
class Demand:
    """All of a file."""

    workspace: str
    turn_rate_hz: float
    instruments: int
    ports: tuple[PortDemand, ...]
    joined: tuple[frozenset[str], ...]
    """Ports that one role polls together, for it merges the copies of mirrored instruments."""
    roles: tuple[Mapping[str, Any], ...]
    """As they are written now."""
    applications: tuple[Application, ...]
    lead: str
    """The application whose setpoints send a cycle; "" where none leads."""
    setpoints_per_s: float
    """Datagrams to chains."""
    supplies_per_s: float
    exception_path: bool
    sharp: bool
    """Whether both chains of filters run, or those of low latency alone."""
    target_packets: int = TARGET_PACKETS
    longest_wait_ns: float = LONGEST_WAIT_NS

    @property
    def packets_per_s(self) -> float:
        """That come in by all ports."""
        return sum(port.packets_per_s for port in self.ports)


def read_demand(path: Path) -> Demand:
    """From a server's file. Raises OSError, or ValueError; `ringmaster check` says more of what is wrong in it."""
    read = read_yaml(path)
    if not isinstance(read, dict) or not _entries(read, "ports"):
        raise ValueError(f"{path}: found no ports, expected a server's configuration (ringmaster check {path})")
    try:
        return of_config(read)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{path}: the planner does not understand it ({error!r}), expected a configuration that is right: "
            f"`ringmaster check {path}` says where it is not"
        ) from error


def of_config(read: Mapping[str, Any]) -> Demand:
    """From the file's keys."""
    turn_rate = float(read.get("turn_rate_hz") or DEFAULT_TURN_RATE_HZ)
    formats = {str(one["name"]): one for one in _entries(read, "formats")}
    arriving: dict[str, dict[str, list[_Arriving]]] = defaultdict(lambda: defaultdict(list))
    joined = []
    for one in _instruments(read, formats, turn_rate):
        arriving[one.port][one.address].append(one)
        if one.mirror:
            joined.append(frozenset((one.port, one.mirror[0])))
            arriving[one.mirror[0]][one.mirror[1]].append(one)
    cycles = read.get("setpoints") or {}
    cycle_hz = turn_rate / int(cycles["period_turns"]) if cycles else 0.0
    chains = tuple(_chains(read))
    for chain in chains:
        if chain.readback:
            arriving[chain.port][chain.address].append(chain.answer(cycle_hz))
    counted = sum(len(names) for senders in arriving.values() for names in senders.values())
    by_stream = {
        one.name: (port, one) for port, senders in arriving.items() for listed in senders.values() for one in listed
    }
    polling = read.get("polling") or {}
    return Demand(
        workspace=str(read.get("workspace", "")),
        turn_rate_hz=turn_rate,
        instruments=counted,
        ports=tuple(_port(entry, arriving, chains, cycle_hz) for entry in _entries(read, "ports")),
        joined=tuple(_merged(joined)),
        roles=tuple(_entries(read, "roles")),
        applications=tuple(_applications(read, by_stream, turn_rate, cycles)),
        lead=str(cycles.get("lead", "")),
        setpoints_per_s=len(chains) * cycle_hz,
        supplies_per_s=sum(chain.supplies for chain in chains) * cycle_hz,
        exception_path=any("answer" in entry or "kernel_interface" in entry for entry in _entries(read, "ports")),
        sharp=not read.get("rates") or any(rate.get("filter") == "sharp" for rate in _entries(read, "rates")),
        target_packets=int(polling.get("target_packets", TARGET_PACKETS)),
        longest_wait_ns=float(polling.get("longest_wait_ns", LONGEST_WAIT_NS)),
    )


def _entries(read: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    listed = read.get(key)
    return [entry for entry in (listed if isinstance(listed, list) else []) if isinstance(entry, dict)]


@dataclass(frozen=True)
class _Arriving:
    """One instrument's records, as they come to a port."""

    name: str
    port: str
    address: str
    format: str
    rate_hz: float
    frame_bytes: float
    mirror: tuple[str, str] | None = None


@dataclass(frozen=True)
class _Chain:
    name: str
    port: str
    address: str
    supplies: int
    readback: bool

    def answer(self, cycle_hz: float) -> _Arriving:
        """Its datagrams, taken for one instrument."""
        datagrams = -(-self.supplies // READBACKS_IN_ONE)
        return _Arriving(self.name, self.port, self.address, "native", datagrams * cycle_hz, frame_bytes(LANES_MOST))


LANES_MOST = 12


def _instruments(
    read: Mapping[str, Any], formats: Mapping[str, Mapping[str, Any]], turn_rate: float
) -> Iterator[_Arriving]:
    for entry in _entries(read, "instruments"):
        written = formats.get(str(entry.get("format", "native")), {})
        kind = str(written.get("preset", entry.get("format", "native")))
        period = int(entry.get("period_turns", written.get("period_turns", 1)))
        lanes = len(entry.get("lanes") or written.get("lanes") or ()) or LANES.get(str(entry.get("kind")), LANES_MOST)
        count = int(entry.get("count", 1))
        digits = max(2, len(str(count)))
        mirror = entry.get("mirror")
        other = (str(mirror["port"]), str(mirror.get("source", entry["source"]))) if mirror else None
        for i in range(1, count + 1):
            yield _Arriving(
                name=str(entry["name"]) + (f"{i:0{digits}d}" if "count" in entry else ""),
                port=str(entry["port"]),
                address=str(entry["source"]),
                format=kind,
                rate_hz=turn_rate / period,
                frame_bytes=frame_bytes(lanes),
                mirror=other,
            )


def _chains(read: Mapping[str, Any]) -> Iterator[_Chain]:
    for entry in _entries(read, "chains"):
        supplies = sum(int(one.get("count", 1)) for one in _entries(entry, "supplies"))
        for i in range(int(entry.get("count", 1))):
            yield _Chain(
                name=f"{entry['name']}{i + 1:02d}" if "count" in entry else str(entry["name"]),
                port=str(entry["port"]),
                address=str(IPv4Address(str(entry["address"])) + i),
                supplies=supplies,
                readback=bool(entry.get("readback", True)),
            )


def _sender(address: str, listed: Sequence[_Arriving], port_kind: str) -> Sender:
    """Groupings tell of many instruments in one datagram; all other formats are taken to have one record in one."""
    grouped: dict[float, int] = defaultdict(int)
    packets = size = records = 0.0
    for one in listed:
        records += one.rate_hz
        if one.format.startswith("libera_grouping"):
            grouped[one.rate_hz] += 1
        else:
            packets += one.rate_hz
            size += one.rate_hz * one.frame_bytes
    for rate, count in grouped.items():
        packets += rate
        size += rate * (UDP_HEADERS_BYTES + count * GROUPING_ENTRY_BYTES)
    return Sender(address, packets, records, size, tuple(dict.fromkeys(one.name for one in listed)), port_kind)


def _port(
    entry: Mapping[str, Any],
    arriving: Mapping[str, Mapping[str, list[_Arriving]]],
    chains: Iterable[_Chain],
    cycle_hz: float,
) -> PortDemand:
    name, kind, spread = str(entry["name"]), str(entry["kind"]), bool(entry.get("spread", False))
    senders = tuple(_sender(address, listed, kind) for address, listed in (arriving.get(name) or {}).items())
    sizes = [SETPOINT_HEADER_BYTES + UDP_HEADERS_BYTES + 4 * chain.supplies for chain in chains if chain.port == name]
    return PortDemand(
        name=name,
        kind=kind,
        device=str(entry.get("device") or entry.get("interface") or "").split(",")[0],
        queues=int(entry.get("queues", 1)),
        divisible=kind == STEERED or spread,
        spread=spread,
        cameras=not senders and not sizes and "cameras" in entry,
        senders=senders,
        sent_packets_per_s=len(sizes) * cycle_hz,
        sent_bytes_per_s=sum(sizes) * cycle_hz,
    )


def _merged(pairs: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    """Sets that share a member become one."""
    merged: list[frozenset[str]] = []
    for pair in pairs:
        touching = [one for one in merged if one & pair]
        merged = [one for one in merged if not one & pair] + [pair.union(*touching)]
    return merged


def _applications(
    read: Mapping[str, Any],
    streams: Mapping[str, tuple[str, _Arriving]],
    turn_rate: float,
    cycles: Mapping[str, Any],
) -> Iterator[Application]:
    for entry in _entries(read, "applications"):
        period = int(entry.get("period_turns", cycles.get("period_turns", 1)))
        patterns = [str(one).split("/")[0] for one in entry.get("inputs") or ()]
        ports: dict[str, int] = defaultdict(int)
        for pattern in patterns:
            plain = not re.search(r"[*?\[]", pattern)
            chosen = [pattern] if plain else [name for name in streams if fnmatchcase(name, pattern)]
            for name in chosen:
                if name in streams:
                    ports[streams[name][0]] += 1
        yield Application(
            name=str(entry["name"]),
            code=Path(str(entry.get("code", ""))).name,
            hosted=bool(entry.get("hosted", False)),
            core=entry.get("core"),
            rate_hz=turn_rate / period,
            inputs=sum(ports.values()),
            ports=dict(ports),
        )
