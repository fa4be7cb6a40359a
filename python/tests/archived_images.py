# SPDX-License-Identifier: Apache-2.0
"""Archives with frames of a camera, whose pixels are known by their number."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
from archive_writer import BLOSC, IMAGE, PLAIN, ArchiveWriter, Description, Image, LogWriter

MONO8, MONO12P = 0x01080001, 0x010C0047
SECOND_NS = 10**9
WIDTH, HEIGHT = 6, 4
CAMERA = Description("cam01", kind=IMAGE, period=0, lanes=())


def values(number: int) -> npt.NDArray[np.uint16]:
    """Of the pixels of a frame, 12 bits each."""
    ramp = np.arange(WIDTH * HEIGHT).reshape(HEIGHT, WIDTH)
    return ((ramp * 37 + number * 1001) & 0xFFF).astype(np.uint16)


def packed(pixels: npt.NDArray[np.uint16], padding: int = 0) -> bytes:
    """As Mono12p, with bytes of padding behind each line."""
    low, high = pixels[:, 0::2], pixels[:, 1::2]
    lines = np.stack([low & 0xFF, low >> 8 | (high & 0xF) << 4, high >> 4], axis=2).astype(np.uint8)
    return b"".join(line.tobytes() + b"\xaa" * padding for line in lines)


def frame(file: LogWriter, camera: int, number: int, codec: int = PLAIN, placed: int = 2) -> int:
    """Appends one: turn 1000 × number, a tenth of a second apart."""
    what = Image(
        number,
        turn=1000 * number,
        tai_ns=10**18 + number * SECOND_NS // 10,
        pixel_format=MONO12P,
        width=WIDTH,
        height=HEIGHT,
        placed=placed,
        status=0 if placed == 2 else 1,
        padding_x=2,
    )
    return file.image(camera, what, packed(values(number), 2), (0, 1) if placed == 2 else (1,), codec)


def two_files(path: Path) -> Path:
    """Frames 0 to 4 in a sealed file, of which 1 and 3 are compressed and 3 lacks a fragment; 7 in one that grows."""
    writer = ArchiveWriter(path)
    file = writer.file("frames")
    camera = file.describe(CAMERA)
    for number in range(5):
        frame(file, camera, number, BLOSC if number % 2 else PLAIN, placed=1 if number == 3 else 2)
    file.seal()
    grows = writer.file("frames", 2)
    camera = grows.describe(CAMERA)
    frame(grows, camera, 7)
    grows.save()
    return writer.path
