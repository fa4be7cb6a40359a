# SPDX-License-Identifier: Apache-2.0
"""A measured response with its errors, and its file, which LOCO and the alignment read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_TEXT = h5py.string_dtype()
_KIND = "ringmaster response 1"


@dataclass(frozen=True)
class MeasuredResponse:
    """What BPM readings answer to supplies, both planes together. Readings have their BPMs' errors."""

    rows: tuple[str, ...]
    """Readings: "bpm01/x1", "bpm01/y1", …"""
    columns: tuple[str, ...]
    """Supplies."""
    values: Floats
    """[row, column] nm per unit of the supply, at rest: transfer functions are divided out. NaN: not measured."""
    sigma: Floats
    """[row, column] its standard error."""
    dispersion: Floats
    """[row] nm per Hz of the RF. NaN: not measured."""
    dispersion_sigma: Floats
    noise_nm: Floats
    """[row] RMS of one reading, with lines and drift taken out."""
    orbit_nm: Floats
    """[row] mean reading meanwhile."""
    about: Mapping[str, str | float] = field(default_factory=dict)
    """How it was measured: "mode", "feedback" ("open" or "divided out"), "workspace", "first_turn", "seconds", …"""
    gain_sigma: Floats | None = None
    """[column] what of ``sigma`` all elements of a column share, relative: the error of its plant. None: nothing."""

    def column(self, supply: str) -> Floats:
        """Of one supply. Raises ValueError for one that was not measured."""
        return np.asarray(self.values[:, self.columns.index(supply)], np.float64)

    @property
    def single_sigma(self) -> Floats:
        """[row, column] the error of each element by itself, for a fit that has a gain of each column."""
        if self.gain_sigma is None:
            return self.sigma
        return np.asarray(np.sqrt(np.maximum(self.sigma**2 - (self.gain_sigma * self.values) ** 2, 0.0)), np.float64)


_GAIN_SIGMA = "gain_sigma"
_ARRAYS = ("values", "sigma", "dispersion", "dispersion_sigma", "noise_nm", "orbit_nm")


def save(path: Path, response: MeasuredResponse) -> None:
    """Writes the file, HDF5; one that is there is replaced whole."""
    part = path.with_name(path.name + ".part")
    with h5py.File(part, "w") as file:
        file.attrs["kind"] = _KIND
        for key, value in response.about.items():
            file.attrs[f"about.{key}"] = value
        file.create_dataset("rows", data=list(response.rows), dtype=_TEXT)
        file.create_dataset("columns", data=list(response.columns), dtype=_TEXT)
        for name in _ARRAYS:
            file.create_dataset(name, data=getattr(response, name))
        if response.gain_sigma is not None:
            file.create_dataset(_GAIN_SIGMA, data=response.gain_sigma)
    part.replace(path)


def load(path: Path) -> MeasuredResponse:
    """Reads it. Raises ValueError for a file that is none, OSError."""
    if not path.exists():
        raise FileNotFoundError(2, "no such file", str(path))
    try:
        with h5py.File(path) as file:
            if file.attrs.get("kind") != _KIND:
                raise ValueError(f"{path}: its kind is {file.attrs.get('kind')!r}, expected {_KIND!r}")
            names = {key: tuple(name.decode() for name in file[key][...]) for key in ("rows", "columns")}
            about = {key.removeprefix("about."): value for key, value in file.attrs.items() if key.startswith("about.")}
            arrays = {key: np.asarray(file[key][...], np.float64) for key in (*_ARRAYS, _GAIN_SIGMA) if key in file}
    except (KeyError, OSError) as error:
        raise ValueError(f"{path}: no measured response: {error}") from None
    missing = [key for key in _ARRAYS if key not in arrays]
    if missing:
        raise ValueError(f"{path}: no measured response: it has no {', '.join(missing)}")
    shape = (len(names["rows"]), len(names["columns"]))
    for key, array in arrays.items():
        wanted = shape if key in ("values", "sigma") else shape[1:] if key == _GAIN_SIGMA else shape[:1]
        if array.shape != wanted:
            raise ValueError(f"{path}: {key} has shape {array.shape}, expected {wanted}")
    return MeasuredResponse(names["rows"], names["columns"], about=about, **arrays)
