# SPDX-License-Identifier: Apache-2.0
"""What an alignment does: which correctors swing the orbit, which magnets step together, how far and in which sense."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ringmaster.bba.kicks import condition
from ringmaster.bba.lines import Swing
from ringmaster.bba.magnets import Target, targets_of
from ringmaster.bba.model import Model
from ringmaster.bba.plant import Floats, Sine

SIGNS = (1, -1, -1, 1)
"""Of a group's states: a drift of the orbit cancels, and all that is even in the steps."""
MOST_CONDITION = 20.0
"""Of the patterns of a group."""
OFF_CENTRE_M = 50e-6
"""So far from a sextupole's centre the beam is expected, at least where tunes are told."""
Limits = Callable[[str], tuple[float, float]]
"""How far a supply may go down and up from where it stands, in its unit."""


@dataclass(frozen=True)
class Settings:
    """What people choose."""

    swing_um: float = 60.0
    """Amplitude of the swing at the BPMs, RMS around the ring."""
    hz: tuple[float, float] = (30.0, 37.5)
    """Of x and of y: above what the ground shakes, and sums and differences away from the mains."""
    quadrupole_step: float = 0.04
    """Relative."""
    sextupole_step: float = 0.2
    group: int = 6
    """Magnets that step together."""
    read_s: float = 0.4
    """In each state: whole periods of both frequencies, and of the mains."""


@dataclass(frozen=True)
class Group:
    """Magnets that step together."""

    number: int
    targets: tuple[Target, ...]
    steps: tuple[float, ...]
    """Of their supplies, in their units, with the sense of each."""
    condition: float
    """Of their patterns: 1 is best."""
    tune_shift: tuple[float, float]
    """Of the whole group, to first order."""


@dataclass(frozen=True)
class Plan:
    """All of it."""

    swing: Swing
    sines: tuple[Sine, ...]
    groups: tuple[Group, ...]
    read_s: float
    without: tuple[int, ...]
    """BPMs that have no magnet to be aligned to."""
    least_swing: float
    """Least amplitude in a magnet over the mean one, both for mean β: 1 is even."""


def whole_ring(supply: str) -> tuple[float, float]:
    """Limits of a supply that has none."""
    del supply
    return (np.inf, np.inf)


def make_plan(
    model: Model,
    settings: Settings,
    limits: Limits = whole_ring,
    may_swing: Sequence[str] | None = None,
    bpms: Sequence[int] | None = None,
) -> Plan:
    """``may_swing``: the correctors that may, or all. ``bpms``: of these alone. Raises ValueError."""
    targets, without = targets_of(model.twin, model.mapping)
    if bpms is not None:
        targets = [target for target in targets if target.bpm in set(bpms)]
    if not targets:
        raise ValueError(
            "no BPM has a magnet that can be changed: does the mapping have `strengths` of quadrupoles and sextupoles?"
        )
    check_times(settings)
    sines, least = choose_swing(model, targets, settings, limits, may_swing)
    groups = list(_groups(model, targets, settings, limits))
    return Plan(Swing(settings.hz), sines, tuple(groups), settings.read_s, tuple(without), least)


def check_times(settings: Settings) -> None:
    """Raises ValueError where a state is no whole number of periods: lines would leak into each other."""
    x, y = settings.hz
    lines = Swing(settings.hz).lines_hz
    apart = np.abs(lines[:, None] - lines)[np.triu_indices(len(lines), 1)].min()
    if x >= y or apart * settings.read_s < 1 - 1e-9:
        told = ", ".join(f"{hz:g}" for hz in lines)
        raise ValueError(
            f"frequencies of {x:g} and {y:g} Hz make lines at {told} Hz, of which two are {apart:g} Hz apart; expected "
            f"1 / read time = {1 / settings.read_s:g} Hz at least, and that of x below that of y: choose others by --hz"
        )
    periods = np.array([x, y]) * settings.read_s
    if np.abs(periods - np.round(periods)).max() > 1e-6:
        raise ValueError(
            f"{settings.read_s:g} s are {periods[0]:g} and {periods[1]:g} periods of the swing; expected whole numbers"
        )


