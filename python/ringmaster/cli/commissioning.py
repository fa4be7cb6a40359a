# SPDX-License-Identifier: Apache-2.0
"""`ringmaster commissioning`: a whole session of plain commands on a ring, and its score by the hidden truth."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ringmaster.cli.options import examples, json_option, print_json, workspace_option

if TYPE_CHECKING:
    from ringmaster.commissioning.score import Score
    from ringmaster.commissioning.session import Session, Step


@click.group()
def commissioning() -> None:
    """Commission a ring: optics, alignment, orbit, loop; each step a command that a person may type.

    On a virtual ring, whose hidden errors its truth file tells, `score` says what it came to.
    """


@commissioning.command(
    epilog=examples(
        "ringmaster commissioning run session --list",
        "ringmaster commissioning run session -w optics --mapping configs/mappings/optics.yaml",
        "ringmaster commissioning run session -w optics --from orbit-1",
        "ringmaster commissioning run sessions --seeds 1-5",
    )
)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--lattice", default="elettra2_like", show_default=True, metavar="LATTICE", help="The model.")
@click.option(
    "--mapping",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Which element is which reading and supply; it is copied into FOLDER.",
)
@click.option(
    "--feedback", default="feedback", show_default=True, metavar="NAME", help='Whose loop is closed; "" for none.'
)
@click.option("--from", "first", metavar="STEP", help="Go on at this step; without it after the last that was done.")
@click.option("--until", "last", metavar="STEP", help="End with this step.")
@click.option("--list", "lists", is_flag=True, help="List the steps and their commands; do nothing.")
@click.option("--seeds", metavar="A-B", help="Start a server and a virtual ring of each of these seeds, and score.")
@workspace_option
@json_option
def run(
    folder: Path,
    lattice: str,
    mapping: Path | None,
    feedback: str,
    first: str | None,
    last: str | None,
    lists: bool,
    seeds: str | None,
    workspace: str | None,
    as_json: bool,
) -> None:
    """Type the commands of a session one after the other, in FOLDER, which keeps all files.

    Each command is shown with what it prints, and how to undo it. Ctrl-C ends the session at a step, after what was
    moved is put back; the next `run` goes on there, and `--from` where you say. With --seeds it starts servers and
    virtual rings with hidden errors itself, one after the other, and prints the scores.
    """
    if seeds is not None:
        _run_seeds(folder, _range(seeds), (first, last), as_json)
        return
    from ringmaster.commissioning.session import Session
    from ringmaster.commissioning.steps import Machine, steps_of

    if lists:
        _list(steps_of(Machine(workspace or "WORKSPACE", lattice, feedback)), as_json)
        return
    from ringmaster.fabric.workspace import attach

    with attach(workspace) as ws:
        name = ws.name
    _place_mapping(folder, mapping)
    session = Session(folder, name, steps_of(Machine(name, lattice, feedback)), _say)
    _go(session, first, last)
    if as_json:
        print_json([vars(one) for one in session.done()])


def _say(text: str) -> None:
    click.echo(text)


def _go(session: "Session", first: str | None, last: str | None) -> None:
    from ringmaster.commissioning.session import StepFailed

    try:
        if not session.begun:
            session.begin()
        session.run(first, last)
    except StepFailed as error:
        raise click.ClickException(str(error)) from None
    except KeyboardInterrupt:
        click.echo(f"interrupted; go on by: ringmaster commissioning run {session.folder}", err=True)
        raise


def _place_mapping(folder: Path, mapping: Path | None) -> None:
    """A copy of it in the session's folder. Raises UsageError where none is known."""
    from ringmaster.commissioning.steps import MAPPING

    if mapping is None and not (folder / MAPPING).exists():
        raise click.UsageError(
            "--mapping: which element of the lattice is which reading and supply? No file is there yet"
        )
    if mapping is not None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MAPPING).write_text(mapping.read_text())


def _list(steps: "list[Step]", as_json: bool) -> None:
    if as_json:
        print_json([{"name": it.name, "about": it.about, "command": it.command, "moves": it.moves} for it in steps])
        return
    for number, step in enumerate(steps, 1):
        click.echo(f"{number:2}. {click.style(step.name, bold=True)}: {step.about}")
        click.echo(f"    {step.command}")


def _range(text: str) -> list[int]:
    first, dash, last = text.partition("-")
    try:
        found = list(range(int(first), int(last if dash else first) + 1))
    except ValueError:
        found = []
    if not found:
        raise click.UsageError(f"--seeds: found {text!r}, expected numbers such as 1-5, or 3")
    return found


def _run_seeds(folder: Path, seeds: list[int], span: tuple[str | None, str | None], as_json: bool) -> None:
    from ringmaster.commissioning.results import as_json as results_as_json
    from ringmaster.commissioning.results import scores
    from ringmaster.commissioning.running import TRUTH, Ring, running
    from ringmaster.commissioning.session import Session
    from ringmaster.commissioning.steps import MAPPING, Machine, steps_of

    ring, results = Ring(), {}
    say: Callable[[str], None] = (lambda text: click.echo(text, err=True)) if as_json else _say
    for seed in seeds:
        place, workspace = folder / f"seed-{seed}", f"commissioning-{seed}"
        say(f"\n══ seed {seed}")
        steps = steps_of(Machine(workspace, ring.lattice, ring.application))
        with running(ring, seed, place, workspace) as machine:
            session = Session(place, workspace, steps, say, machine.standing)
            session.begin()
            _go(session, *span)
        found = scores(place, place / TRUTH, place / MAPPING)
        results[seed] = found
        (place / "score.json").write_text(json.dumps(results_as_json(found), indent=1))
        if not as_json:
            _print_scores(found)
    summary = {str(seed): results_as_json(found) for seed, found in results.items()}
    (folder / "score.json").write_text(json.dumps(summary, indent=1))
    if as_json:
        print_json(summary)
        return
    say("\n══ all seeds, at the end")
    _print_scores({f"seed {seed}": list(found.values())[-1] for seed, found in results.items()}, each=True)


