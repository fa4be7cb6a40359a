# SPDX-License-Identifier: Apache-2.0
"""The first look at an event of the catalogue: its causes, and its report."""

import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ringmaster.errors import TwinError
from ringmaster.postmortem import report
from ringmaster.postmortem.causes import Cause, Ranking, rank_causes
from ringmaster.postmortem.event import Event
from ringmaster.postmortem.event_evidence import evidence_of
from ringmaster.postmortem.evidence import Evidence
from ringmaster.postmortem.explain import Explanation, Say, explain
from ringmaster.postmortem.words import cause_words

REPORT = "report.html"
SHOWN, LEAST_SHOWN = 5, 1e-3
"""So many causes are named at most, and none that is less probable but the first."""
STEPS = 4
"""That are told of on the way to a report."""


@dataclass(frozen=True)
class FirstLook:
    """What was found."""

    evidence: Evidence
    ranking: Ranking | None
    why_not: str
    """Why no causes could be ranked; empty where they were."""
    explanation: Explanation | None = None
    """What the report is made from."""

    @property
    def verdict(self) -> str:
        """The first cause, in words."""
        return cause_words(self.ranking.verdict) if self.ranking else f"not judged: {self.why_not}"

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The likeliest ones."""
        causes = self.ranking.causes[:SHOWN] if self.ranking else ()
        return tuple(cause for i, cause in enumerate(causes) if i == 0 or cause.probability >= LEAST_SHOWN)


def look_at(event: Event, say: Say = lambda _: None) -> FirstLook:
    """Ranks the causes; ``say`` is told what is done next.

    Raises NothingKept, ValueError for damaged files, OSError.
    """
    say("reading the streams")
    evidence = evidence_of(event)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a rate with too few records has no mean
            return _judged(evidence, say)
    except (ValueError, TwinError, np.linalg.LinAlgError) as error:
        return FirstLook(evidence, None, " ".join(str(error).split()))


def _judged(evidence: Evidence, say: Say) -> FirstLook:
    try:
        explanation = explain(evidence, say)
    except np.linalg.LinAlgError:  # a lane that never moves has no background
        return FirstLook(evidence, rank_causes(evidence), "")
    return FirstLook(evidence, explanation.ranking, "", explanation)


def write_report(event: Event, look: FirstLook) -> Path | None:
    """The page, in the event's folder; None where nothing was judged."""
    return None if look.explanation is None else report.write_report(event.folder / REPORT, look.explanation)
