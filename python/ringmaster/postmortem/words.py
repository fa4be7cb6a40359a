# SPDX-License-Identifier: Apache-2.0
"""What was found, in words."""

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


def cause_words(cause: Cause) -> str:
    """One line of a table."""
    if cause.kind == UNKNOWN:
        return "unknown"
    if cause.kind in (RF, LOSS):
        return "RF" if cause.kind == RF else "loss of beam at an aperture"
    kind = {SUPPLY: "supply", BPM: "BPM that lies", KICK: "kick at"}[cause.kind]
    more = "" if len(cause.names) == 1 else " or " + ", ".join(cause.names[1:4])
    rest = f" and {len(cause.names) - 4} more" if len(cause.names) > 4 else ""
    return f"{kind} {cause.names[0]}{more}{rest}"


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
        return f"Cause unknown: several are possible. The likeliest is {cause_words(first)}, at {_percent(first)}."
    alike = "" if len(verdict.names) < 2 else f" These BPMs cannot tell {len(verdict.names)} of them apart."
    named = SENTENCES[verdict.kind].format(" or ".join(verdict.names[:3]))
    return f"Most likely ({_percent(verdict)}): {named}{alike}"


def _percent(cause: Cause) -> str:
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


def _beam(explanation: Explanation) -> list[str]:
    views = explanation.ranking.views
    lost = [view for view in views if view.end < len(view.values)]
    if not lost:
        return ["The beam was not lost: sum signals stayed above half of what they were."]
    view = min(lost, key=lambda one: one.period_turns)
    return [
        f"The beam was lost at turn {int(view.turn[view.end])} (± {view.period_turns}); later positions are left out."
    ]
