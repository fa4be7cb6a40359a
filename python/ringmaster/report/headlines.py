# SPDX-License-Identifier: Apache-2.0
"""The figures of a bench that stand for all, each with its spread; and two runs side by side.

A figure is the median of so many visits, pairs of windows or probes of one run, and its spread is all of them but the
outermost tenths: from the quantile 0.1 to 0.9. A shared machine is in one of two or three states, seconds long each; of
their middle half, two runs within the same hour would often be apart. A figure that was looked at once has the middle
half of its rounds. What is counted or argued, and not timed, has a spread of half a unit either way.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median, quantiles
from typing import Any

MOST = (0.1, 0.9)
MIDDLE_HALF = (0.25, 0.75)
ALL = (0.0, 1.0)
HALF_A_UNIT = 0.5


@dataclass(frozen=True)
class Figure:
    """One figure of one run."""

    median: float
    low: float
    high: float
    quantiles: tuple[float, float] | None
    """That low and high are; None where nothing was repeated."""
    count: int
    """Of `of`."""
    of: str
    """What was repeated: "rounds", "pairs of windows", "probes", …"""


def of_values(values: Iterable[float | None], of: str) -> Figure | None:
    """Median and all but the outermost tenths, of those that there are; None of nothing."""
    there = [value for value in values if value is not None]
    if not there:
        return None
    tenths = quantiles(there, n=10, method="inclusive") if len(there) > 1 else there * 9
    middle = median(there)  # between equal values the tenths are off by a rounding
    return Figure(middle, min(tenths[0], middle), max(tenths[-1], middle), MOST, len(there), of)


def of_all(values: Sequence[float], of: str) -> Figure | None:
    """Median, least and greatest; None of nothing."""
    return Figure(median(values), min(values), max(values), ALL, len(values), of) if values else None


def exact(value: float | None, of: str) -> Figure | None:
    """What was found once, and would be found again to the unit."""
    return value if value is None else Figure(value, value - HALF_A_UNIT, value + HALF_A_UNIT, None, 1, of)


@dataclass(frozen=True)
class Compared:
    """One figure of two runs."""

    name: str
    first: Figure | None
    second: Figure | None

    @property
    def verdict(self) -> str:
        """One word: within (each median lies in the other's spread), overlap (the spreads do), apart, not measured."""
        one, other = self.first, self.second
        if one is None or other is None:
            return "not measured"
        if other.low <= one.median <= other.high and one.low <= other.median <= one.high:
            return "within"
        return "overlap" if one.low <= other.high and other.low <= one.high else "apart"


class NotAReport(ValueError):
    """Something is not what --json or --report of a bench wrote; the text says what was found."""


def figures_of(said: Any) -> dict[str, Figure | None]:
    """The figures of a run, by name, from its JSON. Raises NotAReport."""
    try:
        return {name: None if figure is None else figure_of(figure) for name, figure in said["spreads"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotAReport(f"found no spreads in it ({error!r})") from error


def figure_of(said: Mapping[str, Any]) -> Figure:
    """From its JSON."""
    between = said["quantiles"]
    return Figure(
        median=float(said["median"]),
        low=float(said["low"]),
        high=float(said["high"]),
        quantiles=None if between is None else (float(between[0]), float(between[1])),
        count=int(said["count"]),
        of=str(said["of"]),
    )


def as_json(compared: Sequence[Compared]) -> dict[str, object]:
    """By name: both figures, and the verdict."""
    return {row.name: {**asdict(row), "verdict": row.verdict} for row in compared}


def figure_words(figure: Figure | None) -> str:
    """Median, spread, and of how many what."""
    if figure is None:
        return "–"
    return f"{figure.median:.4g} ({figure.low:.4g}–{figure.high:.4g}, {figure.count} {figure.of})"


def lines(compared: Sequence[Compared]) -> list[str]:
    """A line for each figure."""
    cells = [(row.name, figure_words(row.first), figure_words(row.second), row.verdict) for row in compared]
    widths = [max((len(row[i]) for row in cells), default=0) for i in range(3)]
    return ["  ".join((*map(str.ljust, row[:3], widths), row[3])) for row in cells]
