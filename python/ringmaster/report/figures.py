# SPDX-License-Identifier: Apache-2.0
"""Charts on a page: each with its title, its legend, and the numbers behind it."""

from collections.abc import Sequence

from ringmaster.report import charts as drawing
from ringmaster.report.markup import Html, element, table
from ringmaster.report.section import Bars, Chart, Lines, Quantiles, Table
from ringmaster.report.sketch import known, quantile_table
from ringmaster.report.svg import colour, looks
from ringmaster.report.verdicts import number

MOST_ROWS = 40
"""Of a table of points; of more there are those in the JSON."""
WITHOUT = "Not drawn: drawing needs matplotlib, which is not installed here. The figures are in the JSON."


def figures(charts: Sequence[Chart]) -> Html:
    """All of them, side by side where there is room."""
    return element("div", *map(figure, charts), class_="charts") if charts else Html("")


def figure(chart: Chart, paired: bool = False) -> Html:
    """One. Paired: of curves, two that follow each other belong together."""
    parts = [element("h3", chart.title)]
    if not drawing.can_draw():
        parts.append(element("p", WITHOUT, class_="soft"))
    elif (svg := drawing.draw(chart, paired)) is None:
        parts.append(element("p", "Nothing measured.", class_="soft"))
    else:
        parts += [_legend(chart, paired), element("div", Html(svg), class_="scroll", tabindex="0")]
    if chart.about:
        parts.append(element("p", chart.about, class_="about"))
    if (numbers := numbers_of(chart)) is not None:
        parts.append(element("details", element("summary", "numbers"), table(numbers, caption=False)))
    return element("figure", *parts)


def _legend(chart: Chart, paired: bool) -> Html:
    styles = looks(len(chart.series), paired and not isinstance(chart, Bars))
    items = [
        element("li", name, style=f"--own: {colour(i)}", class_="dashed" if is_dashed else "solid")
        for (name, values), (i, is_dashed) in zip(chart.series.items(), styles, strict=True)
        if values
    ]
    return element("ul", *items, class_="legend")


def numbers_of(chart: Chart) -> Table | None:
    """What is drawn, as a table; None where that would be too long."""
    if isinstance(chart, Quantiles):
        return quantile_table(chart)
    if isinstance(chart, Lines):
        return _of_lines(chart)
    return _of_bars(chart)


def _of_lines(chart: Lines) -> Table | None:
    values = {name: dict(known(points)) for name, points in chart.series.items()}
    places = sorted({x for row in values.values() for x in row})
    if len(places) > MOST_ROWS:
        return None
    rows = [(number(x), *(number(row[x]) if x in row else "" for row in values.values())) for x in places]
    return Table("", (chart.x, *values), rows, about=chart.y)


def _of_bars(chart: Bars) -> Table:
    rows = [
        (category, *(number(row[i]) if row[i] == row[i] else "" for row in chart.series.values()))
        for i, category in enumerate(chart.categories)
    ]
    return Table("", ("", *chart.series), rows, about=chart.y)
