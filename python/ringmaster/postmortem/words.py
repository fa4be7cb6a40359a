# SPDX-License-Identifier: Apache-2.0
"""What was found, in words."""

import numpy as np

from ringmaster.postmortem.causes import Cause
from ringmaster.postmortem.explain import Explanation
from ringmaster.postmortem.hypotheses import BPM, KICK, LOSS, NOTHING, RF, SUPPLY, UNKNOWN

SENTENCES = {
    SUPPLY: "The power supply {} changed its current.",
    RF: "The RF changed: its phase, voltage or frequency.",
    BPM: "The BPM {} read something that the beam did not do.",
    KICK: "The beam was kicked within one turn, at: {}.",
    LOSS: "Beam was lost at an aperture, and the orbit was as before.",
}

KINDS = {SUPPLY: ("supply", "supplies"), BPM: ("BPM that lies", "BPMs that lie"), KICK: ("kick at", "kicks at")}
"""Of one, and of several."""
NAMED = 3
"""Names in a line: the likeliest."""
EVIDENCE = ("none", "weak", "clear", "strong", "overwhelming")
EVIDENCE_TIMES = (3, 20, 150, 1_000_000)
"""So many times better than noise alone, from the second of these words on."""
EVIDENCE_ABOUT = (
    "Evidence is how much better a cause explains the readings than noise alone does: 0 none, 1 weak (3 times), "
    "2 clear (20 times), 3 strong (150 times), 4 overwhelming (a million times). It does not tell one cause from "
    "another; the probability does."
)


def cause_words(cause: Cause) -> str:
    """One line of a table."""
    if cause.kind == UNKNOWN:
        return "unknown"
    if cause.kind in (RF, LOSS):
        return "RF" if cause.kind == RF else "loss of beam at an aperture"
    one, several = KINDS[cause.kind]
    if len(cause.names) <= NAMED:
        return f"{one} {' or '.join(cause.names)}"
    return f"one of {len(cause.names)} {several}: {', '.join(cause.names[:NAMED])}, …"


def evidence_words(log_ratio: float) -> str:
    """How much better a cause explains the readings than noise alone: "3 of 4, strong"."""
    step = sum(log_ratio >= np.log(times) for times in EVIDENCE_TIMES)
    return f"{step} of {len(EVIDENCE_TIMES)}, {EVIDENCE[step]}"


def what_happened(explanation: Explanation) -> list[str]:
    """Paragraphs: the verdict, when, and what was lost."""
    verdict = explanation.ranking.verdict
    return [_verdict(explanation, verdict), *_when(explanation, verdict), *_beam(explanation)]


def _verdict(explanation: Explanation, verdict: Cause) -> str:
    if verdict.kind == UNKNOWN:
        first = explanation.ranking.causes[0]
        if first.kind == UNKNOWN and first.names[:1] == (NOTHING,):
            return "Cause unknown: no reading shows anything beyond what it did before."
        if first.kind == UNKNOWN:
            return "Cause unknown: the readings changed, and no single cause that was tried makes such a change."
        return f"Cause unknown: several are possible. The likeliest is {cause_words(first)}, at {percent_words(first)}."
    alike = "" if len(verdict.names) < 2 else f" These BPMs cannot tell {len(verdict.names)} of them apart."
    named = SENTENCES[verdict.kind].format(" or ".join(verdict.names[:3]))
    return f"Most likely ({percent_words(verdict)}): {named}{alike}"


def percent_words(cause: Cause) -> str:
    """In whole percent: "12 %"; what is nearly sure, or nearly out of the question, is "over 99 %" or "under 1 %"."""
    if cause.probability < 0.01:
        return "under 1 %"
    return "over 99 %" if cause.probability > 0.99 else f"{100 * cause.probability:.0f} %"


def _when(explanation: Explanation, verdict: Cause) -> list[str]:
    if verdict.kind == UNKNOWN:
        return []
    evidence = explanation.evidence
    fit = next((fit for cause, fit in explanation.fits if cause is verdict), None)
    turn, sigma = (verdict.turn, verdict.turn_sigma)
    if fit is not None and fit.onset_turn is not None:
        turn, sigma = fit.onset_turn, fit.onset_sigma
    before = evidence.turn_zero - turn
    side = "before" if before >= 0 else "after"
    return [
        f"It began at turn {turn} ± {max(sigma, 0.5):.0f}, {abs(before)} turns ({abs(evidence.ms(before)):.2f} ms) "
        f"{side} turn zero."
    ]


def lost_at(explanation: Explanation) -> tuple[int, int] | None:
    """The turn at which the beam was lost, and how exact that is; None where it was not."""
    lost = [view for view in explanation.ranking.views if view.end < len(view.values)]
    if not lost:
        return None
    view = min(lost, key=lambda one: one.period_turns)
    return int(view.turn[view.end]), view.period_turns


def _beam(explanation: Explanation) -> list[str]:
    lost = lost_at(explanation)
    if lost is None:
        return ["The beam was not lost: sum signals stayed above half of what they were."]
    return [f"The beam was lost at turn {lost[0]} (± {lost[1]}); later positions are left out."]
