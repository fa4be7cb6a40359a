# SPDX-License-Identifier: Apache-2.0
"""What was measured beside what a cause would do: the orbit of one moment, and the size of its pattern over time."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ringmaster.postmortem.blocks import Block
from ringmaster.postmortem.causes import Cause, Ranking
from ringmaster.postmortem.hypotheses import BPM, KICK, RF, SUPPLY, bpm_of
from ringmaster.postmortem.machine import Machine
from ringmaster.postmortem.onset import change_point
from ringmaster.postmortem.view import View

LOOKED_RECORDS = 40
"""After the onset: in these the pattern is largest somewhere."""
SHOWN_RECORDS = 160
"""Of the course, before and after the onset."""
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Fit:
    """Of one cause."""

    rows: tuple[str, ...]
    measured: Floats
    """[row], nm: the change against before, at the moment at which the pattern is largest."""
    fitted: Floats
    """[row], nm: the twin's pattern, its size fitted."""
    explained: float
    """Share of the measured change, squared and in units of the noise, that is fitted; 1 at most."""
    turn: int
    """That moment."""
    course_turn: Floats
    course: Floats
    """[record]: the size of the pattern, in ``unit``."""
    unit: str
    onset_turn: int | None
    """Of the course; None: not seen in it."""
    onset_sigma: float


def fit_cause(ranking: Ranking, machine: Machine | None, cause: Cause) -> Fit | None:
    """None for a cause that has no pattern: *unknown*, a loss of beam."""
    view, columns, unit = _pattern(ranking, machine, cause)
    if view is None or columns is None:
        return None
    block = view.moving if cause.kind == KICK and view.moving is not None else view.still
    weigh = block.background.whitener @ (block.basis / block.noise[:, None]).T
    sizes = view.cleaned @ (np.linalg.pinv(weigh @ columns) @ weigh).T
    start = int(np.searchsorted(view.turn, max(cause.turn, 0)))
    start = min(start, view.end - 1)
    stop = min(start + LOOKED_RECORDS, view.end)
    base = sizes[max(0, start - 32) : max(1, start - 2)].mean(axis=0)
    strength = np.linalg.norm(sizes[start:stop] - base, axis=1)
    at = start + int(np.argmax(strength))
    before = view.cleaned[max(0, start - 32) : max(1, start - 2)].mean(axis=0)
    measured = view.cleaned[at] - before
    direction = sizes[at] - base
    direction = direction / max(float(np.linalg.norm(direction)), 1e-300)
    low, high = max(0, start - SHOWN_RECORDS), min(start + SHOWN_RECORDS, len(view.values))
    fitted = columns @ (sizes[at] - base)
    weighed = [float(np.sum((weigh @ one) ** 2)) for one in (measured - fitted, measured)]
    onset = _onset(view, block, columns @ direction, cause.kind)
    return Fit(
        view.rows,
        measured,
        fitted,
        1 - weighed[0] / max(weighed[1], 1e-300),
        int(view.turn[at]),
        view.turn[low:high].astype(np.float64),
        (sizes[low:high] - base) @ direction,
        unit,
        *onset,
    )


def _onset(view: View, block: Block, pattern: Floats, kind: str) -> tuple[int | None, float]:
    """When its pattern began, which all rows together tell better than each of them; of a kick when anything did."""
    seen = block.pattern(pattern[:, None])
    if kind == KICK or seen is None:
        count = block.left.shape[1]
        course = (np.sum(block.left**2, axis=1) - count) / np.sqrt(2 * count)
    else:
        course = block.left @ (seen[:, 0] / np.linalg.norm(seen))
    found = change_point(course / float(course[view.first // 4 : view.first].std()), view.first, view.end)
    if found is None:
        return None, 0.0
    record, sigma, _ = found
    period = view.period_turns
    turn = int(view.turn[0]) + round(record * period - (period - 1) / 2)
    return turn, float(np.hypot(sigma * period, period / np.sqrt(12) if period > 1 else 0.0))


def _pattern(ranking: Ranking, machine: Machine | None, cause: Cause) -> tuple[View | None, Floats | None, str]:
    """The view that shows it best, its columns [row, k] in nm, and the unit of their size."""
    slow, fast = ranking.views[0], ranking.views[-1]
    if cause.kind == BPM:
        view = next((v for v in ranking.views if any(bpm_of(row) == cause.names[0] for row in v.rows)), None)
        if view is None:
            return None, None, ""
        mine = [i for i, row in enumerate(view.rows) if bpm_of(row) == cause.names[0]]
        return view, np.eye(len(view.rows))[:, mine] * 1e3, "µm"
    if machine is None:
        return None, None, ""
    if cause.kind == SUPPLY:
        actor = next(i for i, one in enumerate(machine.actors) if one.name == cause.names[0])
        return slow, machine.columns(slow.rows)[actor] * 1e-6, "µrad"
    if cause.kind == RF:
        view = fast if fast.period_turns == 1 and fast.end < len(fast.values) else slow
        return view, machine.energy(view.rows), "Hz of the RF"
    if cause.kind == KICK and fast.period_turns == 1:
        at = machine.modes(fast.rows).at
        return fast, np.hstack([at.real, at.imag]) / np.abs(at).mean() * 1e3, "µm"
    return None, None, ""
