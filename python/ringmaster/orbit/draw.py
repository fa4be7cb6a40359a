# SPDX-License-Identifier: Apache-2.0
"""Plots of an orbit against its target, and of what corrects it."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ringmaster import plots
from ringmaster.feedback.matrix import row_plane
from ringmaster.orbit.static import Correction, Orbit, rms

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NM_PER_UM = 1e3


def draw_orbit(orbit: Orbit, path: Path) -> None:
    """The error of both planes, BPM by BPM."""
    figure = plots.figure(9, 5)
    for axes, plane in zip(figure.subplots(2, 1, sharex=True), "xy", strict=True):
        _error(axes, orbit, orbit.error_nm, plane, "measured", plots.COLOURS[plane])
        axes.legend(loc="upper right", fontsize=8)
    figure.axes[1].set_xlabel("BPM, in the order of the rows")
    figure.suptitle("orbit against its target")
    plots.save(figure, path)


def _error(axes: "Axes", orbit: Orbit, error_nm: "np.ndarray", plane: str, what: str, colour: str) -> None:
    chosen = [row_plane(row) == plane for row in orbit.rows]
    values = error_nm[chosen] / NM_PER_UM
    axes.plot(
        values,
        ".-",
        ms=3,
        lw=0.7,
        color=colour,
        label=f"{what}: {rms(error_nm, orbit.rows, plane) / NM_PER_UM:.3g} µm RMS",
    )
    axes.axhline(0, color=plots.QUIET, lw=0.6)
    axes.set_ylabel(f"{plane} − target (µm)")


def draw_correction(found: Correction, path: Path) -> None:
    """Before and as predicted, in both planes; singular values; strengths against their limits."""
    figure = plots.figure(11, 7)
    grid = figure.subplot_mosaic([["x", "s"], ["y", "k"]], width_ratios=[2, 1])
    for plane in "xy":
        _error(grid[plane], found.orbit, found.orbit.error_nm, plane, "before", plots.QUIET)
        _error(grid[plane], found.orbit, found.left_nm, plane, "predicted", plots.COLOURS[plane])
        grid[plane].legend(loc="upper right", fontsize=8)
    grid["y"].set_xlabel("BPM, in the order of the rows")
    solution = found.solution
    grid["s"].semilogy(solution.singular / solution.singular[0], color=plots.PREDICTED)
    grid["s"].axvline(solution.used - 0.5, color=plots.LIMIT, ls="--", lw=0.8, label=f"{solution.used} used")
    grid["s"].set_xlabel("mode")
    grid["s"].set_ylabel("singular value / largest")
    grid["s"].legend(fontsize=8)
    _strengths(grid["k"], found)
    plots.save(figure, path)


def _strengths(axes: "Axes", found: Correction) -> None:
    """Of the supplies of the commonest unit; the others, as the RF, by a line in the legend each."""
    change, stuck = found.gain * found.solution.change, found.solution.at_limit
    unit = Counter(found.units).most_common(1)[0][0]
    common = np.array([one == unit for one in found.units])
    axes.plot(np.flatnonzero(common), change[common], ".", ms=3, color=plots.PREDICTED)
    if (stuck & common).any():
        at = np.flatnonzero(stuck & common)
        axes.plot(at, change[at], "x", color=plots.MEASURED, label=f"{len(at)} at a limit")
    for i in np.flatnonzero(~common):
        axes.plot([], [], " ", label=f"{found.supplies[i]}: {change[i]:+.4g} {found.units[i]}")
    axes.axhline(0, color=plots.QUIET, lw=0.6)
    axes.set_xlabel("supply, in the order of the response")
    axes.set_ylabel(f"change ({unit})")
    if axes.get_legend_handles_labels()[1]:
        axes.legend(fontsize=8)
