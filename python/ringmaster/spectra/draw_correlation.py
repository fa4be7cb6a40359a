# SPDX-License-Identifier: Apache-2.0
"""What `ringmaster correlate` finds, drawn into a file: modes, a pair of lanes, and sources."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ringmaster import plots
from ringmaster.spectra.cross import Cross
from ringmaster.spectra.density import welch
from ringmaster.spectra.modes import Modes
from ringmaster.spectra.series import Series
from ringmaster.spectra.sources import NONE, NOTHING, Ranking

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN_RECORDS = 400
"""Of a mode's course: more are not told apart."""
MOST_MODES = 8
MOST_SOURCES = 12
NAMED = 24
"""So many lanes can be named below a pattern."""


def draw_modes(found: Modes, series: Sequence[Series], path: Path) -> None:
    """A row for each mode: its course in time, its pattern over the lanes, its spectrum."""
    count = min(MOST_MODES, len(found.share))
    made = plots.figure(13, 0.8 + 1.7 * count)
    panels = made.subplots(count, 3, squeeze=False, sharex="col", width_ratios=(3, 3, 2))
    rate_hz = series[0].rate_hz
    shown = min(SHOWN_RECORDS, found.time.shape[1])
    names = [one.name for one in series]
    for i, (course, pattern, spectrum) in enumerate(panels):
        course.plot(1e3 * np.arange(shown) / rate_hz, found.time[i, :shown], color=plots.LIMIT, lw=0.8)
        course.set_ylabel(f"mode {i + 1}\n{100 * found.share[i]:.3g} %")
        _draw_pattern(pattern, found.space[:, i], names, series[0].unit)
        density = welch(found.time[i], rate_hz)
        spectrum.loglog(density.hz, np.sqrt(density.density), color=plots.LIMIT, lw=0.8)
        spectrum.grid(alpha=0.3)
    for axes, title in zip(
        panels[0],
        ("course, RMS 1", "pattern: x blue, y red, others grey", "spectrum of the course, 1/√Hz"),
        strict=True,
    ):
        axes.set_title(title, loc="left", fontsize=9)
    labels = (f"time, ms; the first {shown} records", "lane, in the order of the names", "frequency, Hz")
    for axes, label in zip(panels[-1], labels, strict=True):
        axes.set_xlabel(label)
    if len(names) <= NAMED:
        panels[-1][1].set_xticks(range(len(names)), names, rotation=90, fontsize=6)
        panels[-1][1].set_xlabel("")
    plots.save(made, path)


def _draw_pattern(axes: "Axes", values: np.ndarray, names: Sequence[str], unit: str) -> None:
    """Lanes of x and y, which are told by their names, in their colours."""
    planes = [name.rpartition("/")[2][:1] for name in names]
    colours = [plots.COLOURS.get(plane, plots.QUIET) for plane in planes]
    axes.bar(np.arange(len(values)), values, color=colours, width=0.9)
    axes.axhline(0, color=plots.LIMIT, lw=0.6)
    axes.set_ylabel(unit or "1", fontsize=8)


def draw_pair(found: Cross, source: Series, answer: Series, path: Path) -> None:
    """Coherence with its threshold; gain and phase, with errors, where the coherence is above it."""
    made = plots.figure(10, 8)
    coherence, gain, phase = made.subplots(3, sharex=True)
    good = found.coherence > found.threshold
    coherence.semilogx(found.hz, found.coherence, color=plots.PREDICTED, lw=0.9)
    coherence.axhline(found.threshold, color=plots.LIMIT, ls="--", lw=0.9, label=f"threshold {found.threshold:.3f}")
    coherence.set(ylabel="coherence", ylim=(0, 1.03))
    coherence.legend(frameon=False, fontsize=8)
    coherence.set_title(f"{answer.name} over {source.name}", loc="left", fontsize=10)
    size, sigma = np.abs(found.transfer), found.transfer_sigma
    gain.loglog(found.hz, size, color=plots.QUIET, lw=0.6, alpha=0.6)
    bars = {"fmt": ".", "ms": 4, "lw": 0.8, "color": plots.MEASURED}
    gain.errorbar(found.hz[good], size[good], np.minimum(sigma[good], 0.999 * size[good]), **bars)
    gain.set_ylabel(f"gain, {answer.unit or '1'}/{source.unit or '1'}")
    angle = np.degrees(np.angle(found.transfer[good]))
    phase.errorbar(found.hz[good], angle, np.degrees(sigma[good] / size[good]), **bars)
    phase.set(ylabel="phase, degrees", xlabel="frequency, Hz", ylim=(-190, 190), yticks=range(-180, 181, 90))
    for axes in (coherence, gain, phase):
        axes.grid(alpha=0.3)
    if not good.any():
        phase.text(0.5, 0.5, "no bin is above the threshold", transform=phase.transAxes, ha="center")
    plots.save(made, path)


def draw_sources(found: Ranking, hz: float, path: Path) -> None:
    """What is said of each, and how much of the motion its readback predicts."""
    ranked = found.ranked[:MOST_SOURCES]
    names = [one.name for one in ranked] + [NONE, NOTHING]
    said = [one.probability for one in ranked] + [found.none, found.nothing]
    made = plots.figure(10, 1.5 + 0.32 * len(names))
    probability, share = made.subplots(1, 2, sharey=True)
    place = np.arange(len(names))
    colours = [plots.MEASURED if name in found.answer else plots.QUIET for name in names]
    probability.barh(place, 100 * np.array(said), color=colours)
    for at, one in zip(place, said, strict=True):
        probability.text(100 * one + 1, at, f"{100 * one:.2f} %", va="center", fontsize=8)
    probability.set(
        xlim=(0, 118),
        xticks=range(0, 101, 20),
        xlabel="probability, %; the answer is coloured",
        yticks=place,
        yticklabels=names,
    )
    probability.invert_yaxis()
    predicted = np.array([one.share for one in ranked])
    share.barh(place[: len(ranked)], 100 * np.nan_to_num(predicted), color=plots.PREDICTED)
    share.axvline(0, color=plots.LIMIT, lw=0.8)
    for at, one in zip(place, predicted, strict=False):
        label = "no readback" if np.isnan(one) else f"{100 * one:.1f} %"
        share.text(max(0.0, 100 * np.nan_to_num(one)) + 1, at, label, va="center", fontsize=8)
    least = min(0.0, 100 * float(np.nanmin(predicted, initial=0.0)))
    share.set_xlim(1.1 * least, max(118.0, 120 * float(np.nanmax(predicted, initial=0.0))))
    share.set_xlabel("of the motion, as its readback predicts, %")
    made.suptitle(f"{hz:g} Hz: {found.signal_to_noise:.3g} times the power of the noise beside it", fontsize=10)
    for axes in (probability, share):
        axes.grid(alpha=0.3, axis="x")
    plots.save(made, path)
