# SPDX-License-Identifier: Apache-2.0
"""The live page of `ringmaster generate` on a terminal."""

import os
from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.geometry import Size

from ringmaster.cli.console import Canvas, end_on_signals
from ringmaster.console.affinity import keep_off
from ringmaster.traffic import screen
from ringmaster.traffic.pages import PAGES
from ringmaster.traffic.prompt import Prompt
from ringmaster.traffic.session import ScriptFailed, Session

RATE_HZ = 4.0
PAGE_KEYS = {f"f{i}": page.name for i, page in enumerate(PAGES, start=1)}
SCROLLING = {"pageup": "prev", "pagedown": "next"}


class GeneratorConsole(App[None]):
    """Shows a generator some times a second, and does what is typed."""

    TITLE = "ringmaster generate"
    CSS = "Screen { background: ansi_default; overflow: hidden; } Canvas { width: 100%; height: 100%; }"
    BINDINGS: ClassVar[list[BindingType]] = []
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self, session: Session, seconds: float | None = None, check: Callable[[], None] = lambda: None
    ) -> None:
        """Ends ``seconds`` after the last command of scripts; ``check`` raises when the server has ended."""
        super().__init__(ansi_color=True)
        self._session = session
        self._prompt = Prompt(session.complete)
        self._allowed = os.sched_getaffinity(0)
        self._seconds, self._check = seconds, check
        self._ends_at_s: float | None = None
        self.failed: RuntimeError | None = None
        """Why it has ended by itself: the server has."""

    def compose(self) -> ComposeResult:
        """One widget, which is the whole terminal."""
        yield Canvas()

    def on_mount(self) -> None:
        """Looks at once, and then regularly."""
        end_on_signals(self)
        keep_off(self._session.watch.server_cores, self._allowed)
        self.look()
        self.set_interval(1 / RATE_HZ, self.look)

    def on_unmount(self) -> None:
        """Goes back to the CPUs that it was given."""
        keep_off(set(), self._allowed)

    def look(self) -> None:
        """Does what scripts have to do, and shows what is now."""
        session = self._session
        try:
            self._check()
        except RuntimeError as error:
            self.failed = error
            self.exit()
            return
        session.watch.look()
        try:
            session.go_on(self.size.width)
        except ScriptFailed as error:
            session.refused = " ".join(str(error).split())
        self._draw()
        if session.idle and self._ends_at_s is None and self._seconds is not None:
            self._ends_at_s = session.clock() + self._seconds
        if session.ended or (self._ends_at_s is not None and session.clock() >= self._ends_at_s):
            self.exit()

    def on_key(self, event: events.Key) -> None:
        """Does what the key says, at once."""
        event.stop()
        event.prevent_default()
        session, key = self._session, event.key
        if key in ("ctrl+c", "ctrl+d"):
            self.exit()
        elif key in PAGE_KEYS:
            session.say(f"page {PAGE_KEYS[key]}")
        elif key == "escape":
            self._prompt.clear()
            session.answer, session.refused, session.scroll = [], "", 0
        elif key in SCROLLING:
            self._scroll(key)
        else:
            typed = self._prompt.press(key, event.character)
            if typed:
                session.say(typed, self.size.width)
                session.watch.look()
        self._draw()
        if session.ended:
            self.exit()

    def on_paste(self, event: events.Paste) -> None:
        """Takes what a terminal pastes as if it were typed."""
        event.stop()
        self._prompt.paste(event.text)
        self._draw()

    def on_resize(self, event: events.Resize) -> None:
        """Draws in the new size."""
        self._draw(event.size)

    def _scroll(self, key: str) -> None:
        """Ports beside each other are turned over; lines below each other, and long answers, are scrolled."""
        session = self._session
        columns = next(page.columns for page in PAGES if page.name == session.page)
        if columns and not session.answer:
            session.say(f"page {SCROLLING[key]}", self.size.width)
        else:
            step = max(1, self.size.height - 4)
            session.scroll = max(0, session.scroll + (step if key == "pagedown" else -step))

    def _draw(self, size: Size | None = None) -> None:
        if not self.query(Canvas):  # a first size may come before there is anything to draw on
            return
        canvas = self.query_one(Canvas)
        width, height = size or canvas.size
        if width and height:
            canvas.show(screen.draw(self._session, self._prompt, width, height))
