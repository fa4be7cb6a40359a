# SPDX-License-Identifier: Apache-2.0
"""One camera on the screen: its frame as small as its tile, its figures, and the frame itself where it is kept."""

from dataclasses import dataclass, field
from time import CLOCK_TAI, clock_gettime_ns

import numpy as np
from numpy.typing import NDArray

from ringmaster.viewer.figures import Tally, words
from ringmaster.viewer.frame import FILLED, INCOMPLETE, WHOLE, Frame, Head, Pixels, Still
from ringmaster.viewer.geometry import View, Window
from ringmaster.viewer.levels import Counts, Levels, Mode, counts, levels
from ringmaster.viewer.painting import BESIDE, Rgb, add_histogram, hatch, painted
from ringmaster.viewer.reduction import beneath_each, missing, reduced

SLOW_S = 0.2
"""Frames of a camera that sends less often are kept whole, so that zoom and pan need not wait for the next one."""


@dataclass(frozen=True)
class Style:
    """How all cameras are shown."""

    mode: Mode = Mode.AUTO
    colours: str = "grey"
    coloured: bool = True
    """Sensors with colours in colours; else as values of single pixels."""
    histogram: bool = False


@dataclass(frozen=True)
class Shot:
    """A frame as small as its picture; it needs no lease."""

    head: Head
    window: Window
    picture: Pixels
    lacks: NDArray[np.bool_] | None
    """Where fragments are missing."""
    seen: Counts


@dataclass
class Tile:
    """One camera."""

    name: str
    size: tuple[int, int] = (1, 1)
    """Of the place for its picture, screen pixels."""
    view: View = field(default_factory=View)
    fixed: Levels | None = None
    """Levels of Mode.FIXED."""
    head: Head | None = None
    """Of the last frame, with or without a picture."""
    shot: Shot | None = None
    still: Still | None = None
    tally: Tally = field(default_factory=Tally)
    taken: int = 0
    """Frames since the window was opened."""

    def take(self, frame: Frame, style: Style, now_s: float, keep: bool) -> None:
        """Shows a leased frame from now on, and keeps a copy where that is wanted or its camera is slow."""
        self.head = frame.head
        self.taken += 1
        if self.has_geometry:
            self.shot = self._shot(frame, style)
        waited_ms = (clock_gettime_ns(CLOCK_TAI) - self.head.first_tai_ns) * 1e-6 if self.head.first_tai_ns else 0.0
        self.tally.take(self.head, now_s, max(0.0, waited_ms))
        keep = keep or self.tally.interval_s() > SLOW_S
        self.still = Still(frame) if keep and self.has_geometry else None

    def renew(self, style: Style) -> bool:
        """After a change of view, size or style: shows what is kept anew; whether anything is kept."""
        if self.still is None:
            return False
        self.shot = self._shot(self.still, style)
        return True

    def release(self) -> None:
        """Forgets the frame that is kept."""
        self.still = None

    @property
    def has_geometry(self) -> bool:
        """Whether the last frame can be shown."""
        return self.head is not None and self.head.width > 0 and self.head.height > 0

    @property
    def image(self) -> tuple[int, int] | None:
        """Width and height of the last frame."""
        return (self.head.width, self.head.height) if self.head is not None and self.has_geometry else None

    def levels(self, style: Style) -> Levels:
        """Of what is shown."""
        assert self.shot is not None
        return levels(style.mode, self.shot.seen, self.shot.head.bits, self.fixed)

    def fix_levels(self, style: Style) -> None:
        """Keeps the levels of now for Mode.FIXED."""
        if self.shot is not None:
            self.fixed = self.levels(style)

    def picture(self, style: Style) -> Rgb:
        """The part that is shown, in colours; without marks."""
        assert self.shot is not None
        return painted(self.shot.picture, self.levels(style), self.shot.head.bits, style.colours)

    def paint(self, style: Style) -> Rgb:
        """The whole place for the picture, with all marks; empty where there is no frame."""
        canvas = np.full((self.size[1], self.size[0], 3), BESIDE, np.uint8)
        if self.shot is None:
            return canvas
        picture = self.picture(style)
        if self.shot.lacks is not None:
            hatch(picture, self.shot.lacks)
        if style.histogram:
            bits = self.shot.head.bits
            add_histogram(picture, self.shot.seen.binned(bits), self.levels(style), bits)
        left, top = self.shot.window.left, self.shot.window.top
        space = canvas[top : top + picture.shape[0], left : left + picture.shape[1]]
        space[:] = picture[: space.shape[0], : space.shape[1]]
        return canvas

    def value_words(self, x: int, y: int) -> str:
        """What the pixel at a place of the tile has."""
        place = self.shot.window.pixel_at(x, y) if self.shot else None
        if self.shot is None or place is None:
            return ""
        column, row = place
        window, value = self.shot.window, self.shot.picture[row, column]
        where = f"x {window.columns[column]}  y {window.rows[row]}"
        lacks = "  missing" if self.shot.lacks is not None and self.shot.lacks[row, column] else ""
        if value.ndim:
            return f"{where}  red {value[0]}  green {value[1]}  blue {value[2]}{lacks}"
        mean = f", mean of {beneath_each(window)}" if beneath_each(window) > 1 else ""
        return f"{where}  value {value}{mean}{lacks}"

    def words(self, now_s: float) -> list[str]:
        """The line above the picture; what matters most comes first."""
        if self.head is None:
            return [self.name, "no frame yet"]
        head = self.head
        said = [self.name]
        if not self.has_geometry:
            said.append("no geometry" + (f", picture of frame {self.shot.head.number}" if self.shot else ""))
        elif head.status in (INCOMPLETE, FILLED):
            filled = ", filled from the frame before" if head.status == FILLED else ""
            said.append(f"{head.fragments - head.placed} of {head.fragments} fragments missing{filled}")
        said += words(self.tally.figures(now_s))
        if self.has_geometry:
            said.append(f"{head.width} × {head.height} {head.format_name}")
        said.append(f"frame {head.number}")
        if head.turn is not None:
            said.append(f"turn {head.turn}")
        return said

    def _shot(self, frame: Frame, style: Style) -> Shot:
        head = frame.head
        window = self.view.window(self.size, (head.width, head.height))
        picture = reduced(frame, window, style.coloured)
        lacks = missing(frame, window) if head.status != WHOLE else None
        return Shot(head, window, picture, lacks, counts(picture if lacks is None else picture[~lacks]))
