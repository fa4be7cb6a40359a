# SPDX-License-Identifier: Apache-2.0
"""What supplies of magnets have to do so that the machine, as it was fitted, has the optics of the design.

By least squares on the optics: Δβ/β of both planes and horizontal dispersion by gradients; vertical dispersion and the
orbit that a kick makes in the other plane by skew gradients. Or each magnet takes back what was fitted of it.

Currents of reverse bends bend, too, by tens of micrometres of orbit, and sextupoles would feed that down: some percent
of beating. So what is found is right when the orbit has been corrected to where it was, and it is to move little.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from scipy.optimize import lsq_linear

from ringmaster.loco.model import Floats
from ringmaster.loco.report import Optics, apply_gradients, optics_of
from ringmaster.loco.result import Result
from ringmaster.machine.knobs import Knobs
from ringmaster.machine.mapping import Mapping as MachineMapping
from ringmaster.twin import Twin, TwinNoAnswer, orbit_response

METHODS = ("optics", "gradients")
BETA, DISPERSION_M, ORBIT_M = 0.01, 2e-3, 50e-6
"""What weighs alike: of Δβ/β, of horizontal dispersion, of the orbit that currents of bends make meanwhile."""
COUPLING, VERTICAL_DISPERSION_M = 0.01, 0.7e-3
"""What weighs alike, RMS: of the other plane's share of a response, which has many times more elements, and of vertical
dispersion.
"""
RELATIVE_STEP, SKEW_STEP_PER_M = 1e-4, 1e-4
KICKED = 12
"""Correctors of each plane whose other plane is looked at."""
SMALL = 1e-3
"""Singular values below this share of the largest are left out unless a number is given."""
UNMOVED_M = 1e-9
"""An orbit that a trial step of a magnet without a bend does not exceed."""
STEPS, SHARES = 12, (1.0, 0.5, 0.25)
"""Of the search, and which shares of a step are tried."""
FREE = (-np.inf, np.inf)
Say = Callable[[float], None]


@dataclass(frozen=True)
class Correction:
    """A change of supplies, and what it would do to the machine as fitted."""

    values: Mapping[str, float]
    """By how much each supply moves, in its unit."""
    before: Optics
    after: Optics
    coupling: tuple[float, float]
    """RMS share of the other plane in the response, before and after."""
    singular_values: Mapping[str, Floats]
    """By what is changed: "gradient", "skew"."""
    used: Mapping[str, int]
    unreached: tuple[str, ...]
    """In words: what no supply can do."""


class _Ring:
    """The machine as fitted, and its supplies."""

    def __init__(self, result: Result, design: Twin, mapping: MachineMapping) -> None:
        self.design, self.mapping = design, mapping
        self.twin = design.copy()
        apply_gradients(self.twin, result)
        self._knobs = Knobs(self.twin, mapping, orbit_held=True)
        self._bent = _bent(design, mapping)
        self._values: dict[str, float] = {}
        self._still = np.zeros(len(mapping.bpms))
        self.bpms = mapping.bpms
        self.places = sorted({*mapping.bpms, *(one[0] for entry in mapping.strengths for one in entry.magnets)})
        self.steerers = _kicked(mapping)
        _, _, goal = design.get_optics(self.places)
        self.beta, self.dispersion = goal.beta[:, :2].copy(), goal.dispersion[:, [0, 2]].copy()
        response = orbit_response(design, self.bpms, self.steerers)[..., :-1]
        self.own = np.array(
            [np.sqrt((response[plane, :, k] ** 2).mean()) for k, (_, plane) in enumerate(self.steerers)]
        )

    def set(self, values: Mapping[str, float]) -> None:
        """Of these supplies; the others stay."""
        self._values |= values
        self._knobs.set(values)

    def off(self, change: str) -> Floats:
        """What is to become 0, in units that weigh alike."""
        _, _, found = self.twin.get_optics(self.places)
        dispersion = found.dispersion[:, [0, 2]] - self.dispersion
        if change == "gradient":
            beta = (found.beta[:, :2] / self.beta - 1) / BETA
            orbit = sum((self._values.get(name, 0.0) * one for name, one in self._bent.items()), self._still)
            return np.concatenate([beta[:, 0], beta[:, 1], dispersion[:, 0] / DISPERSION_M, orbit / ORBIT_M])
        vertical, other = dispersion[:, 1] / VERTICAL_DISPERSION_M, self.other_plane().reshape(-1) / COUPLING
        return np.concatenate([vertical / np.sqrt(len(vertical)), other / np.sqrt(len(other))])

    def other_plane(self) -> Floats:
        """[BPM, corrector] the other plane's orbit over the own plane's RMS."""
        response = orbit_response(self.twin, self.bpms, self.steerers)[..., :-1]
        other = np.stack([response[1 - plane, :, k] for k, (_, plane) in enumerate(self.steerers)], axis=1)
        return np.asarray(other / self.own, np.float64)


def _bent(design: Twin, mapping: MachineMapping) -> dict[str, Floats]:
    """[BPM] m per unit of each supply whose current bends."""
    twin = design.copy()
    knobs, found = Knobs(twin, mapping), {}
    before = twin.find_orbit(mapping.bpms)[1][:, 0]
    for name, step in _supplies(mapping, "gradient").items():
        knobs.set({name: step})
        orbit = (twin.find_orbit(mapping.bpms)[1][:, 0] - before) / step
        knobs.set({name: 0.0})
        if np.abs(orbit * step).max() > UNMOVED_M:
            found[name] = orbit
    return found


def _kicked(mapping: MachineMapping) -> list[tuple[int, int]]:
    chosen: list[tuple[int, int]] = []
    for plane in "xy":
        of_plane = sorted({element for group in mapping.groups if group.plane == plane for element in group.elements})
        chosen += [(i, "xy".index(plane)) for i in of_plane[:: max(1, len(of_plane) // KICKED)][:KICKED]]
    return chosen


def correct(
    result: Result,
    design: Twin,
    mapping: MachineMapping,
    *,
    method: str = METHODS[0],
    changes: Sequence[str] = ("gradient", "skew"),
    singular_values: int | None = None,
    limits: Mapping[str, tuple[float, float]] = MappingProxyType({}),
    progress: Say = lambda _share: None,
) -> Correction:
    """``limits``: how far each supply may move, down and up, in its unit. Least squares keep them, and another supply
    does what one cannot. Raises ValueError where the mapping has no supplies of magnets, TwinNoAnswer where the ring
    has no optics.
    """
    # skew first: coupled planes have other β, which gradients need not make
    supplies = {change: _supplies(mapping, change) for change in sorted(changes, reverse=True)}
    if not any(supplies.values()):
        raise ValueError(
            "the mapping has no supplies of magnets that could correct: "
            "give it `strengths` with `change: gradient` or `skew`"
        )
    ring = _Ring(result, design, mapping)
    before, coupling = optics_of(design, ring.twin, ring.bpms), _rms(ring.other_plane())
    values: dict[str, float] = {}
    found: dict[str, Floats] = {}
    used: dict[str, int] = {}
    if method == "gradients":
        values, unreached = _taken_back(result, mapping, changes)
        ring.set(values)
    else:
        total = sum(len(some) for some in supplies.values())
        done = 0
        for change, some in supplies.items():
            if some:
                share = (done / total, len(some) / total)
                found[change], used[change] = _least_squares(
                    ring, change, some, singular_values, limits, values, progress, share
                )
                done += len(some)
        unreached = ()
    after, coupling_after = optics_of(design, ring.twin, ring.bpms), _rms(ring.other_plane())
    told = (*unreached, *_left(before, after, coupling, coupling_after, supplies))
    return Correction(values, before, after, (coupling, coupling_after), found, used, told)


def _supplies(mapping: MachineMapping, change: str) -> dict[str, float]:
    """Each supply of that kind, and the step by which it is tried."""
    step = SKEW_STEP_PER_M if change == "skew" else RELATIVE_STEP
    return {
        name: step / entry.per_unit for entry in mapping.strengths if entry.change == change for name in entry.supplies
    }


def _least_squares(
    ring: _Ring,
    change: str,
    supplies: Mapping[str, float],
    count: int | None,
    limits: Mapping[str, tuple[float, float]],
    values: dict[str, float],
    progress: Say,
    share: tuple[float, float],
) -> tuple[Floats, int]:
    """Some steps of Gauss and Newton with one matrix. Adds to ``values``, at which the ring's supplies then stand."""
    names, steps = list(supplies), np.array(list(supplies.values()))
    columns, before = [], ring.off(change)
    for number, (name, step) in enumerate(supplies.items()):
        ring.set({name: step})
        columns.append(ring.off(change) - before)
        ring.set({name: 0.0})
        progress(share[0] + share[1] * (number + 1) / len(names))
    u, s, vh = np.linalg.svd(np.stack(columns, axis=1), full_matrices=False)
    kept = min(count, len(s)) if count is not None else int((s > SMALL * s[0]).sum())
    low, high = (np.array([limits.get(name, FREE)[end] for name in names]) / np.abs(steps) for end in (0, 1))
    at, off = np.zeros(len(names)), before
    for _ in range(STEPS):
        whole = _within(-(u[:, :kept].T @ off), s[:kept], vh[:kept], low - at, high - at)
        found = _best_share(ring, change, names, steps, at, whole, off)
        if found is None:
            ring.set(dict(zip(names, at * steps, strict=True)))
            break
        at, off = found
    values.update({name: float(value) for name, value in zip(names, at * steps, strict=True)})
    return s, kept


