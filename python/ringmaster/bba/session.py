# SPDX-License-Identifier: Apache-2.0
"""A measurement and its file: made, continued, and analysed again."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ringmaster.bba import store
from ringmaster.bba.analyse import Found, analyse
from ringmaster.bba.kicks import Doubt
from ringmaster.bba.lines import Swing
from ringmaster.bba.magnets import targets_of
from ringmaster.bba.measure import Taken, measure
from ringmaster.bba.model import Model
from ringmaster.bba.plan import Group, Limits, Plan, Settings, make_plan, whole_ring
from ringmaster.bba.plant import Plant, Sine
from ringmaster.machine.mapping import read_mapping, resolve
from ringmaster.twin.lattice import load_lattice
from ringmaster.twin.twin import Twin

ShareDone = Callable[[float], None]


def model_of(lattice: str, mapping: Path) -> Model:
    """Of a lattice and a mapping that names all readings and supplies by ranges. Raises ValueError."""
    read = load_lattice(lattice)
    twin = Twin(read)
    if len(read.get_cavities()):
        twin.enable_6d()
    return Model(twin, resolve(read, read_mapping(mapping)))


def plan_of(
    model: Model,
    settings: Settings,
    out: Path,
    limits: Limits = whole_ring,
    may_swing: Sequence[str] | None = None,
    bpms: Sequence[int] | None = None,
    go_on: bool = False,
) -> tuple[Plan, set[int]]:
    """What is to be measured, and the groups that ``out`` has already. Raises ValueError where it has others."""
    plan = make_plan(model, settings, limits, may_swing, bpms)
    if not go_on:
        return plan, set()
    before = store.load(out)
    wanted = {group.number: tuple(target.magnet.supply for target in group.targets) for group in plan.groups}
    if before.about["settings"] != _plain(settings):
        raise ValueError(
            f"{out} was measured with {before.about['settings']}, not with {_plain(settings)}: "
            "go on with the same options"
        )
    kept = tuple(Sine(**sine) for sine in before.about["sines"])
    done = {one.group for one in before.taken if one.supplies == wanted.get(one.group)}
    return replace(plan, sines=kept), done


def run(
    plant: Plant,
    plan: Plan,
    out: Path,
    about: Mapping[str, Any],
    done: set[int],
    progress: ShareDone = lambda _: None,
    told: Callable[[str], None] = lambda _: None,
) -> None:
    """Measures, and writes each group into ``out`` when it is done."""
    if not done:
        store.begin(out, about, plant.rows)

    def keep(taken: Taken) -> None:
        store.add(out, taken)
        for why in taken.failed:
            told(f"left out: {why}")

    measure(plant, plan, keep, done, progress)


def about_of(lattice: str, mapping: Path, settings: Settings, plan: Plan, where: str) -> dict[str, Any]:
    """What the file says of itself."""
    return {
        "lattice": lattice,
        "mapping": str(mapping),
        "settings": _plain(settings),
        "sines": [asdict(sine) for sine in plan.sines],
        "workspace": where,
    }


def _plain(settings: Settings) -> dict[str, Any]:
    plain = asdict(settings)
    return plain | {"hz": list(settings.hz)}


def analysed(measured: store.Measured, model: Model, doubt: Doubt) -> Found:
    """Offsets of a file, by this lattice. Raises ValueError where the mapping has other readings or supplies."""
    if measured.rows != model.mapping.rows:
        raise ValueError(
            f"the measurement has {len(measured.rows)} readings {measured.rows[0]} …, the mapping "
            f"{len(model.mapping.rows)} {model.mapping.rows[0]} …: take the mapping of the measurement"
        )
    return analyse(model, replanned(measured, model), measured.taken, doubt)


def replanned(measured: store.Measured, model: Model) -> Plan:
    """As it was made, as far as an analysis asks."""
    targets, without = targets_of(model.twin, model.mapping)
    by_supply = {target.magnet.supply: target for target in targets}
    unknown = [name for one in measured.taken for name in one.supplies if name not in by_supply]
    if unknown:
        raise ValueError(f"{unknown[0]} stepped in the measurement, and is no magnet beside a BPM of this lattice")
    groups = [
        Group(one.group, tuple(by_supply[name] for name in one.supplies), tuple(one.steps.tolist()), 0.0, (0.0, 0.0))
        for one in measured.taken
    ]
    settings = measured.about["settings"]
    sines = tuple(Sine(**sine) for sine in measured.about["sines"])
    x, y = settings["hz"]
    return Plan(Swing((x, y)), sines, tuple(groups), settings["read_s"], tuple(without), 0.0)
