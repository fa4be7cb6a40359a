# SPDX-License-Identifier: Apache-2.0
"""From the states of all groups to offsets: induced orbits, kicks, where the kick vanishes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ringmaster.bba.centres import Away, Stepped, of_quadrupole, of_sextupole
from ringmaster.bba.kicks import Doubt, Others, solve
from ringmaster.bba.lines import LINES, REST, Complexes, mean_of
from ringmaster.bba.magnets import Target
from ringmaster.bba.measure import Taken
from ringmaster.bba.model import Model
from ringmaster.bba.plan import SIGNS, Plan
from ringmaster.bba.plant import Floats
from ringmaster.bba.second import second_order
from ringmaster.bba.swing import NM, REPAIRED, Swung, swung


@dataclass(frozen=True)
class Offset:
    """Of one BPM: what it reads where the beam goes through the centre of the magnet. Pairs are x and y."""

    bpm: int
    magnet: str
    kind: str
    supply: str
    distance_m: float
    offset_nm: tuple[float, float]
    sigma_nm: tuple[float, float]
    """By noise of the readings, and by magnets that shake."""
    systematic_nm: Mapping[str, tuple[float, float]]
    """By cause."""
    away_nm: tuple[float, float]
    """The beam less the centre of the magnet, when it was measured."""
    strength: float
    """What was found of the kick per displacement over what was expected: about 1."""
    chi2: float
    """Of the induced orbits of its group, per degree of freedom."""
    fault: str
    """Of the BPM, in words; empty: none."""
    group: int

    @property
    def total_nm(self) -> tuple[float, float]:
        """All errors together."""
        x, y = np.sqrt(np.square(self.sigma_nm) + np.sum(np.square(list(self.systematic_nm.values())), axis=0))
        return float(x), float(y)


@dataclass(frozen=True)
class Found:
    """All offsets of a measurement, and what is wrong with it."""

    offsets: tuple[Offset, ...]
    missing: Mapping[int, str]
    """BPMs without one, and why."""
    swung: Swung
    shaken_nm: float
    """RMS by which magnets seem to shake, within a state."""


def odd(states: Complexes) -> Complexes:
    """[row, line] per step: what changes its sign with the steps."""
    signs = np.array(SIGNS, np.float64)
    return np.asarray(np.tensordot(signs, states, axes=1) / len(SIGNS), np.complex128)


def scatter(states: Complexes) -> Complexes:
    """[row, line] that has the same noise, and neither steps nor a drift in it."""
    first, second, third, fourth = states
    return np.asarray((first - second - fourth + third) / 4, np.complex128)


def analyse(model: Model, plan: Plan, taken: Sequence[Taken], doubt: Doubt) -> Found:
    """All that was taken."""
    taken = [one for one in taken if len(one.supplies)]
    targets = {t.magnet.supply: t for group in plan.groups for t in group.targets}
    chosen = [targets[name] for one in taken for name in one.supplies]
    mean = mean_of(np.array([mean_of(one.states, 0) for one in taken]), 0)
    seen = swung(model, plan, chosen, mean)
    shaken = np.array([_shaken_m(model, seen, scatter(one.states)) for one in taken])
    shaken_m = np.sqrt(np.median(shaken**2, axis=0))
    offsets: list[Offset] = []
    for one in taken:
        group = [targets[name] for name in one.supplies]
        inside = seen.passing.in_magnets[len(offsets) : len(offsets) + len(group)]
        offsets += _Group(model, plan, one, group, inside, seen, shaken_m, doubt).offsets()
    missing = dict.fromkeys(plan.without, "no quadrupole stands beside it, and no sextupole has a supply")
    return Found(tuple(sorted(offsets, key=lambda o: o.bpm)), missing, seen, float(shaken_m[REST]) * NM)


def positions(seen: Swung, read: Complexes) -> Complexes:
    """[plane, bpm, line] m, of [row, line] nm: as BPMs would read that are as the swing of the lattice has them."""
    lies = np.array([bool(fault) and not fault.startswith(REPAIRED) for fault in seen.faults])
    gains = np.where(lies[:, None, None], np.eye(2), seen.gain)
    orbit = np.linalg.solve(gains, read.reshape(len(gains), 2, -1)) / NM
    orbit[lies] = np.nan
    return np.asarray(orbit.transpose(1, 0, 2))


def _shaken_m(model: Model, seen: Swung, scattered: Complexes) -> Floats:
    """[line] by how much each magnet's displacement scatters, that makes such an orbit."""
    fields = model.gradients
    per_m = np.sum((fields.columns * fields.strength) ** 2, axis=2)
    size = np.abs(positions(seen, scattered)) ** 2
    size[:, :, 1:] /= 2
    good = np.isfinite(size).all(axis=2)
    return np.asarray(np.sqrt(np.mean(size[good], axis=0) / np.mean(per_m[good])), np.float64)


