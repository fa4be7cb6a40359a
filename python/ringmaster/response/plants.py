# SPDX-License-Identifier: Apache-2.0
"""What stands between a supply's setpoint and a reading, by families: supply, chamber and the BPMs' filter.

Each family is two first orders and a delay, held and sampled once a cycle, as the feedback's file has them
(docs/feedback.md): a supply of 300 Hz leaves 0.95 of an amplitude at 100 Hz, 18 degrees late. A file may say them; and
phases that were measured tell them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from ringmaster.feedback.law import Plant
from ringmaster.machine.mapping import Mapping
from ringmaster.machine.server_file import read_yaml

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]
_MODELS = (("bandwidth_hz",), ("bandwidth_hz", "delay_s"), ("bandwidth_hz", "delay_s", "second_hz"))
"""Numbers that are fitted. A delay alone is none: a held setpoint that comes later within a cycle is seen as soon."""
_UNITS = {"bandwidth_hz": (300.0, 1.0, 1e5), "delay_s": (30e-6, 1e-6, 2e-3), "second_hz": (3000.0, 10.0, 1e5)}
"""Where a fit begins, and between which it stays."""
_LEAST_COLUMNS = 5
_SPREAD = 1.2
"""Of frequencies, highest over lowest, that tell a bandwidth from a delay."""
_WORTH = 9.0
"""Sum of squares that a further bandwidth must explain: three standard errors."""
_SEEN_RAD = 0.5
"""A phase of a larger error tells nothing."""


@dataclass(frozen=True)
class Family:
    """Supplies that have a plant in common."""

    name: str
    supplies: tuple[str, ...]
    """Names or patterns."""
    plant: Plant
    given: bool = True
    """By a file; else it is to be fitted."""
    alternatives: tuple[Plant, ...] = ()
    """One standard error away each, and that with one number more: what the fit cannot tell from its plant."""

    def has(self, supply: str) -> bool:
        """Whether one is of it."""
        return any(fnmatchcase(supply, pattern) for pattern in self.supplies)


def family_of(families: Sequence[Family], supply: str) -> Family:
    """Whose it is. Raises ValueError."""
    found = next((family for family in families if family.has(supply)), None)
    if found is None:
        raise ValueError(f"{supply} is of no family of plants: name it under `families` of the file of --plants")
    return found


def families_of(mapping: Mapping, rate_hz: float, path: Path | None) -> tuple[Family, ...]:
    """By a file with the key `families`; those that it has not are the groups of the mapping, to be fitted."""
    made = [] if path is None else [_family(path, entry, rate_hz) for entry in _listed(path)]
    for number, group in enumerate(mapping.groups):
        if any(family.has(group.actuators[0]) for family in made):
            continue
        name = group.actuators[0].rpartition("/")[2].rstrip("_0123456789") or f"group {number + 1}"
        made.append(Family(name, group.actuators, Plant(rate_hz), given=False))
    if mapping.rf is not None and not any(family.has(mapping.rf[0]) for family in made):
        made.append(Family("rf", (mapping.rf[0],), Plant(rate_hz)))
    return tuple(made)


def _listed(path: Path) -> list[Any]:
    read = read_yaml(path)
    listed = read.get("families") if isinstance(read, dict) else None
    if not isinstance(listed, list) or not listed:
        raise ValueError(f"{path}: found no list `families`, which says what plants there are")
    return listed


def _family(path: Path, entry: Any, rate_hz: float) -> Family:
    try:
        plant = entry.get("plant") or {}
        made = Plant(
            rate_hz,
            float(plant.get("bandwidth_hz", 0)),
            float(plant.get("second_hz", 0)),
            1e-6 * float(plant.get("delay_us", 0)),
        )
        return Family(str(entry["name"]), tuple(str(name) for name in entry["actuators"]), made)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{path}: {entry!r} ({error}): expected {{name, actuators, plant: {{bandwidth_hz, second_hz, delay_us}}}}"
        ) from None


def response_of(families: Sequence[Family], supplies: Sequence[str], hz: Floats) -> Complexes:
    """[supply] H at a frequency of its own."""
    made = np.empty(len(supplies), np.complex128)
    members: dict[str, list[int]] = {}
    for i, supply in enumerate(supplies):
        members.setdefault(family_of(families, supply).name, []).append(i)
    for family in families:
        index = members.get(family.name, [])
        if index:
            made[index] = family.plant.response(np.asarray(hz)[index])
    return made


def doubt_of(families: Sequence[Family], supplies: Sequence[str], hz: Floats) -> Floats:
    """[supply] relative error of |H|, of fitted plants; 0 of those that a file has."""
    made = np.zeros(len(supplies))
    for family in families:
        at = np.array([family_of(families, supply) is family for supply in supplies], np.bool_)
        if at.any() and family.alternatives:
            size = np.abs(family.plant.response(np.asarray(hz)[at]))
            off = [np.abs(other.response(np.asarray(hz)[at])) / size - 1 for other in family.alternatives]
            made[at] = np.sqrt(np.square(off).sum(axis=0))
    return made


@dataclass(frozen=True)
class Phases:
    """Of one family, what its phases say beyond its plant: how much later it is, which is divided out, and a check."""

    family: str
    columns: int
    delay_us: float
    """By the slope of the phases over the frequency: cycles, cables, another plant."""
    mean_deg: float
    """Of all, beyond that delay."""
    sigma_deg: float
    """Its error."""
    rms_deg: float
    """Of single columns about it."""
    expected_deg: float
    """What their errors alone make of that."""


def column_phases(ratio: Complexes, variance: Floats) -> tuple[Floats, Floats]:
    """[column] by how much what all rows answer together is turned, and its error, rad. Rows are real but for it.

    By the phase of Σ z²/σ², whose half it is: known up to a half turn, which is taken to be none.
    """
    weight = np.where(np.isfinite(variance) & (variance > 0), 1 / np.maximum(variance, 1e-300), 0.0)
    value = np.where(weight > 0, ratio, 0.0)
    squared = (value**2 * weight).sum(axis=0)
    power = np.maximum((np.abs(value) ** 2 * weight).sum(axis=0) - 2 * (weight > 0).sum(axis=0), 1e-300)
    return 0.5 * np.angle(squared), np.asarray(1 / np.sqrt(power))


def check(family: Family, hz: Floats, phase: Floats, sigma: Floats) -> Phases:
    """Of the columns of one family, by phases beyond its plant's."""
    weight = 1 / sigma**2
    slope = float(np.sum(weight * hz * phase) / np.sum(weight * hz * hz))
    left = np.angle(np.exp(2j * (phase - slope * hz))) / 2
    mean = float(np.sum(weight * left) / weight.sum())
    about = left - mean
    scatter = np.sqrt(np.sum((weight * about) ** 2)) / weight.sum()
    degrees = float(np.degrees(1))
    return Phases(
        family.name,
        len(hz),
        -1e6 * slope / (2 * np.pi),
        degrees * mean,
        degrees * float(max(1 / np.sqrt(weight.sum()), scatter)),
        degrees * float(np.sqrt(np.mean(about**2))),
        degrees * float(np.sqrt(np.mean(sigma**2))),
    )


