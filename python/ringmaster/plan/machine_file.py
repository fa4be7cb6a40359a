# SPDX-License-Identifier: Apache-2.0
"""A machine that is written down, in YAML, as configs/machines/epyc-9755-dual.yaml; and cards that a topology lacks."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ringmaster.machine.server_file import Part, read_marked_yaml
from ringmaster.plan import hwloc
from ringmaster.plan.topology import LANE_BYTES_PER_S, Core, Device, Machine

MACHINE_KEYS = ("name", "sockets", "chiplets", "cores", "threads", "l3_mib", "processor")
CARD_FILE_KEYS = ("memory_bytes_per_s", "cache_injection", "cards")
CARD_KEYS = ("device", "ports", "socket", "link_gbps", "pcie")
PCIE_KEYS = ("generation", "lanes")
MOST = 1024
"""Cores of a machine, and so CPU numbers of a role."""


def read_machine(path: Path) -> Machine:
    """From hwloc's XML, or from YAML. Raises OSError, or ValueError with place, what was found and expected."""
    if path.suffix.lower() == ".xml":
        return hwloc.read(path)
    part = _part(path)
    part.check_keys(MACHINE_KEYS + CARD_FILE_KEYS)
    sockets, chiplets, cores = (_whole(part, key, 1, MOST) for key in MACHINE_KEYS[1:4])
    threads = _whole(part, "threads", 1, 8, 1)
    count = sockets * chiplets * cores
    if count * threads > MOST:
        raise part.error("sockets", f"that makes {count * threads} CPUs, expected {MOST} at most")
    per_socket = chiplets * cores
    made = tuple(
        Core(i, i // per_socket, i // cores, i // per_socket, tuple(i + count * t for t in range(1, threads)))
        for i in range(count)
    )
    name = part.values.get("name", path.stem)
    l3_mib = _whole(part, "l3_mib", 1, 1 << 20, 32)
    processor = str(part.values.get("processor", ""))
    return _with_cards(Machine(str(name), made, cache_bytes=l3_mib << 20, processor=processor), part)


def add_cards(machine: Machine, path: Path) -> Machine:
    """What a topology does not tell: cards, their slots and links, and the memory. Errors as in read_machine."""
    part = _part(path)
    part.check_keys(CARD_FILE_KEYS)
    return _with_cards(machine, part)


def _part(path: Path) -> Part:
    read = read_marked_yaml(path)
    if not isinstance(read, dict):
        raise ValueError(f"{path}: found no keys, expected a machine in YAML, or hwloc's XML in a file *.xml")
    return Part(path, "", read)


def _whole(part: Part, key: str, low: int, high: int, otherwise: int | None = None) -> int:
    value = part.values.get(key, otherwise)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        found = "the key is missing" if value is None else f"found {value!r}"
        raise part.error(key, f"{found}, expected a whole number from {low} to {high}")
    return value


def _positive(part: Part, key: str) -> float | None:
    value = part.values.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e18:
        raise part.error(key, f"found {value!r}, expected a number above 0")
    return float(value)


def _with_cards(machine: Machine, part: Part) -> Machine:
    listed = part.values.get("cards") or []
    if not isinstance(listed, list) or not all(isinstance(entry, dict) for entry in listed):
        raise part.error("cards", 'expected a list of cards, such as [{device: "0000:41:00", ports: 2, socket: 0}]')
    injection = part.values.get("cache_injection", machine.cache_injection)
    if not isinstance(injection, bool):
        raise part.error("cache_injection", f"found {injection!r}, expected true or false")
    devices = {one.address: one for one in machine.devices}
    for i, entry in enumerate(listed):
        for device in _card(machine, Part(part.path, f"cards[{i}]", entry)):
            devices[device.address] = device
    gaps = tuple(gap for gap in machine.gaps if not (devices and "Ethernet card" in gap))
    memory = _positive(part, "memory_bytes_per_s") or machine.node_bytes_per_s
    return replace(
        machine, devices=tuple(devices.values()), node_bytes_per_s=memory, cache_injection=injection, gaps=gaps
    )


def _card(machine: Machine, card: Part) -> Iterator[Device]:
    card.check_keys(CARD_KEYS)
    address = card.values.get("device")
    if not isinstance(address, str) or address.count(":") != 2:
        raise card.error("device", f'found {address!r}, expected the card\'s address as text, such as "0000:41:00"')
    socket = _whole(card, "socket", 0, MOST, -1) if "socket" in card.values else None
    if socket is not None and socket not in machine.sockets:
        raise card.error("socket", f"found {socket}, expected one of {', '.join(map(str, machine.sockets))}")
    gbps = _positive(card, "link_gbps")
    slot = _slot(card)
    first, dot, function = address.partition(".")
    for i in range(_whole(card, "ports", 1, 8, 1)):
        here = f"{first}.{int(function) + i if dot else i}"
        known = machine.device(here) or Device(here)
        yield replace(
            known,
            socket=known.socket if socket is None else socket,
            link_bits_per_s=known.link_bits_per_s if gbps is None else gbps * 1e9,
            slot_bytes_per_s=slot or known.slot_bytes_per_s,
        )


def _slot(card: Part) -> float | None:
    pcie: Any = card.values.get("pcie")
    if pcie is None:
        return None
    if not isinstance(pcie, dict):
        raise card.error("pcie", f"found {pcie!r}, expected {{generation: 4, lanes: 16}}")
    part = Part(card.path, f"{card.key}.pcie", pcie)
    part.check_keys(PCIE_KEYS)
    return LANE_BYTES_PER_S[_whole(part, "generation", 1, 6)] * _whole(part, "lanes", 1, 32)
