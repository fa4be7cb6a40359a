# SPDX-License-Identifier: Apache-2.0
"""What an event came from: its causes, written into the catalogue, and its report."""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from ringmaster.errors import TwinError
from ringmaster.postmortem.causes import Cause, Ranking, rank_causes
from ringmaster.postmortem.event import Event
from ringmaster.postmortem.event_evidence import evidence_of
from ringmaster.postmortem.evidence import Evidence

REPORT = "report.html"
SHOWN = 5


@dataclass(frozen=True)
class Explained:
    """What was found."""

    evidence: Evidence
    ranking: Ranking | None
    why_not: str
    """Why no causes could be ranked; empty where they were."""

    @property
    def verdict(self) -> str:
        """The first cause, in words."""
        return self.ranking.verdict.title if self.ranking else f"not judged: {self.why_not}"

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The likeliest ones."""
        return self.ranking.causes[:SHOWN] if self.ranking else ()


def explain(event: Event) -> Explained:
    """Ranks the causes. Raises NothingKept, ValueError for damaged files, OSError."""
    evidence = evidence_of(event)
    try:
        return Explained(evidence, rank_causes(evidence), "")
    except (ValueError, TwinError, np.linalg.LinAlgError) as error:
        return Explained(evidence, None, " ".join(str(error).split()))


def write_report(event: Event, explained: Explained) -> Path | None:
    """The page, in the event's folder; None where this package has no reports."""
    if find_spec("ringmaster.postmortem.report") is None:
        return None
    from importlib import import_module

    path = event.folder / REPORT
    import_module("ringmaster.postmortem.report").write_report(explained.evidence, path)
    return path
