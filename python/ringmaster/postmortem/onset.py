# SPDX-License-Identifier: Apache-2.0
"""The turn at which a stream began to differ from before, with its uncertainty; or that it did not.

What its own background does not predict has a variance of 1. From the onset τ on it has another mean or variance (a
step, more noise, an oscillation that grows). The gain in ln likelihood of the best stretch of records tells whether
there is an onset at all, and the change-point's likelihood over all τ, the stretch's end being kept, where it lies and
how surely (D. Hinkley, Biometrika 57, 1, 1970).

An onset is claimed where the gain is beyond what chance makes of so many records once in ``FALSE_ONSETS`` lanes, and
beyond what the lane itself reached before the event. Streams behind a sharp filter are not judged: it rings before the
event. A record of several turns tells no more than that it began within them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ringmaster.postmortem.background import Background, Floats, TooShort
from ringmaster.postmortem.evidence import Evidence, Series
from ringmaster.postmortem.lines import Lines

FALSE_ONSETS = 0.001
"""Share of lanes without an event that chance gives one."""
BEFORE_FACTOR = 1.3
"""Beyond the largest gain before the event."""
STRETCHES = (1, 2, 4, 8, 16, 32, 64, 128)
ORDERS = {1: 24}
ORDER = 12
LEAST_HAD = 0.9
"""Share of a lane's records."""
LIKELY = 12.0
"""ln: turns that are less likely by more do not count for the uncertainty."""


@dataclass(frozen=True)
class Onset:
    """Of one lane."""

    stream: str
    lane: str
    turn: int | None
    """None: there is none, or it is not judged."""
    sigma_turns: float
    gain: float
    """ln of the likelihood's."""
    why_not: str = ""
    """Not judged, and why."""

    @property
    def name(self) -> str:
        """Its stream and itself: "bpm01/turn x1"."""
        return f"{self.stream} {self.lane}"


def find_onsets(evidence: Evidence, search_turns: int, after_turns: int) -> list[Onset]:
    """Of all lanes, those with an onset first, the earliest first.

    What was more than ``search_turns`` before turn zero is what is usual.
    """
    groups: dict[tuple[int, int, int, str], list[Series]] = {}
    made: list[Onset] = []
    for series in evidence.series:
        if not series.is_causal:
            why = f"the filter {series.filter} rings before the event"
            made += [Onset(series.name, lane, None, 0.0, 0.0, why) for lane in series.lanes]
        elif len(series.turn):
            key = (series.period_turns, int(series.turn[0]), len(series.turn), series.filter)
            groups.setdefault(key, []).append(series)
    for group in groups.values():
        a, b = np.searchsorted(group[0].turn, [evidence.turn_zero - search_turns, evidence.turn_zero + after_turns])
        made += group_onsets(group, int(a), int(b), evidence.turn_rate_hz)
    return sorted(made, key=lambda one: (one.turn is None, one.turn or 0, bool(one.why_not)))


def group_onsets(group: Sequence[Series], first: int, end: int, turn_rate_hz: float) -> list[Onset]:
    """Of series with the same turns: onsets from record ``first`` to ``end``."""
    made, moving = [], []
    for series in group:
        for lane, values in zip(series.lanes, series.values.T, strict=True):
            had = np.isfinite(values)
            if had.mean() < LEAST_HAD or first < 8:
                why = "too many records are missing" if first >= 8 else "there is too little before the event"
                made.append(Onset(series.name, lane, None, 0.0, 0.0, why))
                continue
            filled = np.interp(np.arange(len(values)), np.flatnonzero(had), values[had])
            if np.ptp(filled[:first]) == 0:
                made.append(_of_constant(series, lane, filled, first, end))
            else:
                moving.append((series, lane, (filled - filled[:first].mean()) / filled[:first].std()))
    if not moving:
        return made
    rows = np.stack([values for _, _, values in moving], axis=1)
    rows -= Lines.fit(rows[:first], turn_rate_hz / group[0].period_turns).at(np.arange(len(rows)))
    return made + [_of_lane(s, lane, rows[:, i], first, end) for i, (s, lane, _) in enumerate(moving)]


