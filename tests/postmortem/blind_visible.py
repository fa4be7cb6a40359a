# SPDX-License-Identifier: Apache-2.0
"""Whether an event of the blind trial can be seen at all: from the truth and the noise, before any ranking.

The readings with it less those without it, both behind the filter that predicts the readings without it, are the shape
of the event. The best linear filter of those that weigh parts of this shape, and what was there just before, has

    d² = sᵀ C⁻¹ s

s is what the parts give of the event itself, and C the covariance of what they give before it: of the noise, and of
what moves all the time. A part is a stretch of time, once as it is and once a quarter of an oscillation later.
"""

import numpy as np
import numpy.typing as npt
from blind_ring import EVENT_TURN, TURN_RATE_HZ, Happening
from scipy.signal import hilbert

from ringmaster.fabric.layout import InstrumentKind
from ringmaster.postmortem.background import Background
from ringmaster.postmortem.evidence import Series
from ringmaster.postmortem.lines import Lines
from ringmaster.postmortem.witnesses import RF_LANES

SEEN_RECORDS = {1: 400, 116: 60}
"""After the event, by period: what a ranking may use of it."""
PARTS = 4
ORDER = 24
"""Of the filter."""
ORBIT = (InstrumentKind.BPM, ("x", "y"))
SHOWN = {
    "": (ORBIT,),
    "rf": (ORBIT, (InstrumentKind.LLRF, RF_LANES)),
    "loss": ((InstrumentKind.BLM, ("",)), (InstrumentKind.BPM, ("sum",))),
}
"""In which lanes a kind shows itself; "" is any other."""
Floats = npt.NDArray[np.float64]


def visible_length(truth: Happening, with_it: list[Series], without: list[Series]) -> float:
    """d: of orbits, or of what else the kind shows itself in."""
    squares = [0.0]
    for kind, lanes in SHOWN.get(truth.kind, SHOWN[""]):
        for period in SEEN_RECORDS:
            pairs = [
                (a, b) for a, b in zip(with_it, without, strict=True) if a.kind == kind and a.period_turns == period
            ]
            if pairs:
                squares.append(_square(pairs, lanes, period))
    return float(np.sqrt(sum(squares)))


def _square(pairs: list[tuple[Series, Series]], lanes: tuple[str, ...], period: int) -> float:
    """Of one rate."""
    quiet = np.hstack([_rows(b, lanes) for _, b in pairs])
    signal = np.hstack([_rows(a, lanes) for a, _ in pairs]) - quiet
    at = int(np.searchsorted(pairs[0][0].turn, EVENT_TURN))
    cleaned = quiet[:at] - Lines.fit(quiet[:at], TURN_RATE_HZ / period).at(np.arange(at))
    background = Background.learn(cleaned, ORDER)
    seen = background.course(signal[at : at + SEEN_RECORDS[period]]) @ background.whitener.T
    if not seen.any():
        return 0.0
    left, length = background.left(cleaned), len(seen) // PARTS
    both = [seen, np.imag(hilbert(seen, axis=0))]
    parts = [one[k * length : (k + 1) * length] for k in range(PARTS) for one in both]
    starts = np.arange(length, len(left) - PARTS * length, max(1, length // 8))
    usual = np.stack([_given(parts, left, int(start), length) for start in starts])
    event = np.concatenate([np.zeros((length, seen.shape[1])), seen])
    given = _given(parts, event, length, length)
    covariance = usual.T @ usual / len(usual)
    return float(given @ np.linalg.solve(covariance + 1e-9 * np.trace(covariance) * np.eye(len(given)), given))


def _given(parts: list[Floats], left: Floats, start: int, length: int) -> Floats:
    """What each part gives of the records from there on, and the first two of the records just before."""
    places = [start + i // 2 * length for i in range(len(parts))]
    made = [float(np.sum(part * left[at : at + length])) for part, at in zip(parts, places, strict=True)]
    before = [float(np.sum(part * left[start - length : start])) for part in parts[:2]]
    return np.array(made + before)


def _rows(series: Series, lanes: tuple[str, ...]) -> Floats:
    if series.kind == InstrumentKind.BLM:
        return np.asarray(2 * np.sqrt(series.values.sum(axis=1, keepdims=True) + 0.375))
    return series.values[:, [i for i, lane in enumerate(series.lanes) if lane.startswith(lanes)]]
