# SPDX-License-Identifier: Apache-2.0
"""The charts of an event's page."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ringmaster.fabric.layout import InstrumentKind
from ringmaster.postmortem.evidence import Evidence, Series
from ringmaster.postmortem.explain import Explanation
from ringmaster.postmortem.fit import Fit
from ringmaster.postmortem.onset import Onset
from ringmaster.postmortem.words import cause_words, lost_at
from ringmaster.report.section import Chart, Lines

MOST_POINTS = 400
SHOWN_MS = 6.0
"""Before and after turn zero."""
COURSE_MS = 60.0
"""The same of a pattern's size."""
LANES = 3
KINDS = {
    InstrumentKind.BPM: "BPMs",
    InstrumentKind.LLRF: "Low-level RF",
    InstrumentKind.BLM: "Loss monitors",
    InstrumentKind.INTERLOCK: "Interlocks",
    InstrumentKind.PHOTON_BPM: "Photon BPMs",
    InstrumentKind.POWER_SUPPLY: "Power supplies",
}
PIECES = 8
Floats = npt.NDArray[np.float64]


def fit_charts(explanation: Explanation) -> list[Chart]:
    """Of the likeliest cause with a pattern: the orbit measured over the fitted one, and the pattern's size in time."""
    charts: list[Chart] = []
    for cause, fit in explanation.fits[:2]:
        title = cause_words(cause)
        for plane in ("x", "y"):
            rows = [i for i, row in enumerate(fit.rows) if row.rpartition("/")[2].startswith(plane)]
            size = max((abs(fit.measured[i]) for i in rows), default=0.0)
            if not rows or size < 0.2 * float(np.abs(fit.measured).max()):
                continue
            charts.append(_pattern(fit, rows, plane, title))
        charts.append(_course(explanation, fit, title))
    return charts


def _pattern(fit: Fit, rows: Sequence[int], plane: str, title: str) -> Lines:
    series = {
        "measured": [(float(k), 1e-3 * float(fit.measured[i])) for k, i in enumerate(rows, 1)],
        "fitted": [(float(k), 1e-3 * float(fit.fitted[i])) for k, i in enumerate(rows, 1)],
    }
    about = f"The change at turn {fit.turn} against before the onset, and the twin's pattern with its size fitted."
    return Lines(f"{title}: {plane}", "BPM, in the order of the ring", f"change of {plane}, µm", series, about=about)


def _course(explanation: Explanation, fit: Fit, title: str) -> Lines:
    """Near turn zero, and only as long as there was a beam: without one, positions are noise."""
    evidence, lost = explanation.evidence, lost_at(explanation)
    ms = 1e3 * (fit.course_turn - evidence.turn_zero) / evidence.turn_rate_hz
    shown = np.abs(ms) < COURSE_MS
    about = "Fitted at each record. 0 ms is turn zero."
    if lost is not None:
        shown &= fit.course_turn < lost[0]
        about += " It ends where the beam was lost."
    return Lines(
        f"{title}: its size",
        "ms after turn zero",
        fit.unit,
        {"size of the pattern": _points(ms[shown], fit.course[shown])},
        about=about,
    )


def onset_chart(evidence: Evidence, onsets: Sequence[Onset]) -> Chart:
    """How many lanes of each kind had begun at each time."""
    kinds = {series.name: series.kind for series in evidence.series}
    times: dict[str, list[float]] = {}
    for one in onsets:
        if one.turn is not None:
            times.setdefault(KINDS.get(kinds[one.stream], "Others"), []).append(
                evidence.ms(one.turn - evidence.turn_zero)
            )
    series = {}
    for kind, some in times.items():
        begun = sorted(some)
        points = [(begun[0], 0.0)]
        for count, ms in enumerate(begun, 1):
            points += [(ms, float(count - 1)), (ms, float(count))]
        series[kind] = points
    return Lines("Lanes that had begun", "ms after turn zero", "lanes", series)


