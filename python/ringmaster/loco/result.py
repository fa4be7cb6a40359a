# SPDX-License-Identifier: Apache-2.0
"""What a fit found, with names and errors, and its file, which report and correction read."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from ringmaster.loco.diagnose import Fault
from ringmaster.loco.fit import Fit
from ringmaster.loco.gradients import Gradient
from ringmaster.loco.model import Floats

_KIND = "ringmaster loco 1"
_TEXT = h5py.string_dtype()


@dataclass(frozen=True)
class Result:
    """One fit. Arrays are as a state has them; NaN errors: not fitted."""

    lattice: str
    """As it was named to the fit."""
    mapping: str
    measurement: str
    gradients: tuple[Gradient, ...]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    planes: NDArray[np.int_]
    """[column] 0: x, 1: y."""
    by_gradient: Floats
    by_gradient_sigma: Floats
    own: Floats
    own_sigma: Floats
    cross: Floats
    cross_sigma: Floats
    gain: Floats
    gain_sigma: Floats
    roll: Floats
    roll_sigma: Floats
    residual: Floats
    """[row, column + RF] over σ."""
    singular_values: Floats
    used: int
    chi2: float
    elements: int
    parameters: int
    effective: float
    history: Floats
    conventions: tuple[str, ...]
    faults: tuple[str, ...]
    """What is wrong with BPMs and correctors, in words."""
    notes: tuple[str, ...]
    converged: bool
    is_6d: bool

    @property
    def freedom(self) -> float:
        """Degrees of freedom."""
        return max(1.0, self.elements - self.effective)

    @property
    def reduced(self) -> float:
        """χ² per degree of freedom."""
        return self.chi2 / self.freedom

    @property
    def bpms(self) -> int:
        """How many."""
        return len(self.rows) // 2

    def bpm_matrix(self, at: int) -> Floats:
        """[reading, beam] of one BPM."""
        n = self.bpms
        return np.array([[self.own[at], self.cross[at]], [self.cross[n + at], self.own[n + at]]])

    @property
    def bpm_roll(self) -> Floats:
        """[BPM] rad: what of the cross terms is a rotation."""
        n = self.bpms
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((self.cross[:n] / self.own[:n] - self.cross[n:] / self.own[n:]) / 2, np.float64)

    @property
    def bpm_crunch(self) -> Floats:
        """[BPM] what of the cross terms is the same both ways."""
        n = self.bpms
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((self.cross[:n] / self.own[:n] + self.cross[n:] / self.own[n:]) / 2, np.float64)


def result_of(
    fit: Fit, faults: list[Fault], lattice: str, mapping: str, measurement: str, notes: tuple[str, ...] = ()
) -> Result:
    """With the names under which all of it was given."""
    state, sigma = fit.state, fit.sigma
    return Result(
        lattice=lattice,
        mapping=mapping,
        measurement=measurement,
        gradients=fit.model.gradients,
        rows=fit.data.rows,
        columns=tuple(one.supply for one in fit.data.columns),
        planes=np.array([one.plane for one in fit.data.columns]),
        by_gradient=state.gradients,
        by_gradient_sigma=sigma.gradients,
        own=state.own,
        own_sigma=sigma.own,
        cross=state.cross,
        cross_sigma=sigma.cross,
        gain=state.gain,
        gain_sigma=sigma.gain,
        roll=state.roll,
        roll_sigma=sigma.roll,
        residual=fit.residual,
        singular_values=fit.singular_values,
        used=fit.used,
        chi2=fit.chi2,
        elements=fit.elements,
        parameters=fit.parameters,
        effective=fit.effective,
        history=np.array(fit.history),
        conventions=fit.conventions,
        faults=tuple(str(one) for one in faults),
        notes=(*fit.data.notes, *notes),
        converged=fit.converged,
        is_6d=fit.model.twin.is_6d,
    )


def save(path: Path, result: Result) -> None:
    """Writes the file, HDF5; one that is there is replaced whole."""
    part = path.with_name(path.name + ".part")
    with h5py.File(part, "w") as file:
        file.attrs["kind"] = _KIND
        for field in fields(result):
            value = getattr(result, field.name)
            if field.name == "gradients":
                _save_gradients(file, value)
            elif isinstance(value, tuple):
                file.create_dataset(field.name, data=list(value), dtype=_TEXT)
            elif isinstance(value, np.ndarray):
                file.create_dataset(field.name, data=value)
            else:
                file.attrs[field.name] = value
    part.replace(path)


def _save_gradients(file: Any, gradients: tuple[Gradient, ...]) -> None:
    group = file.create_group("gradients")
    group.create_dataset("name", data=[one.name for one in gradients], dtype=_TEXT)
    group.create_dataset("component", data=[one.component for one in gradients], dtype=_TEXT)
    group.create_dataset("elements", data=[" ".join(map(str, one.elements)) for one in gradients], dtype=_TEXT)
    for name in ("length_m", "design", "sigma"):
        group.create_dataset(name, data=np.array([getattr(one, name) for one in gradients], np.float64))


def load(path: Path) -> Result:
    """Reads it. Raises ValueError for a file that is none, OSError."""
    if not path.exists():
        raise FileNotFoundError(2, "no such file", str(path))
    try:
        with h5py.File(path) as file:
            if file.attrs.get("kind") != _KIND:
                raise ValueError(
                    f"{path}: its kind is {file.attrs.get('kind')!r}, expected {_KIND!r}: "
                    "give what `ringmaster loco fit` wrote"
                )
            return Result(**{field.name: _loaded(file, field.name) for field in fields(Result)})
    except (KeyError, OSError) as error:
        raise ValueError(f"{path}: no result of `ringmaster loco fit`: {error}") from None


def _loaded(file: Any, name: str) -> Any:
    if name in file.attrs:
        value = file.attrs[name]
        return value.item() if isinstance(value, np.generic) else value
    if name == "gradients":
        group = file[name]
        columns = [_words(group["name"]), _words(group["component"]), _words(group["elements"])]
        numbers = [group[key][...] for key in ("length_m", "design", "sigma")]
        return tuple(
            Gradient(
                label, component, tuple(int(i) for i in elements.split()), float(span), float(design), float(width)
            )
            for label, component, elements, span, design, width in zip(*columns, *numbers, strict=True)
        )
    dataset = file[name]
    return _words(dataset) if h5py.check_string_dtype(dataset.dtype) else dataset[...]


def _words(dataset: Any) -> tuple[str, ...]:
    return tuple(word.decode() for word in dataset[...])
