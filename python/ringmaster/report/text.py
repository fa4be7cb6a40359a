# SPDX-License-Identifier: Apache-2.0
"""A section for people at a terminal."""

import sys

from rich.console import Console

from ringmaster.report import verdicts
from ringmaster.report.section import Quantiles, Section, Table
from ringmaster.report.sketch import LEGEND, sketch


def print_section(section: Section, console: Console | None = None) -> None:
    """Headlines, tables, a sketch of each distribution, conditions, notes; and where the charts are to be had."""
    console = console or Console(width=None if sys.stdout.isatty() else verdicts.WIDTH, highlight=False)
    if section.headlines:
        console.print(verdicts.headline_table(section.title, section.headlines), "")
    for table in section.tables:
        _print_table(console, table)
    for chart in section.charts:
        if isinstance(chart, Quantiles) and (lines := sketch(chart)):
            console.print(chart.title, style="bold", markup=False)
            _print_plain(console, *lines, LEGEND, "")
    if section.conditions is not None:
        _print_plain(console, *verdicts.condition_words(section.conditions))
    _print_plain(console, *(f"note: {note}" for note in section.notes))
    if section.charts:
        _print_plain(console, f"charts, drawn by --report DIR: {'; '.join(chart.title for chart in section.charts)}")


def _print_table(console: Console, table: Table) -> None:
    console.print(verdicts.table(table.title, table.head, table.rows))
    if table.about:
        console.print(table.about, style="dim", markup=False)
    console.print()


def _print_plain(console: Console, *lines: str) -> None:
    for line in lines:
        console.print(line, markup=False)
