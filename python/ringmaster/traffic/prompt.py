# SPDX-License-Identifier: Apache-2.0
"""The command line of the page: a line that is typed and changed, its history, and words that Tab completes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ringmaster.console.lines import Line, Span, line

PROMPT = "generate> "
HISTORY = 200
"""Lines that are kept."""

Completer = Callable[[str], Sequence[str]]
"""From the line as far as the cursor: the words that its last word may become."""


@dataclass
class Prompt:
    """What is typed. Keys are named as Textual names them."""

    complete: Completer
    text: str = ""
    cursor: int = 0
    choices: tuple[str, ...] = ()
    """What the last Tab left open; of what a person has to think of, its name: "<RATE>"."""
    _history: list[str] = field(default_factory=list)
    _at: int = 0
    """Of the history: the line that is shown. Its length: the new one."""
    _draft: str = ""
    """The new line, while one of the history is shown."""

    def press(self, key: str, character: str | None) -> str | None:
        """What a key does to the line; on enter, the line that was typed, unless it is empty."""
        self.choices = ()
        if key == "enter":
            return self._enter()
        if key == "tab":
            self._complete()
        elif key in _EDITS:
            self.text, self.cursor = _EDITS[key](self.text, self.cursor)
        elif key in ("up", "down"):
            self._recall(-1 if key == "up" else 1)
        elif character and character.isprintable():
            self._insert(character)
        return None

    def clear(self) -> None:
        """Forgets the line, not the history."""
        self.text, self.cursor, self.choices = "", 0, ()
        self._at, self._draft = len(self._history), ""

    def draw(self, width: int) -> Line:
        """The line, moved to the left where it is too long for its cursor to be seen."""
        room = max(1, width - len(PROMPT) - 1)
        first = max(0, self.cursor - room)
        shown = self.text[first : first + room]
        at = self.cursor - first
        under = shown[at : at + 1] or " "
        return line(Span(PROMPT, "key"), shown[:at], Span(under, "cursor"), shown[at + 1 :])

    def paste(self, text: str) -> None:
        """Inserts what stands on the first line of it."""
        self.choices = ()
        self._insert("".join(letter for letter in text.partition("\n")[0] if letter.isprintable()))

    def _enter(self) -> str | None:
        typed = self.text.strip()
        if typed and self._history[-1:] != [typed]:
            self._history = [*self._history, typed][-HISTORY:]
        self.clear()
        return typed or None

    def _insert(self, text: str) -> None:
        self.text = self.text[: self.cursor] + text + self.text[self.cursor :]
        self.cursor += len(text)

    def _recall(self, step: int) -> None:
        at = self._at + step
        if not 0 <= at <= len(self._history):
            return
        if self._at == len(self._history):
            self._draft = self.text
        self._at = at
        self.text = self._draft if at == len(self._history) else self._history[at]
        self.cursor = len(self.text)

    def _complete(self) -> None:
        """Adds what all words that fit have in common; where that is nothing more, they are the choices."""
        before = self.text[: self.cursor]
        words = sorted(set(self.complete(before)))
        if not words:
            return
        typed = before[before.rfind(" ") + 1 :]
        common = _common(words)
        if any(word.startswith("<") for word in words) or (len(words) > 1 and common == typed):
            self.choices = tuple(words)
            return
        whole = common + (" " if len(words) == 1 else "")
        self.text = before[: len(before) - len(typed)] + whole + self.text[self.cursor :]
        self.cursor = len(before) - len(typed) + len(whole)


def _common(words: Sequence[str]) -> str:
    """The letters that all of them begin with."""
    first, last = min(words), max(words)
    same = 0
    while same < min(len(first), len(last)) and first[same] == last[same]:
        same += 1
    return first[:same]


def _delete_word(text: str, cursor: int) -> tuple[str, int]:
    start = text[:cursor].rstrip().rfind(" ") + 1
    return text[:start] + text[cursor:], start


_EDITS: dict[str, Callable[[str, int], tuple[str, int]]] = {
    "backspace": lambda text, at: (text[: max(0, at - 1)] + text[at:], max(0, at - 1)),
    "delete": lambda text, at: (text[:at] + text[at + 1 :], at),
    "left": lambda text, at: (text, max(0, at - 1)),
    "right": lambda text, at: (text, min(len(text), at + 1)),
    "home": lambda text, _at: (text, 0),
    "ctrl+a": lambda text, _at: (text, 0),
    "end": lambda text, _at: (text, len(text)),
    "ctrl+e": lambda text, _at: (text, len(text)),
    "ctrl+u": lambda text, at: (text[at:], 0),
    "ctrl+k": lambda text, at: (text[:at], at),
    "ctrl+w": _delete_word,
}
