# SPDX-License-Identifier: Apache-2.0
"""Spectra drawn into a file: the density, its RMS cumulated over frequency, and a spectrogram of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ringmaster import plots
from ringmaster.spectra.density import Density, SpectralLine, spectrogram
from ringmaster.spectra.series import Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SPECTROGRAM_PIECES = 64
"""Of a spectrogram, one after the other: as fine in time as in frequency."""
SPECTROGRAM_BINS = 1024
"""At most: more are not seen."""


@dataclass(frozen=True)
class Spectrum:
    """What is known of one series."""

    series: Series
    density: Density
    lines: list[SpectralLine]


def draw(spectra: Sequence[Spectrum], path: Path, spectrograms: bool, linear: bool) -> None:
    """Writes the file. Series of one unit share their panels."""
    units = list(dict.fromkeys(one.series.unit for one in spectra))
    rows = 2 * len(units) + (len(spectra) if spectrograms else 0)
    made = plots.figure(10, 0.6 + 2.7 * rows)
    panels = made.subplots(rows, squeeze=False)[:, 0]
    for i, unit in enumerate(units):
        _draw_unit([one for one in spectra if one.series.unit == unit], panels[2 * i], panels[2 * i + 1], linear)
    for one, axes in zip(spectra, panels[2 * len(units) :], strict=False):
        _draw_spectrogram(one.series, axes)
    plots.save(made, path)


def _draw_unit(spectra: Sequence[Spectrum], above: "Axes", below: "Axes", linear: bool) -> None:
    unit = spectra[0].series.unit
    for one in spectra:
        found = one.density
        label = f"{one.series.name}: RMS {found.rms():.4g} {unit}".rstrip()
        (curve,) = above.semilogy(found.hz, np.sqrt(found.density), lw=0.8, label=label)
        below.plot(found.hz, found.cumulated_rms, lw=1.2, color=curve.get_color())
    above.set_ylabel(f"{unit or '1'}/√Hz")
    below.set_ylabel(f"cumulated RMS, {unit or '1'}")
    above.legend(frameon=False, fontsize=8)
    for axes in (above, below):
        axes.set_xscale("linear" if linear else "log")
        axes.grid(alpha=0.3, which="both")
        axes.set_xlabel("frequency, Hz")


def _draw_spectrogram(series: Series, axes: "Axes") -> None:
    size = min(2 * SPECTROGRAM_BINS, max(16, 2 * (len(series) // SPECTROGRAM_PIECES // 2)))
    at_s, density = spectrogram(series.values, series.rate_hz, size)
    shown = 10 * np.log10(np.maximum(density.T, np.finfo(float).tiny))
    low = float(np.nanpercentile(shown, 5))
    top_hz = series.rate_hz / 2
    image = axes.imshow(
        shown,
        origin="lower",
        aspect="auto",
        extent=(float(at_s[0]), float(at_s[-1]), 0.0, top_hz),
        vmin=low,
        vmax=max(low + 1, float(np.nanmax(shown))),
        cmap="viridis",
        interpolation="nearest",
    )
    axes.set(xlabel="time, s", ylabel="frequency, Hz")
    axes.set_title(series.name, loc="left", fontsize=9)
    axes.figure.colorbar(image, ax=axes, label=f"dB of {series.unit or '1'}²/Hz")
