# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bba measure`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ringmaster.cli.options import examples, json_option, print_json, workspace_option
from ringmaster.cli.tune_options import progress_bar, told_of_ctrl_c

if TYPE_CHECKING:
    from ringmaster.bba.model import Model
    from ringmaster.bba.plan import Plan, Settings
    from ringmaster.bba.plant import Plant

APPLICATION = "excite"


@click.command(
    epilog=examples(
        "ringmaster bba measure elettra2_like --mapping configs/mappings/optics.yaml -o bba.h5",
        "ringmaster bba measure elettra2_like --mapping configs/mappings/optics.yaml -o bba.h5 --continue",
        "ringmaster bba measure elettra2_like --mapping configs/mappings/optics.yaml -o bba.h5 --model 1",
        "ringmaster bba measure elettra2_like --mapping configs/mappings/optics.yaml -o bba.h5 --bpm 'bpm0[1-7]'",
    )
)
@click.argument("lattice")
@click.option(
    "--mapping", type=click.Path(path_type=Path), required=True, metavar="FILE", help="Which BPM is which row."
)
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), required=True, metavar="FILE", help="HDF5, group by group."
)
@click.option("--continue", "go_on", is_flag=True, help="Measure what FILE of -o does not have yet.")
@click.option("--bpm", "bpms", multiple=True, metavar="PATTERN", help="These electronics or readings alone.")
@click.option(
    "--swing",
    "swing_um",
    type=click.FloatRange(1, 1000),
    default=60.0,
    show_default=True,
    help="µm at the BPMs, RMS amplitude.",
)
@click.option("--hz", type=(float, float), default=(30.0, 37.5), show_default=True, help="Of the swing in x and in y.")
@click.option("--quadrupole-step", type=click.FloatRange(1e-4, 0.2), default=0.04, show_default=True, help="Relative.")
@click.option("--sextupole-step", type=click.FloatRange(1e-3, 1.0), default=0.2, show_default=True, help="Relative.")
@click.option("--group", type=click.IntRange(1, 24), default=6, show_default=True, help="Magnets that step together.")
@click.option(
    "--read", "read_s", type=click.FloatRange(0.02), default=0.4, show_default=True, help="Seconds in each state."
)
@click.option("--model", "seed", type=int, metavar="SEED", help="Try it on a model ring with hidden errors; no server.")
@workspace_option
@json_option
def measure(
    lattice: str,
    mapping: Path,
    out: Path,
    go_on: bool,
    bpms: tuple[str, ...],
    swing_um: float,
    hz: tuple[float, float],
    quadrupole_step: float,
    sextupole_step: float,
    group: int,
    read_s: float,
    seed: int | None,
    workspace: str | None,
    as_json: bool,
) -> None:
    """Swing the orbit, step magnets, and write what the BPMs read.

    Two correctors of each plane swing the orbit all the time, by the application `excite`. Meanwhile groups of
    quadrupoles and sextupoles step up, down, down, up: those that LATTICE has nearest to the BPMs and that have a
    supply of their own. Loops must be off. Each group is in FILE when it is done. Whatever ends it, all that was moved
    is put back; --continue measures the rest.
    """
    from ringmaster.programs.threads import keep_to_one_thread

    keep_to_one_thread()
    from ringmaster.bba import session
    from ringmaster.bba.plan import Settings

    settings = Settings(swing_um, hz, quadrupole_step, sextupole_step, group, read_s)
    if out.exists() and not go_on:
        click.echo(f"{out} is replaced", err=True)
    model = session.model_of(lattice, mapping)
    chosen = _chosen(model, bpms)
    made = (
        _live(model, settings, out, chosen, go_on, workspace)
        if seed is None
        else _try(model, settings, out, chosen, go_on, seed)
    )
    with made as (plant, plan, done, where):
        _tell_plan(plan, done, as_json)
        about = session.about_of(lattice, mapping, settings, plan, where)
        kept = told_of_ctrl_c(f"{out} has what was done (--continue goes on), and all that was moved is")
        with kept, progress_bar(f"{len(plan.groups) - len(done)} groups of magnets") as progress:
            session.run(plant, plan, out, about, done, progress, lambda text: click.echo(text, err=True))
        seconds = plant.machine_s
    if as_json:
        print_json({"file": str(out), "groups": len(plan.groups), "machine_s": seconds})
        return
    click.echo(f"{out}: {len(plan.groups)} groups, {seconds:.1f} s of the machine; `ringmaster bba report {out}`")


def _chosen(model: "Model", patterns: tuple[str, ...]) -> list[int] | None:
    from ringmaster.feedback.golden import matching

    if not patterns:
        return None
    return sorted({row // 2 for row in matching(model.mapping.rows, patterns)})


@contextmanager
def _live(
    model: "Model", settings: "Settings", out: Path, bpms: list[int] | None, go_on: bool, workspace: str | None
) -> "Iterator[tuple[Plant, Plan, set[int], str]]":
    from ringmaster.bba.live_plant import LivePlant, room_of
    from ringmaster.bba.session import plan_of
    from ringmaster.fabric.workspace import attach
    from ringmaster.moving.place import Places
    from ringmaster.moving.stopping import stopped_at_pauses

    with attach(workspace) as ws, stopped_at_pauses() as pause:
        places = Places(ws)
        may_swing = [name for name in model.correctors if name in ws.supplies and _swings(places.of, name)]
        plan, done = plan_of(model, settings, out, lambda name: room_of(ws, name), may_swing, bpms, go_on)
        supplies = [target.magnet.supply for group in plan.groups for target in group.targets]
        yield LivePlant(ws, model.mapping, supplies, plan.sines, pause), plan, done, ws.name


def _swings(place_of: "Callable[[str], object]", name: str) -> bool:
    try:
        return getattr(place_of(name), "index", None) is not None
    except ValueError:
        return False


@contextmanager
def _try(
    model: "Model", settings: "Settings", out: Path, bpms: list[int] | None, go_on: bool, seed: int
) -> "Iterator[tuple[Plant, Plan, set[int], str]]":
    from ringmaster.bba.model_plant import Errors, ModelPlant
    from ringmaster.bba.session import plan_of

    plan, done = plan_of(model, settings, out, bpms=bpms, go_on=go_on)
    yield ModelPlant(model.twin.lattice, model.mapping, Errors(), seed), plan, done, f"model ring {seed}"


def _tell_plan(plan: "Plan", done: set[int], as_json: bool) -> None:
    if as_json:
        return
    for sine in plan.sines:
        click.echo(f"{sine.supply} swings by {sine.amplitude:.3g} at {sine.hz:g} Hz")
    shift = max(abs(value) for group in plan.groups for value in group.tune_shift)
    count = sum(len(group.targets) for group in plan.groups)
    words = f"{count} magnets in {len(plan.groups)} groups" + (f", of which {len(done)} are done" if done else "")
    worst = max(group.condition for group in plan.groups)
    click.echo(f"{words}; patterns of a group: condition {worst:.1f} at most; tunes move by {shift:.4f} at most")
    if plan.without:
        click.echo(f"{len(plan.without)} BPMs have no magnet with a supply")