def _of_lane(series: Series, lane: str, values: Floats, first: int, end: int) -> Onset:
    """Of one that moves, without its mains."""
    order = ORDERS.get(series.period_turns, ORDER)
    try:
        background = Background.learn(values[:first, None], order)
    except TooShort as error:
        return Onset(series.name, lane, None, 0.0, 0.0, str(error))
    left = np.concatenate([np.zeros(order), background.left(values[:, None])[:, 0]])
    found = change_point(left / max(1e-300, float(left[order:first].std())), first, end)
    if found is None:
        return Onset(series.name, lane, None, 0.0, 0.0)
    record, sigma, gain = found
    period = series.period_turns
    own = period / np.sqrt(12) if period > 1 else 0.0
    spread = np.sqrt((sigma * period) ** 2 + own**2 + series.group_delay_turns**2 / 3)
    turn = int(series.turn[0]) + round(record * period - (period - 1) / 2)
    return Onset(series.name, lane, turn, float(spread), gain)


def _of_constant(series: Series, lane: str, values: Floats, a: int, b: int) -> Onset:
    """A lane that never moved before: its first change, to the record."""
    changed = np.flatnonzero(values[a:b] != values[0])
    if not len(changed):
        return Onset(series.name, lane, None, 0.0, 0.0)
    return Onset(series.name, lane, int(series.turn[a + changed[0]]), series.period_turns / np.sqrt(12), np.inf)


def change_point(left: Floats, first: int, end: int) -> tuple[float, float, float] | None:
    """Record of the onset, its uncertainty in records, and the gain; None where there is none."""
    before, _, _ = _best(left[:first], 0, first)
    gain, start, length = _best(left, first, end)
    chance = np.log(max(end - first, 1) * len(STRETCHES) / FALSE_ONSETS)
    if gain < max(chance, BEFORE_FACTOR * before):
        return None
    stop = min(start + length, len(left))
    log_like = _split(left, max(first, start - 256), stop)
    weight = np.exp(log_like - log_like.max())
    weight[log_like < log_like.max() - LIKELY] = 0.0
    weight /= weight.sum()
    at = np.arange(len(weight)) + max(first, start - 256)
    mean = float(weight @ at)
    return mean, float(np.sqrt(weight @ (at - mean) ** 2)), gain


def _best(left: Floats, first: int, end: int) -> tuple[float, int, int]:
    """The largest gain of a stretch that begins in these records: gain, its first record, its length."""
    sums = np.concatenate([[0.0], np.cumsum(left)])
    squares = np.concatenate([[0.0], np.cumsum(left**2)])
    best = (0.0, first, 1)
    for n in STRETCHES:
        starts = np.arange(first, min(end, len(left) - n + 1))
        if not len(starts):
            continue
        mean = (sums[starts + n] - sums[starts]) / n
        square = (squares[starts + n] - squares[starts]) / n
        gain = n * mean**2 / 2
        if n >= 4:
            v = np.maximum(square, 1.0)
            gain = np.maximum(gain, n / 2 * (v - 1 - np.log(v)))
        i = int(np.argmax(gain))
        if gain[i] > best[0]:
            best = (float(gain[i]), int(starts[i]), n)
    return best


def _split(left: Floats, low: int, stop: int) -> Floats:
    """Ln likelihood of an onset at each record from ``low`` to before ``stop``: noise before, another spread after."""
    squares = left[low:stop] ** 2
    after = np.cumsum(squares[::-1])[::-1]
    count = np.arange(len(squares), 0, -1)
    v = np.maximum(after / count, 1.0)
    result: Floats = -0.5 * (np.cumsum(squares) - squares) - 0.5 * count * (np.log(v) + 1)
    return result
