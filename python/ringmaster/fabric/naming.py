# SPDX-License-Identifier: Apache-2.0
"""Mappings from names to the objects of one kind, built when they are asked for."""

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TypeVar

from ringmaster.errors import ObjectNotFound

T = TypeVar("T")


_CONTROLS = {code: "?" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) != "\n"}


def without_controls(words: str) -> str:
    """Words with names from foreign files, as they may come to a terminal: without its escape sequences."""
    return words.translate(_CONTROLS)


def not_found(what: str, name: str, names: list[str], shown_by: str = "ringmaster ls") -> ObjectNotFound:
    """An error that names the nearest of ``names``, or the command that shows them all."""
    near = get_close_matches(name, names, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {len(names)}; `{shown_by}` shows them"
    return ObjectNotFound(f"no {what} named {name!r}; {hint}")


class Named(Mapping[str, T]):
    """Read-only mapping from the name of an object to what reads it.

    Raises ObjectNotFound, a KeyError, that names the nearest name.
    """

    def __init__(self, what: str, makers: Mapping[str, Callable[[], T]]) -> None:
        self._what = what
        self._makers = makers
        self._made: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._makers:
            raise not_found(self._what, name, list(self._makers))
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def match(self, *patterns: str) -> dict[str, T]:
        """All whose name matches one of the shell patterns; ``*`` takes slashes too. Empty where none does."""
        return {name: self[name] for name in self if any(fnmatchcase(name, pattern) for pattern in patterns)}

    def __repr__(self) -> str:
        return f"<{len(self)} {self._what}s: {', '.join(self)}>"


def counted(count: int, word: str) -> str:
    """So many of it, in words: "1 stream", "2 streams"."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
