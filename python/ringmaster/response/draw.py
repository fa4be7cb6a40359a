# SPDX-License-Identifier: Apache-2.0
"""Pictures of a response: a heat map of it and of its errors, or of two and their difference."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ringmaster import plots
from ringmaster.feedback.matrix import row_plane
from ringmaster.response.compare import Comparison
from ringmaster.response.measured import MeasuredResponse

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
UNKNOWN = "0.6"
UM_PER_NM = 1e-3


def draw(response: MeasuredResponse, path: Path, title: str) -> None:
    """The response, its errors, the dispersion."""
    order = _by_plane(response.rows)
    made = plots.figure(12, 10)
    grid = made.add_gridspec(2, 2, height_ratios=[3, 1.3])
    values, sigma = UM_PER_NM * response.values[order], UM_PER_NM * response.sigma[order]
    left, right = made.add_subplot(grid[0, 0]), made.add_subplot(grid[0, 1])
    _map(made, left, values, "response, µm per unit of the supply", signed=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        size = np.sqrt(np.nanmean(values**2, axis=0))
        _map(made, right, np.log10(sigma / size), "error over the RMS of its column, decades", signed=False)
    for axes in (left, right):
        _name_axes(axes, response.rows, order, response.columns)
    below = made.add_subplot(grid[1, :])
    for plane in "xy":
        rows = np.array([row_plane(row) == plane for row in response.rows])
        bars = {
            "yerr": UM_PER_NM * response.dispersion_sigma[rows],
            "color": plots.COLOURS[plane],
            "fmt": ".-",
            "lw": 0.8,
        }
        below.errorbar(np.arange(rows.sum()), UM_PER_NM * response.dispersion[rows], label=plane, **bars)
    below.set(xlabel="BPM", ylabel="µm per Hz of the RF", title="dispersion")
    below.grid(alpha=0.3)
    below.legend(frameon=False)
    made.suptitle(title, x=0.01, ha="left", fontsize=11)
    plots.save(made, path)


def draw_comparison(found: Comparison, path: Path, title: str) -> None:
    """The first, their difference, and the gains of columns and rows."""
    order = _by_plane(found.rows)
    made = plots.figure(12, 10)
    grid = made.add_gridspec(2, 2, height_ratios=[3, 1.3])
    left, right = made.add_subplot(grid[0, 0]), made.add_subplot(grid[0, 1])
    _map(made, left, UM_PER_NM * found.first[order], "first, µm per unit of the supply", signed=True)
    _map(made, right, UM_PER_NM * (found.first - found.second)[order], "first less second", signed=True)
    for axes in (left, right):
        _name_axes(axes, found.rows, order, found.columns)
    for place, gains, what in ((grid[1, 0], found.column_gain, "supply"), (grid[1, 1], found.row_gain, "reading")):
        axes = made.add_subplot(place)
        axes.plot(gains, ".", ms=3, color=plots.MEASURED)
        axes.axhline(1.0, color=plots.LIMIT, lw=0.8)
        axes.set(xlabel=what, ylabel="first over second")
        axes.grid(alpha=0.3)
    made.suptitle(title, x=0.01, ha="left", fontsize=11)
    plots.save(made, path)


def _by_plane(rows: Sequence[str]) -> list[int]:
    """First all x, then all y."""
    return sorted(range(len(rows)), key=lambda i: (row_plane(rows[i]), i))


def _map(made: "Figure", axes: Any, values: Floats, title: str, signed: bool) -> None:
    finite = values[np.isfinite(values)]
    if signed:
        most = float(np.quantile(np.abs(finite), 0.99)) if finite.size else 1.0
        style: dict[str, Any] = {"cmap": "RdBu_r", "vmin": -most, "vmax": most}
    else:
        style = {"cmap": "viridis"}
    axes.set_facecolor(UNKNOWN)
    shown = axes.imshow(np.ma.masked_invalid(values), aspect="auto", interpolation="nearest", **style)
    axes.set_title(title, loc="left", fontsize=10)
    made.colorbar(shown, ax=axes, shrink=0.8)


def _name_axes(axes: Any, rows: Sequence[str], order: Sequence[int], columns: Sequence[str]) -> None:
    """Where planes and families begin."""
    planes = [row_plane(rows[i]) for i in order]
    at = [0, *(i for i in range(1, len(planes)) if planes[i] != planes[i - 1])]
    axes.set_yticks(at, [f"{planes[i]}: {rows[order[i]]}" for i in at], fontsize=8)
    families = [name.rstrip("0123456789_") for name in columns]
    starts = [0, *(i for i in range(1, len(families)) if families[i] != families[i - 1])]
    axes.set_xticks(starts, [families[i].rpartition("/")[2] for i in starts], fontsize=8)
    for i in at[1:]:
        axes.axhline(i - 0.5, color="0.3", lw=0.6)
    for i in starts[1:]:
        axes.axvline(i - 0.5, color="0.3", lw=0.6)
