# SPDX-License-Identifier: Apache-2.0
"""A camera in Python: frames in our own fragment format (docs/frames-format.md), to a UDP socket."""

import socket
import struct
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

HEAD = struct.Struct("<HBBIQQIHBx")
PLACE = struct.Struct("<IHxx")
GEOMETRY = struct.Struct("<IIIIIHHQQ")
MAGIC, VERSION, FRAGMENT, CONFIGURATION, TIME_IS_TURN = 0x4952, 1, 1, 2, 1
MONO8 = 0x01080001


@dataclass(frozen=True)
class PythonCamera:
    """Sends frames of random pixels, each from its number as a seed."""

    identity: int
    to: tuple[str, int]
    width: int = 320
    height: int = 200
    each: int = 1400
    time_is_turn: bool = False

    def pixels(self, number: int) -> npt.NDArray[np.uint8]:
        """Frame ``number`` as it is sent."""
        random = np.random.default_rng([self.identity, number])
        return random.integers(0, 256, self.width * self.height, dtype=np.uint8)

    def datagrams(self, number: int) -> list[bytes]:
        """The fragments, and the configuration, which comes last."""
        pixels = self.pixels(number).tobytes()
        flags = TIME_IS_TURN if self.time_is_turn else 0

        def head(kind: int) -> bytes:
            time = 1000 * number
            return HEAD.pack(MAGIC, VERSION, kind, self.identity, number, time, len(pixels), self.each, flags)

        made = []
        for at in range(0, len(pixels), self.each):
            part = pixels[at : at + self.each]
            made.append(head(FRAGMENT) + PLACE.pack(at, len(part)) + part)
        geometry = GEOMETRY.pack(MONO8, self.width, self.height, 0, 0, 0, 0, 0, 0)
        return [*made, head(CONFIGURATION) + geometry]

    def send(self, number: int, without: frozenset[int] = frozenset()) -> None:
        """Sends a frame, but for the datagrams of these indices."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
            for index, datagram in enumerate(self.datagrams(number)):
                if index not in without:
                    out.sendto(datagram, self.to)