def fitted(family: Family, hz: Floats, phase: Floats, sigma: Floats) -> Family:
    """With the plant that the phases tell; ``phase`` is all of the plant's own.

    A bandwidth, and a delay, and a second bandwidth: each only where the phases are more than noise without it. Ground
    motion is seen by all rows alike: so phases scatter by more than their own errors, and by how much they tell.
    """
    seen = sigma < _SEEN_RAD
    if not seen.any():
        return family
    hz, phase, sigma = hz[seen], phase[seen], sigma[seen]
    richest = _fit_of(family.plant, _MODELS[0 if _are_alike(hz) else -1], hz, phase, sigma)
    sigma = sigma * max(1.0, np.sqrt(richest.left / max(1, len(hz) - len(richest.names))))
    fits = [_fit_of(family.plant, names, hz, phase, sigma) for names in _MODELS[: 1 if _are_alike(hz) else None]]
    best = fits[0]
    for found in fits[1:]:
        if found.left < best.left - _WORTH:
            best = found
    more = [found.plant for found in fits if len(found.names) == len(best.names) + 1]
    return replace(family, plant=best.plant, alternatives=(*best.alternatives, *more))


def _are_alike(hz: Floats) -> bool:
    return len(hz) < _LEAST_COLUMNS or bool(hz.max() < _SPREAD * hz.min())


@dataclass(frozen=True)
class _Fit:
    """One model, fitted."""

    plant: Plant
    left: float
    """Sum of squares."""
    names: tuple[str, ...]
    """Of its numbers."""
    alternatives: tuple[Plant, ...]


def _fit_of(start: Plant, names: tuple[str, ...], hz: Floats, phase: Floats, sigma: Floats) -> _Fit:
    """Of these numbers of a plant; of the others its own delay, and no second bandwidth."""
    base = replace(start, second_hz=0.0)

    def plant(given: Floats) -> Plant:
        made = {name: _UNITS[name][0] * float(np.exp(value)) for name, value in zip(names, given, strict=True)}
        return replace(base, **made)

    def off(given: Floats) -> Floats:
        model = plant(given).response(hz)
        return np.asarray(np.angle(np.exp(2j * phase) / (model / np.abs(model)) ** 2) / 2 / sigma, np.float64)

    low, high = (np.log([_UNITS[name][i] / _UNITS[name][0] for name in names]) for i in (1, 2))
    found = least_squares(off, np.zeros(len(names)), bounds=(low, high), x_scale=0.1)
    values, vectors = np.linalg.eigh(found.jac.T @ found.jac)
    steps = vectors / np.sqrt(np.maximum(values, 1e-2))
    shifted = tuple(plant(np.clip(found.x + step, low, high)) for step in steps.T)
    return _Fit(plant(found.x), float(2 * found.cost), names, shifted)
