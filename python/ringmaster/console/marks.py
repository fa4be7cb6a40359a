# SPDX-License-Identifier: Apache-2.0
"""Drawings out of characters: sparklines, bars, curves, rows of shades."""

import math
from collections.abc import Sequence

from ringmaster.console.lines import Span

LEVELS = " ▁▂▃▄▅▆▇█"
EIGHTHS = " ▏▎▍▌▋▊▉█"
SHADES = " ░▒▓█"
BRAILLE = 0x2800
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bit of each of a character's dots, by row and column."""


def spark(values: Sequence[float], width: int, low: float = 0.0, high: float | None = None) -> str:
    """The course of ``values``, newest at the right end, each column the largest of the values that share it.

    Scaled from ``low`` to ``high``, or to the largest value. What is above ``low`` at all shows; NaN is a gap; where
    there are fewer values than columns, the left is empty.
    """
    columns = _columns(values, width)
    finite = [value for value in columns if not math.isnan(value)]
    top = max(finite, default=low) if high is None else high
    span = top - low
    return "".join(_level(value - low, span) for value in columns).rjust(width)


def _columns(values: Sequence[float], width: int) -> list[float]:
    """The largest of every group of values; groups are counted from the newest."""
    group = max(1, math.ceil(len(values) / max(1, width)))
    start = len(values) % group
    groups = ([values[:start]] if start else []) + [values[i : i + group] for i in range(start, len(values), group)]
    return [max((value for value in part if not math.isnan(value)), default=math.nan) for part in groups]


def _level(value: float, span: float) -> str:
    if math.isnan(value):
        return " "
    if value <= 0 or span <= 0:
        return LEVELS[1]
    return LEVELS[min(8, max(2, math.ceil(8 * value / span)))]


def bar(share: float, width: int) -> str:
    """A horizontal bar of ``share`` (0–1) of ``width``, in eighths of a character."""
    eighths = round(min(1.0, max(0.0, share)) * width * 8) if math.isfinite(share) else 0
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (EIGHTHS[rest] if rest else "")).ljust(width)


def bars(values: Sequence[float], rows: int, columns: int, largest: float | None = None) -> list[str]:
    """Lines of text with one bar for each value, up or down from the middle, scaled to ``largest``; NaN has none.

    More values than ``columns`` are put together, the one that is furthest from zero standing for its group.
    """
    group = max(1, math.ceil(len(values) / columns))
    finite = [0.0 if math.isnan(value) else value for value in values]
    heights = [max(finite[i : i + group], key=abs) for i in range(0, len(finite), group)]
    scale = largest or max(map(abs, heights), default=0.0) or 1.0
    levels = [round(min(1.0, max(-1.0, height / scale)) * rows) for height in heights]
    width = bar_width(len(levels), columns)
    gap = " " if width > 1 else ""
    lines = []
    for row in range(rows):
        top, bottom = rows - 2 * row, rows - 2 * row - 1
        cells = (_cell(_covers(level, top), _covers(level, bottom)) * (width - len(gap)) + gap for level in levels)
        lines.append("".join(cells).rstrip())
    return lines


def bar_width(bar_count: int, columns: int) -> int:
    """Characters for each bar and its gap."""
    return max(1, min(16, columns // max(1, bar_count)))


def _covers(level: int, half_row: int) -> bool:
    """Whether a bar from 0 to ``level`` covers the half row whose upper edge is ``half_row``."""
    return 0 < half_row <= level or level < half_row <= 0


def _cell(top: bool, bottom: bool) -> str:
    return {(True, True): "█", (True, False): "▀", (False, True): "▄", (False, False): " "}[top, bottom]


def columns_up(shares: Sequence[float], rows: int) -> list[str]:
    """Lines of text with one column for each share (0–1), from the ground up, in eighths of a character."""
    eighths = [math.ceil(min(1.0, max(0.0, share)) * rows * 8) for share in shares]
    return ["".join(LEVELS[min(8, max(0, eighth - 8 * (rows - 1 - row)))] for eighth in eighths) for row in range(rows)]


def curve(shares: Sequence[float], rows: int) -> list[str]:
    """Lines of braille: a line through heights (0–1), two of them to a character, four dots to a row."""
    dots = rows * 4
    width = math.ceil(len(shares) / 2)
    cells = [[0] * width for _ in range(rows)]
    before = None
    for i, height in enumerate(shares):
        level = round(min(1.0, max(0.0, height)) * (dots - 1))
        low, high = (level, level) if before is None else (min(level, before), max(level, before))
        for dot in range(low + (0 if before is None or low == level else 1), high + 1):
            row, sub = divmod(dots - 1 - dot, 4)
            cells[row][i // 2] |= DOTS[sub][i % 2]
        before = level
    return ["".join(chr(BRAILLE + cell) if cell else " " for cell in line) for line in cells]


def shades(shares: Sequence[float], style: str) -> list[Span]:
    """One row of cells that are the denser the larger their share (0–1) is; the densest in bold, 0 and NaN blank."""
    spans: list[Span] = []
    for share in shares:
        level = 0 if math.isnan(share) else min(len(SHADES) - 1, math.ceil(share * (len(SHADES) - 1)))
        here = f"{style} high" if level == len(SHADES) - 1 else style
        if spans and spans[-1].style == here:
            spans[-1] = Span(spans[-1].text + SHADES[level], here)
        else:
            spans.append(Span(SHADES[level], here))
    return spans
