# SPDX-License-Identifier: Apache-2.0
"""A camera of our own format (docs/frames-format.md) in a thread of the test: small frames over loopback."""

import hashlib
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread

import numpy as np

FRAGMENT_BYTES = 1408
MONO8, MONO12P = 0x01080001, 0x010C0047


@dataclass(frozen=True)
class FragmentCamera:
    """What it sends."""

    number: int
    width: int = 96
    height: int = 64
    pixel_format: int = MONO8

    @property
    def length(self) -> int:
        """Bytes of a frame."""
        return self.width * self.height * (12 if self.pixel_format == MONO12P else 8) // 8

    def frame(self, number: int) -> bytes:
        """The bytes of a frame: each camera, each frame and each place has others."""
        place = np.arange(self.length)
        return (number * 31 + self.number * 113 + place * 7 + place // 251).astype(np.uint8).tobytes()

    def digest(self, number: int) -> str:
        """Of the frame."""
        return hashlib.sha256(self.frame(number)).hexdigest()

    def datagrams(self, number: int) -> Iterator[bytes]:
        """The frame's configuration and fragments. Its time is a thousand times its number."""
        data = self.frame(number)

        def head(kind: int) -> bytes:
            whose = (self.number, number, 1000 * number)
            return struct.pack("<HBBIQQIHBB", 0x4952, 1, kind, *whose, len(data), FRAGMENT_BYTES, 0, 0)

        geometry = (self.pixel_format, self.width, self.height, 4, 8, 0, 0)
        yield head(2) + struct.pack("<5I2HQQ", *geometry, 1000 * number, 1000 * number + 500)
        for offset in range(0, len(data), FRAGMENT_BYTES):
            part = data[offset : offset + FRAGMENT_BYTES]
            yield head(1) + struct.pack("<IHH", offset, len(part), 0) + part


@contextmanager
def sending(cameras: list[FragmentCamera], udp_port: int, interval_s: float = 0.01) -> Iterator[None]:
    """Meanwhile all of them send frames 1, 2, 3 …, one after the other."""
    over = Event()

    def run() -> None:
        number = 0
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
            while not over.wait(interval_s):
                number += 1
                for camera in cameras:
                    for datagram in camera.datagrams(number):
                        link.sendto(datagram, ("127.0.0.1", udp_port))

    thread = Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
