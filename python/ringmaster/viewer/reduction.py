# SPDX-License-Identifier: Apache-2.0
"""A frame made as small as its picture on the screen. Only lines that are shown are read and unpacked."""

from math import ceil

import numpy as np
from numpy.typing import NDArray

from ringmaster.viewer.frame import Frame, Head, Pixels
from ringmaster.viewer.geometry import Window

SQUARES = {"GR": "GRBG", "RG": "RGGB", "GB": "GBRG", "BG": "BGGR"}
"""Colours of 2 × 2 pixels, line by line, by those of the first line."""


def reduced(frame: Frame, window: Window, coloured: bool = True) -> Pixels:
    """The picture of a frame: [row, column], or [row, column, colour] where the sensor has colours and they are wanted.

    Where the picture is smaller than the image, each of its pixels is the mean of so many pixels of one line as lie
    beneath it. Lines between are passed over, so that a packed format is unpacked only where it is looked at.
    Colours are those of the nearest 2 × 2 pixels, the green one their mean.
    """
    if coloured and frame.head.pattern and min(frame.head.width, frame.head.height) >= 2:
        return _colours(frame, window)
    lines, places = _lines(frame, window.rows)
    beneath = beneath_each(window)
    picture = lines[:, window.columns] if beneath == 1 else _means(lines, window.columns, beneath)
    return picture if places is None else picture[places]


def beneath_each(window: Window) -> int:
    """Number of pixels of a line of which a pixel of the picture is the mean."""
    return max(1, int(window.scale))


def _lines(frame: Frame, rows: NDArray[np.intp]) -> tuple[Pixels, NDArray[np.intp] | None]:
    """These lines, each once; and where a line stands for several rows, which one for each."""
    if rows.size < 2 or (np.diff(rows) > 0).all():
        return frame.lines(rows), None
    once, places = np.unique(rows, return_inverse=True)
    return frame.lines(once), places


def _means(lines: Pixels, columns: NDArray[np.intp], count: int) -> Pixels:
    """For each column the mean of ``count`` pixels around it."""
    first = np.clip(columns - count // 2, 0, max(0, lines.shape[1] - count))
    last = lines.shape[1] - 1
    total = lines[:, first].astype(np.uint32)
    for i in range(1, count):
        total += lines[:, np.minimum(first + i, last)]
    total //= count
    return total.astype(lines.dtype)


def _colours(frame: Frame, window: Window) -> Pixels:
    """Red, green and blue from the square of 2 × 2 pixels that each pixel of the picture lies in."""
    head = frame.head
    rows = np.minimum(window.rows, head.height // 2 * 2 - 1) // 2 * 2
    columns = np.minimum(window.columns, head.width // 2 * 2 - 1) // 2 * 2
    once, places = np.unique(rows, return_inverse=True)
    pair = frame.lines(once), frame.lines(once + 1)
    square = SQUARES[head.pattern]
    place = {colour: divmod(square.index(colour), 2) for colour in "RB"}
    greens = [divmod(i, 2) for i, colour in enumerate(square) if colour == "G"]

    def plane(line: int, column: int) -> Pixels:
        return pair[line][:, columns + column]

    green = (plane(*greens[0]).astype(np.uint32) + plane(*greens[1])) // 2
    picture = np.stack([plane(*place["R"]), green.astype(pair[0].dtype), plane(*place["B"])], axis=-1)
    return picture[places]


def missing(frame: Frame, window: Window) -> NDArray[np.bool_] | None:
    """For each pixel of the picture whether a fragment beneath it did not come, also of lines that are passed over.

    None where all came, or nothing is known of them.
    """
    head, arrived = frame.head, frame.arrived()
    if head.placed >= head.fragments or not head.fragment_bytes or not arrived.size:
        return None
    broken = _broken_lines(arrived, head)
    bytes_before = window.columns * head.pixel_bits // 8
    lacks = np.zeros((window.rows.size, window.columns.size), np.bool_)
    beneath = ceil(window.scale)
    for offset in range(-(beneath // 2), beneath - beneath // 2):
        lines = np.clip(window.rows + offset, 0, head.height - 1)
        rows = np.flatnonzero(broken[lines])
        place = lines[rows, None] * head.line_bytes + bytes_before
        lacks[rows] |= ~arrived[np.minimum(place // head.fragment_bytes, arrived.size - 1)]
    return lacks if lacks.any() else None


def _broken_lines(arrived: NDArray[np.bool_], head: Head) -> NDArray[np.bool_]:
    """For each line whether any of its bytes did not come."""
    first = np.flatnonzero(~arrived) * head.fragment_bytes
    edges = np.zeros(head.height + 1, np.intp)
    np.add.at(edges, np.minimum(first // head.line_bytes, head.height), 1)
    np.add.at(edges, np.minimum((first + head.fragment_bytes - 1) // head.line_bytes + 1, head.height), -1)
    return np.cumsum(edges[:-1]) > 0
