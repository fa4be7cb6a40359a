# SPDX-License-Identifier: Apache-2.0
"""Lines of text as the pages make them: spans with a named style, tables that fit their width, wrapped sentences.

A style is a name; ``STYLES`` says what a terminal makes of it. Colour is used where it means something: red for data
that is lost, yellow for what a person should look at, green for all well, cyan and magenta for the planes x and y. Each
also differs in words or in weight, so nothing is said by colour alone.
"""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

STYLES: dict[str, str] = {
    "": "",
    "head": "bold",
    "dim": "dim",
    "key": "bold",
    "good": "green",
    "warn": "yellow",
    "bad": "bold red",
    "x": "cyan",
    "y": "magenta",
    "x high": "bold cyan",
    "y high": "bold magenta",
    "cursor": "reverse",
    "bar": "",
}
"""What each style is on a terminal, in Rich's words; the sixteen colours that every terminal has."""

GAP = 2
"""Blanks between the columns of a table."""


class Span(NamedTuple):
    """A piece of text of one style."""

    text: str
    style: str = ""


Line = list[Span]


def line(*parts: str | Span) -> Line:
    """A line of plain and styled pieces."""
    return [part if isinstance(part, Span) else Span(part) for part in parts]


def width_of(spans: Line) -> int:
    """Columns that a line takes: each of our characters takes one."""
    return sum(len(span.text) for span in spans)


def plain(spans: Line) -> str:
    """The text of a line, without blanks at its end."""
    return "".join(span.text for span in spans).rstrip()


def fit(text: str, width: int) -> str:
    """A name or a sentence in ``width`` columns: filled with blanks, or cut with an ellipsis."""
    return text.ljust(width) if len(text) <= width else text[: max(0, width - 1)] + "…"[:width]


def inside(spans: Line, width: int, margin: int) -> Line:
    """The line between margins, cut where it is too long."""
    left, out = width - margin, [Span(" " * margin)]
    for span in spans:
        text = span.text[: max(0, left)]
        left -= len(text)
        out.append(Span(text, span.style))
    return out


def wrapped(text: str, width: int, indent: int = 0, style: str = "") -> list[Line]:
    """A sentence on as many lines as it takes."""
    pieces = textwrap.wrap(text, max(20, width - indent)) or [""]
    return [line(" " * indent, Span(piece, style)) for piece in pieces]


def heading(text: str, width: int, note: str = "") -> Line:
    """The head of a section, with a dim note behind it where there is room."""
    note = note if len(text) + 2 + len(note) <= width else ""
    return line(Span(text, "head"), Span(f"  {note}" if note else "", "dim"))


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    title: str
    width: int = 0
    """At least; the widest cell may take more."""
    right: bool = True
    drop: int = 0
    """Where there is too little room the columns with the highest number go first; 0 stays."""


def table(
    columns: Sequence[Column], rows: Sequence[Sequence[Span]], width: int, cursor: int | None = None
) -> list[Line]:
    """A head and a line for each row, at most ``width`` wide as long as columns may be dropped. Nothing is cut.

    Of the columns that may be dropped those without any text are left out.
    """
    widths = [
        max(column.width, len(column.title), *(len(row[i].text) for row in rows), 0) for i, column in enumerate(columns)
    ]
    kept = [i for i, column in enumerate(columns) if not column.drop or any(row[i].text.strip() for row in rows)]
    while sum(widths[i] + GAP for i in kept) - GAP > width and any(columns[i].drop for i in kept):
        kept.remove(max(kept, key=lambda i: (columns[i].drop, i)))
    head = _row([(columns[i], widths[i], Span(columns[i].title, "head")) for i in kept])
    body = [_row([(columns[i], widths[i], row[i]) for i in kept]) for row in rows]
    if cursor is not None and 0 <= cursor < len(body):
        body[cursor] = [Span(fit(plain(body[cursor]), width), "cursor")]
    return [head, *body]


def _row(cells: list[tuple[Column, int, Span]]) -> Line:
    spans: Line = []
    for i, (column, width, span) in enumerate(cells):
        text = span.text.rjust(width) if column.right else span.text.ljust(width)
        spans.append(Span(text, span.style))
        if i + 1 < len(cells):
            spans.append(Span(" " * GAP))
    return spans


def beside(left: Sequence[Line], right: Sequence[Line], left_width: int, gap: int = 4) -> list[Line]:
    """Two blocks of lines side by side; lines of the left one are at most ``left_width`` wide."""
    count = max(len(left), len(right))
    lines = []
    for i in range(count):
        here = list(left[i]) if i < len(left) else []
        there = right[i] if i < len(right) else []
        lines.append([*here, Span(" " * (left_width - width_of(here) + gap)), *there] if there else here)
    return lines


def alarming(number: int, text: str, style: str = "bad") -> Span:
    """A count that should be zero."""
    return Span(text, style if number else "dim")