def time_charts(explanation: Explanation) -> list[Chart]:
    """Of each kind and rate the lanes that changed most."""
    evidence = explanation.evidence
    gains = {(one.stream, one.lane): one.gain for one in explanation.onsets}
    charts: list[Chart] = []
    for kind, title in KINDS.items():
        for period in sorted({series.period_turns for series in evidence.of_kind(kind)}):
            group = [series for series in evidence.of_kind(kind) if series.period_turns == period]
            charts += _time_chart(evidence, group, gains, title, period)
    return charts


def _time_chart(
    evidence: Evidence, group: Sequence[Series], gains: dict[tuple[str, str], float], title: str, period: int
) -> list[Chart]:
    lanes = [(series, i) for series in group for i in range(len(series.lanes))]
    lanes.sort(key=lambda one: -min(gains.get((one[0].name, one[0].lanes[one[1]]), 0.0), 1e300))
    units = [series.units[i] for series, i in lanes]
    chosen = [one for one, unit in zip(lanes, units, strict=True) if unit == units[0]][:LANES]
    half = round(SHOWN_MS * 1e-3 * evidence.turn_rate_hz)
    drawn = {}
    for series, i in chosen:
        part = series.between(evidence.turn_zero - half, evidence.turn_zero + half)
        if len(part.turn) < 4:
            continue
        values = part.values[:, i]
        values = values - np.nanmedian(values[: max(2, len(values) // 4)])
        factor, unit = (1e-3, "µm") if part.units[i] == "nm" else (1.0, part.units[i])
        ms = 1e3 * (part.turn.astype(np.float64) - evidence.turn_zero) / evidence.turn_rate_hz
        drawn[f"{series.name} {series.lanes[i]}"] = _points(ms, factor * values)
    rate = "every turn" if period == 1 else f"every {period} turns"
    if not drawn:
        return []
    return [Lines(f"{title}, {rate}", "ms after turn zero", f"change{', ' + unit if unit else ''}", drawn)]


def _points(x: Floats, y: Floats) -> list[tuple[float, float]]:
    """Of many the least and the largest of each stretch, so that nothing short is hidden."""
    good = np.isfinite(y)
    x, y = x[good], y[good]
    if len(x) <= MOST_POINTS:
        return list(zip(x.tolist(), y.tolist(), strict=True))
    made = []
    for piece in np.array_split(np.arange(len(x)), MOST_POINTS // 2):
        places = sorted({int(piece[np.argmin(y[piece])]), int(piece[np.argmax(y[piece])])})
        made += [(float(x[i]), float(y[i])) for i in places]
    return made


def spectrum_charts(explanation: Explanation) -> list[Chart]:
    """Of all BPMs of a rate together, before the event."""
    charts: list[Chart] = []
    for view in explanation.ranking.views:
        before = view.values[: view.first]
        length = 2 * len(before) // (PIECES + 1)
        if length < 32:
            continue
        window = np.hanning(length)[:, None]
        hz = np.fft.rfftfreq(length, 1 / view.record_rate_hz)
        series = {}
        for plane in ("x", "y"):
            rows = [i for i, row in enumerate(view.rows) if row.rpartition("/")[2].startswith(plane)]
            power = np.zeros(len(hz))
            for start in range(0, len(before) - length + 1, length // 2):
                piece = before[start : start + length, rows]
                power += np.mean(np.abs(np.fft.rfft((piece - piece.mean(axis=0)) * window, axis=0)) ** 2, axis=1)
            power *= 2 / ((PIECES) * view.record_rate_hz * np.sum(window**2))
            series[plane] = _points(np.asarray(hz[1:], np.float64), np.sqrt(power[1:]))
        rate = "every turn" if view.period_turns == 1 else f"every {view.period_turns} turns"
        title = f"Spectrum of the BPMs before, {rate}"
        charts.append(Lines(title, "Hz", "nm/√Hz, RMS of all", series, x_logarithmic=True, y_logarithmic=True))
    return charts
