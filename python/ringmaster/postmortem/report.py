# SPDX-License-Identifier: Apache-2.0
"""The first look at an event as one page: what happened, ranked causes with their evidence, onsets, readings, spectra.

The page loads nothing. It is made of the parts that all reports are made of.
"""

from pathlib import Path

from ringmaster.postmortem.explain import Explanation
from ringmaster.postmortem.plots import fit_charts, onset_chart, spectrum_charts, time_charts
from ringmaster.postmortem.words import (
    EVIDENCE_ABOUT,
    cause_words,
    evidence_words,
    percent_words,
    what_happened,
)
from ringmaster.report.rendering import render
from ringmaster.report.section import Section, Table

MOST_CAUSES, MOST_ONSETS = 8, 25
LEAST_PROBABLE = 1e-4


def write_report(path: Path, explanation: Explanation) -> Path:
    """Writes the page. Raises OSError where it cannot be written."""
    evidence = explanation.evidence
    sections = [
        _summary(explanation),
        _causes(explanation),
        _onsets(explanation),
        _readings(explanation),
        _setpoints(explanation),
    ]
    title = f"Event at turn {evidence.turn_zero}"
    page = render(
        "event.html",
        title=title,
        line=" · ".join(part for part in (evidence.title, evidence.source) if part) or "first look",
        links={section.name: section.title for section in sections},
        sections=sections,
    )
    path.write_text(page, encoding="utf-8")
    return path


def _summary(explanation: Explanation) -> Section:
    return Section("summary", "What happened", "\n".join(what_happened(explanation)), "")


def _causes(explanation: Explanation) -> Section:
    causes = [one for one in explanation.ranking.causes if one.probability >= LEAST_PROBABLE][:MOST_CAUSES]
    fits = {id(cause): fit for cause, fit in explanation.fits}
    rows = []
    for cause in causes:
        fit = fits.get(id(cause))
        explained = f"{100 * fit.explained:.0f} %" if fit is not None else "–"
        rows.append((cause_words(cause), percent_words(cause), evidence_words(cause.log_ratio), explained))
    head = ("cause", "probability", "evidence", "of the orbit's change")
    about = (
        f"{EVIDENCE_ABOUT} The last column is the share of the change of all BPMs, in units of their noise, that its "
        "pattern explains. Causes in one line look alike to these BPMs; `ringmaster postmortem open --json` has all "
        "their names. How causes are found, and what they mean: docs/postmortem.md."
    )
    made = Section("causes", "Causes", "", "")
    made.about = (
        f"{explanation.ranking.tried} single causes were tried, each with any size, onset and course. "
        "Every BPM moves within a turn, so causes are ranked by their patterns and not by the order of onsets."
    )
    made.tables.append(Table("", head, rows, about))
    made.charts += fit_charts(explanation)
    made.notes += explanation.ranking.notes
    return made


def _onsets(explanation: Explanation) -> Section:
    evidence = explanation.evidence
    found = [one for one in explanation.onsets if one.turn is not None]
    none = sum(1 for one in explanation.onsets if one.turn is None and not one.why_not)
    apart = [one for one in explanation.onsets if one.why_not]
    rows = [
        (
            one.name,
            str(one.turn),
            f"{(one.turn or 0) - evidence.turn_zero:+d}",
            f"± {max(one.sigma_turns, 0.5):.1f}",
            f"{evidence.ms((one.turn or 0) - evidence.turn_zero):+.3f}",
        )
        for one in found[:MOST_ONSETS]
    ]
    about = (
        f"{len(found)} lanes have an onset, {none} have none, {len(apart)} are not judged. Without an event about one "
        "lane in a thousand has an onset by chance. An onset within another's uncertainty is no order."
    )
    head = ("lane", "turn", "after turn zero", "turns", "ms")
    made = Section("onsets", "Onsets", about, "")
    if rows:
        made.charts.append(onset_chart(evidence, found))
        made.tables.append(Table(f"The first {len(rows)}" if len(found) > len(rows) else "", head, rows))
    reasons = dict.fromkeys(one.why_not for one in apart)
    made.notes += [f"{sum(o.why_not == why for o in apart)} lanes are not judged: {why}" for why in reasons]
    return made


def _readings(explanation: Explanation) -> Section:
    made = Section("readings", "Readings about turn zero", "", "")
    made.about = (
        "Of each kind of stream the lanes that changed most, less their value of before; and BPM spectra before."
    )
    made.charts += [*time_charts(explanation), *spectrum_charts(explanation)]
    return made


def _setpoints(explanation: Explanation) -> Section:
    evidence = explanation.evidence
    made = Section("setpoints", "Setpoints and refusals", "", "")
    if evidence.sent is None:
        made.notes.append("Setpoints that were sent are not in this evidence.")
    else:
        sent = evidence.sent
        change = abs(sent.values - sent.values[0]).max(axis=0)
        order = sorted(range(len(sent.names)), key=lambda i: -change[i])[:12]
        rows = [(sent.names[i], f"{sent.values[0, i]:.5g}", f"{sent.values[-1, i]:.5g}", sent.units[i]) for i in order]
        made.tables.append(Table("Sent: those that changed most", ("supply", "first", "last", "unit"), rows))
    if evidence.refusals:
        said = [("" if note.turn is None else str(note.turn), note.text) for note in evidence.refusals]
        made.tables.append(Table("Refusals of the guard", ("turn", "what"), said))
    else:
        made.notes.append("The guard refused nothing, or its refusals are not in this evidence.")
    return made
