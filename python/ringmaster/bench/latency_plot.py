# SPDX-License-Identifier: Apache-2.0
"""The step as setpoint and BPM show it on one time axis, single and averaged; and the histograms. By matplotlib."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ringmaster.bench.latency_edges import Floats, Step, averaged, undisturbed
from ringmaster.bench.latency_run import Run
from ringmaster.bench.log import NotMeasured

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SINGLES = 16
"""Edges that are drawn one by one; drawn by lot, or they might all stand in step with the supply's regulation."""
FROM_US, TO_US, PER_US = -40.0, 120.0, 2
BINS = 60
SETPOINT, ONE, ALL, MEDIAN = "#444444", "#9ecae1", "#08519c", "#d94801"


def draw(runs: Sequence[Run], turn_us: float, path: Path) -> None:
    """Writes the file: a column for each variant. Raises NotMeasured where it cannot."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: F401 says now whether it is there
        from matplotlib.figure import Figure
    except ImportError:
        raise NotMeasured("plots need matplotlib: install `ringmaster[plot]`, or matplotlib itself") from None
    shown = [run for run in runs if run.steps]
    if not shown:
        raise NotMeasured(f"{path}: nothing to draw: no edge was found")
    figure = Figure(figsize=(5.6 * len(shown), 7.4), layout="constrained")
    axes = figure.subplots(2, len(shown), squeeze=False)
    for column, run in enumerate(shown):
        quiet = undisturbed(run.steps, turn_us) or run.steps
        _step(axes[0][column], run, quiet)
        _histogram(axes[1][column], quiet, len(run.steps), turn_us)
    axes[0][0].set_ylabel("share of the step")
    axes[1][0].set_ylabel("edges")
    figure.savefig(path, dpi=150)


def _step(axes: "Axes", run: Run, steps: Sequence[Step]) -> None:
    grid: Floats = np.arange(FROM_US, TO_US, 1.0 / PER_US)
    chosen = np.random.default_rng(SINGLES).permutation(len(steps))[:SINGLES]
    for number, one in enumerate(steps[int(i)] for i in chosen):
        label = "BPM, single edges" if number == 0 else None
        axes.plot(one.time_us, one.shape, ".-", color=ONE, markersize=3, linewidth=0.7, label=label)
    axes.plot(grid, averaged(steps, grid), color=ALL, linewidth=1.8, label=f"BPM, median of {len(steps)} edges")
    axes.step([FROM_US, 0.0, TO_US], [0.0, 1.0, 1.0], where="post", color=SETPOINT, linewidth=1.5, label="setpoint")
    middle = float(np.median([step.arrival_us for step in steps]))
    axes.axhline(0.5, color="#cccccc", linewidth=0.8, zorder=0)
    axes.axvline(middle, color=MEDIAN, linewidth=1.0, linestyle="--", label=f"seen after {middle:.1f} µs")
    axes.set_xlim(FROM_US, TO_US)
    axes.set_ylim(-0.12, 1.15)
    axes.set_title(TITLES.get(run.variant, run.variant), loc="left", fontsize=10)
    axes.set_xlabel("time since the setpoint's commit, µs")
    axes.legend(loc="lower right", frameon=False, fontsize=8)


TITLES = {
    "added": "a supply that follows at once",
    "source": "20 µs of chain, free regulation at 100 kHz, 10 kHz",
}


def _histogram(axes: "Axes", steps: Sequence[Step], of: int, turn_us: float) -> None:
    arrivals = np.asarray([step.arrival_us for step in steps])
    crossings = np.asarray([step.crossing_us for step in steps])
    low, high = np.percentile([*arrivals, *crossings], [0.25, 99.75])
    room = max(turn_us / 2, 0.1 * (high - low))
    span = (float(low - room), float(high + room))
    axes.hist(crossings, bins=BINS, range=span, color=ONE, label="half of the step, between two turns")
    axes.hist(arrivals, bins=BINS, range=span, color=ALL, alpha=0.85, label="first BPM datagram beyond it")
    outside = int(np.count_nonzero((arrivals < span[0]) | (arrivals > span[1])))
    p1, middle, p99 = np.percentile(arrivals, [1, 50, 99])
    axes.axvline(middle, color=MEDIAN, linewidth=1.0, linestyle="--", label=f"median {middle:.2f} µs")
    words = f"p1 {p1:.2f}, p99 {p99:.2f} µs; {len(steps)} undisturbed of {of}"
    words += f"; {outside} outside" if outside else ""
    axes.set_title(words, loc="left", fontsize=9)
    axes.legend(loc="upper left", framealpha=1.0, edgecolor="none", fontsize=8)
    axes.margins(y=0.3)
    axes.set_xlim(*span)
    axes.locator_params(axis="y", integer=True)
    axes.set_xlabel("time since the setpoint's commit, µs")
