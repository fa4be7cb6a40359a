# SPDX-License-Identifier: Apache-2.0
"""Where pixels of an image stand on the screen: tiles, zoom and pan."""

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

CLOSEST = 64.0
"""Most screen pixels that one pixel of the image takes, in each direction."""


@dataclass(frozen=True)
class Box:
    """A rectangle on the screen, pixels."""

    x: int
    y: int
    width: int
    height: int

    def contains(self, x: int, y: int) -> bool:
        """Whether a place is in it."""
        return self.x <= x < self.x + self.width and self.y <= y < self.y + self.height


def tiles(count: int, width: int, height: int, gap: int = 2, aspect: float = 5 / 4) -> list[Box]:
    """Equal tiles for ``count`` images of about that aspect, in as many columns as makes images largest."""

    def image_width(columns: int) -> float:
        return min(width / columns, aspect * height / ceil(count / columns))

    columns = max(range(count, 0, -1), key=image_width, default=1)
    lines = ceil(count / columns)
    each = max(1, (width - gap * (columns - 1)) // columns), max(1, (height - gap * (lines - 1)) // max(lines, 1))
    return [Box(i % columns * (each[0] + gap), i // columns * (each[1] + gap), *each) for i in range(count)]


@dataclass(frozen=True)
class Window:
    """The part of an image that is shown, and where: for each screen pixel its pixel of the image."""

    scale: float
    """Pixels of the image per screen pixel."""
    left: int
    """Screen pixels from the tile's edge to the picture."""
    top: int
    columns: NDArray[np.intp]
    """Of the image, for each screen pixel of a line of the picture."""
    rows: NDArray[np.intp]
    """Of the image, for each line of the picture."""

    def pixel_at(self, x: int, y: int) -> tuple[int, int] | None:
        """Column and row of the picture at a place in the tile, or None beside it."""
        column, row = x - self.left, y - self.top
        return (column, row) if 0 <= column < self.columns.size and 0 <= row < self.rows.size else None


@dataclass(frozen=True)
class View:
    """What the user looks at: how close, and which place of the image stands in the middle. It holds for any size."""

    zoom: float = 1.0
    """1: all of the image fits into the tile."""
    x: float = 0.5
    """Share of the image's width."""
    y: float = 0.5

    def window(self, tile: tuple[int, int], image: tuple[int, int]) -> Window:
        """Of a tile and an image of these widths and heights, which are not 0."""
        scale = self._scale(tile, image)
        shown = [max(1, min(t, round(i / scale))) for t, i in zip(tile, image, strict=True)]
        columns, rows = (
            _samples(centre * size, count, scale, size)
            for centre, count, size in zip((self.x, self.y), shown, image, strict=True)
        )
        return Window(scale, (tile[0] - shown[0]) // 2, (tile[1] - shown[1]) // 2, columns, rows)

    def zoomed(self, factor: float, at: tuple[int, int], tile: tuple[int, int], image: tuple[int, int]) -> "View":
        """Closer by a factor, while the pixel at a place of the tile stays there."""
        before = self._scale(tile, image)
        fit = max(image[0] / tile[0], image[1] / tile[1])
        zoom = min(max(1.0, self.zoom * factor), max(1.0, fit * CLOSEST))
        moved = before - fit / zoom
        return View(
            zoom,
            *(
                centre + (place - size / 2) * moved / extent
                for centre, place, size, extent in zip((self.x, self.y), at, tile, image, strict=True)
            ),
        )._kept_inside(tile, image)

    def panned(self, x: float, y: float, tile: tuple[int, int], image: tuple[int, int]) -> "View":
        """Moved so that the picture follows the pointer by so many screen pixels."""
        scale = self._scale(tile, image)
        return View(self.zoom, self.x - x * scale / image[0], self.y - y * scale / image[1])._kept_inside(tile, image)

    def at_scale(self, scale: float, tile: tuple[int, int], image: tuple[int, int]) -> "View":
        """The same middle at so many pixels of the image per screen pixel; at least all of it."""
        fit = max(image[0] / tile[0], image[1] / tile[1])
        return View(max(1.0, fit / scale), self.x, self.y)._kept_inside(tile, image)

    def _scale(self, tile: tuple[int, int], image: tuple[int, int]) -> float:
        return max(image[0] / tile[0], image[1] / tile[1]) / self.zoom

    def _kept_inside(self, tile: tuple[int, int], image: tuple[int, int]) -> "View":
        """No further than to the image's edges."""
        scale = self._scale(tile, image)
        half = [min(0.5, size * scale / extent / 2) for size, extent in zip(tile, image, strict=True)]
        x, y = (min(max(centre, h), 1 - h) for centre, h in zip((self.x, self.y), half, strict=True))
        return View(self.zoom, x, y)


def _samples(centre: float, count: int, scale: float, size: int) -> NDArray[np.intp]:
    """The pixels of the image under ``count`` screen pixels around its place ``centre``."""
    first = min(max(0.0, centre - count * scale / 2), max(0.0, size - count * scale))
    places = first + (np.arange(count, dtype=np.float64) + 0.5) * scale
    samples: NDArray[np.intp] = np.minimum(places, size - 1).astype(np.intp)
    return samples
