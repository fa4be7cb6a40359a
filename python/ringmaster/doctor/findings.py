# SPDX-License-Identifier: Apache-2.0
"""What the doctor says of one thing: plain data, however it is shown."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What a finding comes to, the worst first."""

    WRONG = "wrong"
    """The use will suffer, or fail."""
    BETTER = "could be better"
    UNKNOWN = "cannot be told"
    """Not readable by this user, or the kernel does not say."""
    GOOD = "good"
    ABSENT = "does not apply here"

    @property
    def rank(self) -> int:
        """0 is the worst."""
        return list(Verdict).index(self)


@dataclass(frozen=True)
class Finding:
    """One check's answer."""

    name: str
    """As `ringmaster doctor NAME` takes it: "hugepages"."""
    area: str
    """Which of AREAS it belongs to."""
    verdict: Verdict
    is_now: str
    """What is; with "cannot be told", why not."""
    should_be: str = ""
    """For the chosen use."""
    mend: tuple[str, ...] = ()
    """Commands of the shell that mend it at once, until the next boot; one may have several lines."""
    keep: tuple[str, ...] = ()
    """Commands that make it stay."""
    boot: tuple[str, ...] = ()
    """Arguments that the kernel's command line should have from the next boot on."""
    by_hand: str = ""
    """What no command can do, or what nobody should do without thinking: firmware settings, cables, cards."""
    why: str = ""
    """Why it matters: one or two sentences."""
    source: str = ""
    """Which document teaches it."""

    def as_json(self) -> dict[str, object]:
        """The same by name."""
        return asdict(self) | {"verdict": str(self.verdict)}


def count(findings: Iterable[Finding]) -> Counter[Verdict]:
    """How many of each verdict."""
    return Counter(finding.verdict for finding in findings)


def summary(findings: Iterable[Finding]) -> str:
    """In words: "2 wrong, 5 could be better, 30 good"."""
    counted = count(findings)
    words = {verdict: str(verdict) for verdict in Verdict} | {Verdict.ABSENT: "not here"}
    return ", ".join(f"{counted[verdict]} {words[verdict]}" for verdict in Verdict if counted[verdict])
