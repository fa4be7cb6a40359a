# SPDX-License-Identifier: Apache-2.0
"""What one bench has to say: figures, tables and charts as plain data, however they are shown.

A bench makes a ``Section``; the terminal, the JSON and the page are made from it. Nothing in here draws.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ringmaster.report.headlines import Figure
from ringmaster.report.verdicts import Conditions, Headline, cell, spread_cell

Cell = str | float | Figure | None
"""What a table shows: a text as it is, a number in three digits, a figure with its spread, a dash of nothing."""
Columns = Mapping[str, Callable[[Any], Cell]]
"""By their heads: what each shows of a row."""


@dataclass(frozen=True)
class Table:
    """Rows of text under a head; the first column names the row."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    about: str = ""
    """What the reader has to know to read it; one or two sentences."""

    @classmethod
    def of(cls, title: str, rows: Iterable[Any], columns: Columns, about: str = "") -> "Table":
        """Of rows of any kind."""
        cells = [tuple(shown(column(row)) for column in columns.values()) for row in rows]
        return cls(title, tuple(columns), cells, about)


def shown(value: Cell) -> str:
    """In a cell."""
    if isinstance(value, str):
        return value
    return spread_cell(value) if isinstance(value, Figure) else cell(value)


@dataclass(frozen=True)
class Quantiles:
    """A chart of distributions: share of the values that are larger (from 1 to 1e-6, logarithmic) over the value.

    The tail is what matters, so it has as much room as the body.
    """

    title: str
    unit: str
    series: Mapping[str, Sequence[tuple[float, float]]]
    """By name: points (value, share that is larger), values rising."""
    about: str = ""


@dataclass(frozen=True)
class Lines:
    """A chart of figures over a quantity."""

    title: str
    x: str
    """Name and unit of the axis."""
    y: str
    series: Mapping[str, Sequence[tuple[float, float]]]
    """By name: points (x, y), x rising."""
    x_logarithmic: bool = False
    y_logarithmic: bool = False
    about: str = ""


@dataclass(frozen=True)
class Bars:
    """A chart of bars: a group for each category, in it a bar for each series; or one bar with the series stacked."""

    title: str
    y: str
    """Name and unit of the axis."""
    categories: Sequence[str]
    series: Mapping[str, Sequence[float]]
    """By name: a figure for each category."""
    stacked: bool = False
    y_logarithmic: bool = False
    about: str = ""


Chart = Quantiles | Lines | Bars


@dataclass
class Section:
    """One bench of one run."""

    name: str
    """As its command calls it: "rtt"."""
    title: str
    """For people: "Round trip time"."""
    about: str
    """What was measured, between what and what, and how: a paragraph."""
    command: str
    """That makes these figures again, all options spelled out."""
    headlines: list[Headline] = field(default_factory=list)
    """The figures that stand for all, each with its spread, and its target where there is one."""
    tables: list[Table] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)
    conditions: Conditions | None = None
    """Of the machine meanwhile."""
    notes: list[str] = field(default_factory=list)
    """What did not go as it should, and what cannot be had here, and why."""
    interrupted: bool = False
    data: dict[str, object] = field(default_factory=dict)
    """What else belongs into the JSON: options, seed, every repeat."""
