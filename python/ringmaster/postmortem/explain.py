# SPDX-License-Identifier: Apache-2.0
"""All that can be said of one event."""

from collections.abc import Callable
from dataclasses import dataclass

from ringmaster.postmortem.causes import SEARCH_AFTER_MS, SEARCH_MS, Cause, Ranking, rank_causes
from ringmaster.postmortem.evidence import Evidence
from ringmaster.postmortem.fit import Fit, fit_cause
from ringmaster.postmortem.onset import Onset, find_onsets

Say = Callable[[str], None]
FITTED, LEAST_FITTED = 3, 0.01
"""So many causes have their patterns shown, and these of them: the first, and others that are as probable."""


@dataclass(frozen=True)
class Explanation:
    """What was found; ``report`` makes a page of it."""

    evidence: Evidence
    ranking: Ranking
    onsets: tuple[Onset, ...]
    fits: tuple[tuple[Cause, Fit], ...]
    """Of the likeliest causes that have a pattern."""

    @property
    def onset_turn(self) -> int | None:
        """When the likeliest cause began, as its pattern tells; None where nothing is seen of it."""
        first = self.ranking.causes[0]
        return next((fit.onset_turn for cause, fit in self.fits if cause is first), None)


def explain(evidence: Evidence, say: Say = lambda _: None) -> Explanation:
    """``say`` is told what is done next. Raises TooShort where too little is before the event to know what is usual."""
    say("ranking causes")
    ranking = rank_causes(evidence)
    per_ms = evidence.turn_rate_hz * 1e-3
    say("finding onsets")
    onsets = find_onsets(evidence, round(SEARCH_MS * per_ms), round(SEARCH_AFTER_MS * per_ms))
    shown = [one for one in ranking.causes[:FITTED] if one is ranking.causes[0] or one.probability >= LEAST_FITTED]
    fits = [(cause, fit_cause(ranking, evidence.machine, cause)) for cause in shown]
    return Explanation(evidence, ranking, tuple(onsets), tuple((cause, fit) for cause, fit in fits if fit is not None))
