# SPDX-License-Identifier: Apache-2.0
"""What several pages share: sorting, filtering, the rows that fit, sparklines of fitting width."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from ringmaster.console import units
from ringmaster.console.lines import Line, Span, alarming, line
from ringmaster.console.view import View
from ringmaster.console.watch import Frame

Item = TypeVar("Item")
SortKey = Callable[[Item], float]

SPARK_WIDTHS = ((170, 60), (130, 30), (100, 20), (0, 10))
"""From which width of the page on a sparkline has how many columns: a minute in each."""


def spark_width(width: int) -> int:
    """Columns of a sparkline in a table."""
    return next(columns for least, columns in SPARK_WIDTHS if width >= least)


def chosen(
    items: Sequence[Item], name: Callable[[Item], str], view: View, page: str, sorts: Mapping[str, SortKey[Item]]
) -> list[Item]:
    """The items that the filter lets through, in the order that was asked for; largest first.

    The first sort of a page is the order of the workspace, whatever its key says.
    """
    left = [item for item in items if view.matches(name(item))]
    which = view.sort.get(page, 0) % len(sorts)
    if which:
        left.sort(key=list(sorts.values())[which], reverse=True)
    return left[::-1] if view.reverse.get(page, False) else left


def sorted_by(view: View, page: str, sorts: Sequence[str]) -> str:
    """How a page is sorted, in words."""
    which = view.sort.get(page, 0) % len(sorts)
    return f"by {sorts[which]}" + (", reversed" if view.reverse.get(page, False) else "")


def visible(view: View, page: str, count: int, rows: int | None) -> tuple[slice, int | None]:
    """The rows that fit, with the cursor among them, and where it is; all of them and no cursor without a height."""
    if rows is None:
        return slice(0, count), None
    cursor = min(view.cursor.get(page, 0), max(0, count - 1))
    rows = max(1, rows)
    start = max(0, min(cursor - rows // 2, count - rows))
    return slice(start, start + rows), cursor - start


def more(shown: slice, count: int) -> str:
    """Says that there are rows above or below."""
    if shown.start == 0 and shown.stop >= count:
        return ""
    return f"{shown.start + 1}–{min(shown.stop, count)} of {count}"


def postmortem(frame: Frame, label: int) -> list[Line]:
    """How many events there are, and how to look at the newest; nothing where no watch runs."""
    it = frame.snapshot.postmortem
    if it is None:
        return []
    words = line(
        f"{'':2}{'post-mortem':<{label}} " if label else "Post-mortem  ",
        f"{units.several(it.events, 'event')}, ",
        Span(f"{it.to_review} to review", "warn" if it.to_review else ""),
    )
    if not it.runs:
        return [[*words, Span("   its watch has ended", "bad")]]
    if not it.last:
        return [words]
    return [[*words, Span(f"   {it.last}: `ringmaster postmortem open`", "dim")]]


def number(value: int) -> Span:
    """A count."""
    return Span(units.count(value))


def bad(value: int) -> Span:
    """A count that means lost data when it is not zero."""
    return alarming(value, units.count(value), "bad")


def warn(value: int) -> Span:
    """A count that a person should look at when it is not zero."""
    return alarming(value, units.count(value), "warn")
