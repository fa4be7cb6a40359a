# SPDX-License-Identifier: Apache-2.0
"""A report as one page that stands alone, and beside it what it was made from, as JSON.

DIR/report.html loads nothing and needs no network; DIR/report.json has all of it, DIR/NAME.json one section.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ringmaster.report.facts import facts as facts_of_this_machine
from ringmaster.report.findings import HEAD, Findings
from ringmaster.report.plain import as_json, finite
from ringmaster.report.rendering import render
from ringmaster.report.section import Section
from ringmaster.report.verdicts import HEADLINE_HEAD, Headline, headline_cells

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
    links = {section.name: section.title for section in sections} | ({"doctor": "Doctor"} if findings else {})
    page = render(
        "page.html",
        title=TITLE,
        line=f"{when.replace('T', ' ')} · {_machine(facts)}",
        links={**links, "machine": "Machine"},
        summary_head=SUMMARY_HEAD,
        summary=[row for section in sections for row in _leading_rows(section)],
        notes=notes,
        sections=sections,
        headline_head=HEADLINE_HEAD,
        most_open=MOST_OPEN,
        findings=Findings.of(findings or ()),
        findings_head=HEAD,
        facts=facts,
    )
    (directory / PAGE).write_text(page, encoding="utf-8")
    return directory / PAGE


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(finite(value), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _machine(facts: Mapping[str, str]) -> str:
    return ", ".join(facts[name] for name in ("CPU", "kernel") if name in facts)


def leading(section: Section) -> list[Headline]:
    """Of those that were measured, the ones with a target, or where there are none, the first; not too many."""
    measured = [headline for headline in section.headlines if headline.figure is not None]
    return ([headline for headline in measured if headline.target is not None] or measured)[:MOST_LEADING]


def _leading_rows(section: Section) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for i, headline in enumerate(leading(section)):
        name, median, spread, _, target, verdict, about = headline_cells(headline)
        first = Markup('<a href="#{}">{}</a>').format(section.name, section.title) if i == 0 else ""
        rows.append((first, name, about, median, spread, target, verdict))
    return rows
