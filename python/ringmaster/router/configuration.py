# SPDX-License-Identifier: Apache-2.0
"""A configuration for a server that only forwards, as the command line names its ports, addresses and routes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ringmaster.traffic.configuration import PortSpec, port_keys

LONGEST_FRAME = 1518


@dataclass(frozen=True)
class Wanted:
    """What a router shall be."""

    ports: Sequence[PortSpec]
    mode: str = "route"
    addresses: Sequence[tuple[str, str]] = ()
    """A port, or PORT.VLAN, and an address with the length of its network's prefix."""
    routes: Sequence[tuple[str, str]] = ()
    """A prefix, and the next router."""
    kernel_interfaces: Mapping[str, str] = field(default_factory=dict)
    """By port."""
    cores: Sequence[int] = ()
    naps: bool = False
    """Cores nap while there is nothing to forward."""


def parse_pair(text: str, what: str, example: str) -> tuple[str, str]:
    """Reads "A=B". Raises ValueError with what was expected."""
    left, equals, right = text.partition("=")
    if not (left and equals and right):
        raise ValueError(f"{text!r} is no {what}, expected {example}")
    return left, right


def parse_route(text: str) -> tuple[str, str]:
    """Reads "10.1.0.0/16 via 10.0.0.2". Raises ValueError with what was expected."""
    words = text.split()
    if len(words) != 3 or words[1] != "via":
        raise ValueError(f"{text!r} is no route, expected PREFIX via ADDRESS, such as '10.1.0.0/16 via 10.0.0.2'")
    return words[0], words[2]


def configuration(workspace: str, wanted: Wanted) -> str:
    """The file's text. Each core has a role, and the ports are dealt out to them in turn."""
    lines = [f"workspace: {workspace}", *(["polling: {naps: true}"] if wanted.naps else []), "ports:"]
    queues = len(wanted.cores[: len(wanted.ports)])
    for port in wanted.ports:
        keys = port_keys(port, LONGEST_FRAME)
        if queues > 1:  # each role has a transmit queue of its own
            keys.append(f"queues: {queues}")
        if port.name in wanted.kernel_interfaces:
            keys.append(f"kernel_interface: {wanted.kernel_interfaces[port.name]}")
        lines.append(f"  - {{{', '.join(keys)}}}")
    lines.append("roles:")
    for i, core in enumerate(wanted.cores[: len(wanted.ports)]):
        names = ", ".join(port.name for port in wanted.ports[i :: len(wanted.cores)])
        lines.append(f"  - {{role: forward, core: {core}, ports: [{names}]}}")
    return "\n".join([*lines, "router:", f"  mode: {wanted.mode}", *_router(wanted)]) + "\n"


def _router(wanted: Wanted) -> list[str]:
    if wanted.mode != "route":
        return []
    lines = ["  interfaces:"]
    named = dict.fromkeys([*(port.name for port in wanted.ports), *(name for name, _ in wanted.addresses)])
    for name in named:
        port, dot, vlan = name.partition(".")
        own = ", ".join(f'"{address}"' for at, address in wanted.addresses if at == name)
        if dot or own or port in wanted.kernel_interfaces:
            keys = [f"port: {port}", *([f"vlan: {vlan}"] if dot else []), *([f"addresses: [{own}]"] if own else [])]
            lines.append(f"    - {{{', '.join(keys)}}}")
    if wanted.routes:
        lines.append("  routes:")
    return lines + [f'    - {{prefix: "{prefix}", paths: [{{via: "{via}"}}]}}' for prefix, via in wanted.routes]
