# SPDX-License-Identifier: Apache-2.0
"""What the doctor found, on a page: first what is wrong, with the commands that mend it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

ORDER = ("wrong", "could be better", "cannot be told", "good", "does not apply here")
"""Of verdicts, the worst first."""
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


@dataclass(frozen=True)
class Findings:
    """All that stands on the page of them; rows under HEAD, the worst first."""

    all: Sequence[Mapping[str, Any]]
    words: str
    """How many of each verdict."""
    bad: list[tuple[str, ...]]
    others: list[tuple[str, ...]]
    commands: str
    """Those that mend, each under what it mends."""

    @classmethod
    def of(cls, findings: Sequence[Mapping[str, Any]]) -> "Findings":
        """As the doctor's JSON has them."""
        counted = Counter(str(finding.get("verdict", "")) for finding in findings)
        known = (*ORDER, *sorted({*counted} - {*ORDER}))
        words = ", ".join(f"{counted[verdict]} {verdict}" for verdict in known if counted[verdict])
        ranked = sorted(findings, key=_rank)
        bad = [finding for finding in ranked if _rank(finding) < ORDER.index("good")]
        others = [finding for finding in ranked if finding not in bad]
        return cls(findings, words, [*map(_row, bad)], [*map(_row, others)], "\n".join(_commands(bad)))


def _row(finding: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(finding.get(key, "") or "") for key in ("name", "verdict", "is_now", "should_be", "why"))


def _lines(finding: Mapping[str, Any], key: str) -> list[str]:
    said = finding.get(key) or ()
    return [said] if isinstance(said, str) else [str(line) for line in said]


def _commands(findings: Sequence[Mapping[str, Any]]) -> list[str]:
    found = []
    for finding in findings:
        name = finding.get("name", "")
        found += [f"# {name}: {words}\n{line}" for key, words in COMMANDS.items() for line in _lines(finding, key)]
        found += [f"# {name}: by hand: {line}" for line in _lines(finding, "by_hand")]
    return found
