# SPDX-License-Identifier: Apache-2.0
"""Which single cause explains the event: all of them tried, and ranked by their likelihood.

Every BPM moves within a turn of the cause, so the order of onsets names nobody. What names a cause is what it does: a
supply moves the orbit as the twin's response says, the RF as the dispersion does, a kick begins a betatron oscillation
from its place, a BPM that lies moves alone, and beam that an aperture takes away shows in loss monitors and sum signals
while the orbit is as before. *Unknown* is any pattern that is none of these, and that nothing is seen.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp

from ringmaster.postmortem.background import Floats, TooShort
from ringmaster.postmortem.cells import Cells
from ringmaster.postmortem.covariance import Sources
from ringmaster.postmortem.evidence import Evidence
from ringmaster.postmortem.hypotheses import KICK, LOSS, NOTHING, RF, SUPPLY, TRUST, UNKNOWN, Hypotheses, bpm_of
from ringmaster.postmortem.kicks import likeness
from ringmaster.postmortem.machine import Machine
from ringmaster.postmortem.orbit_causes import add_orbit
from ringmaster.postmortem.view import View, orbit_views
from ringmaster.postmortem.witnesses import loss_witness, rf_witness

WITNESS_PRIOR = 0.5
"""That a witness says something when its cause acts."""
CONSEQUENCE_PRIOR = 0.03
"""That beam is lost at an aperture soon after another cause."""
ALIKE, RELATED = 0.995, 0.85
"""Correlations of two patterns. Those that are alike the twin cannot tell apart; those that are related are one answer
where the noise does not tell them apart: as long as none is likelier than another by more than"""
TOLD_APART = 20.0
LEAST_CERTAIN = 0.65
"""What is less probable than that is no answer: the verdict is *unknown* then."""
SEARCH_MS = 10.0
"""Before turn zero: so far back a cause is looked for."""
SEARCH_AFTER_MS = 0.5
CELL_TURNS = 64
"""Where no rate is slower."""


@dataclass(frozen=True)
class Cause:
    """One hypothesis, or several that look alike to these BPMs."""

    kind: str
    names: tuple[str, ...]
    """The likeliest first."""
    probability: float
    log_ratio: float
    """TRUST · ln of how much better it explains the readings than noise does, at its best onset."""
    turn: int
    """At which it began, at best."""
    turn_sigma: float
    """RMS of that."""

    @property
    def title(self) -> str:
        """As a line of a table."""
        return f"{self.kind}: {', '.join(self.names)}" if self.names else self.kind


@dataclass(frozen=True)
class Ranking:
    """All causes, the likeliest first."""

    causes: tuple[Cause, ...]
    views: tuple[View, ...]
    cells: Cells
    tried: int
    """Hypotheses."""
    notes: tuple[str, ...]
    """What could not be looked at, and why."""

    @property
    def verdict(self) -> Cause:
        """The first, if it is probable enough; else *unknown*."""
        first = self.causes[0]
        if first.kind == UNKNOWN or first.probability >= LEAST_CERTAIN:
            return first
        unknown = next(cause for cause in self.causes if cause.kind == UNKNOWN)
        return Cause(UNKNOWN, (), unknown.probability, unknown.log_ratio, unknown.turn, unknown.turn_sigma)

    def view_of(self, rows: str) -> View | None:
        """The one that has a row of this name."""
        return next((view for view in self.views if rows in view.rows), None)


def rank_causes(evidence: Evidence) -> Ranking:
    """Of what is known. Without a machine only lying BPMs, losses and *unknown* can be told apart.

    Raises TooShort where there is too little before the event.
    """
    search = round(SEARCH_MS * 1e-3 * evidence.turn_rate_hz)
    after = round(SEARCH_AFTER_MS * 1e-3 * evidence.turn_rate_hz)
    views, notes = _usable_views(evidence, search)
    size = max((view.period_turns for view in views), default=1)
    size = size if size > 1 else CELL_TURNS
    first = evidence.turn_zero - search
    first -= (first - (int(views[0].turn[0]) if views else 0)) % size
    cells = Cells(first, size, (search + after) // size + 1)
    bpms = list(dict.fromkeys(bpm_of(row) for view in views for row in view.rows))
    hypotheses = Hypotheses.of(evidence.machine, bpms, cells.count)
    for view in views:
        add_orbit(hypotheses, view, evidence.machine, cells)
    _add_witnesses(hypotheses, evidence, cells)
    causes = _posterior(hypotheses, cells, _correlations(hypotheses, views, evidence.machine))
    return Ranking(tuple(causes), tuple(views), cells, len(hypotheses.names), tuple(notes))


def _usable_views(evidence: Evidence, search: int) -> tuple[list[View], list[str]]:
    """At most two: the one with most BPMs, and the one turn by turn."""
    views, notes = [], []
    for found in orbit_views(evidence, search):
        view = _with_motion(found, evidence.machine)
        try:
            _ = view.still
        except (TooShort, np.linalg.LinAlgError) as error:
            rate = "every turn" if view.period_turns == 1 else f"every {view.period_turns} turns"
            why = error if isinstance(error, TooShort) else "their background before the event cannot be learnt"
            notes.append(f"BPMs read {rate} are not judged: {why}")
            continue
        notes += [
            f"{row} is left out: too many of its records are missing, or it never changes" for row in view.left_out
        ]
        views.append(view)
    if not views:
        raise TooShort("no BPM stream has enough records before the event to know what is usual")
    fast = min(views, key=lambda view: view.period_turns)
    return ([views[0]] if fast is views[0] else [views[0], fast]), notes


def _with_motion(view: View, machine: Machine | None) -> View:
    """With what moves all the time. Turn by turn betatron motion counts as moving, whether there was any or not."""
    if machine is None or any(row not in machine.places for row in view.rows):
        return view
    none, rows = np.zeros((len(view.rows), 1)), view.rows
    correctors = [none, *(one for one in machine.columns(rows) if one.shape[1] == 1)]
    energy = machine.energy(rows) if machine.has_rf else none
    sources = Sources(np.diag(view.noise), machine.ground(rows), np.hstack(correctors), energy)
    view = replace(view, sources=sources.seen(np.diag(1 / view.noise)))
    if view.period_turns > 1:
        return view
    at = machine.modes(view.rows).at
    return replace(view, motion=np.hstack([at.real, at.imag]))


def _add_witnesses(made: Hypotheses, evidence: Evidence, cells: Cells) -> None:
    rf = rf_witness(evidence, cells)
    if rf is not None:
        for i in made.where(RF):
            made.log_ratio[:, i] += np.logaddexp(np.log(WITNESS_PRIOR) + TRUST * rf.cells, np.log1p(-WITNESS_PRIOR))
    loss = loss_witness(evidence, cells)
    if loss is None:
        made.log_ratio[:, made.where(LOSS)] = -np.inf
        return
    seen = TRUST * loss.cells
    later = np.logaddexp.accumulate(seen[::-1])[::-1] - np.log(np.arange(cells.count, 0, -1))
    consequence = np.logaddexp(np.log(CONSEQUENCE_PRIOR) + later, np.log1p(-CONSEQUENCE_PRIOR))
    for i, kind in enumerate(made.kinds):
        if made.names[i] != NOTHING:
            made.log_ratio[:, i] += seen if kind == LOSS else consequence


def _correlations(made: Hypotheses, views: Sequence[View], machine: Machine | None) -> Floats:
    """[hypothesis, hypothesis]: of what supplies do, as the BPMs with most rows see it; and of kicks turn by turn.

    Kicks are never alike, as their direction tells them apart, or does not.
    """
    all_of = np.eye(len(made.names))
    if views[-1].motion is not None and machine is not None:
        kicks = made.where(KICK)
        all_of[np.ix_(kicks, kicks)] = np.minimum(likeness(views[-1], machine), RELATED)
    if machine is None or not all(row in machine.places for row in views[0].rows):
        return all_of
    single = [i for i, actor in enumerate(machine.actors) if len(actor.planes) == 1]
    if not single:
        return all_of
    columns = machine.columns(views[0].rows)
    seen = np.hstack([columns[i] for i in single]) / views[0].noise[:, None]
    seen = seen / np.linalg.norm(seen, axis=0)
    where = np.array(made.where(SUPPLY))[single]
    all_of[np.ix_(where, where)] = np.abs(seen.T @ seen)
    return all_of


def _posterior(made: Hypotheses, cells: Cells, correlation: Floats) -> list[Cause]:
    prior = made.log_prior()
    joint = made.log_ratio + prior - np.log(cells.count)
    total = logsumexp(joint)
    each = np.exp(logsumexp(joint, axis=0) - total)
    possible = np.flatnonzero(np.isfinite(joint.max(axis=0)))
    left = sorted((int(i) for i in possible), key=lambda i: -each[i])
    causes = []
    while left:
        leader = left[0]
        if made.kinds[leader] == UNKNOWN:
            group = [i for i in left if made.kinds[i] == UNKNOWN]
        else:
            close = (correlation[leader] >= RELATED) & (each * TOLD_APART >= each[leader])
            close |= correlation[leader] >= ALIKE
            group = [i for i in left if close[i]]
        left = [i for i in left if i not in group]
        causes.append(_cause(made, joint, cells, group, float(each[group].sum())))
    return sorted(causes, key=lambda cause: -cause.probability)


def _cause(made: Hypotheses, joint: Floats, cells: Cells, group: list[int], probability: float) -> Cause:
    weight = np.exp(joint[:, group] - joint[:, group].max()).sum(axis=1)
    weight /= weight.sum()
    centre = cells.first + cells.turns * (np.arange(cells.count) + 0.5)
    mean = float(weight @ centre)
    sigma = float(np.sqrt(weight @ (centre - mean) ** 2 + cells.turns**2 / 12))
    names = tuple(made.names[i] for i in group if made.names[i])
    best = float(made.log_ratio[:, group].max())
    return Cause(made.kinds[group[0]], names, probability, best, round(mean), sigma)