def _best_share(
    ring: _Ring, change: str, names: Sequence[str], steps: Floats, at: Floats, whole: Floats, off: Floats
) -> tuple[Floats, Floats] | None:
    """Where the first share of a step that makes it better leads, and what is off there: far from the design a whole
    one goes too far. None: none does.
    """
    for share in SHARES:
        tried = at + share * whole
        try:
            ring.set(dict(zip(names, tried * steps, strict=True)))
            new = ring.off(change)
        except TwinNoAnswer:
            continue
        if new @ new < off @ off:
            return tried, new
    return None


def _within(wanted: Floats, s: Floats, vh: Floats, low: Floats, high: Floats) -> Floats:
    """What makes ``wanted`` of the singular vectors, and is nearest to 0. Where that is beyond a limit: what comes
    nearest to it within them all.
    """
    free = vh.T @ (wanted / s)
    if ((free >= low) & (free <= high)).all():
        return np.asarray(free, np.float64)
    small = SMALL * s[0] * np.eye(len(low))
    found = lsq_linear(np.vstack([s[:, None] * vh, small]), np.concatenate([wanted, np.zeros(len(low))]), (low, high))
    return np.asarray(np.clip(found.x, low, high), np.float64)


def _taken_back(
    result: Result, mapping: MachineMapping, changes: Sequence[str]
) -> tuple[dict[str, float], tuple[str, ...]]:
    """The fitted gradients with the other sign, where their magnets have supplies."""
    fitted = {
        (one.component, element): (one, float(value))
        for one, value in zip(result.gradients, result.by_gradient, strict=True)
        for element in one.elements
    }
    values: dict[str, float] = {}
    reached = set()
    for entry in mapping.strengths:
        if entry.change not in changes or entry.change == "sextupole":
            continue
        component = "A" if entry.change == "skew" else "B"
        for magnet, supply in zip(entry.magnets, entry.supplies, strict=True):
            found = fitted.get((component, magnet[0]))
            if found is None:
                continue
            one, value = found
            reached.add(one.label)
            per_unit = entry.per_unit / one.length_m if component == "A" else entry.per_unit * (one.design + value)
            values[supply] = -value / per_unit
    rest = [
        (one, value)
        for one, value in zip(result.gradients, result.by_gradient, strict=True)
        if one.label not in reached and ("skew" if one.component == "A" else "gradient") in changes
    ]
    if not rest:
        return values, ()
    told = np.sqrt(np.mean([(value * one.length_m) ** 2 for one, value in rest]))
    what = f"{len(rest)} fitted gradients have no supply: {told:.2g} 1/m RMS of them stay"
    return values, (f"{what} (--method optics spreads them over others)",)


def _left(
    before: Optics, after: Optics, coupling: float, coupling_after: float, supplies: Mapping[str, Mapping[str, float]]
) -> tuple[str, ...]:
    told = []
    for plane, name in enumerate("xy"):
        told.append(
            f"β-beating {name}: {100 * before.beating[plane]:.3g} % becomes {100 * after.beating[plane]:.2g} %, "
            f"dispersion {1e3 * before.dispersion_m[plane]:.2g} mm off becomes {1e3 * after.dispersion_m[plane]:.2g} mm"
        )
    told.append(f"of a kick the other plane has {100 * coupling:.2g} %, and then {100 * coupling_after:.2g} %")
    told += [f"there is no supply that changes the {change}" for change, some in supplies.items() if not some]
    return tuple(told)


def _rms(values: Floats) -> float:
    return float(np.sqrt(np.mean(values**2)))