@commissioning.command(
    epilog=examples(
        "ringmaster commissioning rehearse rehearsals --seeds 1-5",
        "ringmaster commissioning rehearse rehearsals --seeds 3 --alignment-um 20 --json",
    )
)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--seeds", default="1-5", show_default=True, metavar="A-B", help="Of the rings.")
@click.option(
    "--alignment-um",
    type=click.FloatRange(0),
    default=5.0,
    show_default=True,
    help="Error of the magnets' centres, RMS.",
)
@json_option
def rehearse(folder: Path, seeds: str, alignment_um: float, as_json: bool) -> None:
    """Try the session on paper: on the true machines of rings of some seeds, without a ring that runs.

    What a response measurement and an alignment would find is computed from the errors that the ring draws, with noise.
    LOCO, its correction and the orbit's are those of the session. It takes some minutes of a core for each seed.
    """
    from ringmaster.commissioning.rehearsal import Assumed, Rehearsal
    from ringmaster.commissioning.results import as_json as results_as_json
    from ringmaster.commissioning.running import Ring
    from ringmaster.programs.threads import keep_to_one_thread

    keep_to_one_thread()
    results = {}
    for seed in _range(seeds):
        place = folder / f"seed-{seed}"
        click.echo(f"seed {seed}", err=as_json)
        found = Rehearsal(Ring(), seed, place, Assumed(alignment_um), _say_state).run()
        results[str(seed)] = results_as_json(found)
        (place / "score.json").write_text(json.dumps(results[str(seed)], indent=1))
        if not as_json:
            _print_scores(found)
    if as_json:
        print_json(results)


def _say_state(name: str, state: "Score") -> None:
    """As it comes: a seed takes minutes."""
    (x_um, y_um), (x, y) = state.orbit_um, state.beta_beating
    dispersion = max(state.dispersion_error_mm)
    words = f"orbit {x_um:.1f} and {y_um:.1f} µm, beating {100 * x:.2f} and {100 * y:.2f} %"
    click.echo(f"  {name}: {words}, dispersion off by {dispersion:.2f} mm", err=True)


@commissioning.command(
    epilog=examples(
        "ringmaster commissioning score session --truth truth.json",
        "ringmaster commissioning score session --truth truth.json --json | jq .reached",
    )
)
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--truth",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    required=True,
    metavar="FILE",
    help="Of `ringmaster virtual … --truth FILE`.",
)
@click.option(
    "--mapping", type=click.Path(path_type=Path), metavar="FILE", help="Without it that of FOLDER: it names the RF."
)
@click.option(
    "--server", type=click.Path(path_type=Path), metavar="FILE", help="The server's configuration; that of FOLDER."
)
@json_option
def score(folder: Path, truth: Path, mapping: Path | None, server: Path | None, as_json: bool) -> None:
    """Say how good the machine was before, after each step that moved it, and at the end.

    The true machine is made from the truth file: the lattice with every error that was drawn, and the supplies as they
    stood. Exit status 1: the last state misses a target.
    """
    from ringmaster.commissioning.results import as_json as results_as_json
    from ringmaster.commissioning.results import scores
    from ringmaster.commissioning.steps import MAPPING

    found = scores(folder, truth, mapping or folder / MAPPING, server)
    if as_json:
        print_json(results_as_json(found))
    else:
        _print_scores(found)
    if list(found.values())[-1].misses():
        raise SystemExit(1)


def _print_scores(found: "Mapping[str, Score]", each: bool = False) -> None:
    """A row for each state; ``each``: all are ends, and not the last alone."""
    from rich.console import Console
    from rich.table import Table

    from ringmaster.commissioning.score import TARGETS

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    columns = ("STATE", "ORBIT x, y (µm)", "BEATING x, y (%)", "DISPERSION x, y (mm)", "EMITTANCES (pm)", "RATIO (%)")
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i == 0 else "right", no_wrap=True)
    for name, it in found.items():
        pairs: list[tuple[tuple[float, float], float]] = [
            (it.orbit_um, 1.0),
            (it.beta_beating, 100.0),
            (it.dispersion_error_mm, 1.0),
            (it.emittance_pm, 1.0),
        ]
        shown = (f"{pair[0] * unit:.2f}, {pair[1] * unit:.2f}" for pair, unit in pairs)
        table.add_row(name, *shown, f"{100 * it.emittance_ratio:.3f}")
    table.add_row(
        "targets",
        f"≤ {TARGETS['orbit_um']:g}",
        f"≤ {100 * TARGETS['beta_beating']:g}",
        f"≤ {TARGETS['dispersion_error_mm']:g}",
        style="dim",
    )
    console = Console(highlight=False)
    console.width = max(console.width, 120)
    console.print(table)
    for name, it in found.items() if each else list(found.items())[-1:]:
        misses = it.misses()
        words = ", ".join(f"{what} {value:.3g}" for what, value in misses.items())
        click.secho(
            f"{name}: " + (f"misses {words}" if misses else "reaches all targets"), fg="red" if misses else "green"
        )
