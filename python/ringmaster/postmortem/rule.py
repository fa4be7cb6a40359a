# SPDX-License-Identifier: Apache-2.0
"""Rules: comparisons of parameters and lanes with numbers, joined by and, or, not and brackets. Nothing is evaluated
as a program.

::

    machine/current_ma < 300 and (bpm01/fast:x1 > 2e5 or not llrf01/turn:cavity_amp >= 1e5)

A name with a colon is a lane of a stream, of its newest record; any other one is a parameter.
"""

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_TOKEN = re.compile(r"\s*(?:(<=|>=|==|!=|<|>)|([()])|([^\s()<>=!]+))")
COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
WORDS = ("and", "or", "not")
DEEPEST = 20
"""Brackets and nots within each other."""

Values = Callable[[str], float | None]
"""By name; None while there is none."""


@dataclass(frozen=True)
class Rule:
    """A rule that was read."""

    text: str
    names: tuple[str, ...]
    """All that it compares, each once."""
    holds: Callable[[Values], bool | None]
    """Whether it is true; None where that depends on a value that is not there."""


def parse(text: str) -> Rule:
    """Reads a rule. Raises ValueError with the place in the text, and what was expected there."""
    reader = _Reader(text)
    holds = reader.any_of()
    if reader.token is not None:
        raise reader.error("'and', 'or' or the end")
    return Rule(text, tuple(dict.fromkeys(reader.names)), holds)


class _Reader:
    """Reads tokens from left to right: or is of ands, and is of terms."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = self.end = 0
        self.names: list[str] = []
        self.deep = 0
        self.token: str | None = None
        self.next()

    def next(self) -> str | None:
        """The token that was there; the one behind it is there from now on."""
        was, self.at = self.token, self.end
        match = _TOKEN.match(self.text, self.end)
        self.token = match[0].strip() if match else None
        if match and self.token is not None:
            self.end = match.end()
            self.at = self.end - len(self.token)
        elif self.text[self.end :].strip():
            raise self.error("a name, a number or a comparison")
        return was

    def error(self, expected: str) -> ValueError:
        """At the token that is there."""
        found = "its end" if self.token is None else repr(self.token)
        return ValueError(f"rule {self.text!r}: at character {self.at + 1}: {found}, expected {expected}")

    def any_of(self) -> Callable[[Values], bool | None]:
        """One of several: a or b or …"""
        parts = [self.all_of()]
        while self.token == "or":
            self.next()
            parts.append(self.all_of())
        return parts[0] if len(parts) == 1 else _joined(parts, True)

    def all_of(self) -> Callable[[Values], bool | None]:
        """All of several: a and b and …"""
        parts = [self.term()]
        while self.token == "and":
            self.next()
            parts.append(self.term())
        return parts[0] if len(parts) == 1 else _joined(parts, False)

    def term(self) -> Callable[[Values], bool | None]:
        """A comparison, (…), or not …"""
        self.deep += 1
        if self.deep > DEEPEST:
            raise self.error(f"no more than {DEEPEST} brackets and nots within each other")
        try:
            if self.token == "not":
                self.next()
                return _negated(self.term())
            if self.token == "(":
                self.next()
                inner = self.any_of()
                if self.token != ")":
                    raise self.error("')'")
                self.next()
                return inner
            return self.comparison()
        finally:
            self.deep -= 1

    def comparison(self) -> Callable[[Values], bool | None]:
        """NAME < NUMBER"""
        name = self.token
        if name is None or name in WORDS or name in COMPARISONS or name == ")":
            raise self.error("the name of a parameter, or of a lane: bpm01/fast:x1")
        self.next()
        if self.token not in COMPARISONS:
            raise self.error(f"one of {' '.join(COMPARISONS)}")
        compare = COMPARISONS[str(self.next())]
        try:
            limit = float(str(self.token))
        except ValueError:
            raise self.error("a number") from None
        self.next()
        self.names.append(name)
        return _compared(name, compare, limit)


def _compared(name: str, compare: Callable[[float, float], bool], limit: float) -> Callable[[Values], bool | None]:
    def holds(values: Values) -> bool | None:
        value = values(name)
        return None if value is None else compare(value, limit)

    return holds


def _joined(parts: list[Callable[[Values], bool | None]], decisive: bool) -> Callable[[Values], bool | None]:
    """One that is ``decisive`` decides; else an unknown one leaves it unknown."""

    def holds(values: Values) -> bool | None:
        found = [part(values) for part in parts]
        if decisive in found:
            return decisive
        return None if None in found else not decisive

    return holds


def _negated(part: Callable[[Values], bool | None]) -> Callable[[Values], bool | None]:
    def holds(values: Values) -> bool | None:
        found = part(values)
        return None if found is None else not found

    return holds
