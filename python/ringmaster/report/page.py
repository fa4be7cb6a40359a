# SPDX-License-Identifier: Apache-2.0
"""A report as one page that stands alone, and beside it what it was made from, as JSON.

DIR/report.html loads nothing and needs no network; DIR/report.json has all of it, DIR/NAME.json one section.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from ringmaster.report.facts import facts as facts_of_this_machine
from ringmaster.report.figures import figures
from ringmaster.report.findings import findings_part
from ringmaster.report.markup import Cell, Html, element, records, table
from ringmaster.report.plain import as_json, finite
from ringmaster.report.section import Section
from ringmaster.report.verdicts import HEADLINE_HEAD, Headline, condition_words, headline_cells

PAGE, DATA = "report.html", "report.json"
TITLE = "Ringmaster: what this machine can do"
SUMMARY_HEAD = ("bench", "figure", "what it is", "median", "spread", "target", "verdict")
MOST_LEADING, MOST_OPEN = 8, 14
"""Headlines of a bench: in the summary, and in its section before the rest is folded away."""


def write_report(
    directory: Path,
    sections: Sequence[Section],
    findings: Sequence[Mapping[str, Any]] | None = None,
    facts: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
) -> Path:
    """Makes the directory where it is not there, and returns the page. Without facts: those of this machine, now.

    Findings are those of `ringmaster doctor`, as its JSON has them; notes are of the whole, not of one section. Raises
    OSError where it cannot be written.
    """
    directory.mkdir(parents=True, exist_ok=True)
    facts = facts_of_this_machine() if facts is None else facts
    when = datetime.now().astimezone().isoformat(timespec="seconds")
    said = {"title": TITLE, "made": when, "facts": dict(facts), "findings": list(findings or ()), "notes": list(notes)}
    for section in sections:
        _write_json(directory / f"{section.name}.json", as_json(section))
    _write_json(directory / DATA, {**said, "sections": [as_json(section) for section in sections]})
    parts = [_summary(sections, notes), *map(section_part, sections)]
    if findings:
        parts.append(findings_part(findings))
    parts.append(facts_part(facts))
    links = {section.name: section.title for section in sections} | ({"doctor": "Doctor"} if findings else {})
    page = document(TITLE, f"{when.replace('T', ' ')} · {_machine(facts)}", {**links, "machine": "Machine"}, parts)
    (directory / PAGE).write_text(page, encoding="utf-8")
    return directory / PAGE


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(finite(value), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _machine(facts: Mapping[str, str]) -> str:
    return ", ".join(facts[name] for name in ("CPU", "kernel") if name in facts)


def document(title: str, line: str, links: Mapping[str, str], parts: Sequence[Html]) -> str:
    """A whole page: a heading with a line under it, links to its parts by their ids, and the parts."""
    own = files("ringmaster.report")
    style, script = (Html((own / name).read_text(encoding="utf-8")) for name in ("page.css", "page.js"))
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", style),
    )
    items = [element("li", element("a", words, href=f"#{name}")) for name, words in links.items()]
    header = element("header", element("h1", title), element("button", "light / dark", id="scheme", type="button"))
    body = [header, element("p", line, class_="soft"), element("nav", element("ul", *items)), *parts]
    return "<!doctype html>\n" + element("html", head, element("body", *body, element("script", script, type="module")),
                                         lang="en")  # fmt: skip


def _summary(sections: Sequence[Section], notes: Sequence[str]) -> Html:
    """The leading headlines of all, each with a link to where it comes from."""
    rows = [row for section in sections for row in _leading_rows(section)]
    shown = records(SUMMARY_HEAD, rows, "summary") if rows else element("p", "Nothing was measured.")
    listed = element("ul", *(element("li", note) for note in notes), class_="notes") if notes else Html("")
    return element("section", element("h2", "Summary"), shown, listed, id="summary")


def leading(section: Section) -> list[Headline]:
    """Of those that were measured, the ones with a target, or where there are none, the first; not too many."""
    measured = [headline for headline in section.headlines if headline.figure is not None]
    return ([headline for headline in measured if headline.target is not None] or measured)[:MOST_LEADING]


def _leading_rows(section: Section) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    for i, headline in enumerate(leading(section)):
        name, median, spread, _, target, verdict, about = headline_cells(headline)
        first = element("a", section.title, href=f"#{section.name}") if i == 0 else ""
        rows.append([(first, ""), name, about, median, spread, target, _verdict(verdict)])
    return rows


def _verdict(verdict: str) -> Cell:
    return (verdict, verdict if verdict in ("held", "missed") else "")


def _headline_table(headlines: Sequence[Headline]) -> Html:
    rows: list[list[Cell]] = []
    for headline in headlines:
        *cells, verdict, about = headline_cells(headline)
        rows.append([*cells, _verdict(verdict), about])
    return records(HEADLINE_HEAD, rows, "headlines")


def command_part(command: str) -> Html:
    """With a button that copies it."""
    return element("div", element("code", command), element("button", "copy", type="button"), class_="command")


def section_part(section: Section) -> Html:
    """What was measured, how, and what was found."""
    parts: list[str | Html] = [element("h2", section.title)]
    if section.interrupted:
        parts.append(element("p", "Interrupted: this is what was measured until then.", class_="ended"))
    if section.about:
        parts.append(element("p", section.about))
    parts.append(command_part(section.command))
    if section.headlines:
        parts.append(_headline_table(section.headlines[:MOST_OPEN]))
    if rest := section.headlines[MOST_OPEN:]:
        parts.append(element("details", element("summary", f"{len(rest)} more"), _headline_table(rest)))
    parts += [figures(section.charts), *(table(one) for one in section.tables)]
    lines = condition_words(section.conditions) if section.conditions else []
    if lines or section.notes:
        items = [element("li", line) for line in (*lines, *section.notes)]
        parts += [element("h3", "Conditions and notes"), element("ul", *items, class_="notes")]
    link = element("a", f"{section.name}.json", href=f"{section.name}.json")
    parts.append(element("p", link, " has every figure, with options and seeds.", class_="about"))
    return element("section", *parts, id=section.name)


def facts_part(facts: Mapping[str, str]) -> Html:
    """The machine, and the programs."""
    rows = [element("tr", element("th", name, scope="row"), element("td", value)) for name, value in facts.items()]
    body = element("tbody", *rows)
    listed = element("div", element("table", body, class_="facts"), class_="scroll", tabindex="0")
    return element("section", element("h2", "Machine and programs"), listed, id="machine")
