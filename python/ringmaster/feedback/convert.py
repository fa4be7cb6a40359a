# SPDX-License-Identifier: Apache-2.0
"""Response matrices of others: CSV with or without names, .npy, .mat as the MATLAB Middle Layer writes it, HDF5."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmaster.feedback.matrix import Matrix, load_csv

Floats = NDArray[np.float64]
NM = {"nm": 1.0, "um": 1e3, "µm": 1e3, "mm": 1e6, "m": 1e9}


def read_any(
    path: Path,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    unit: str | None = None,
    inside: str | None = None,
) -> tuple[Matrix, str]:
    """Any of them, and what it was. ``inside``: which variable or dataset; ``rows``, ``columns``: their names.

    ``unit`` is the length in which the file has its readings; without it as the file says, or nm.
    """
    suffix = path.suffix.lower()
    if suffix == ".mat":
        return _from_mat(path, rows, columns, unit, inside)
    if suffix == ".npy":
        return _from_npy(path, rows, columns, unit)
    if suffix in (".h5", ".hdf5", ".nxs"):
        return _from_hdf5(path, rows, columns, unit, inside)
    return _from_text(path, rows, columns, unit)


def join(parts: Sequence[Matrix]) -> Matrix:
    """Matrices of planes, one below and beside the other: 0 between the rows of one and the actuators of another.

    A row or an actuator that several have stands once. Raises ValueError where two differ in one element.
    """
    rows = list(dict.fromkeys(name for part in parts for name in part.rows))
    columns = list(dict.fromkeys(name for part in parts for name in part.columns))
    values = np.full((len(rows), len(columns)), np.nan)
    for part in parts:
        at = np.ix_([rows.index(name) for name in part.rows], [columns.index(name) for name in part.columns])
        twice = np.argwhere(np.isfinite(values[at]) & (values[at] != part.values))
        if len(twice):
            row, column = part.rows[twice[0][0]], part.columns[twice[0][1]]
            raise ValueError(f"two of the files have row {row!r} of actuator {column!r}, with different values")
        values[at] = part.values
    rf = next((part.rf for part in parts if part.rf is not None), None)
    return Matrix(tuple(rows), tuple(columns), np.nan_to_num(values), rf)


def read_planes(
    paths: Sequence[Path],
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    unit: str | None = None,
    inside: str | None = None,
) -> tuple[Matrix, str]:
    """One file, or one for each plane, joined. Names are those of all files, one file after the other."""
    if len(paths) == 1:
        return read_any(paths[0], rows, columns, unit, inside)
    parts, kinds = [], []
    shapes = [shape_of(path, unit, inside) if len(rows) or len(columns) else (0, 0) for path in paths]
    for what, names, counts in zip(("rows", "actuators"), (rows, columns), zip(*shapes, strict=True), strict=True):
        if len(names) not in (0, sum(counts)):
            theirs = " + ".join(map(str, counts))
            raise ValueError(f"{len(names)} names of {what}, where {len(paths)} files have {theirs}: give all, or none")
    for path, (height, width) in zip(paths, shapes, strict=True):
        part, kind = read_any(path, rows[:height], columns[:width], unit, inside)
        rows, columns = rows[height:], columns[width:]
        parts.append(part)
        kinds.append(f"{path.name} ({kind}, {len(part.rows)} × {len(part.columns)})")
    return join(parts), "planes of " + " and ".join(kinds)


def shape_of(path: Path, unit: str | None, inside: str | None) -> tuple[int, int]:
    """Rows and actuators of a file, whether it has names or not."""
    try:
        found, _ = read_any(path, (), (), unit, inside)
    except NamesMissing as error:
        return error.shape
    return len(found.rows), len(found.columns)


class NamesMissing(ValueError):
    """A file of numbers without names."""

    def __init__(self, path: Path, shape: tuple[int, int]) -> None:
        """Says how to name them."""
        self.shape = shape
        super().__init__(
            f"{path}: {shape[0]} rows and {shape[1]} columns of numbers without names: name them by "
            f"--rows and --columns, as 'bpm[01-84]/{{x1,y1,x2,y2}}', or by files"
        )


def _from_npy(path: Path, rows: Sequence[str], columns: Sequence[str], unit: str | None) -> tuple[Matrix, str]:
    try:
        values = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ValueError(f"{path}: {error}") from None
    if not isinstance(values, np.ndarray) or values.ndim != 2 or values.dtype.kind not in "fiu":
        raise ValueError(f"{path}: expected one array of numbers of 2 dimensions")
    return _named(path, values.astype(np.float64) * _factor(path, unit), rows, columns), "a NumPy array"


def _factor(path: Path, unit: str | None) -> float:
    word = (unit or "nm").partition("/")[0].strip().lower()
    if word not in NM:
        raise ValueError(f"{path}: readings are in {unit!r}; expected one of {', '.join(NM)}: say it by --unit")
    return NM[word]


def _named(path: Path, values: Floats, rows: Sequence[str], columns: Sequence[str]) -> Matrix:
    if values.ndim == 2 and not (len(rows) and len(columns)):
        raise NamesMissing(path, (values.shape[0], values.shape[1]))
    try:
        return Matrix(tuple(rows), tuple(columns), values)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


# ---- text


def _from_text(path: Path, rows: Sequence[str], columns: Sequence[str], unit: str | None) -> tuple[Matrix, str]:
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip() and line[0] not in "#%"]
    if not lines:
        raise ValueError(f"{path}: no matrix in it")
    separator = next((mark for mark in (",", ";", "\t") if mark in lines[0]), None)
    try:
        values = np.array([_fields(line, separator) for line in lines], np.float64)
    except ValueError:
        named = load_csv(path)
        given = Matrix(tuple(rows) or named.rows, tuple(columns) or named.columns, named.values * _factor(path, unit))
        return given, "CSV with names"
    return _named(path, values * _factor(path, unit), rows, columns), "numbers without names"


def _fields(line: str, separator: str | None) -> list[float]:
    words = line.split() if separator is None else next(csv.reader([line], delimiter=separator))
    return [float(word) for word in words]


# ---- MATLAB Middle Layer


def _from_mat(
    path: Path, rows: Sequence[str], columns: Sequence[str], unit: str | None, inside: str | None
) -> tuple[Matrix, str]:
    try:
        from scipy.io import loadmat
    except ImportError:
        raise ValueError("reading .mat files needs SciPy: install scipy") from None
    try:
        read = loadmat(path, squeeze_me=True, struct_as_record=False)
    except NotImplementedError:  # version 7.3 is HDF5
        return _from_hdf5(path, rows, columns, unit, inside)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    variables = {name: value for name, value in read.items() if not name.startswith("__")}
    if inside is not None:
        if inside not in variables:
            raise ValueError(f"{path}: no variable {inside!r}; it has {', '.join(variables)}")
        variables = {inside: variables[inside]}
    for name, value in variables.items():
        parts = [part for part in np.atleast_1d(np.asarray(value, object)).ravel() if _is_response(part)]
        if parts:
            return _joined(path, parts, rows, columns, unit), f"response matrix {name!r} of the MATLAB Middle Layer"
    plain = {name: value for name, value in variables.items() if isinstance(value, np.ndarray) and value.ndim == 2}
    plain = {name: value for name, value in plain.items() if value.dtype.kind in "fi"}
    if len(plain) != 1:
        raise ValueError(
            f"{path}: found neither a response matrix of the MATLAB Middle Layer (a structure with Data, Monitor, "
            f"Actuator) nor one matrix of numbers; say which variable by --inside: {', '.join(variables)}"
        )
    name, values = next(iter(plain.items()))
    return _named(path, values.astype(np.float64) * _factor(path, unit), rows, columns), f"matrix {name!r}"


def _is_response(value: Any) -> bool:
    return all(hasattr(value, member) for member in ("Data", "Monitor", "Actuator"))


def _joined(path: Path, parts: Sequence[Any], rows: Sequence[str], columns: Sequence[str], unit: str | None) -> Matrix:
    """Blocks of families into one matrix: rows and columns in the order in which they first appear."""
    row_names: list[str] = []
    column_names: list[str] = []
    blocks = []
    for part in parts:
        monitors, actuators = _devices(part.Monitor, reading=True), _devices(part.Actuator, reading=False)
        data = np.asarray(part.Data, np.float64).reshape(len(monitors), len(actuators))
        factor = _factor(path, unit or _unit(part) or "mm")
        blocks.append((monitors, actuators, data * factor))
        row_names += [name for name in monitors if name not in row_names]
        column_names += [name for name in actuators if name not in column_names]
    values = np.zeros((len(row_names), len(column_names)))
    for monitors, actuators, data in blocks:
        at = np.ix_([row_names.index(n) for n in monitors], [column_names.index(n) for n in actuators])
        values[at] = data
    return _named(path, values, tuple(rows) or row_names, tuple(columns) or column_names)


def _unit(part: Any) -> str | None:
    """Of the readings: UnitsString of the matrix ("mm/amp"), or of the monitor."""
    for owner in (part.Monitor, part):
        told = getattr(owner, "UnitsString", None)
        if isinstance(told, str) and told.partition("/")[0].strip().lower() in NM:
            return told
    return None


def _devices(data: Any, reading: bool) -> list[str]:
    """Names from family and device list: ``bpmx_s01_03/x``, ``hcm_s01_03``."""
    family = str(getattr(data, "FamilyName", "device"))
    devices = np.atleast_2d(np.asarray(getattr(data, "DeviceList", []), int))
    if devices.shape[-1] == 1:  # a list of numbers, no sectors
        devices = np.column_stack([np.ones(len(devices), int), devices.ravel()])
    plane = "y" if family.lower().endswith(("y", "z", "v")) else "x"
    names = [f"{family.lower()}_s{sector:02d}_{device:02d}" for sector, device in devices]
    return [f"{name}/{plane}" for name in names] if reading else names


# ---- HDF5


def _from_hdf5(
    path: Path, rows: Sequence[str], columns: Sequence[str], unit: str | None, inside: str | None
) -> tuple[Matrix, str]:
    import h5py

    with h5py.File(path, "r") as file:
        name = inside or _only_matrix(path, file)
        if name not in file:
            raise ValueError(f"{path}: no dataset {name!r}")
        data = file[name]
        values = np.asarray(data[()], np.float64)
        folder = data.parent
        said = data.attrs.get("unit") or data.attrs.get("units")
        row_names = tuple(rows) or _texts(folder, "rows")
        column_names = tuple(columns) or _texts(folder, "columns")
    if values.ndim != 2:
        raise ValueError(f"{path}: dataset {name!r} has {values.ndim} dimensions, expected 2")
    if path.suffix.lower() == ".mat":  # MATLAB's columns are HDF5's rows
        values = values.T
    word = said.decode() if isinstance(said, bytes) else said
    return _named(path, values * _factor(path, unit or word), row_names, column_names), f"dataset {name!r}"


def _only_matrix(path: Path, file: Any) -> str:
    found: list[str] = []

    def look(name: str, item: Any) -> None:
        if getattr(item, "ndim", 0) == 2 and item.dtype.kind in "fi":
            found.append(name)

    file.visititems(look)
    if len(found) != 1:
        raise ValueError(f"{path}: say which dataset is the matrix by --inside: {', '.join(found) or 'it has none'}")
    return found[0]


def _texts(folder: Any, name: str) -> tuple[str, ...]:
    if name not in folder:
        return ()
    return tuple(word.decode() if isinstance(word, bytes) else str(word) for word in folder[name][()])
