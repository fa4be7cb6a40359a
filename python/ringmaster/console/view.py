# SPDX-License-Identifier: Apache-2.0
"""What the user has chosen to see, and what each key does to it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Protocol

from ringmaster.beam.orbit import Orbit
from ringmaster.monitor import feedback, standby
from ringmaster.monitor.feedback import FeedbackFigures
from ringmaster.monitor.standby import StandbyLook

PAGE_KEYS = "1234567890-="
"""The key of each page; it stays the same when other pages are hidden."""
PAGE_STEP = 10
"""Lines that page up and page down move."""


class Action(Enum):
    """What a key asks of the program; everything else only changes the view."""

    NONE = auto()
    QUIT = auto()
    RESET = auto()
    """Count from now on."""
    ASK = auto()
    """Set the parameters in ``View.asked``."""
    OWN = auto()
    """A key of ``View.more_keys``."""


class Shown(Protocol):
    """What keys need to know of what is shown."""

    @property
    def orbit(self) -> Orbit | None:
        """The orbit just now."""

    @property
    def feedback(self) -> FeedbackFigures | None:
        """The orbit feedback, where there is one."""

    @property
    def standby(self) -> StandbyLook | None:
        """The pair of servers, where this is one of two."""


class Listing(Protocol):
    """What keys need to know of a page."""

    @property
    def name(self) -> str:
        """As in its tab: "ports"."""

    @property
    def sorts(self) -> Sequence[str]:
        """The columns that it can be sorted by; the first is the order of the configuration."""

    @property
    def selects(self) -> bool:
        """Whether it has a cursor; otherwise the arrows scroll it."""


@dataclass
class View:
    """The page and how it is shown."""

    page: str = "overview"
    cursor: dict[str, int] = field(default_factory=dict)
    """Of each page that has one: the row, from 0."""
    scroll: int = 0
    """Lines that are above the screen, of what has no cursor."""
    sort: dict[str, int] = field(default_factory=dict)
    """Of each page: which of its columns it is sorted by."""
    reverse: dict[str, bool] = field(default_factory=dict)
    filter: str = ""
    """Only what has this in its name is shown."""
    typing: bool = False
    """Whether keys go into the filter."""
    frozen: bool = False
    help: bool = False
    detail: str | None = None
    """The instrument or port whose details are shown."""
    reference: Orbit | None = None
    """The orbit is shown as a difference to this one."""
    asked: list[tuple[str, float | str]] = field(default_factory=list)
    """Parameters that the last key asks to be set, and to what."""
    more_keys: dict[str, str] = field(default_factory=dict)
    """Keys of who shows it, on every page, with what each does."""
    hidden: frozenset[str] = frozenset()
    """Pages that had no content when the screen was drawn last: tab and arrows leave them out."""
    row_names: list[str] = field(default_factory=list)
    """What stood in the rows of the page when it was drawn last."""

    def matches(self, name: str) -> bool:
        """Whether the filter lets a name through."""
        return self.filter.casefold() in name.casefold()

    def go(self, page: str) -> None:
        """Shows another page, from its top."""
        self.page, self.help, self.detail, self.scroll = page, False, None, 0

    def press(self, key: str, character: str | None, pages: Sequence[Listing], shown: Shown) -> Action:
        """What a key does; keys are named as Textual names them."""
        if self.typing:
            self._type(key, character)
            return Action.NONE
        if character in ("q", "Q") or key == "ctrl+c":
            return Action.QUIT
        if character == "r":
            return Action.RESET
        if character in self.more_keys:
            return Action.OWN
        self.asked = self._asks(character, shown)
        if self.asked:
            return Action.ASK
        if not self._turn_page(key, character, pages) and not self._change(key, character, shown):
            listing = next(page for page in pages if page.name == self.page)
            self._move(key, character, listing)
        return Action.NONE

    def _asks(self, character: str | None, shown: Shown) -> list[tuple[str, float | str]]:
        """What a key of the page's own asks to be set."""
        if self.page == "feedback" and shown.feedback is not None:
            return feedback.presses(shown.feedback, character)
        if self.page == "standby" and shown.standby is not None:
            return standby.presses(shown.standby, character)
        return []

    def _type(self, key: str, character: str | None) -> None:
        if key == "escape":
            self.filter, self.typing = "", False
        elif key == "enter":
            self.typing = False
        elif key == "backspace":
            self.filter = self.filter[:-1]
        elif character and character.isprintable():
            self.filter += character

    def _turn_page(self, key: str, character: str | None, pages: Sequence[Listing]) -> bool:
        at = PAGE_KEYS.find(character) if character else -1
        if 0 <= at < len(pages):
            self.go(pages[at].name)
            return True
        names = [page.name for page in pages if page.name == self.page or page.name not in self.hidden]
        here = names.index(self.page)
        if key in ("tab", "right"):
            self.go(names[(here + 1) % len(names)])
        elif key in ("shift+tab", "left"):
            self.go(names[(here - 1) % len(names)])
        else:
            return False
        return True

    def _change(self, key: str, character: str | None, shown: Shown) -> bool:
        if character == "?":
            self.help, self.scroll = not self.help, 0
        elif key == "escape":
            self._back()
        elif key == "space":
            self.frozen = not self.frozen
        elif character == "/":
            self.typing, self.help, self.detail = True, False, None
        elif character == "o":
            self.reference = shown.orbit
        elif character == "O":
            self.reference = None
        else:
            return False
        return True

    def _back(self) -> None:
        """One step back: from the help, from details, from the filter."""
        if self.help or self.detail:
            self.help, self.detail, self.scroll = False, None, 0
        else:
            self.filter = ""

    def _move(self, key: str, character: str | None, page: Listing) -> None:
        step = {"up": -1, "down": 1, "pageup": -PAGE_STEP, "pagedown": PAGE_STEP, "home": -(10**6), "end": 10**6}
        has_cursor = page.selects and not self.help and not self.detail
        if key in step and has_cursor:
            row = self.cursor.get(page.name, 0) + step[key]
            self.cursor[page.name] = min(max(0, row), max(0, len(self.row_names) - 1))
        elif key in step:
            self.scroll = max(0, self.scroll + step[key])
        elif key == "enter" and has_cursor and self.row_names:
            row = min(self.cursor.get(page.name, 0), len(self.row_names) - 1)
            self.detail, self.scroll = self.row_names[row], 0
        elif character == "s" and page.sorts:
            self.sort[page.name] = (self.sort.get(page.name, 0) + 1) % len(page.sorts)
        elif character == "S" and page.sorts:
            self.reverse[page.name] = not self.reverse.get(page.name, False)
