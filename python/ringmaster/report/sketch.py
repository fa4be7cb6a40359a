# SPDX-License-Identifier: Apache-2.0
"""A chart of distributions in words and characters: for a terminal, and as the table under a drawn one."""

import math
from collections.abc import Sequence

from ringmaster.report.section import Quantiles, Table
from ringmaster.report.verdicts import number

SHARES = (0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6)
HEAD = ("p50", "p90", "p99", "p99.9", "p99.99", "p99.999", "p99.9999")
COLUMNS = 72
"""Of a sketch's axis."""
LEGEND = "├─█─┤ p10, median, p90; ··· to p99.9; | max; logarithmic"

Points = Sequence[tuple[float, float]]


def known(points: Points) -> list[tuple[float, float]]:
    """Without those that are no numbers."""
    return [(x, y) for x, y in points if math.isfinite(x) and math.isfinite(y)]


def value_at(points: Points, larger: float) -> float | None:
    """The smallest value of which at most this share is larger; None where the points do not reach so far."""
    return next((value for value, share in known(points) if share <= larger), None)


def quantile_table(chart: Quantiles) -> Table:
    """A row for each series; the cell is empty where there were too few values for such a quantile."""
    rows = []
    for name, points in chart.series.items():
        cells = [value_at(points, share) for share in SHARES]
        smallest = min((share for _, share in known(points) if share > 0), default=1.0)
        reached = [value if share >= smallest else None for value, share in zip(cells, SHARES, strict=True)]
        most = max((value for value, _ in known(points)), default=None)
        rows.append((name, *("" if value is None else number(value) for value in (*reached, most))))
    return Table(f"{chart.title}, {chart.unit}", ("", *HEAD, "max"), rows)


def sketch(chart: Quantiles) -> list[str]:
    """A line for each series on one logarithmic axis, under its ends; nothing where there is nothing to tell apart."""
    shown = {name: known(points) for name, points in chart.series.items()}
    values = [value for points in shown.values() for value, _ in points if value > 0]
    if not values or min(values) == max(values):
        return []
    low, high = math.log(min(values)), math.log(max(values))

    def column(value: float | None) -> int | None:
        if value is None or value <= 0:
            return None
        return round((COLUMNS - 1) * (math.log(value) - low) / (high - low))

    width = max(map(len, shown))
    ends = f"{number(math.exp(low))} {chart.unit}", f"{number(math.exp(high))} {chart.unit}"
    lines = [" " * width + "  " + ends[0] + ends[1].rjust(COLUMNS - len(ends[0]))]
    for name, points in shown.items():
        marks = [column(value_at(points, share)) for share in (0.9, 0.5, 0.1, 1e-3)]
        most = column(max((value for value, _ in points), default=None))
        lines.append(f"{name:<{width}}  {_line(marks, most)}".rstrip())
    return lines


def _line(marks: Sequence[int | None], most: int | None) -> str:
    """Marks are those of p10, p50, p90, p99.9; what is not known stands where the largest is."""
    if most is None:
        return "nothing measured"
    cells = [" "] * COLUMNS
    p10, p50, p90, p999 = (most if mark is None else mark for mark in marks)
    cells[p90 : p999 + 1] = "·" * (p999 + 1 - p90)
    cells[p10 : p90 + 1] = "─" * (p90 + 1 - p10)
    for mark, sign in ((most, "|"), (p10, "├"), (p90, "┤"), (p50, "█")):
        cells[mark] = sign
    return "".join(cells)
