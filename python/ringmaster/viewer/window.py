# SPDX-License-Identifier: Apache-2.0
"""The window, by Tk: it shows what a desk has, and tells it what the user does."""

import tkinter as tk
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import monotonic
from tkinter.font import Font
from typing import Any

from ringmaster.viewer.actions import ACTIONS, BY_KEY, help_lines, press
from ringmaster.viewer.desk import HEADER, ZOOM_STEP, Desk
from ringmaster.viewer.figures import fitted
from ringmaster.viewer.painting import ppm

LOOK_MS = 10
"""From the end of one look to the next: at least so long Tk has for the user."""
WORDS_S = 0.25
"""From one look at the figures to the next."""
INK, PAPER, FAINT = "#f0f0f0", "#202428", "#9aa4ae"


class ViewerWindow:
    """A window on a desk. ``run()`` shows it until the user or ``until`` ends it."""

    def __init__(self, desk: Desk, title: str, width: int, height: int) -> None:
        """Raises tk.TclError where there is no display."""
        self.desk = desk
        self._root = tk.Tk()
        self._root.title(title)
        self._root.geometry(f"{width}x{height}")
        self._font = Font(self._root, family="DejaVu Sans", size=-12)
        self._canvas = tk.Canvas(self._root, background=PAPER, highlightthickness=0)
        self._status = tk.Label(self._root, anchor="w", background=PAPER, foreground=INK, font=self._font, padx=4)
        self._status.pack(side="bottom", fill="x")
        self._canvas.pack(fill="both", expand=True)
        self._photos: dict[str, tk.PhotoImage] = {}
        self._laid_out: dict[str, Any] = {}
        self._words_at_s = 0.0
        self._dragged: tuple[int, int] | None = None
        self._until: Callable[[], bool] | None = None
        self._menus()
        self._bind()

    def run(self, until: Callable[[], bool] | None = None) -> None:
        """Shows frames until the window is closed, or ``until()`` is true after a look."""
        self._until = until
        if not self._canvas.winfo_viewable():
            self._canvas.wait_visibility()
        self._root.update()
        self._root.after(0, self._look)
        self._root.mainloop()

    def close(self) -> None:
        """Takes the window away."""
        self._root.destroy()

    def capture(self, path: Path) -> None:
        """Saves the window as the screen shows it. Raises ValueError, OSError."""
        from ringmaster.viewer.saving import pillow

        pillow()
        from PIL import ImageGrab

        self._draw(monotonic(), words=True)
        self._root.update()
        self._root.winfo_pointerxy()  # its answer comes when the screen shows what was drawn before
        x, y = self._root.winfo_rootx(), self._root.winfo_rooty()
        box = (x, y, x + self._root.winfo_width(), y + self._root.winfo_height())
        ImageGrab.grab(bbox=box, xdisplay="").save(path, "PNG", optimize=True)

    def press(self, key: str) -> None:
        """As if the user pressed a key, by its character or Tk's name of it."""
        self._command(partial(press, self.desk, key, key))()

    def _look(self) -> None:
        now = monotonic()
        self.desk.look(now)
        self._draw(now, words=now >= self._words_at_s)
        if self.desk.ends or (self._until is not None and self._until()):
            self._root.quit()
        else:
            self._root.after(LOOK_MS, self._look)

    def _draw(self, now: float, words: bool) -> None:
        if self._laid_out != self.desk.boxes:
            self._lay_out()
        for name in [name for name in self.desk.boxes if name in self.desk.stale]:
            self._photos[name].configure(data=ppm(self.desk.paint(name)))
        if words:
            self._words_at_s = now + WORDS_S
            self._say(now)

    def _say(self, now: float) -> None:
        for name, box in self.desk.boxes.items():
            text = fitted(self.desk.header(name, now), box.width - 8, self._font.measure)
            self._canvas.itemconfigure(f"words/{name}", text=text)
        self._status.configure(text=self.desk.status())

    def _lay_out(self) -> None:
        self._canvas.delete("all")
        self._laid_out = dict(self.desk.boxes)
        self._photos = {}
        for name, box in self.desk.boxes.items():
            photo = self._photos[name] = tk.PhotoImage(master=self._root, width=box.width, height=box.height - HEADER)
            self._canvas.create_image(box.x, box.y + HEADER, image=photo, anchor="nw")
            place = box.x + 4, box.y + HEADER // 2
            self._canvas.create_text(*place, anchor="w", fill=INK, font=self._font, tags=f"words/{name}")
            self.desk.stale.add(name)
        self._words_at_s = 0.0
        self._show_help()

    def _show_help(self) -> None:
        self._canvas.delete("help")
        if not self.desk.help:
            return
        lines = help_lines()
        x, y, step = 24, 24 + HEADER, self._font.metrics("linespace") + 2
        corner = x + 380, y + step * len(lines) + 16
        self._canvas.create_rectangle(x, y, *corner, fill=PAPER, outline=FAINT, tags="help")
        for i, (key, words) in enumerate(lines):
            for column, text, colour in ((12, key, INK), (84, words, FAINT)):
                place = x + column, y + 8 + i * step
                self._canvas.create_text(*place, anchor="nw", text=text, fill=colour, font=self._font, tags="help")

    def _menus(self) -> None:
        bar = tk.Menu(self._root)
        menus: dict[str, tk.Menu] = {}
        for action in ACTIONS:
            menu = menus.get(action.menu)
            if menu is None:
                menu = menus[action.menu] = tk.Menu(bar, tearoff=False)
                bar.add_cascade(label=action.menu, menu=menu)
            do = self._command(partial(action.do, self.desk))
            menu.add_command(label=action.words, accelerator=action.keys[0], command=do)
        menus["Camera"].add_separator()
        for name in self.desk.tiles:
            menus["Camera"].add_command(label=name, command=self._command(partial(self.desk.choose, name)))
        self._root.configure(menu=bar)

    def _command(self, do: Callable[[], Any]) -> Callable[[], None]:
        """What the user does, and the window after it."""

        def done() -> None:
            do()
            self._words_at_s = 0.0
            self._show_help()

        return done

    def _bind(self) -> None:
        self._canvas.bind("<Configure>", lambda event: self.desk.resize(event.width, event.height))
        self._root.bind("<Key>", lambda event: self.press(event.char if event.char in BY_KEY else event.keysym))
        self._canvas.bind("<Motion>", lambda event: self._point(event.x, event.y))
        self._canvas.bind("<Leave>", lambda _: self._point(None))
        self._canvas.bind("<ButtonPress-1>", self._begin_drag)
        self._canvas.bind("<B1-Motion>", self._drag)
        self._canvas.bind("<Double-Button-1>", lambda _: self._command(self._choose)())
        self._canvas.bind("<Button-4>", lambda _: self._command(partial(self.desk.zoom, ZOOM_STEP))())
        self._canvas.bind("<Button-5>", lambda _: self._command(partial(self.desk.zoom, 1 / ZOOM_STEP))())

    def _point(self, x: int | None, y: int = 0) -> None:
        self.desk.pointer = None if x is None else (x, y)
        self._status.configure(text=self.desk.status())

    def _begin_drag(self, event: "tk.Event[tk.Canvas]") -> None:
        self._dragged = (event.x, event.y)

    def _drag(self, event: "tk.Event[tk.Canvas]") -> None:
        if self._dragged is not None:
            self.desk.drag(event.x - self._dragged[0], event.y - self._dragged[1])
        self._dragged = (event.x, event.y)
        self._point(event.x, event.y)

    def _choose(self) -> None:
        self.desk.choose(None if self.desk.chosen else self.desk.pointed)
