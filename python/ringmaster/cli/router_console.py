# SPDX-License-Identifier: Apache-2.0
"""The live page of `ringmaster forward` on a terminal."""

from collections.abc import Callable
from time import monotonic
from typing import ClassVar

from textual import events
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.geometry import Size

from ringmaster.cli.console import Canvas, end_on_signals
from ringmaster.router import page
from ringmaster.router.watch import RouterWatch

RATE_HZ = 4.0


class RouterConsole(App[None]):
    """Shows a router some times a second."""

    TITLE = "ringmaster forward"
    CSS = "Screen { background: ansi_default; overflow: hidden; } Canvas { width: 100%; height: 100%; }"
    BINDINGS: ClassVar[list[BindingType]] = []
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, watch: RouterWatch, check: Callable[[], None], seconds: float | None = None) -> None:
        """Ends after ``seconds``; ``check`` raises when the server has ended."""
        super().__init__(ansi_color=True)
        self._watch, self._check = watch, check
        self._ends = monotonic() + seconds if seconds is not None else float("inf")
        self._look = watch.look()
        self._scroll = self._most = 0

    def compose(self) -> ComposeResult:
        """One widget, which is the whole terminal."""
        yield Canvas()

    def on_mount(self) -> None:
        """Looks at once, and then regularly."""
        end_on_signals(self)
        self.look()
        self.set_interval(1 / RATE_HZ, self.look)

    def look(self) -> None:
        """Shows what is now."""
        self._check()
        self._look = self._watch.look()
        self._draw()
        if monotonic() >= self._ends:
            self.exit()

    def on_key(self, event: events.Key) -> None:
        """Does what the key says, at once."""
        event.stop()
        event.prevent_default()
        rows = max(1, self.size.height - 3)
        steps = {"up": -1, "down": 1, "pageup": -rows, "pagedown": rows, "home": -self._scroll, "end": self._most}
        if event.key in ("q", "ctrl+c", "ctrl+d"):
            self.exit()
        elif event.key in page.SECTIONS:
            _, begins = page.body(self._look, self.size.width)
            self._scroll = begins.get(page.SECTIONS[event.key], self._scroll)
        else:
            self._scroll += steps.get(event.key, 0)
        self._draw()

    def on_resize(self, event: events.Resize) -> None:
        """Draws in the new size."""
        self._draw(event.size)

    def _draw(self, size: Size | None = None) -> None:
        if not self.query(Canvas):  # a first size may come before there is anything to draw on
            return
        canvas = self.query_one(Canvas)
        width, height = size or canvas.size
        if width and height:
            lines, self._most = page.draw(self._look, self._scroll, width, height)
            self._scroll = max(0, min(self._scroll, self._most))
            canvas.show(lines)
