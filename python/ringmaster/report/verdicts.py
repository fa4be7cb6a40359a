# SPDX-License-Identifier: Apache-2.0
"""Figures held against their targets, and what stands beside them: conditions, and a bar that moves meanwhile."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from ringmaster.report.conditions import StallFloor
from ringmaster.report.headlines import Figure, of_all

WIDTH = 132
HEADLINE_HEAD = ("", "median", "spread", "of", "target", "verdict", "what it is")


@dataclass(frozen=True)
class Headline:
    """One figure that stands for all."""

    name: str
    figure: Figure | None
    unit: str
    target: float | None = None
    at_most: bool = True
    """Otherwise the target is the least that it may be."""
    about: str = ""

    @property
    def verdict(self) -> str:
        """One word or two: held, missed, not measured; "" where there is no target."""
        if self.figure is None:
            return "not measured"
        if self.target is None:
            return ""
        held = self.figure.median <= self.target if self.at_most else self.figure.median >= self.target
        return "held" if held else "missed"

    @property
    def factor(self) -> float | None:
        """By which the target is missed, above 1; or what is left of it, below 1."""
        if self.figure is None or not self.target or self.figure.median <= 0:
            return None
        return self.figure.median / self.target if self.at_most else self.target / self.figure.median

    @property
    def words(self) -> str:
        """Its target."""
        return "" if self.target is None else f"{'≤' if self.at_most else '≥'} {self.target:g}"


@dataclass(frozen=True)
class Conditions:
    """What the machine was like."""

    core_to_core_ns: Figure | None
    """Round trips of a cache line between the two cores, of all probes."""
    stall_floors: tuple[StallFloor, ...]
    """Before and after."""
    core_share: Figure | None = None
    """Of its core that each program had which polls, 0–1, of all rounds; None where nobody polled, or looked."""


def conditions_of(
    probes_ns: Sequence[float], floors: Sequence[StallFloor], core_shares: Sequence[float] = ()
) -> Conditions:
    """Of all that was seen, which may be nothing."""
    return Conditions(of_all(probes_ns, "probes"), tuple(floors), of_all(core_shares, "looks"))


def as_json(headlines: Sequence[Headline]) -> dict[str, Any]:
    """The figures by name; `spreads`, which `bench compare` reads; and the verdicts."""
    return {
        **_nested({row.name: row.figure.median if row.figure else None for row in headlines}),
        "spreads": {row.name: asdict(row.figure) if row.figure else None for row in headlines},
        "targets": {
            row.name: {"target": row.target, "at_most": row.at_most, "verdict": row.verdict, "factor": row.factor}
            for row in headlines
            if row.target is not None
        },
    }


def _nested(medians: Mapping[str, float | None]) -> dict[str, Any]:
    """What is called "a.b" is there as {"a": {"b": …}}, too, where nothing is called "a"."""
    found: dict[str, Any] = dict(medians)
    for name, value in medians.items():
        *path, last = name.split(".")
        if any(".".join(path[:depth]) in medians for depth in range(1, len(path) + 1)):
            continue
        place = found
        for part in path:
            place = place.setdefault(part, {})
        place[last] = value
    return found


def number(value: float) -> str:
    """Three digits, without an exponent."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def cell(value: float | None, scale: float = 1.0) -> str:
    """The same over the scale; a dash of nothing."""
    return "–" if value is None else number(value / scale)


def spread_cell(figure: Figure | None, scale: float = 1.0) -> str:
    """Median and spread, over the scale."""
    if figure is None:
        return "–"
    return f"{cell(figure.median, scale)} ({cell(figure.low, scale)}–{cell(figure.high, scale)})"


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """The first column to the left, the others to the right. Text is text: no brackets are read as rich's markup.

    Where a terminal is too narrow a cell has several lines: no figure is cut off.
    """
    made = Table(title=escape(title), title_justify="left", title_style="bold")
    for i, name in enumerate(head):
        made.add_column(escape(name), justify="left" if i == 0 else "right", overflow="fold")
    for row in rows:
        made.add_row(*map(escape, row))
    return made


def headline_table(title: str, headlines: Sequence[Headline]) -> Table:
    """Each with its spread, its target and the verdict."""
    return table(title, HEADLINE_HEAD, [headline_cells(row) for row in headlines])


def headline_cells(row: Headline) -> tuple[str, ...]:
    """Under HEADLINE_HEAD."""
    shown = ("–", "", "") if row.figure is None else _shown(row.figure, row.unit)
    return row.name, *shown, row.words, row.verdict, row.about


def _shown(figure: Figure, unit: str) -> tuple[str, str, str]:
    spread = f"{number(figure.low)}–{number(figure.high)}"
    return f"{number(figure.median)} {unit}".strip(), spread, f"{figure.count} {figure.of}"


def condition_words(conditions: Conditions) -> list[str]:
    """A line for each."""
    lines = []
    if (probes := conditions.core_to_core_ns) is not None:
        span = f"{probes.low:.0f}–{probes.high:.0f}"
        lines.append(f"core to core {probes.median:.0f} ns there and back ({span}, {probes.count} probes)")
    for floor in conditions.stall_floors:
        rate = f"{floor.over_10us_per_second:.0f} gaps over 10 µs a second"
        lines.append(f"stall floor: longest {floor.longest_us:.0f} µs, {rate}, in {floor.seconds:g} s")
    if (share := conditions.core_share) is not None:
        span = f"{share.low:.1%}–{share.high:.1%}, seen {share.count} times"
        lines.append(f"share of the core: programs that poll had {share.median:.1%} ({span})")
    return lines


@contextmanager
def bar(what: str, total: int) -> Iterator[tuple[Callable[[str], None], Callable[[], None]]]:
    """How far it is: on a terminal a bar, with the lines above it. Gives how to say a line, and how to step on."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task(what, total=total)
        yield lambda line: console.print(line, markup=False), lambda: progress.advance(task)
