# SPDX-License-Identifier: Apache-2.0
"""A frame as the viewer reads it: leased in shared memory, or a copy that it keeps."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[Any]
"""Values of pixels, u8 or u16: [line, column], or [line, column, colour] in red, green, blue."""
WHOLE, INCOMPLETE, FILLED = range(3)
"""What a frame is, as `enum rm_image_status` has it."""


@dataclass(frozen=True)
class Head:
    """What is said of a frame, copied."""

    sequence: int
    """From 1 on, without gaps."""
    number: int
    """As the camera counts."""
    width: int
    """Pixels of a line; 0 where the geometry is unknown."""
    height: int
    """Lines."""
    format_name: str
    """By PFNC, "Mono12p"."""
    bits: int
    """Significant bits of a pixel."""
    pattern: str = ""
    """Colours of the first two pixels of the first line, "RG"; "" without colours."""
    line_bytes: int = 0
    """From a line to the next in the frame, with its padding."""
    pixel_bits: int = 8
    """Bits that a pixel takes in the frame."""
    status: int = WHOLE
    fragments: int = 0
    """Of the frame; 0 where nothing is known of them."""
    placed: int = 0
    """Those of them that came."""
    fragment_bytes: int = 0
    """Of each fragment but the last."""
    resent: int = 0
    """Fragments that were asked for again."""
    turn: int | None = None
    """Of the machine, at the exposure or at the first fragment's arrival."""
    published_us: float | None = None
    """From the last fragment's arrival to the frame in the hands of readers, microseconds; None: not known yet."""
    first_tai_ns: int = 0
    """TAI at the first fragment's arrival, nanoseconds."""


class Frame(Protocol):
    """Pixels and map of a frame. It is worth something only while it is leased."""

    @property
    def head(self) -> Head:
        """What is said of it."""

    def lines(self, rows: NDArray[np.intp]) -> Pixels:
        """These lines, whole and unpacked; a pixel of 8 bits is u8, of more u16."""

    def arrived(self) -> NDArray[np.bool_]:
        """For each fragment whether it came."""


class Still:
    """A frame that is kept: a copy, which needs no lease."""

    def __init__(self, frame: Frame) -> None:
        self.head = frame.head
        self.pixels = np.array(frame.lines(np.arange(self.head.height)))
        """All of them, unpacked: [line, column]."""
        self._arrived = np.array(frame.arrived())

    def lines(self, rows: NDArray[np.intp]) -> Pixels:
        """As ``Frame.lines``."""
        return self.pixels[rows]

    def arrived(self) -> NDArray[np.bool_]:
        """As ``Frame.arrived``."""
        return self._arrived
