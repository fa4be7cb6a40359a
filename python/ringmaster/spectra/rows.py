# SPDX-License-Identifier: Apache-2.0
"""Spectra that an application gives as rows, and their spectrogram: read, judged, drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ringmaster import plots
from ringmaster.fabric.rows import Rows, RowWindow
from ringmaster.fabric.workspace import Workspace

PEAK_ABOVE = 5.0
"""Of the median: a value that stands out."""


class RowPeak(NamedTuple):
    """A value of a row that is greater than its neighbours, and stands out."""

    at: float
    """On the axis."""
    value: float
    above: float
    """Of the row's median."""


@dataclass(frozen=True)
class RowSpectra:
    """The newest rows of one ring."""

    rows: Rows
    window: RowWindow
    period_s: float
    """From one row to the next; NaN where no turn rate is known."""

    @property
    def newest(self) -> int | None:
        """Which row is the newest that is to be trusted; without one, the newest that there is."""
        for which in (self.window.good, self.window.ok):
            if which.any():
                return int(np.flatnonzero(which)[-1])
        return None

    @property
    def row(self) -> npt.NDArray[np.float32]:
        """The values of that row; NaN where there is none."""
        return self.window.values[self.newest] if self.newest is not None else np.full(self.rows.width, np.nan, "f4")


def read_rows(ws: Workspace, names: Sequence[str], seconds: float | None = None) -> list[RowSpectra]:
    """The newest rows, of ``seconds`` or of all that the rings hold, of each ring whose name matches a pattern."""
    turn_rate_hz = ws.clock.read().turn_rate_hz
    found = []
    for rows in ws.rows.match(*names).values():
        period_s = rows.period / turn_rate_hz if turn_rate_hz else float("nan")
        count = rows.capacity if seconds is None or not turn_rate_hz else max(1, round(seconds / period_s))
        found.append(RowSpectra(rows, rows.latest(min(count, rows.capacity)), period_s))
    return found


def row_peaks(axis: npt.NDArray[np.float64], row: npt.NDArray[np.float32], most: int = 3) -> list[RowPeak]:
    """The greatest values that stand out, each greater than all within a hundredth of the row, the greatest first."""
    if not np.isfinite(row).all():
        return []
    median = float(np.median(row)) or float(np.finfo(np.float32).tiny)
    reach = max(1, len(row) // 100)
    peaks: list[RowPeak] = []
    for k in np.argsort(row)[::-1]:
        near = row[max(0, k - reach) : k + reach + 1]
        if row[k] < PEAK_ABOVE * median or len(peaks) == most:
            break
        if row[k] == near.max():
            peaks.append(RowPeak(float(axis[k]), float(row[k]), float(row[k]) / median))
    return peaks


def draw_rows(spectra: Sequence[RowSpectra], path: Path, spectrograms: bool) -> None:
    """Writes a file: the newest row of each ring, and below it, where asked for, all that are trusted over time."""
    each = 2 if spectrograms else 1
    made = plots.figure(10, 0.6 + 2.7 * each * len(spectra))
    panels = made.subplots(each * len(spectra), squeeze=False)[:, 0]
    for i, one in enumerate(spectra):
        rows = one.rows
        above = panels[each * i]
        above.semilogy(rows.axis, np.maximum(one.row, np.finfo(np.float32).tiny), lw=0.8)
        above.set(xlabel=f"{rows.axis_name}, {rows.axis_unit}", ylabel=rows.unit or "1")
        above.set_title(rows.name, loc="left", fontsize=9)
        above.grid(alpha=0.3)
        if not spectrograms:
            continue
        below = panels[each * i + 1]
        with np.errstate(divide="ignore"):
            shown = 20 * np.log10(np.where(one.window.good, one.window.values.T.astype(np.float64), np.nan))
        finite = shown[np.isfinite(shown)]
        low, high = (np.percentile(finite, [5, 100])) if finite.size else (0.0, 1.0)
        image = below.imshow(
            shown,
            origin="lower",
            aspect="auto",
            extent=(-(len(one.window) - 1) * one.period_s, 0.0, float(rows.axis[0]), float(rows.axis[-1])),
            vmin=float(low),
            vmax=max(float(low) + 1, float(high)),
            cmap="viridis",
            interpolation="nearest",
        )
        below.set(xlabel="time before the newest row, s", ylabel=f"{rows.axis_name}, {rows.axis_unit}")
        below.figure.colorbar(image, ax=below, label=f"dB of {rows.unit or '1'}")
    plots.save(made, path)
