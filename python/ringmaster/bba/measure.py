# SPDX-License-Identifier: Apache-2.0
"""The fast method: the orbit swings all the time, and group after group of magnets steps up, down, down, up."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

import numpy as np

from ringmaster.bba.lines import Complexes, phasors
from ringmaster.bba.plan import SIGNS, Group, Plan
from ringmaster.bba.plant import Floats, Plant, SupplyFailed

ShareDone = Callable[[float], None]


@dataclass(frozen=True)
class Taken:
    """What one group has left."""

    group: int
    supplies: tuple[str, ...]
    """Of the magnets that stepped; one that failed is not among them."""
    steps: Floats
    """[magnet] in their units."""
    states: Complexes
    """[state, row, line] nm."""
    noise_nm: Floats
    """[row] of the mean reading in a state, from white noise alone."""
    failed: tuple[str, ...]
    """Why supplies are not among them."""
    machine_s: float


def measure(
    plant: Plant,
    plan: Plan,
    keep: Callable[[Taken], None],
    done: Collection[int] = (),
    progress: ShareDone = lambda _: None,
) -> None:
    """Every group that is not ``done``; ``keep`` is given each as it comes. Whatever ends it, all is put back.

    A supply that fails is left out, and its group goes on without it. Raises BeamLost, KeyboardInterrupt.
    """
    left = [group for group in plan.groups if group.number not in done]
    try:
        plant.swing(plan.sines)
        for number, group in enumerate(left):
            progress(number / max(1, len(left)))
            keep(_take(plant, plan, group))
        progress(1.0)
    finally:
        plant.put_back()


def _take(plant: Plant, plan: Plan, group: Group) -> Taken:
    began_s = plant.machine_s
    failed: list[str] = []
    while group.targets:
        supplies = [target.magnet.supply for target in group.targets]
        try:
            states, noise = [], []
            for sign in SIGNS:
                plant.move({name: sign * step for name, step in zip(supplies, group.steps, strict=True)})
                readings = plant.read(plan.read_s)
                states.append(phasors(readings, plan.swing))
                noise.append(readings.noise_nm / np.sqrt(len(readings.time_s)))
            plant.move(dict.fromkeys(supplies, 0.0))
            seconds = plant.machine_s - began_s
            mean_noise = np.mean(noise, axis=0)
            return Taken(
                group.number,
                tuple(supplies),
                np.array(group.steps),
                np.array(states),
                mean_noise,
                tuple(failed),
                seconds,
            )
        except SupplyFailed as error:
            failed.append(str(error))
            group = _without(plant, group, error.supply)
    empty = np.zeros((len(SIGNS), len(plant.rows), 0), np.complex128)
    return Taken(
        group.number, (), np.empty(0), empty, np.full(len(plant.rows), np.nan), tuple(failed), plant.machine_s - began_s
    )


def _without(plant: Plant, group: Group, supply: str) -> Group:
    """The others, back where they stood. What has failed is put back at the end, with all others."""
    kept = [k for k, target in enumerate(group.targets) if target.magnet.supply != supply]
    if len(kept) == len(group.targets):
        raise SupplyFailed(supply, f"{supply} is none of the group")
    plant.move({group.targets[k].magnet.supply: 0.0 for k in kept})
    return replace(group, targets=tuple(group.targets[k] for k in kept), steps=tuple(group.steps[k] for k in kept))
