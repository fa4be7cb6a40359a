# SPDX-License-Identifier: Apache-2.0
"""What the doctor found, on a page: first what is wrong, with the commands that mend it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ringmaster.report.markup import Cell, Html, element, records

ORDER = ("wrong", "could be better", "cannot be told", "good", "does not apply here")
"""Of verdicts, the worst first."""
CLASSES = {"wrong": "wrong", "could be better": "better", "good": "good"}
HEAD = ("what", "verdict", "is", "should be", "why")
COMMANDS = {"mend": "now", "keep": "from the next boot on", "boot": "on the kernel's command line"}


def of_this_host() -> list[dict[str, object]]:
    """By `ringmaster doctor --for ingest`."""
    from ringmaster.doctor.examine import examine
    from ringmaster.doctor.host import Host
    from ringmaster.doctor.uses import Use

    return [finding.as_json() for finding in examine(Host(), Use.INGEST)]


def _rank(finding: Mapping[str, Any]) -> int:
    verdict = str(finding.get("verdict", ""))
    return ORDER.index(verdict) if verdict in ORDER else len(ORDER)


def findings_part(findings: Sequence[Mapping[str, Any]]) -> Html:
    """A section of the page."""
    counted = Counter(str(finding.get("verdict", "")) for finding in findings)
    known = (*ORDER, *sorted({*counted} - {*ORDER}))
    words = ", ".join(f"{counted[verdict]} {verdict}" for verdict in known if counted[verdict])
    asked = [finding for finding in findings if _rank(finding) < ORDER.index("good")]
    rest = [finding for finding in findings if finding not in asked]
    parts = [
        element("h2", "Doctor"),
        element("p", f"The host as ringmaster doctor --for ingest found it: {words}. Nothing was changed."),
        _table(asked),
        element("details", element("summary", f"{len(rest)} more"), _table(rest)) if rest else Html(""),
        _commands(asked),
    ]
    return element("section", *parts, id="doctor")


def _table(findings: Sequence[Mapping[str, Any]]) -> Html:
    if not findings:
        return Html("")
    return records(HEAD, [_row(finding) for finding in sorted(findings, key=_rank)], "words")


def _row(finding: Mapping[str, Any]) -> list[Cell]:
    def text(key: str) -> str:
        return str(finding.get(key, "") or "")

    verdict = text("verdict")
    return [text("name"), (verdict, CLASSES.get(verdict, "plain")), *map(text, ("is_now", "should_be", "why"))]


def _lines(finding: Mapping[str, Any], key: str) -> list[str]:
    said = finding.get(key) or ()
    return [said] if isinstance(said, str) else [str(line) for line in said]


def _commands(findings: Sequence[Mapping[str, Any]]) -> Html:
    """Those that mend, each under what it mends."""
    blocks = []
    for finding in findings:
        lines = [f"# {finding.get('name', '')}: {words}\n{line}"
                 for key, words in COMMANDS.items() for line in _lines(finding, key)]  # fmt: skip
        lines += [f"# {finding.get('name', '')}: by hand: {line}" for line in _lines(finding, "by_hand")]
        blocks += lines
    if not blocks:
        return Html("")
    return element("details", element("summary", "what mends it"), element("pre", "\n".join(blocks)))
