# SPDX-License-Identifier: Apache-2.0
"""What a server's configuration says of the host: its cores, its cards, and what it is for."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ringmaster.doctor import cpu_list
from ringmaster.doctor.host import Host
from ringmaster.doctor.stalls import Watched
from ringmaster.doctor.uses import Use
from ringmaster.fabric.config_file import read_text


@dataclass(frozen=True)
class Setting:
    """As far as the doctor wants to know it."""

    use: Use
    """`feedback` where cards bring instruments and applications answer them, `ingest` with cards alone, else `try`."""
    cores: tuple[int, ...]
    """Of all roles but housekeeping and exception path, which may share a core with Linux; those on which applications
    spin in processes of their own; and spare ones, to which roles may move."""
    cards: tuple[str, ...]
    """Addresses of those that DPDK shall have, interfaces of those that stay the kernel's."""
    workspace: str = ""
    watched: tuple[Watched, ...] = ()
    """Its applications."""


LINUX_MAY_SHARE = ("housekeeping", "exception_path")


def read_setting(path: Path, host: Host) -> Setting:
    """Reads it. Raises OSError, or ValueError with what is wrong; `ringmaster check` says more about that."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        read = YAML(typ="safe").load(read_text(path))
    except (YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: {' '.join(str(error).split())}") from None
    if not isinstance(read, dict) or "ports" not in read or "roles" not in read:
        raise ValueError(
            f"{path}: found no ports and roles, expected a server's configuration (ringmaster check {path})"
        )
    cards = tuple(_cards(read, host))
    use = (Use.FEEDBACK if read.get("applications") else Use.INGEST) if cards else Use.TRY
    return Setting(use, _cores(path, read), cards, str(read.get("workspace", "")), tuple(_watched(read)))


def _entries(read: Mapping[str, Any], key: str) -> Iterator[Mapping[str, Any]]:
    listed = read.get(key)
    yield from (entry for entry in (listed if isinstance(listed, list) else []) if isinstance(entry, dict))


DEFAULT_TURN_RATE_HZ = 1157000.0
DEFAULT_WATCHDOG_CYCLES = 10


def _watched(read: Mapping[str, Any]) -> Iterator[Watched]:
    """Applications whose figures are such; `ringmaster check` says what is wrong with others."""
    setpoints = read.get("setpoints")
    period = setpoints.get("period_turns") if isinstance(setpoints, dict) else None
    for entry in _entries(read, "applications"):
        turns = entry.get("period_turns", period)
        cycles, rate = entry.get("watchdog_cycles", DEFAULT_WATCHDOG_CYCLES), read.get("turn_rate_hz")
        rate_hz = DEFAULT_TURN_RATE_HZ if rate is None else rate
        if isinstance(turns, int) and isinstance(cycles, int) and isinstance(rate_hz, int | float) and rate_hz > 0:
            yield Watched(str(entry.get("name", "")), cycles, turns / rate_hz)


def _cards(read: Mapping[str, Any], host: Host) -> Iterator[str]:
    for port in _entries(read, "ports"):
        if port.get("kind") == "pci":
            yield str(port.get("device", "")).split(",")[0]
        elif port.get("kind") in ("af_xdp", "af_packet"):
            name = str(port.get("interface", ""))
            if host.exists(f"/sys/class/net/{name}/device"):  # veth and its kind have no card
                yield name


def _cores(path: Path, read: Mapping[str, Any]) -> tuple[int, ...]:
    roles = [role for role in _entries(read, "roles") if role.get("role") not in LINUX_MAY_SHARE]
    cores = {role.get("core") for role in roles}
    if not roles or not all(isinstance(core, int) for core in cores):
        raise ValueError(f"{path}: roles: found one without core, expected a number (ringmaster check {path})")
    cores |= {application.get("core") for application in _entries(read, "applications")}
    cores |= set(cpu_list.parse(str(read.get("spare_cores", ""))) or ())
    return tuple(sorted(core for core in cores if isinstance(core, int)))
