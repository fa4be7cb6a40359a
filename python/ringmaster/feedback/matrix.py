# SPDX-License-Identifier: Apache-2.0
"""A response matrix with the names of its rows and columns, and its file of text: include/ringmaster/table.h."""

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Matrix:
    """Rows are BPM readings (INSTRUMENT/LANE), columns are actuators; nm per unit of the actuator."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: Floats
    """Shape (rows, columns)."""
    rf: str | None = None
    """The actuator of the RF frequency, whose column is the dispersion and belongs to no plane."""

    def __post_init__(self) -> None:
        """Raises ValueError where names and numbers do not fit each other."""
        if self.values.shape != (len(self.rows), len(self.columns)):
            raise ValueError(
                f"a matrix of {self.values.shape[0]} × {self.values.shape[1]} numbers cannot have {len(self.rows)} "
                f"names of rows and {len(self.columns)} of actuators"
            )
        if self.rf is not None and self.rf not in self.columns:
            raise ValueError(f"the RF's actuator {self.rf!r} is none of the {len(self.columns)} actuators")
        for what, names in (("row", self.rows), ("actuator", self.columns)):
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise ValueError(f"{what} {twice[0]!r} is there twice")
        if not np.isfinite(self.values).all():
            row, column = np.argwhere(~np.isfinite(self.values))[0]
            raise ValueError(f"row {self.rows[row]!r}, actuator {self.columns[column]!r}: no finite number")

    def plane_of_rows(self, plane: str) -> NDArray[np.bool_]:
        """Which rows are of this plane: by the first letter of the lane."""
        return np.array([row_plane(name) == plane for name in self.rows], np.bool_)

    def plane_of_columns(self, plane: str) -> NDArray[np.bool_]:
        """Which correctors are of this plane: where their response is larger. The RF's column is of none."""
        x, y = (np.square(self.values[self.plane_of_rows(p)]).sum(axis=0) for p in "xy")
        corrects = np.array([name != self.rf for name in self.columns], np.bool_)
        return np.asarray((x >= y if plane == "x" else y > x) & corrects)


def row_plane(name: str) -> str:
    """'x' or 'y' from "bpm01/y2"."""
    return name.rpartition("/")[2][:1]


RF_COMMENT = "# rf:"
"""Begins the comment that names the RF's actuator; the application takes it from its configuration."""


def load_csv(path: Path) -> Matrix:
    """Reads the file. Raises ValueError with line and column, OSError."""
    header: list[str] | None = None
    rf: str | None = None
    names: list[str] = []
    values: list[list[float]] = []
    with path.open(newline="", encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.startswith(RF_COMMENT):
                rf = line.removeprefix(RF_COMMENT).strip()
            if line.startswith("#") or not line.strip():
                continue
            fields = [field.strip() for field in next(csv.reader([line]))]
            if header is None:
                header = fields[1:]
                continue
            if len(fields) != len(header) + 1:
                raise ValueError(
                    f"{path}:{number}: {len(fields) - 1} numbers, expected {len(header)}, one for each actuator"
                )
            names.append(fields[0])
            values.append([_number(path, number, i, field) for i, field in enumerate(fields[1:], 2)])
    if header is None or not names:
        raise ValueError(f"{path}: no matrix in it: expected a line of actuators' names, and a line for each row")
    try:
        return Matrix(tuple(names), tuple(header), np.array(values, np.float64).reshape(len(names), len(header)), rf)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _number(path: Path, line: int, column: int, field: str) -> float:
    try:
        number = float(field)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{path}:{line}: field {column}: found {field!r}, expected a finite number")
    return number


def save_csv(path: Path, matrix: Matrix, comments: Sequence[str] = ()) -> None:
    """Writes the file; comments first, which say where it comes from."""
    with path.open("w", encoding="utf-8") as file:
        for comment in ("nm per unit of the actuator", *comments):
            file.write(f"# {' '.join(comment.split())}\n")
        if matrix.rf is not None:
            file.write(f"{RF_COMMENT} {matrix.rf}\n")
        file.write("," + ",".join(matrix.columns) + "\n")
        for name, row in zip(matrix.rows, matrix.values, strict=True):
            file.write(name + "," + ",".join(format(value, ".9g") for value in row) + "\n")


def load_values(path: Path, names: Sequence[str]) -> Floats:
    """A file of lines NAME,NUMBER: the numbers in the order of ``names``, NaN for who is not in it.

    Raises ValueError for a name that is not among these, and for what is no number.
    """
    known = {name: i for i, name in enumerate(names)}
    values = np.full(len(names), np.nan)
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, word = line.rpartition(",")
        if name.strip() not in known:
            raise ValueError(f"{path}:{number}: {name.strip()!r} is no row of the matrix; the first is {names[0]!r}")
        values[known[name.strip()]] = _number(path, number, 2, word.strip())
    return values


def save_values(path: Path, names: Sequence[str], values: Floats, comment: str) -> None:
    """Writes such a file."""
    lines = [f"{name},{value:.9g}" for name, value in zip(names, values, strict=True)]
    path.write_text("\n".join([f"# {comment}", *lines, ""]), encoding="utf-8")
