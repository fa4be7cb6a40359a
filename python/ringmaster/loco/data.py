# SPDX-License-Identifier: Apache-2.0
"""What was measured, in the order of a model: rows of the lattice's BPMs, columns of its correctors, metres."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ringmaster.loco.model import Column, Floats
from ringmaster.machine.mapping import Mapping
from ringmaster.response.measured import MeasuredResponse

NM = 1e-9
TOLD = 5
"""Names in an error."""


@dataclass(frozen=True)
class Data:
    """A response and its weights."""

    rows: tuple[str, ...]
    """Readings: x of all BPMs, then y."""
    columns: tuple[Column, ...]
    values: Floats
    """[row, column + RF] m per unit of the supply; m/Hz."""
    sigma: Floats
    """[row, column + RF] inf: not measured, or left out."""
    notes: tuple[str, ...] = field(default=())
    """What of it is missing."""

    @property
    def bpms(self) -> int:
        """How many."""
        return len(self.rows) // 2

    @property
    def weights(self) -> Floats:
        """1 / σ; 0 of what is left out."""
        return np.asarray(1 / self.sigma, np.float64)

    @property
    def clean(self) -> Floats:
        """The values; 0 of what was not measured."""
        return np.where(np.isfinite(self.sigma), self.values, 0.0)

    @property
    def has_dispersion(self) -> bool:
        """Whether enough of the last column was measured to know the horizontal scale."""
        return int(np.isfinite(self.sigma[: self.bpms, -1]).sum()) > self.bpms // 4

    def without(self, rows: Sequence[int] = (), columns: Sequence[int] = ()) -> "Data":
        """Leaves out whole rows and columns."""
        sigma = self.sigma.copy()
        sigma[list(rows)] = np.inf
        sigma[:, list(columns)] = np.inf
        return replace(self, sigma=sigma)

    def kept(self, mask: NDArray[np.bool_]) -> "Data":
        """Leaves out what the mask does not have."""
        return replace(self, sigma=np.where(mask, self.sigma, np.inf))


def columns_of(mapping: Mapping) -> dict[str, Column]:
    """The correctors of a mapping, by supply."""
    return {
        supply: Column(supply, element, "xy".index(group.plane), group.rad_per_unit)
        for group in mapping.groups
        for element, supply in zip(group.elements, group.actuators, strict=True)
    }


def data_of(measured: MeasuredResponse, mapping: Mapping) -> Data:
    """A measurement in a mapping's order. Raises ValueError for names that the mapping does not have."""
    correctors = columns_of(mapping)
    rf = () if mapping.rf is None else (mapping.rf[0],)
    _known("readings", measured.rows, mapping.rows)
    _known("supplies", measured.columns, (*correctors, *rf))
    at = {row: i for i, row in enumerate(measured.rows)}
    order = [*mapping.rows[0::2], *mapping.rows[1::2]]
    chosen = [i for i, supply in enumerate(measured.columns) if supply in correctors]
    values = np.full((len(order), len(chosen) + 1), np.nan)
    sigma, single = np.full_like(values, np.nan), measured.single_sigma  # corrector gains take what a column shares
    for row, name in enumerate(order):
        if name in at:
            values[row, :-1], values[row, -1] = measured.values[at[name], chosen], measured.dispersion[at[name]]
            sigma[row, :-1], sigma[row, -1] = single[at[name], chosen], measured.dispersion_sigma[at[name]]
    usable = np.isfinite(values) & np.isfinite(sigma) & (sigma > 0)
    if not usable.any():
        raise ValueError("nothing of the response was measured, or no error of it is known: measure it again")
    notes = [f"reading {name} was not measured" for name in order if name not in at]
    notes += [f"corrector {name} was not measured" for name in correctors if name not in measured.columns]
    columns = tuple(correctors[measured.columns[i]] for i in chosen)
    return Data(
        tuple(order), columns, NM * np.where(usable, values, 0.0), NM * np.where(usable, sigma, np.inf), _few(notes)
    )


def _few(notes: list[str]) -> tuple[str, ...]:
    if len(notes) <= TOLD:
        return tuple(notes)
    return (*notes[:TOLD], f"and {len(notes) - TOLD} more readings or correctors were not measured")


def _known(what: str, names: Sequence[str], known: Sequence[str]) -> None:
    missing = [name for name in names if name not in set(known)]
    if missing:
        told = ", ".join(missing[:TOLD]) + (f" and {len(missing) - TOLD} more" if len(missing) > TOLD else "")
        has = ", ".join(known[:3]) + (", …" if len(known) > 3 else "") if known else "none"
        raise ValueError(
            f"{what} of the measurement that the mapping does not have: {told}; it has {has}. "
            "Take the mapping of the machine that was measured"
        )
