# SPDX-License-Identifier: Apache-2.0
"""A configuration for a server that only generates: its ports as the command line names them, on its cores."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

PORTS_MAX = 8
KINDS: dict[str, str] = {
    "memif": "socket",
    "af_packet": "interface",
    "af_xdp": "interface",
    "tap": "interface",
    "pci": "device",
    "vhost": "socket",
    "virtio_user": "socket",
    "ring": "",
    "null": "",
}
"""Kinds of ports, and the key that says where; without one there is nothing to say."""
EXAMPLES = "p0=memif:/run/p0.sock, p0=memif-client:/run/p0.sock, p1=af_packet:veth0, p2=pci:0000:03:00.0 or p3=ring"
NAME = re.compile(r"[a-z0-9_-]{1,24}")


class PortSpec(NamedTuple):
    """A port of the command line."""

    name: str
    kind: str
    where: str
    client: bool
    """Of memif: the side that connects."""


def parse_port(text: str) -> PortSpec:
    """Reads "p0=memif:/run/p0.sock". Raises ValueError with what was expected."""
    name, equals, rest = text.partition("=")
    kind, _, where = rest.partition(":")
    client = kind == "memif-client"
    kind = "memif" if client else kind
    if name == "all" or name.isdigit():
        raise ValueError(
            f"{text!r}: a port named {name} could not be told from a list of ports, expected such as {EXAMPLES}"
        )
    if not equals or not NAME.fullmatch(name) or kind not in KINDS:
        raise ValueError(f"{text!r} is no port, expected NAME=KIND:WHERE, such as {EXAMPLES}")
    if bool(where) != bool(KINDS[kind]):
        wanted = f"its {KINDS[kind]} behind a colon" if KINDS[kind] else "nothing behind the kind"
        raise ValueError(f"{text!r}: a port of kind {kind} has {wanted}, such as {EXAMPLES}")
    return PortSpec(name, kind, str(Path(where).absolute()) if KINDS[kind] == "socket" else where, client)


def configuration(workspace: str, ports: Sequence[PortSpec], cores: Sequence[int], longest_frame: int) -> str:
    """The file's text. Each core has a role, and the ports are dealt out to them in turn.

    Raises ValueError for ports that cannot be.
    """
    if not 1 <= len(ports) <= PORTS_MAX:
        raise ValueError(f"{len(ports)} ports, expected 1 to {PORTS_MAX}: --port {EXAMPLES}")
    lines = [f"workspace: {workspace}", "turn_rate_hz: 1000000", "polling: {naps: false}", "ports:"]
    lines += [f"  - {{{', '.join(port_keys(port, longest_frame))}}}" for port in ports]
    lines.append("roles:")
    for i, core in enumerate(cores[: len(ports)]):
        names = ", ".join(port.name for port in ports[i :: len(cores)])
        lines.append(f"  - {{role: generate, core: {core}, ports: [{names}]}}")
    return "\n".join(lines) + "\n"


def port_keys(port: PortSpec, longest_frame: int) -> list[str]:
    """Of the port's entry in the file."""
    keys = [f"name: {port.name}", f"kind: {port.kind}", f"longest_frame: {longest_frame}"]
    if port.kind == "null":
        keys[1] = 'kind: "null"'  # YAML has a null of its own
    if KINDS[port.kind]:
        keys.append(f'{KINDS[port.kind]}: "{port.where}"')
    if port.kind == "memif":
        keys.append(f"role: {'client' if port.client else 'server'}")
    return keys


def workspace_of(config: Path) -> str:
    """Of a configuration of a server. Raises ValueError where it names none."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    from ringmaster.fabric.config_file import read_text

    try:
        told = YAML(typ="safe").load(read_text(config))
    except (UnicodeDecodeError, YAMLError) as error:
        raise ValueError(f"{config}: it is no YAML: {' '.join(str(error).split())}") from None
    name = told.get("workspace") if isinstance(told, dict) else None
    if not isinstance(name, str):
        raise ValueError(f'{config}: the key "workspace" is missing, expected the name of the workspace')
    return name
