# SPDX-License-Identifier: Apache-2.0
"""A camera that sends our fragments, written from docs/frames-format.md."""

import socket
import struct
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

MONO8, MONO12P = 0x01080001, 0x010C0047
FRAGMENT_BYTES = 1408


def packed12(pixels: NDArray[np.uint16]) -> bytes:
    """Lines of an even number of pixels, as Mono12p."""
    first, second = pixels[:, ::2].astype(np.uint32), pixels[:, 1::2].astype(np.uint32)
    both = first | second << 12
    return np.stack([both & 255, both >> 8 & 255, both >> 16], axis=-1).astype(np.uint8).tobytes()


class FragmentCamera:
    """Sends frames to a UDP port of this host."""

    def __init__(self, udp_port: int, camera: int = 1) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._to = ("127.0.0.1", udp_port)
        self._camera = camera
        self.number = 0
        """Of the frame sent last."""

    def close(self) -> None:
        """Sends no more."""
        self._socket.close()

    def send(self, pixels: NDArray[Any], without: Collection[int] = ()) -> None:
        """The next frame, but for some fragments: u8 as Mono8, u16 as Mono12p. Its configuration goes last."""
        self.number += 1
        is_packed = pixels.dtype == np.uint16
        frame = packed12(pixels) if is_packed else pixels.tobytes()
        for index, offset in enumerate(range(0, len(frame), FRAGMENT_BYTES)):
            piece = frame[offset : offset + FRAGMENT_BYTES]
            if index not in without:
                self._send(1, len(frame), struct.pack("<IHH", offset, len(piece), 0) + piece)
        height, width = pixels.shape
        geometry = (MONO12P if is_packed else MONO8, width, height, 0, 0, 0, 0, 0, 0)
        self._send(2, len(frame), struct.pack("<IIIIIHHQQ", *geometry))

    def _send(self, kind: int, total: int, rest: bytes) -> None:
        numbers = (0x4952, 1, kind, self._camera, self.number, 0, total, FRAGMENT_BYTES, 0, 0)
        self._socket.sendto(struct.pack("<HBBIQQIHBB", *numbers) + rest, self._to)
