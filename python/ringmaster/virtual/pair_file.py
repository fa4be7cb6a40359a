# SPDX-License-Identifier: Apache-2.0
"""The files of a pair of servers on this host: made from those of one server, or of a pair elsewhere.

What is made is JSON, which is YAML too: comments are for people, and these files are for programs.
"""

import json
import os
import secrets
import socket
from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ringmaster.places import CONFIGS
from ringmaster.programs.cores import cores

NAMES = ("a", "b")
SERVER = "-{server}"
CONFIG, OVERLAY, KEY = "pair.yaml", "pair-ring.yaml", "standby.key"
SHIPPED = "standby.yaml", "standby-ring.yaml"
KEY_BYTES = 32
CYCLES_OF_TIMEOUT = 2
"""Beside N: the time-out of a chain is longer than N + 2 cycles."""


@dataclass(frozen=True)
class Links:
    """Addresses between the two servers: one for each server and link, as "127.0.0.1:4671"."""

    a: tuple[str, ...]
    b: tuple[str, ...]


@dataclass(frozen=True)
class Timing:
    """How soon a standby takes over. On shared cores a stall of the host is no end of a server: so allow for some."""

    missed_cycles: int
    timeout_s: float
    """Of the chains; more than missed_cycles + 2 cycles."""
    begin_s: float = 1.0


def free_links(networks: int = 1) -> Links:
    """Addresses on this host that are free just now: one for each server on each of so many networks."""
    with ExitStack() as stack:
        free = []
        for number in range(2 * networks):
            address = f"127.0.0.{1 + number // 2}"
            probe = stack.enter_context(closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)))
            probe.bind((address, 0))
            free.append(f"{address}:{probe.getsockname()[1]}")
    return Links(tuple(free[::2]), tuple(free[1::2]))


def write_key(path: Path) -> None:
    """A new key, which nobody else may read."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(secrets.token_hex(KEY_BYTES) + "\n")


def paired(one: Mapping[str, Any], directory: Path, links: Links, timing: Timing) -> dict[str, Any]:
    """A server's configuration as one of two servers, whose links and sockets are this host's."""
    server_core = cores()[1]
    name = str(one["workspace"]).removesuffix(SERVER)
    whole = {**one, "workspace": f"{name}{SERVER}", "polling": {"naps": True}}
    whole["ports"] = [_port(port, directory) for port in one["ports"]]
    whole["roles"] = [{**role, "core": server_core} for role in one["roles"]]
    whole["chains"] = [{**chain, "timeout_us": 1e6 * timing.timeout_s} for chain in one["chains"]]
    whole["setpoints"] = {**one["setpoints"], "terms": f"{directory}/{{server}}.terms"}
    whole["standby"] = {
        "key": KEY,
        "missed_cycles": timing.missed_cycles,
        "begin_s": timing.begin_s,
        "servers": [{"name": name, "links": [*of]} for name, of in zip(NAMES, (links.a, links.b), strict=True)],
    }
    return whole


def _port(port: Mapping[str, Any], directory: Path) -> dict[str, Any]:
    """Each server has sockets of its own, and an address of its own where it has one."""
    own = {**port, "socket": f"{directory}/{port['name']}-{{server}}.sock"} if "socket" in port else {**port}
    if "answer" in own:
        own["answer"] = str(own["answer"]).rpartition(".")[0] + ".25{number}"
    return own


def write_shipped_pair(
    directory: Path, name: str, cycle_s: float, timing: Timing, networks: int = 1
) -> tuple[Path, Path]:
    """The files of the small pair that we ship, at another pace, in workspaces of this name."""
    from ringmaster.machine.server_file import read_yaml

    server, ring = (read_yaml(CONFIGS / file) for file in SHIPPED)
    paced = {
        **server,
        "workspace": f"{name}{SERVER}",
        "turn_rate_hz": server["setpoints"]["period_turns"] / cycle_s,
    }
    return write_pair(directory, paced, ring, free_links(networks), timing)


def write_pair(
    directory: Path, server: Mapping[str, Any], ring: Mapping[str, Any], links: Links, timing: Timing
) -> tuple[Path, Path]:
    """Both files and the key, in ``directory``, of a server's configuration and a ring's overlay."""
    write_key(directory / KEY)
    whole = paired(server, directory, links, timing)
    for name, content in ((CONFIG, whole), (OVERLAY, {**ring, "core": cores()[0]})):
        (directory / name).write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return directory / CONFIG, directory / OVERLAY
