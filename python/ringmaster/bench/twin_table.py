# SPDX-License-Identifier: Apache-2.0
"""The report of `ringmaster bench twin`, for people."""

from rich.console import Console
from rich.table import Table

from ringmaster.bench.conditions import Spread
from ringmaster.bench.twin import PEER, Report

WIDTH = 150
MILLISECONDS = 1e3


def _spread(spread: Spread, scale: float = 1.0) -> str:
    low, high = spread.lowest * scale, spread.highest * scale
    return f"{spread.median * scale:.4g} ({low:.4g}–{high:.4g})"


def print_report(report: Report) -> None:
    """Prints one table, and what has to be known of it."""
    console = Console(width=WIDTH, highlight=False)
    title = f"The twin beside {PEER}, core {report.core}, {report.rounds} rounds: medians (lowest–highest)"
    table = Table(title=title, title_justify="left", title_style="bold")
    for i, name in enumerate(("lattice", "function", "", "ours ms", "pyAT ms", "ratio", "differs by", "xtrack ms")):
        table.add_column(name, justify="left" if i < 3 else "right")
    for row in report.rows:
        times = (_spread(row.ours, MILLISECONDS), _spread(row.pyat, MILLISECONDS), _spread(row.ratios))
        other = "" if row.xtrack_s is None else f"{row.xtrack_s * MILLISECONDS:.4g}"
        table.add_row(row.lattice, row.function, row.size, *times, f"{row.max_relative_difference:.1e}", other)
    console.print(table)
    for note in report.notes:
        console.print(f"note: {note}")
