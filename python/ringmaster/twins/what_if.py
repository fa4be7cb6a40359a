# SPDX-License-Identifier: Apache-2.0
"""What a change of supplies would do: a model before and after, in milliseconds."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from ringmaster.errors import ObjectNotFound
from ringmaster.fabric.workspace import Workspace
from ringmaster.twins.instance import Instance, instance_of
from ringmaster.twins.machine import names_of
from ringmaster.twins.model import Answer, Model, bare
from ringmaster.twins.supplies import chosen

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class WhatIf:
    """Before and after."""

    moves: Mapping[str, tuple[float, float]]
    """Supplies that move: from, to."""
    before: Answer
    after: Answer
    took_s: float
    """Both answers, as they were computed."""

    @property
    def beating(self) -> Floats:
        """Δβ/β, (BPMs, 2)."""
        return self.after.beta_m / self.before.beta_m - 1.0

    @property
    def orbit_um(self) -> Floats:
        """By which the orbit moves, (BPMs, 2)."""
        return self.after.orbit_um - self.before.orbit_um

    @property
    def dispersion_m(self) -> Floats:
        """By which the dispersion changes, (BPMs, 2)."""
        return self.after.dispersion_m - self.before.dispersion_m

    def numbers(self) -> dict[str, tuple[float, float]]:
        """Of the ring: before, after."""
        ends = [
            {
                "tune_x": it.tune[0],
                "tune_y": it.tune[1],
                "tune_s": it.tune[2],
                "chromaticity_x": it.chromaticity[0],
                "chromaticity_y": it.chromaticity[1],
                "emittance_x_m": it.emittance_m[0],
                "emittance_y_m": it.emittance_m[1],
                "energy_spread": it.energy_spread,
            }
            for it in (self.before, self.after)
        ]
        return {name: (float(value), float(ends[1][name])) for name, value in ends[0].items()}

    def rms(self) -> dict[str, float]:
        """Over BPMs: β-beating, and by what orbit (µm) and dispersion (m) change."""
        made = {}
        for name, values in (
            ("beta_beating", self.beating),
            ("orbit_um", self.orbit_um),
            ("dispersion_m", self.dispersion_m),
        ):
            for plane, column in zip("xy", values.T, strict=True):
                made[f"{name}_{plane}"] = float(np.sqrt(np.mean(column**2)))
        return made


class Asking:
    """A model to ask again and again; ``stands`` is what its supplies stand at before."""

    def __init__(self, model: Model, stands: Floats | None = None) -> None:
        self.model = model
        self.stands = np.zeros(len(model.mapping.supplies)) if stands is None else stands
        self.before: Answer | None = None

    def what_if(self, moves: Mapping[str, float], to: Mapping[str, float] | None = None) -> WhatIf:
        """Of supplies, by name or pattern, that move by so much, or ``to`` where; in their units.

        Raises ValueError for a name that is no supply, TwinNoAnswer where the motion is not stable.
        """
        supplies = self.model.mapping.supplies
        after = self.stands.copy()
        for name, value in (to or {}).items():
            after[chosen(name, supplies)] = value
        for name, value in moves.items():
            after[chosen(name, supplies)] += value
        begin = perf_counter()
        if self.before is None:
            self.before = self.model.answer(self.stands, 0.0)
        answer = self.model.answer(after, 0.0)
        took_s = perf_counter() - begin
        moved = np.flatnonzero(after != self.stands)
        told = {supplies[i]: (float(self.stands[i]), float(after[i])) for i in moved}
        return WhatIf(told, self.before, answer, took_s)


def asking(instance: Instance, stands: Floats | None = None) -> Asking:
    """Of a model whose fields follow at once, without feedbacks; with chromaticities."""
    return Asking(Model(replace(bare(instance), chromaticity_every=1)), stands)


def what_if(instance: Instance, moves: Mapping[str, float], to: Mapping[str, float] | None = None) -> WhatIf:
    """The same, asked once: most of the time then goes into reading the lattice."""
    return asking(instance).what_if(moves, to)


def on_running(ws: Workspace, name: str) -> Asking:
    """Of a running instance as it stands now: a copy in this process, which does not delay it.

    Raises ObjectNotFound where no instance of that name runs.
    """
    if f"{name}/definition" not in ws.parameters:
        running = sorted(whole.partition("/")[0] for whole in ws.parameters if whole.endswith("/definition"))
        raise ObjectNotFound(
            f"no instance {name!r} follows workspace {ws.name!r}; there {'are' if running else 'is'} "
            f"{', '.join(running) or 'none'}: `ringmaster twin follow` starts them"
        )
    ws.check(name)
    instance = instance_of(str(ws.parameters[f"{name}/definition"].value))
    rows, known = names_of(ws)
    model = Model(replace(bare(instance), chromaticity_every=1), rows, known)
    return Asking(model, np.array(ws.parameters[f"{name}/stands"].value, np.float64).ravel())
