# SPDX-License-Identifier: Apache-2.0
"""The report of `ringmaster bench twin` as a section."""

from ringmaster.bench.twin import PEER, Report
from ringmaster.report.conditions import Spread
from ringmaster.report.headlines import Figure
from ringmaster.report.section import Section, Table
from ringmaster.report.verdicts import Headline, conditions_of

MILLISECONDS = 1e3


def _spread(spread: Spread, scale: float = 1.0) -> str:
    low, high = spread.lowest * scale, spread.highest * scale
    return f"{spread.median * scale:.4g} ({low:.4g}–{high:.4g})"


def _table(report: Report) -> Table:
    rows = []
    for row in report.rows:
        times = (_spread(row.ours, MILLISECONDS), _spread(row.pyat, MILLISECONDS), _spread(row.ratios))
        other = "" if row.xtrack_s is None else f"{row.xtrack_s * MILLISECONDS:.4g}"
        name = f"{row.lattice}, {row.function}"
        rows.append((name, row.size, *times, f"{row.max_relative_difference:.1e}", other))
    title = f"The twin beside {PEER}, core {report.core}, {report.rounds} rounds: medians (lowest–highest)"
    return Table(title, ("function", "of", "ours ms", "pyAT ms", "ratio", "differs by", "xtrack ms"), rows)


def _figure(spread: Spread) -> Figure:
    return Figure(spread.median, spread.lowest, spread.highest, (0.0, 1.0), spread.count, "rounds")


def section_of(report: Report, command: str) -> Section:
    """The ratio to pyAT stands for all."""
    return Section(
        name="twin",
        title="Digital twin",
        about="The twin beside pyAT: the same lattice, one core, one process, by turns; every call follows a change of "
        "a quadrupole. The ratio is pyAT's time to ours.",
        command=command,
        headlines=[Headline(f"ratio.{row.lattice}.{row.function}", _figure(row.ratios), "×") for row in report.rows],
        tables=[_table(report)],
        conditions=conditions_of((), report.floors),
        notes=report.notes,
        interrupted=report.interrupted,
        data=report.as_json(),
    )
