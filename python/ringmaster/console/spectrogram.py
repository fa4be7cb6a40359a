# SPDX-License-Identifier: Apache-2.0
"""How the spectrum of the beam's motion has changed: rows that an application gives, or one for each look."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ringmaster.console.spectrum import BeamSpectrum
from ringmaster.fabric.rows import Rows
from ringmaster.fabric.workspace import Workspace
from ringmaster.spectra.tune_window import find_tune

CELLS = 256
"""Of a row, from 0 to half the revolution frequency: as many as a wide screen has columns."""
MOST_LOOKS = 64
MOST_ROWS = 256
"""Of an application, ten seconds."""

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PlaneRows:
    """The newest rows of one plane, oldest first."""

    turns: tuple[int, ...] = ()
    """The last turn of each row."""
    cells: tuple[Array, ...] = ()
    """Amplitudes, shape (CELLS,), each the largest of its bins; NaN where there is none that is to be trusted."""

    def thinned(self, rows: int) -> "PlaneRows":
        """As few rows, of as long a time: each the largest of a group, the newest whole."""
        size = max(1, len(self.cells) // max(1, rows))
        starts = range(len(self.cells) % size, len(self.cells), size)
        cells = tuple(np.fmax.reduce(np.array(self.cells[at : at + size])) for at in starts)
        turns = tuple(self.turns[at + size - 1] for at in starts)
        return PlaneRows(turns[-rows:], cells[-rows:])


@dataclass(frozen=True)
class Spectrogram:
    """Both planes. Stays as it is when more come."""

    x: PlaneRows = field(default_factory=PlaneRows)
    y: PlaneRows = field(default_factory=PlaneRows)

    def plane(self, name: str) -> PlaneRows:
        """The rows of "x" or "y"."""
        return self.x if name == "x" else self.y


def newest(ws: Workspace, before: Spectrogram, spectrum: BeamSpectrum | None) -> Spectrogram:
    """As an application gives them; else as ``before``, and one row more where the spectrum is a new one."""
    measured = find_tune(ws)
    names = [f"{measured[0].instrument}/spectrum_{plane}" for plane in "xy"] if measured else []
    if names and all(name in ws.rows for name in names):
        x, y = (_of_rows(ws.rows[name]) for name in names)
        return Spectrogram(x, y)
    if spectrum is None or (before.x.turns and spectrum.turn == before.x.turns[-1]):
        return before
    return Spectrogram(
        _with_row(before.x, spectrum.turn, spectrum.x.amplitude),
        _with_row(before.y, spectrum.turn, spectrum.y.amplitude),
    )


def _of_rows(rows: Rows) -> PlaneRows:
    window = rows.latest(MOST_ROWS)
    cells = folded_at(rows.axis, np.where(window.good[:, None], window.values, np.nan))
    return PlaneRows(tuple(map(int, window.turn)), tuple(cells))


def _with_row(before: PlaneRows, turn: int, amplitude: Array) -> PlaneRows:
    axis = np.linspace(0, 0.5, len(amplitude))
    cells = folded_at(axis, amplitude[None, :])[0]
    return PlaneRows((*before.turns, turn)[-MOST_LOOKS:], (*before.cells, cells)[-MOST_LOOKS:])


def folded_at(axis: Array, values: npt.NDArray[np.floating]) -> Array:
    """The largest of each cell's bins, shape (rows, CELLS); ``axis`` has the frequency of each bin, 0–0.5."""
    made = np.full((len(values), CELLS), np.nan)
    if len(values):
        cell = np.minimum((axis / 0.5 * CELLS).astype(np.intp), CELLS - 1)
        filled, starts = np.unique(cell, return_index=True)
        made[:, filled] = np.fmax.reduceat(values, starts, axis=1)
    return made


def across(cells: Array, columns: int) -> Array:
    """A row in so many columns, each the largest of its cells."""
    edges = np.linspace(0, CELLS, columns, endpoint=False).astype(np.intp)
    made: Array = np.fmax.reduceat(cells, edges)
    return made


def levels(cells: Array, lowest: float) -> Sequence[float]:
    """0–1 by the logarithm: from twice the median, where there is nothing but noise, to the highest from ``lowest``."""
    known = cells[np.isfinite(cells)]
    high = cells[int(lowest / 0.5 * len(cells)) :]
    floor, top = (2 * float(np.median(known)), float(np.nanmax(high))) if np.isfinite(high).any() else (0.0, 0.0)
    if not top > floor > 0:
        return [0.0] * len(cells)
    made: list[float] = (np.log(np.fmax(cells, floor) / floor) / np.log(top / floor)).tolist()
    return made
