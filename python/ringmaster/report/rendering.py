# SPDX-License-Identifier: Apache-2.0
"""Pages from the templates beside this module: a text is escaped, a drawing is taken as it is."""

import re
from collections.abc import Sequence
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ringmaster.report import charts
from ringmaster.report.section import Bars, Chart, Lines, Quantiles, Section, Table
from ringmaster.report.sketch import known, quantile_table
from ringmaster.report.svg import colour, looks
from ringmaster.report.verdicts import condition_words, headline_cells, number

LONG = 24
"""Letters of a cell beyond which it is a text, not a figure."""
MOST_ROWS = 40
"""Of a table of points; of more there are those in the JSON."""


@cache
def environment() -> Environment:
    """Knows the templates, and what they ask for."""
    made = Environment(
        loader=PackageLoader("ringmaster.report", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters |= {
        "conditions": condition_lines,
        "drawn": drawn,
        "headline_cells": headline_cells,
        "legend": legend,
        "linked": linked,
        "numbers": numbers_of,
    }
    made.tests["wordy"] = wordy
    return made


def render(template: str, **values: object) -> str:
    """A whole page."""
    return environment().get_template(template).render(values)


def wordy(made: Table) -> bool:
    """Whether long texts stand in it."""
    return any(len(cell) > LONG for row in made.rows for cell in row[1:])


def linked(text: str) -> list[str]:
    """Text and addresses, by turns."""
    return re.split(r"(https?://[^\s;,”]+[^\s;,”.)])", text)


def condition_lines(section: Section) -> list[str]:
    """Conditions and notes."""
    return [*(condition_words(section.conditions) if section.conditions else ()), *section.notes]


def drawn(chart: Chart, paired: bool) -> Markup | None:
    """The <svg>; empty of nothing, None where nothing can be drawn here."""
    return Markup(charts.draw(chart, paired) or "") if charts.can_draw() else None


def legend(chart: Chart, paired: bool) -> list[tuple[str, str, bool]]:
    """Name, colour and whether it is dashed, of each series that has values."""
    styles = looks(len(chart.series), paired and not isinstance(chart, Bars))
    named = zip(chart.series.items(), styles, strict=True)
    return [(name, colour(i), is_dashed) for (name, values), (i, is_dashed) in named if values]


def numbers_of(chart: Chart) -> Table | None:
    """What is drawn, as a table; None where that would be too long."""
    if isinstance(chart, Quantiles):
        return quantile_table(chart)
    if isinstance(chart, Lines):
        return _of_lines(chart)
    rows = [
        (category, *(number(row[i]) if row[i] == row[i] else "" for row in chart.series.values()))
        for i, category in enumerate(chart.categories)
    ]
    return Table("", ("", *chart.series), rows, about=chart.y)


def _of_lines(chart: Lines) -> Table | None:
    values = {name: dict(known(points)) for name, points in chart.series.items()}
    places: Sequence[float] = sorted({x for row in values.values() for x in row})
    if len(places) > MOST_ROWS:
        return None
    rows = [(number(x), *(number(row[x]) if x in row else "" for row in values.values())) for x in places]
    return Table("", (chart.x, *values), rows, about=chart.y)