class _Group:
    """What one group of magnets has induced."""

    def __init__(
        self,
        model: Model,
        plan: Plan,
        one: Taken,
        group: list[Target],
        inside: Complexes,
        seen: Swung,
        shaken_m: Floats,
        doubt: Doubt,
    ) -> None:
        self._model, self._plan, self._one, self._group = model, plan, one, group
        self._inside, self._seen, self._shaken_m, self._doubt = inside, seen, shaken_m, doubt
        self._kind = group[0].magnet.kind
        elements = [t.magnet.elements for t in group]
        self._columns = np.stack([model.columns(some) for some in elements], axis=-1)
        """[plane, bpm, magnet]."""
        fields, sextupoles = model.gradients, model.sextupoles
        points = (*fields.elements, *sextupoles.elements)
        orbits = np.stack([model.response(points, some).mean(axis=2) for some in elements], axis=-1)
        self._in_gradients, self._in_sextupoles = np.split(orbits, [len(fields.elements)], axis=1)

    def offsets(self) -> list[Offset]:
        """Of its BPMs."""
        induced = positions(self._seen, odd(self._one.states))
        first = self._solve(induced)
        solved = self._solve(induced - self._mixed(first.value))
        rest = mean_of(self._one.states[:, :, REST], 0).real.reshape(-1, 2)
        return [
            self._offset(k, rest[target.bpm], self._away(solved, k), self._away(first, k), solved.chi2)
            for k, target in enumerate(self._group)
        ]

    def _away(self, solved: "_Solved", k: int) -> Away:
        magnet = self._group[k].magnet
        step = float(self._one.steps[k]) * magnet.per_unit * magnet.strength
        stepped = Stepped(solved.value[k], solved.sigma[k], solved.statistical[k], step, self._inside[k])
        return (of_quadrupole if self._kind == "quadrupole" else of_sextupole)(stepped, self._doubt)

    def _solve(self, induced: Complexes) -> "_Solved":
        """Of all lines."""
        count, fields = len(self._group), self._model.gradients
        value = np.zeros((count, 2, LINES), np.complex128)
        sigma, statistical, chi2 = np.zeros((count, 2, LINES)), np.zeros((count, 2, LINES)), []
        noise_m = self._one.noise_nm.reshape(-1, 2).T / 2 / NM
        for plane in (0, 1):
            others = Others(fields.columns[plane], np.abs(fields.strength), self._in_gradients[plane])
            for line in range(LINES):
                noise = noise_m[plane] * (1.0 if line == REST else np.sqrt(2))
                shaken = float(self._shaken_m[line])
                found = solve(induced[plane, :, line], self._columns[plane], noise, shaken, others, self._doubt)
                value[:, plane, line], sigma[:, plane, line] = found.value, found.sigma
                statistical[:, plane, line] = found.statistical
                chi2.append(found.chi2)
        leaked = self._doubt.coupling * np.sqrt(np.mean(np.abs(value) ** 2, axis=0) / 2)
        return _Solved(value, np.hypot(sigma, leaked[::-1]), statistical, float(np.mean(chi2)))

    def _mixed(self, values: Complexes) -> Complexes:
        """[plane, bpm, line] what the sextupoles mix."""
        induced = np.einsum("pjm,mpl->pjl", self._in_sextupoles, values)
        waves, sextupoles = self._seen.passing.in_sextupoles, self._model.sextupoles
        return second_order(induced, waves, sextupoles, self._plan.swing, self._plan.read_s)

    def _offset(self, k: int, rest: Floats, away: Away, unmixed: Away, chi2: float) -> Offset:
        target, doubt = self._group[k], self._doubt
        gain = self._seen.gain[target.bpm]
        offset = rest - gain @ away.value * NM
        systematic = {
            "pattern": away.pattern,
            "strength": away.by_strength,
            "mixing": doubt.mixing * np.abs(away.value - unmixed.value),
            "angle": np.full(2, abs(target.distance_m) * doubt.angle_rad),
        }
        return Offset(
            bpm=target.bpm,
            magnet=target.magnet.name,
            kind=self._kind,
            supply=target.magnet.supply,
            distance_m=target.distance_m,
            offset_nm=_pair(offset),
            sigma_nm=_pair(away.statistical * NM),
            systematic_nm={name: _pair(value * NM) for name, value in systematic.items()},
            away_nm=_pair(away.value * NM),
            strength=away.strength,
            chi2=chi2,
            fault=self._seen.faults[target.bpm],
            group=self._one.group,
        )


@dataclass(frozen=True)
class _Solved:
    """Kicks of a group, [magnet, plane, line]."""

    value: Complexes
    sigma: Floats
    statistical: Floats
    chi2: float


def _pair(values: Floats) -> tuple[float, float]:
    return float(values[0]), float(values[1])
