# SPDX-License-Identifier: Apache-2.0
"""All BPM readings of one rate about the event, side by side, their background taken away."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ringmaster.fabric.layout import InstrumentKind
from ringmaster.postmortem.background import Background, Floats
from ringmaster.postmortem.blocks import Block, continued_worse, row_noise, split
from ringmaster.postmortem.covariance import Sources
from ringmaster.postmortem.evidence import Evidence, Series, Turns
from ringmaster.postmortem.lines import Lines
from ringmaster.postmortem.sent import orbit_of_setpoints

PLANES = ("x", "y")
NM_OF = {"nm": 1.0, "µm": 1e3, "um": 1e3, "mm": 1e6, "m": 1e9}
MOST_MISSING = 0.02
"""Share of a row's records: with more it is left out."""
BEAM_LEFT = 0.5
"""Share of the sum signals: with less the beam is lost, and positions are noise."""
HELD_OUT = 0.25
"""Of the records before the event: on these the background is tried that was learnt from the others."""
ORDER = 24
"""Terms of a prediction; the more the better it knows slow motion from noise."""
MOTION_ORDER = 32
"""Of the betatron motion's: two for each line, and some."""


@dataclass(frozen=True)
class View:
    """Rows of one rate."""

    period_turns: int
    turn: Turns
    rows: tuple[str, ...]
    """ "bpm01/x"."""
    values: Floats
    """[record, row], nm."""
    first: int
    """Record from which on an event may have begun."""
    end: int
    """Records from here on are not looked at: the beam is lost, or they are the last."""
    left_out: tuple[str, ...]
    """Rows with too many records missing, or that never change."""
    record_rate_hz: float
    motion: Floats | None = None
    """[row, k]: the betatron motion as the twin has it, where it is to count as moving."""
    sources: Sources | None = None
    """What makes noise, in rows divided by theirs; None where it is not known."""

    @cached_property
    def lines(self) -> Lines:
        """The mains, as they were before the event."""
        return Lines.fit(self.values[: self.first], self.record_rate_hz)

    @cached_property
    def cleaned(self) -> Floats:
        """[record, row], nm: without the mains and the mean of before."""
        result: Floats = self.values - self.lines.at(np.arange(len(self.values)))
        return result

    @cached_property
    def noise(self) -> Floats:
        """[row], nm: white noise of each."""
        return row_noise(self.cleaned[: self.first])

    @cached_property
    def _bases(self) -> tuple[Floats, Floats, Floats]:
        return split(self.cleaned[: self.first], self.noise, self.lines.weights[1:], self.motion)

    @cached_property
    def moving(self) -> Block | None:
        """The betatron motion and all else that moved before; None where it is not seen turn by turn."""
        return None if self.motion is None else self.block("moving", self._bases[0], MOTION_ORDER)

    @cached_property
    def still(self) -> Block:
        """All else."""
        _, mains, rest = self._bases
        return self.block("still", np.hstack([mains, rest]), ORDER, mains.shape[1])

    def block(self, name: str, basis: Floats, order: int, mains: int = 0) -> Block:
        """Of these patterns, of which the first so many are the mains'."""
        values = self.cleaned / self.noise @ basis
        sources = None if self.sources is None else self.sources.seen(basis.T)
        learnt = Background.learn(values[: self.first], order, mains, sources)
        held_out = self._held_out(basis, order, mains, sources)
        if mains:
            worse = np.ones(basis.shape[1])
            worse[:mains] = continued_worse(learnt, held_out[:, :mains])
            learnt = replace(learnt, whitener=learnt.whitener / worse[:, None])
            held_out = held_out / worse
        shape, energy = np.zeros(basis.shape[1]), 0
        if sources is not None:
            axes, shape, energy = sources.axes(learnt.whitener)
            learnt, held_out = replace(learnt, whitener=axes.T @ learnt.whitener), held_out @ axes
        left = np.concatenate([np.zeros((order, basis.shape[1])), learnt.left(values)])
        return Block(name, self.noise, basis, learnt, left, held_out, shape, energy)

    def _held_out(self, basis: Floats, order: int, mains: int, sources: Sources | None) -> Floats:
        """What is left of the last records before the event, by a background that did not learn from them."""
        before = self.values[: self.first] / self.noise @ basis
        cut = int(len(before) * (1 - HELD_OUT))
        cleaned = before - Lines.fit(before[:cut], self.record_rate_hz).at(np.arange(len(before)))
        return Background.learn(cleaned[:cut], order, mains, sources).left(cleaned[cut - order :])


def orbit_views(evidence: Evidence, search_turns: int) -> list[View]:
    """Of every rate that has causal streams of BPMs: the most rows first. Of one instrument one series per rate."""
    by_rate: dict[tuple[int, str], list[Series]] = {}
    for series in evidence.of_kind(InstrumentKind.BPM):
        if series.is_causal and len(series.turn) > 64:
            by_rate.setdefault((series.period_turns, series.filter), []).append(series)
    made = [_view(evidence, group, search_turns) for group in by_rate.values()]
    return sorted((view for view in made if view is not None), key=lambda view: -len(view.rows))


def _view(evidence: Evidence, group: Sequence[Series], search_turns: int) -> View | None:
    first, last = max(int(s.turn[0]) for s in group), min(int(s.turn[-1]) for s in group)
    period = group[0].period_turns
    cut = [series.between(first, last + 1) for series in group]
    count = (last - first) // period + 1
    cut = [series for series in cut if len(series.turn) == count]
    names, columns, sums = [], [], []
    for series in cut:
        for i, lane in enumerate(series.lanes):
            if lane[:1] in PLANES and lane[1:] in ("", "1", "2"):
                names.append(f"{series.instrument}/{lane}")
                columns.append(series.values[:, i] * NM_OF.get(series.units[i], 1.0))
            elif lane.startswith("sum"):
                sums.append(series.values[:, i])
    if not columns:
        return None
    turn = cut[0].turn
    before = int(np.searchsorted(turn, evidence.turn_zero - search_turns))
    good, values = _usable(np.stack(columns, axis=1), before)
    left_out = tuple(name for name, kept in zip(names, good, strict=True) if not kept)
    rows = tuple(name for name, kept in zip(names, good, strict=True) if kept)
    if not rows:
        return None
    end = _beam_end(sums, before, count)
    known = orbit_of_setpoints(evidence, rows, turn, period)
    values = values if known is None else values - known
    return View(period, turn, rows, values, before, end, left_out, evidence.turn_rate_hz / period)


def _usable(values: Floats, before: int) -> tuple[npt.NDArray[np.bool_], Floats]:
    """Which rows can be used, and these with their gaps filled in between their neighbours."""
    missing = ~np.isfinite(values)
    spread = np.nanstd(np.where(missing, np.nan, values)[: max(before, 2)], axis=0)
    good = (missing.mean(axis=0) < MOST_MISSING) & (np.nan_to_num(spread) > 0)
    filled = values[:, good].copy()
    place = np.arange(len(values))
    for row in np.flatnonzero(missing[:, good].any(axis=0)):
        had = np.isfinite(filled[:, row])
        filled[:, row] = np.interp(place, place[had], filled[had, row])
    return good, filled


def _beam_end(sums: Sequence[Floats], before: int, count: int) -> int:
    """The record before the beam was lost; or after the last one."""
    if not sums or before < 1:
        return count
    relative = np.nanmedian([one / np.nanmean(one[:before]) for one in sums if np.nanmean(one[:before]) > 0], axis=0)
    lost = np.flatnonzero(relative < BEAM_LEFT)
    return int(lost[0]) if len(lost) else count
