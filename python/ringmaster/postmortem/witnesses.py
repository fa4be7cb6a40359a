# SPDX-License-Identifier: Apache-2.0
"""What speaks for one cause alone: the RF's own readings, and the loss of beam."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ringmaster.fabric.layout import InstrumentKind
from ringmaster.postmortem.background import Floats
from ringmaster.postmortem.cells import Cells, static_log_ratios
from ringmaster.postmortem.evidence import Evidence, Series
from ringmaster.postmortem.view import View

RF_LANES = ("cavity_phase", "cavity_amp", "forward_phase", "forward_amp")
"""The RF's own; the others follow the beam."""
STRIDE_TURNS = 8
WITNESS_ORDER = 24


@dataclass(frozen=True)
class Witness:
    """Lanes that one cause changes and no other does."""

    name: str
    cells: Floats
    """[cell]: ln P(they change then) / P(they go on as before)."""


def rf_witness(evidence: Evidence, cells: Cells) -> Witness | None:
    """Of all low-level RF."""
    lanes = [
        (series, lane)
        for series in evidence.of_kind(InstrumentKind.LLRF)
        if series.is_causal
        for lane in RF_LANES
        if lane in series.lanes
    ]
    return _witness("rf", evidence, cells, [(s, s.lane(lane)) for s, lane in lanes])


def loss_witness(evidence: Evidence, cells: Cells) -> Witness | None:
    """Of loss monitors, all channels of one together, and of the sum signals of BPMs, those of one rate together."""
    rows = []
    for series in evidence.of_kind(InstrumentKind.BLM):
        if series.is_causal:
            counts = np.maximum(series.values.sum(axis=1), 0.0)
            rows.append((series, 2 * np.sqrt(counts + 0.375)))  # of Poisson numbers: a variance of 1 (Anscombe, 1948)
    causal = [s for s in evidence.of_kind(InstrumentKind.BPM) if s.is_causal and any(n[:3] == "sum" for n in s.lanes)]
    for period in sorted({s.period_turns for s in causal}):
        sums = _usual_sum([s for s in causal if s.period_turns == period])
        if sums is not None:
            rows.append(sums)
    return _witness("loss", evidence, cells, rows)


def _usual_sum(given: Sequence[Series]) -> tuple[Series, Floats] | None:
    """Of BPMs of one rate: the median of their sum signals, as shares."""
    group = [s for s in given if np.array_equal(s.turn, given[0].turn)]
    lanes = [s.values[:, i] for s in group for i, name in enumerate(s.lanes) if name.startswith("sum")]
    level = [float(np.nanmean(one[: max(1, len(one) // 4)])) for one in lanes]
    used = [one / mean for one, mean in zip(lanes, level, strict=True) if mean > 0]
    return (group[0], np.nanmedian(used, axis=0)) if used else None


def _witness(name: str, evidence: Evidence, cells: Cells, rows: Sequence[tuple[Series, Floats]]) -> Witness | None:
    """Those of one rate are judged together, and rates one after the other."""
    total, used = np.zeros(cells.count), False
    for period in sorted({series.period_turns for series, _ in rows}):
        here = [(s, values) for s, values in rows if s.period_turns == period]
        same = [values for s, values in here if np.array_equal(s.turn, here[0][0].turn)]
        view = _lanes_view(evidence, here[0][0], np.stack(same, axis=1), cells.first)
        if view is None:
            continue
        stride = max(1, STRIDE_TURNS // period)
        starts, cell = cells.starts(view, stride)
        if len(starts):
            block = view.block(name, np.eye(len(view.rows)), WITNESS_ORDER)
            total += cells.gather(static_log_ratios(view, block, starts, [None], period == 1)[0][:, 0], cell)
            used = True
    return Witness(name, total) if used else None


def _lanes_view(evidence: Evidence, series: Series, values: Floats, first_turn: int) -> View | None:
    first = int(np.searchsorted(series.turn, max(first_turn, 0)))
    moves = np.nanstd(values[:first], axis=0) > 0 if first > 1 else np.zeros(values.shape[1], np.bool_)
    kept = values[:, moves]
    if not moves.any() or not np.isfinite(kept).mean() > 0.98:
        return None
    filled: npt.NDArray[np.float64] = np.where(np.isfinite(kept), kept, np.nanmean(kept[:first], axis=0))
    names = tuple(str(i) for i in range(filled.shape[1]))
    rate = evidence.turn_rate_hz / series.period_turns
    return View(series.period_turns, series.turn, names, filled, first, len(filled), (), rate)
