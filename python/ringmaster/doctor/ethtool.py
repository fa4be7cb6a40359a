# SPDX-License-Identifier: Apache-2.0
"""What the driver of a network interface says of it, by the kernel's ethtool ioctl (linux/ethtool.h). Only reads."""

import ctypes
import fcntl
import socket
import struct
from dataclasses import dataclass

SIOCETHTOOL = 0x8946
GET_DRIVER, GET_COALESCING, GET_RINGS, GET_PAUSE = 0x03, 0x0E, 0x10, 0x12


@dataclass(frozen=True)
class Coalescing:
    """How long received packets wait for others before the interrupt."""

    receive_us: int
    adaptive: bool
    """The driver changes it with the traffic."""


@dataclass(frozen=True)
class Rings:
    """Descriptors of a receive ring."""

    receive: int
    most: int


@dataclass(frozen=True)
class Driver:
    """Names and versions."""

    name: str
    version: str
    firmware: str


class Ethtool:
    """Asks this host's kernel; None where the driver does not say."""

    def driver(self, interface: str) -> Driver | None:
        """ETHTOOL_GDRVINFO."""
        said = _ask(interface, struct.pack("I", GET_DRIVER).ljust(196, b"\0"))
        return None if said is None else Driver(*(_text(said[4 + 32 * i : 36 + 32 * i]) for i in range(3)))

    def coalescing(self, interface: str) -> Coalescing | None:
        """ETHTOOL_GCOALESCE."""
        said = _ask(interface, struct.pack("I", GET_COALESCING).ljust(92, b"\0"))
        if said is None:
            return None
        words = struct.unpack("23I", said)
        return Coalescing(words[1], words[10] != 0)

    def rings(self, interface: str) -> Rings | None:
        """ETHTOOL_GRINGPARAM."""
        said = _ask(interface, struct.pack("I", GET_RINGS).ljust(36, b"\0"))
        if said is None:
            return None
        words = struct.unpack("9I", said)
        return Rings(words[5], words[1])

    def pause(self, interface: str) -> tuple[bool, bool] | None:
        """ETHTOOL_GPAUSEPARAM: whether pause frames are obeyed, and sent."""
        said = _ask(interface, struct.pack("I", GET_PAUSE).ljust(16, b"\0"))
        return None if said is None else (said[8:12] != bytes(4), said[12:16] != bytes(4))


def _ask(interface: str, command: bytes) -> bytes | None:
    answer = ctypes.create_string_buffer(command, len(command))
    request = struct.pack("16sP16x", interface.encode()[:15], ctypes.addressof(answer))
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            fcntl.ioctl(any_socket, SIOCETHTOOL, request)
    except OSError:
        return None
    return answer.raw


def _text(field: bytes) -> str:
    return field.split(b"\0")[0].decode(errors="replace").strip()
