# SPDX-License-Identifier: Apache-2.0
"""A picture in colours: levels, false colours, hatches where fragments are missing, the histogram."""

import numpy as np
from numpy.typing import NDArray

from ringmaster.viewer.colours import table
from ringmaster.viewer.frame import Pixels
from ringmaster.viewer.levels import Levels, ramp

Rgb = NDArray[np.uint8]
"""[row, column, red-green-blue]"""

HATCH = (255, 64, 64)
HATCH_STEP = 8
"""Screen pixels from one line of a hatch to the next, along the picture's line."""
HATCH_WIDTH = 2
HISTOGRAM_HEIGHT = 64
HISTOGRAM_BAR = (200, 200, 200)
HISTOGRAM_MARK = (255, 200, 0)
"""Of the levels."""
DIMMED, LIFTED = 4, 28
"""Behind the histogram one part in so many of the brightness is left, and so much is added."""
BESIDE = (32, 36, 40)
"""Of a tile where there is no picture."""


def painted(picture: Pixels, chosen: Levels, bits: int, colours: str = "grey") -> Rgb:
    """Of values the colours; of a picture that has colours those, each between the levels."""
    steps = ramp(chosen, bits)
    if picture.ndim == 3:
        return np.take(steps, picture)
    return np.take(table(colours)[steps], picture, axis=0)


def hatch(picture: Rgb, lacks: NDArray[np.bool_]) -> None:
    """Hatches what did not come, in place; what stands between the lines is what lies in the frame."""
    rows, columns = np.ogrid[: picture.shape[0], : picture.shape[1]]
    picture[lacks & ((rows + columns) % HATCH_STEP < HATCH_WIDTH)] = HATCH


def add_histogram(picture: Rgb, bins: NDArray[np.intp], chosen: Levels, bits: int) -> None:
    """Draws it along the lower edge of a picture, in place; the height of a bar goes by the logarithm of the count."""
    height, width = min(HISTOGRAM_HEIGHT, picture.shape[0] // 3), min(bins.size, picture.shape[1] - 8)
    if height < 8 or width < 32:
        return
    place = picture[-height - 4 : -4, 4 : 4 + width]
    place[:] = place // DIMMED + LIFTED
    first = np.arange(width) * bins.size // width
    tall = np.log1p(np.maximum.reduceat(bins, first)) / np.log1p(max(1, int(bins.max()))) * height
    place[np.arange(height, 0, -1)[:, None] <= np.ceil(tall)[None, :]] = HISTOGRAM_BAR
    for level in (chosen.black, chosen.white):
        place[:, min(width - 1, level * width >> bits)] = HISTOGRAM_MARK


def ppm(picture: Rgb) -> bytes:
    """As Tk reads it without any library of images."""
    return b"P6 %d %d 255\n" % (picture.shape[1], picture.shape[0]) + picture.tobytes()