def choose_swing(
    model: Model, targets: Sequence[Target], settings: Settings, limits: Limits, may_swing: Sequence[str] | None
) -> tuple[tuple[Sine, ...], float]:
    """Of each plane the two correctors that, a quarter of a period apart, swing the orbit most evenly in all magnets.

    One corrector's orbit has nodes; two of them make a wave that has none.
    """
    sines: list[Sine] = []
    least = np.inf
    for place, plane in enumerate("xy"):
        names = [
            name
            for name, (_, of, _) in model.correctors.items()
            if of == plane and (may_swing is None or name in may_swing)
        ]
        if len(names) < 2:
            raise ValueError(f"{len(names)} correctors of plane {plane} may swing the orbit, expected two at least")
        elements, _, scales = zip(*(model.correctors[name] for name in names), strict=True)
        inside = [target.magnet.elements[-1] for target in targets]
        response = model.response([*model.bpms, *inside], elements)[place].T * np.array(scales)[:, None]
        first, second, even = _most_even(response[:, len(model.bpms) :])
        both = response[[first, second], : len(model.bpms)]
        amplitude = settings.swing_um * 1e-6 / float(np.sqrt(np.mean(np.sum(both**2, axis=0))))
        for k, phase in ((first, 0.0), (second, np.pi / 2)):
            most = min(limits(names[k]))
            if amplitude > most:
                raise ValueError(
                    f"{names[k]} would swing by {amplitude:.4g}, and it may go {most:.4g} further: take less --swing"
                )
            sines.append(Sine(names[k], amplitude, settings.hz[place], phase))
        least = min(least, even)
    return tuple(sines), float(least)


def _most_even(inside: Floats) -> tuple[int, int, float]:
    """The pair with, at one amplitude of both, the largest least swing; over what is usual in that magnet."""
    scaled = (inside / np.sqrt(np.mean(inside**2, axis=0))) ** 2
    best = (0, 1, -1.0)
    for first in range(len(scaled) - 1):
        least = np.sqrt((scaled[first] + scaled[first + 1 :]).min(axis=1))
        second = int(np.argmax(least))
        if least[second] > best[2]:
            best = (first, first + 1 + second, float(least[second]))
    first, second, least_swing = best
    mean = np.sqrt(np.mean(scaled[first] + scaled[second]))
    return first, second, least_swing / float(mean)


def _groups(model: Model, targets: Sequence[Target], settings: Settings, limits: Limits) -> "list[Group]":
    """Of one kind each, and evenly around the ring: so their patterns differ most, and they are of one family."""
    found: list[Group] = []
    for kind, step in (("quadrupole", settings.quadrupole_step), ("sextupole", settings.sextupole_step)):
        some = [target for target in targets if target.magnet.kind == kind]
        found += _told_apart(model, len(found), some, settings.group, step, limits)
    return found


def _told_apart(
    model: Model, first: int, targets: Sequence[Target], most: int, step: float, limits: Limits
) -> "list[Group]":
    """As few groups as can be told apart: neighbours alone have patterns that are nearly one."""
    count = -(-len(targets) // most)
    while targets:
        groups = [_group(model, first + k, targets[k::count], step, limits) for k in range(count)]
        if count == len(targets) or max(group.condition for group in groups) <= MOST_CONDITION:
            return groups
        count += 1
    return []


def _group(model: Model, number: int, targets: Sequence[Target], step: float, limits: Limits) -> Group:
    sizes = [min(step / abs(t.magnet.per_unit), *limits(t.magnet.supply)) for t in targets]
    if min(sizes) <= 0:
        stuck = targets[int(np.argmin(sizes))].magnet.supply
        raise ValueError(f"{stuck} stands at a limit, and has to go to either side: move it away from there")
    shifts = np.array(
        [_tune_shift(model, t) * t.magnet.per_unit * size for t, size in zip(targets, sizes, strict=True)]
    )
    total, signs = np.zeros(2), []
    for shift in shifts:
        signs.append(-1.0 if np.sum((total - shift) ** 2) < np.sum((total + shift) ** 2) else 1.0)
        total = total + signs[-1] * shift
    columns = np.stack([model.columns(target.magnet.elements) for target in targets], axis=-1)  # [plane, bpm, magnet]
    steps = tuple(float(sign * size) for sign, size in zip(signs, sizes, strict=True))
    return Group(
        number, tuple(targets), steps, max(condition(one) for one in columns), (float(total[0]), float(total[1]))
    )


def _tune_shift(model: Model, target: Target) -> Floats:
    """Of a relative change of 1; a sextupole has a gradient where the beam is off its centre."""
    beta, magnet = model.beta_in(target.magnet.elements[0]), target.magnet
    gradient = magnet.strength if magnet.kind == "quadrupole" else 2 * magnet.strength * OFF_CENTRE_M
    return np.array([beta[0], -beta[1]]) * gradient / (4 * np.pi)
