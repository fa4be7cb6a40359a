# SPDX-License-Identifier: Apache-2.0
"""The live pages of `ringmaster top` on a terminal.

One widget draws the whole terminal from lines of text, and only those that changed: that is what keeps it cheap.
"""

import asyncio
import os
import signal
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from ringmaster.console import screen
from ringmaster.console.affinity import keep_off, server_cores
from ringmaster.console.lines import STYLES, Line
from ringmaster.console.pages import PAGES
from ringmaster.console.view import Action, View
from ringmaster.console.watch import Frame, Wanted, Watch
from ringmaster.fabric.workspace import Workspace

DEFAULT_RATE_HZ = 4.0


@cache
def style(name: str) -> Style:
    """One of ``STYLES`` as Rich has it."""
    return Style.parse(STYLES[name])


class Canvas(Widget):
    """Lines of text, of which only those that changed are drawn again."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[Line] = []

    def show(self, lines: list[Line]) -> None:
        """Shows these from now on."""
        before, self._lines = self._lines, lines
        width = self.size.width
        changed = [i for i, spans in enumerate(lines) if i >= len(before) or before[i] != spans]
        if len(lines) < len(before):
            self.refresh()
        elif changed:
            self.refresh(*(Region(0, i, width, 1) for i in changed))

    def render_line(self, y: int) -> Strip:
        """One line as the terminal's."""
        width = self.size.width
        if y >= len(self._lines):
            return Strip.blank(width)
        segments = [Segment(span.text, style(span.style)) for span in self._lines[y] if span.text]
        return Strip(segments).adjust_cell_length(width)


def end_on_signals(app: App[Any]) -> None:
    """SIGTERM and SIGHUP end a page as a key does, with their status: the terminal is as it was, and no thread of the
    page is left to read one that is gone. Called when the page is mounted.
    """
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, app.exit, None, 128 + number)


class Console(App[None]):
    """Shows a workspace some times a second; follows a restarted server."""

    TITLE = "ringmaster top"
    CSS = "Screen { background: ansi_default; overflow: hidden; } Canvas { width: 100%; height: 100%; }"
    BINDINGS: ClassVar[list[BindingType]] = []
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self, ws: Workspace, dead: bool = False, page: str = "overview", rate_hz: float = DEFAULT_RATE_HZ
    ) -> None:
        super().__init__(ansi_color=True)
        self._watch = Watch(ws, dead)
        self._view = View(page)
        self._rate_hz = rate_hz
        self._does: dict[str, Callable[[], str]] = {}
        self._allowed = os.sched_getaffinity(0)
        self._kept_off: set[int] | None = None
        self._frame: Frame = self._watch.look()

    def follow(self, chosen: Callable[[], Path | None]) -> None:
        """Shows the workspace that is chosen at each look, of several that are alike."""
        self._watch.follow(chosen)

    def add_key(self, key: str, words: str, does: Callable[[], str]) -> None:
        """A key of the caller's own; what it returns is the news."""
        self._view.more_keys[key] = words
        self._does[key] = does

    def compose(self) -> ComposeResult:
        """One widget, which is the whole terminal."""
        yield Canvas()

    def on_mount(self) -> None:
        """Looks at once, and then regularly."""
        end_on_signals(self)
        self.look()
        self.set_interval(1 / self._rate_hz, self.look)

    def on_unmount(self) -> None:
        """Goes back to the CPUs that it was given, and lets go of the memory."""
        keep_off(set(), self._allowed)
        self._watch.close()

    def look(self) -> None:
        """Shows what is now; while frozen it goes on counting and shows what was."""
        cores = server_cores(self._watch.ws)
        if cores != self._kept_off:
            self._kept_off = cores
            keep_off(cores, self._allowed)
        frame = self._watch.look(self._wanted())
        if not self._view.frozen:
            self._frame = frame
            self._draw()

    def on_key(self, event: events.Key) -> None:
        """Does what the key says, at once."""
        event.stop()
        event.prevent_default()
        was_frozen = self._view.frozen
        action = self._view.press(event.key, event.character, PAGES, self._frame)
        if action == Action.QUIT:
            self.exit()
            return
        if action == Action.OWN:
            self._watch.say(self._does[str(event.character)]())
        if action == Action.RESET:
            self._watch.reset()
        if action == Action.ASK:
            for name, value in self._view.asked:
                self._watch.ask(name, value)
        if self._view.frozen:
            self._freeze(was_frozen)
        else:
            self._frame = self._watch.look(self._wanted())
        self._draw()

    def on_resize(self, event: events.Resize) -> None:
        """Draws in the new size."""
        self._draw(event.size)

    def _wanted(self) -> Wanted:
        view = self._view
        return Wanted(view.page, view.detail if view.page == "streams" else None)

    def _freeze(self, was_frozen: bool) -> None:
        """Keeps what every page would show; details of another instrument are read anew."""
        if not was_frozen:
            self._frame = self._watch.still(self._frame)
        self._frame = self._watch.with_details(self._frame, self._wanted())

    def _draw(self, size: Size | None = None) -> None:
        if not self.query(Canvas):  # a first size may come before there is anything to draw on
            return
        canvas = self.query_one(Canvas)
        width, height = size or canvas.size
        if width and height:
            canvas.show(screen.draw(self._frame, self._view, width, height))
