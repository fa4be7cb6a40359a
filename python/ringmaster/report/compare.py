# SPDX-License-Identifier: Apache-2.0
"""Two runs side by side: JSON of one bench each, or whole reports; on a terminal, and as a page."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ringmaster.report.headlines import Compared, Figure, NotAReport, as_json, figure_words, figures_of
from ringmaster.report.page import DATA
from ringmaster.report.plain import NotASection, finite, of_json
from ringmaster.report.rendering import render
from ringmaster.report.section import Bars, Chart, Section

PAGE, COMPARED = "compare.html", "compare.json"
TITLE = "Ringmaster: two runs side by side"


@dataclass(frozen=True)
class Run:
    """What was read of one run."""

    label: str
    figures: Mapping[str, Figure | None]
    sections: Mapping[str, Section] = field(default_factory=dict)
    """By name; none where the JSON has figures alone."""
    facts: Mapping[str, str] = field(default_factory=dict)
    made: str = ""
    is_whole: bool = False
    """A report, not one bench's JSON: its figures have their bench's name before them."""


def read(path: Path) -> Run:
    """A directory that --report made, its report.json, or the JSON of one bench. Raises NotAReport, or OSError."""
    if path.is_dir():
        if not (path / DATA).exists():
            raise NotAReport(f"{path}: found no {DATA}, expected a directory that --report wrote")
        path = path / DATA
    try:
        said = json.loads(path.read_text())
        return _whole(path, said) if isinstance(said, dict) and "sections" in said else _single(path, said)
    except ValueError as error:
        raise NotAReport(f"{path}: {error}; expected what --json or --report of a bench wrote") from error


def _single(path: Path, said: Any) -> Run:
    figures = figures_of(said)
    try:
        section = of_json(said)
    except NotASection:
        return Run(path.stem, figures)
    return Run(path.stem, figures, {section.name: section})


def _whole(path: Path, said: Mapping[str, Any]) -> Run:
    if not isinstance(said["sections"], list):
        raise NotAReport("found no sections in it")
    sections = {section.name: section for section in map(of_json, said["sections"])}
    figures = {f"{name}/{row.name}": row.figure for name, section in sections.items() for row in section.headlines}
    facts = {str(name): str(value) for name, value in dict(said.get("facts") or {}).items()}
    return Run(path.resolve().parent.name, figures, sections, facts, str(said.get("made", "")), True)


def read_both(first: Path, second: Path) -> tuple[Run, Run]:
    """Labelled so that they can be told apart. Raises NotAReport, or OSError."""
    one, other = read(first), read(second)
    if one.is_whole != other.is_whole:
        raise NotAReport(f"{first}, {second}: found a report and the JSON of one bench, expected two of a kind")
    if one.label == other.label:
        one, other = replace(one, label="first"), replace(other, label="second")
    return one, other


def compare(one: Run, other: Run) -> list[Compared]:
    """Every figure that either of them has, in the order of the first."""
    names = _union(one.figures, other.figures)
    return [Compared(name, one.figures.get(name), other.figures.get(name)) for name in names]


def _union(one: Iterable[str], other: Iterable[str]) -> list[str]:
    return list(dict.fromkeys([*one, *other]))


def write_comparison(directory: Path, one: Run, other: Run) -> Path:
    """Makes the directory where it is not there, and returns the page. Raises OSError where it cannot be written."""
    directory.mkdir(parents=True, exist_ok=True)
    compared = compare(one, other)
    said = json.dumps(finite(as_json(compared)), ensure_ascii=False, indent=1)
    (directory / COMPARED).write_text(said + "\n", encoding="utf-8")
    names = _union(one.sections, other.sections)
    links = {name: (one.sections.get(name) or other.sections[name]).title for name in names}
    page = render(
        "compare.html",
        title=TITLE,
        line=" beside ".join(f"{run.label}{f' ({run.made})' if run.made else ''}" for run in (one, other)),
        links={"summary": "Summary", **links},
        labels=[one.label, other.label],
        summary=[(row.name, figure_words(row.first), figure_words(row.second), row.verdict) for row in compared],
        pairs=[_pair(name, one, other) for name in names],
        facts=[(name, one.facts.get(name, ""), other.facts.get(name, "")) for name in _union(one.facts, other.facts)],
    )
    (directory / PAGE).write_text(page, encoding="utf-8")
    return directory / PAGE


def _pair(name: str, one: Run, other: Run) -> dict[str, object]:
    """A section of both, or of one of them: its charts in one another, its tables side by side."""
    here = [(run.label, run.sections[name]) for run in (one, other) if name in run.sections]
    sections = [section for _, section in here]
    titles = dict.fromkeys(made.title for section in sections for made in section.tables)
    return {
        "name": name,
        "title": sections[0].title,
        "about": sections[0].about,
        "runs": here,
        "charts": overlaid(sections[0].charts, sections[1].charts, one.label, other.label) if len(here) == 2 else [],
        "tables": [
            [(label, made) for label, section in here for made in section.tables if made.title == title]
            for title in titles
        ],
    }


def overlaid(first: Sequence[Chart], second: Sequence[Chart], one: str, other: str) -> list[Chart]:
    """Charts that both have, in one: of lines each name twice, one after the other; of bars each category twice."""
    charts: list[Chart] = []
    for chart in first:
        beside = next((it for it in second if type(it) is type(chart) and it.title == chart.title), None)
        if isinstance(chart, Bars) and isinstance(beside, Bars):
            charts.append(_bars(chart, beside, one, other))
        elif beside is not None and not isinstance(chart, Bars) and not isinstance(beside, Bars):
            charts.append(_curves(chart, beside, one, other))
    return charts


def _curves(chart: Any, beside: Any, one: str, other: str) -> Chart:
    series = {}
    for name in _union(chart.series, beside.series):
        series[f"{name}, {one}"] = chart.series.get(name, [])
        series[f"{name}, {other}"] = beside.series.get(name, [])
    return replace(chart, series=series)  # type: ignore[no-any-return]


def _bars(chart: Bars, beside: Bars, one: str, other: str) -> Bars:
    categories = _union(chart.categories, beside.categories)

    def values(of: Bars, name: str, category: str) -> float:
        row = of.series.get(name)
        return row[of.categories.index(category)] if row is not None and category in of.categories else float("nan")

    series = {name: [values(of, name, category) for category in categories for of in (chart, beside)]
              for name in _union(chart.series, beside.series)}  # fmt: skip
    return replace(chart, categories=[f"{it}, {run}" for it in categories for run in (one, other)], series=series)
