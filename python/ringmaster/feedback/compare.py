# SPDX-License-Identifier: Apache-2.0
"""One response matrix, or two beside each other: singular values, and by how much BPMs and actuators differ."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmaster import plots
from ringmaster.feedback.matrix import Matrix

Floats = NDArray[np.float64]


def singular_values(matrix: Matrix, plane: str) -> Floats:
    """Of the rows and columns of one plane; empty where there are none."""
    block = matrix.values[np.ix_(matrix.plane_of_rows(plane), matrix.plane_of_columns(plane))]
    return np.asarray(np.linalg.svd(block, compute_uv=False), np.float64) if block.size else np.empty(0)


def coupling(matrix: Matrix) -> float:
    """RMS of what goes from one plane to the other, over the rest's."""
    rows_x, columns_x = matrix.plane_of_rows("x"), matrix.plane_of_columns("x")
    corrects = np.array([name != matrix.rf for name in matrix.columns], np.bool_)
    same = (rows_x[:, None] == columns_x[None, :]) & corrects
    inside, across = matrix.values[same], matrix.values[~same & corrects]
    return float(np.sqrt(np.mean(across**2) / np.mean(inside**2))) if len(across) and len(inside) else 0.0


@dataclass(frozen=True)
class Difference:
    """Of a second matrix from a first, on the rows and columns that both have."""

    relative_rms: float
    """RMS of the difference over RMS of the first."""
    row_gain: dict[str, float]
    """What factor makes a row of the first most like that of the second, less 1: a BPM's gain, and √β there."""
    column_gain: dict[str, float]
    left_out: tuple[int, int]
    """Rows and columns that only one of them has."""

    def as_json(self) -> dict[str, Any]:
        """For scripts."""
        return dict(vars(self))


def difference(first: Matrix, second: Matrix) -> Difference:
    """Raises ValueError where they have nothing in common."""
    rows = [name for name in first.rows if name in second.rows]
    columns = [name for name in first.columns if name in second.columns]
    if not rows or not columns:
        raise ValueError(f"these matrices have {len(rows)} rows and {len(columns)} actuators in common: nothing")
    a, b = (_part(matrix, rows, columns) for matrix in (first, second))
    total = len(set(first.rows) | set(second.rows)), len(set(first.columns) | set(second.columns))
    return Difference(
        relative_rms=float(np.sqrt(np.mean((b - a) ** 2) / np.mean(a**2))),
        row_gain=dict(zip(rows, _gain(a, b), strict=True)),
        column_gain=dict(zip(columns, _gain(a.T, b.T), strict=True)),
        left_out=(total[0] - len(rows), total[1] - len(columns)),
    )


def _part(matrix: Matrix, rows: list[str], columns: list[str]) -> Floats:
    row_at = {name: i for i, name in enumerate(matrix.rows)}
    column_at = {name: i for i, name in enumerate(matrix.columns)}
    return matrix.values[np.ix_([row_at[n] for n in rows], [column_at[n] for n in columns])]


def _gain(a: Floats, b: Floats) -> list[float]:
    square = np.sum(a * a, axis=1)
    gain = np.where(square > 0, np.sum(a * b, axis=1) / np.where(square > 0, square, 1.0), 1.0)
    return [float(value) - 1.0 for value in gain]


def draw(matrices: dict[str, Matrix], path: Path) -> None:
    """Singular values of both planes; of two matrices also their rows' and actuators' differences."""
    both = list(matrices.values())
    panels = 1 if len(both) == 1 else 3
    made = plots.figure(9.0, 3.6 * panels)
    axes = made.subplots(panels, 1, squeeze=False)[:, 0]
    for (label, matrix), style in zip(matrices.items(), ("-", "--"), strict=False):
        for plane in "xy":
            values = singular_values(matrix, plane)
            if len(values):
                number = np.arange(1, len(values) + 1)
                axes[0].semilogy(number, values, style, color=plots.COLOURS[plane], label=f"{label}, {plane}")
    axes[0].set_xlabel("mode")
    axes[0].set_ylabel("singular value, nm per unit")
    axes[0].legend(frameon=False, fontsize=8)
    if panels > 1:
        found = difference(*both[:2])
        for panel, gains, what in ((1, found.row_gain, "BPM reading"), (2, found.column_gain, "actuator")):
            axes[panel].bar(
                range(len(gains)), [100 * gain for gain in gains.values()], color=plots.PREDICTED, width=1.0
            )
            axes[panel].set_ylabel("gain − 1, %")
            axes[panel].set_xlabel(f"{what}, in the order of the file")
    for each in axes:
        each.grid(alpha=0.3, which="both")
    plots.save(made, path)
