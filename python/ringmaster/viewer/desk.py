# SPDX-License-Identifier: Apache-2.0
"""All cameras of a window: which are shown, how, and what the user does with them. It needs no display."""

from dataclasses import replace
from pathlib import Path

from ringmaster.viewer.colours import NAMES
from ringmaster.viewer.geometry import Box, tiles
from ringmaster.viewer.levels import Mode
from ringmaster.viewer.painting import Rgb
from ringmaster.viewer.saving import Kind, save
from ringmaster.viewer.source import ReceiverEnded, Source
from ringmaster.viewer.tile import Style, Tile

HEADER = 20
"""Height of the line above a picture, screen pixels."""
AGAIN_S = 0.5
"""From one attempt to attach anew to the next."""
ZOOM_STEP = 1.25


class Desk:
    """The cameras, and how they are shown."""

    def __init__(self, source: Source, cameras: tuple[str, ...] = (), folder: Path = Path()) -> None:
        """Of these cameras, or of all that the source has. Files are saved into ``folder``."""
        self._source = source
        self._only = cameras
        self._folder = folder
        self._size = (1, 1)
        self._attach_at_s = 0.0
        self._wanted: dict[str, list[Kind]] = {}
        self.style = Style()
        self.chosen: str | None = None
        """The camera that has the window for itself."""
        self.frozen = False
        self.step_wanted: set[str] = set()
        self.help = False
        self.ends = False
        self.ended = False
        """Whether the receiver is gone."""
        self.message = ""
        self.pointer: tuple[int, int] | None = None
        self.tiles: dict[str, Tile] = {}
        self.boxes: dict[str, Box] = {}
        self.stale: set[str] = set()
        """Cameras whose tile is to be painted anew."""
        self._find_cameras()

    # What is shown

    def resize(self, width: int, height: int) -> None:
        """The window has this place for the tiles."""
        self._size = (width, height)
        self._lay_out()

    def look(self, now_s: float) -> None:
        """Takes a frame of each camera that is shown, where there is a new one, and releases it."""
        if self.ended and not self._attached_again(now_s):
            return
        for name in self.boxes:
            tile, step = self.tiles[name], name in self.step_wanted
            if self.frozen and tile.still is not None and not step:
                continue
            try:
                with self._source.frame(name, following=step) as frame:
                    if frame is None:
                        continue
                    keep = self.frozen or bool(self._wanted.get(name))
                    tile.take(frame, self.style, now_s, keep)
            except ReceiverEnded:
                self._end(now_s)
                return
            self.step_wanted.discard(name)
            self.stale.add(name)
            self._save_wanted(name)

    def paint(self, name: str) -> Rgb:
        """The picture of a camera, as large as its place."""
        self.stale.discard(name)
        return self.tiles[name].paint(self.style)

    def header(self, name: str, now_s: float) -> list[str]:
        """The words above its picture."""
        return self.tiles[name].words(now_s)

    def status(self) -> str:
        """The line at the foot of the window."""
        said = ["frozen"] if self.frozen else []
        if self.ended:
            said.append("the receiver has ended; waiting until it runs again (`ringmaster cameras run FILE`)")
        elif name := self.pointed:
            box, (x, y) = self.boxes[name], self.pointer or (0, 0)
            if value := self.tiles[name].value_words(x - box.x, y - box.y - HEADER):
                said.append(f"{name}  {value}")
        tile = self.tiles.get(self.pointed or self.chosen or "")
        if tile is not None and tile.shot is not None:
            levels = tile.levels(self.style)
            said.append(f"levels {self.style.mode.value} {levels.black} … {levels.white}")
        said.append(self.message or "? shows the keys")
        return "   ".join(said)

    @property
    def least_shown(self) -> int:
        """Frames that were shown of the camera of which the fewest were, of those in the window."""
        return min((self.tiles[name].taken for name in self.boxes), default=0)

    # What the user does

    @property
    def pointed(self) -> str | None:
        """The camera under the pointer."""
        if self.pointer is None:
            return None
        return next((name for name, box in self.boxes.items() if box.contains(*self.pointer)), None)

    def choose(self, name: str | None) -> None:
        """One camera for the whole window, or None: all of them."""
        if name is None or name in self.tiles:
            self.chosen = name
            self._lay_out()

    def choose_next(self, step: int) -> None:
        """The next camera, or the one before."""
        names = [None, *self.tiles]
        self.choose(names[(names.index(self.chosen) + step) % len(names)])

    def freeze(self) -> None:
        """Keeps the next frame of each camera, or goes on."""
        self.frozen = not self.frozen
        self.step_wanted.clear()
        for tile in self.tiles.values():
            tile.release()

    def step(self) -> None:
        """The frame after the one that is shown, of each camera that is shown; it stays."""
        if self.frozen:
            self.step_wanted = set(self.boxes)
        else:
            self.freeze()

    def next_levels(self) -> None:
        """Another mode of levels."""
        modes = list(Mode)
        mode = modes[(modes.index(self.style.mode) + 1) % len(modes)]
        if mode is Mode.FIXED:
            self.fix_levels()
        else:
            self._restyle(replace(self.style, mode=mode))

    def fix_levels(self) -> None:
        """The levels of now stay, for each camera its own."""
        for tile in self.tiles.values():
            tile.fix_levels(self.style)
        self._restyle(replace(self.style, mode=Mode.FIXED))

    def next_colours(self) -> None:
        """Another map of false colours."""
        name = NAMES[(NAMES.index(self.style.colours) + 1) % len(NAMES)]
        self._restyle(replace(self.style, colours=name))
        self.message = f"colours: {name}"

    def toggle_bayer(self) -> None:
        """Colours of the sensor, or the values of its pixels as they lie."""
        self._restyle(replace(self.style, coloured=not self.style.coloured))
        self.message = f"colours of the sensor: {'on' if self.style.coloured else 'off'}"

    def toggle_histogram(self) -> None:
        """With or without it."""
        self._restyle(replace(self.style, histogram=not self.style.histogram))

    def zoom(self, factor: float) -> None:
        """Closer by a factor at the pointer, or in the middle of the one camera that is shown."""
        name = self.pointed or self.chosen
        if name is None or (image := self.tiles[name].image) is None:
            return
        tile, box = self.tiles[name], self.boxes[name]
        at = (self.pointer[0] - box.x, self.pointer[1] - box.y - HEADER) if self.pointed and self.pointer else None
        middle = tile.size[0] // 2, tile.size[1] // 2
        tile.view = tile.view.zoomed(factor, at or middle, tile.size, image)
        self._renew(name)

    def zoom_to(self, scale: float) -> None:
        """So many pixels of the image per screen pixel; of no more than the image: inf shows all of it."""
        for name in [self.pointed or self.chosen] if self.pointed or self.chosen else list(self.boxes):
            tile = self.tiles[name] if name else None
            if name and tile and (image := tile.image):
                tile.view = tile.view.at_scale(scale, tile.size, image)
                self._renew(name)

    def drag(self, x: int, y: int) -> None:
        """The picture under the pointer follows it by so many screen pixels."""
        if (name := self.pointed) and (image := self.tiles[name].image):
            self.tiles[name].view = self.tiles[name].view.panned(x, y, self.tiles[name].size, image)
            self._renew(name)

    def save(self, kind: Kind) -> None:
        """Saves what is frozen, or the next frame, of the camera under the pointer or of all that are shown."""
        for name in [self.pointed] if self.pointed else list(self.boxes):
            self._wanted.setdefault(name, []).append(kind)
            if self.tiles[name].still is not None:
                self._save_wanted(name)

    def reset(self) -> None:
        """Counts from now on."""
        for tile in self.tiles.values():
            tile.tally.reset()
        self.message = "counted from now on"

    # Inside

    def _find_cameras(self) -> None:
        """Has a tile for each camera that there is; those that were there stay as they are."""
        names = [name for name in self._source.names if not self._only or name in self._only]
        self.tiles = {name: self.tiles.get(name) or Tile(name) for name in names}
        if self.chosen not in self.tiles:
            self.chosen = None
        self._lay_out()

    def _lay_out(self) -> None:
        shown = [self.chosen] if self.chosen else list(self.tiles)
        self.boxes = dict(zip(shown, tiles(len(shown), *self._size), strict=True))
        for name, box in self.boxes.items():
            self.tiles[name].size = (box.width, max(1, box.height - HEADER))
            self._renew(name)

    def _restyle(self, style: Style) -> None:
        self.style = style
        for name in self.boxes:
            self._renew(name)

    def _renew(self, name: str) -> None:
        """Paints anew: what is kept at once, else the last picture until the next frame comes."""
        self.tiles[name].renew(self.style)
        self.stale.add(name)

    def _save_wanted(self, name: str) -> None:
        tile = self.tiles[name]
        for kind in self._wanted.pop(name, []):
            if tile.still is None:
                self.message = f"{name}: not saved, its geometry is unknown"
                continue
            try:
                self.message = f"saved {save(kind, tile.still, tile.picture(self.style), self._folder, name)}"
            except (OSError, ValueError) as error:
                self.message = f"not saved: {error}"

    def _end(self, now_s: float) -> None:
        self.ended, self._attach_at_s = True, now_s + AGAIN_S

    def _attached_again(self, now_s: float) -> bool:
        if now_s < self._attach_at_s:
            return False
        if not self._source.attach_again():
            self._attach_at_s = now_s + AGAIN_S
            return False
        self.ended = False
        self._find_cameras()
        return True
