# SPDX-License-Identifier: Apache-2.0
"""A spectrum on a terminal: a curve of its density, and its lines in words."""

import math
import shutil
from collections.abc import Callable
from itertools import pairwise

import click
import numpy as np
from numpy.typing import NDArray

from ringmaster.console import units
from ringmaster.console.marks import curve
from ringmaster.spectra.density import SpectralLine
from ringmaster.spectra.draw import Spectrum

Floats = NDArray[np.float64]
ROWS = 10
"""Of the curve."""
LABEL = 12
"""Columns of its scale."""
MOST_DECADES = 6
MOST_COLUMNS = 160
MOST_LINES = 6


def print_spectrum(one: Spectrum, linear: bool) -> None:
    """What it is of, the curve, its axis, and the highest lines."""
    series, found = one.series, one.density
    click.secho(series.name, bold=True, nl=False)
    gaps = f", {units.share(found.missing)} missing" if found.missing else ""
    click.echo(
        f"  RMS {units.length(found.rms(), series.unit, 4)}, {units.quantity(series.seconds, 's', 3)} in "
        f"{units.several(found.pieces, 'piece')}, {units.quantity(found.step_hz, 'Hz', 3)} from bin to bin{gaps}"
    )
    columns = max(30, min(MOST_COLUMNS, shutil.get_terminal_size((100, 30)).columns) - LABEL - 2)
    root = np.sqrt(found.density)
    edges = _edges(found.hz, 2 * columns, linear)
    print_curve(found.hz, root, edges, lambda value: f"{units.length(value, series.unit, 1)}/√Hz")
    click.secho(f"{'':>{LABEL}} {_axis(found.hz, columns, linear)}", dim=True)
    for line in one.lines[:MOST_LINES]:
        click.echo(
            f"{units.quantity(line.hz, 'Hz', 6):>{LABEL + 4}}  {units.length(line.amplitude, series.unit)}, "
            f"{line.above:.3g} × the noise{_corrected(one, line)}"
        )
    if not one.lines:
        click.secho(f"{'':>{LABEL}} no line above the noise", dim=True)


def _corrected(one: Spectrum, line: SpectralLine) -> str:
    """What a measured tune's window takes away of a line."""
    if one.series.tune_window is None:
        return ""
    amplitude = line.amplitude * one.series.correction(line.hz)
    if not math.isfinite(amplitude):
        return "; the window leaves too little of it"
    return f"; corrected for the window {units.length(amplitude, one.series.unit)}"


def print_curve(at: Floats, values: Floats, edges: Floats, told: Callable[[float], str]) -> None:
    """Values over where they are at, by decades; ``told`` gives the words of the scale."""
    logarithm = np.log10(np.maximum(_highest(at, values, edges), np.finfo(float).tiny))
    top = math.ceil(float(logarithm.max()) + 1e-9)
    bottom = max(top - MOST_DECADES, min(top - 1, math.floor(float(logarithm.min()))))
    labels = {row: told(10.0**decade) for row, decade in ((0, top), (ROWS - 1, bottom))}
    heights = (logarithm - bottom) / (top - bottom)
    for row, text in enumerate(curve(heights.tolist(), ROWS)):
        click.echo(f"{labels.get(row, ''):>{LABEL}} {text}")


def _highest(hz: Floats, values: Floats, edges: Floats) -> Floats:
    """One value between two edges: the highest of its bins, so that no line is missed; without any, the next one."""
    at = np.minimum(np.searchsorted(hz, edges), len(hz) - 1)
    return np.array([values[a : max(a + 1, b)].max() for a, b in pairwise(at)])


def _edges(hz: Floats, points: int, linear: bool) -> Floats:
    return np.linspace(hz[0], hz[-1], points + 1) if linear else np.geomspace(hz[0], hz[-1], points + 1)


def _axis(hz: Floats, columns: int, linear: bool) -> str:
    """Frequencies under the curve."""
    cells = [" "] * (columns + 10)
    low, high = float(hz[0]), float(hz[-1])
    decades = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
    for mark in [high * i / 5 for i in range(6)] if linear else [10.0**decade for decade in decades]:
        share = (mark - low) / (high - low) if linear else math.log(mark / low) / math.log(high / low)
        at = max(0, round(share * columns))
        text = "┴" + units.quantity(mark, "Hz", 2 if linear else 1)
        if all(cell == " " for cell in cells[at : at + len(text)]):
            cells[at : at + len(text)] = list(text)
    return "".join(cells).rstrip()
