# SPDX-License-Identifier: Apache-2.0
"""`ringmaster orbit`: the orbit against its target, and its static correction."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ringmaster.cli.options import examples, json_option, plot_option, print_json, print_plot, workspace_option

if TYPE_CHECKING:
    from ringmaster.fabric.workspace import Workspace
    from ringmaster.feedback.matrix import Matrix
    from ringmaster.moving.change import Change
    from ringmaster.moving.change_journal import Journal
    from ringmaster.orbit.solve import Regularisation
    from ringmaster.orbit.static import Correction, Orbit

Command = TypeVar("Command", bound=Callable[..., Any])
NM_PER_UM = 1e3
WORST = 5
"""Readings that are named."""


@click.group()
def orbit() -> None:
    """Show the orbit against its target, and correct it by the supplies that may be moved."""


def _measuring(command: Command) -> Command:
    """The options of what looks at the orbit."""
    options = (
        click.option(
            "--target",
            type=click.Path(path_type=Path, exists=True, dir_okay=False),
            metavar="FILE",
            help="What the BPMs should read: lines NAME,nm, or a change of a golden orbit (.yaml) of `bba correct`. "
            "Without it 0. A BPM that is not in it is left free.",
        ),
        click.option(
            "--seconds", type=click.FloatRange(0.01), default=0.5, show_default=True, help="Of readings, averaged."
        ),
        click.option(
            "--rate", metavar="RATE", help="Of the streams: raw, turn, fast; without it the slowest there is."
        ),
        plot_option,
        workspace_option,
        json_option,
    )
    for option in reversed(options):
        command = option(command)
    return command


@orbit.command(
    epilog=examples(
        "ringmaster orbit show",
        "ringmaster orbit show --target golden.yaml --plot orbit.png",
        "ringmaster orbit show -o today.csv && ringmaster orbit show --target today.csv",
    )
)
@click.option("--readings", multiple=True, metavar="PATTERN", help="Only these BPMs, or INSTRUMENT/LANE. Repeatable.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE.csv", help="Write the readings, as a target."
)
@_measuring
def show(
    readings: tuple[str, ...],
    output: Path | None,
    target: Path | None,
    seconds: float,
    rate: str | None,
    plot: Path | None,
    workspace: str | None,
    as_json: bool,
) -> None:
    """Show the orbit against its target: RMS and largest of each plane, and the BPMs that are furthest away."""
    from ringmaster.fabric.workspace import attach
    from ringmaster.feedback import readings as of_bpms

    with attach(workspace) as ws:
        chosen = of_bpms.choose(ws, readings, rate)
        found = _measure(ws, chosen.rows, chosen.rate, seconds, target)
    if output is not None:
        _save(found, output)
    if plot is not None:
        from ringmaster.orbit.draw import draw_orbit

        draw_orbit(found, plot)
    if as_json:
        print_json(_orbit_as_json(found))
        return
    _print_orbit(found)
    if output is not None:
        click.echo(f"{output}: readings, for --target")
    print_plot(plot)


def _save(found: "Orbit", path: Path) -> None:
    """Those that came."""
    import numpy as np

    from ringmaster.feedback.matrix import save_values

    there = np.flatnonzero(np.isfinite(found.measured_nm))
    names = [found.rows[i] for i in there]
    save_values(path, names, found.measured_nm[there], "nm; an orbit as it was: ringmaster orbit show")


def _measure(
    ws: "Workspace", rows: tuple[str, ...], rate: str, seconds: float, target: Path | None, settle_s: float = 0.0
) -> "Orbit":
    from ringmaster.feedback.matrix import load_values
    from ringmaster.moving.stopping import stopped_at_pauses
    from ringmaster.orbit.static import golden_of, measure

    wanted = None
    if target is not None:
        wanted = golden_of(ws, target, rows) if target.suffix == ".yaml" else load_values(target, rows)
    with stopped_at_pauses() as pause:
        return measure(ws, rows, rate, seconds, wanted, pause, settle_s)


def _orbit_as_json(found: "Orbit") -> dict[str, Any]:
    from ringmaster.orbit.static import rms

    return {
        "rows": found.rows,
        "measured_nm": found.measured_nm.tolist(),
        "target_nm": found.target_nm.tolist(),
        "noise_nm": found.noise_nm.tolist(),
        **{f"rms_{plane}_nm": rms(found.error_nm, found.rows, plane) for plane in "xy"},
    }


def _print_orbit(found: "Orbit") -> None:
    import numpy as np

    error, known = found.error_nm / NM_PER_UM, np.isfinite(found.error_nm)
    for plane in "xy":
        click.echo(f"{plane}: {_plane(found, found.error_nm, plane)}")
    free = int((~known & np.isfinite(found.measured_nm)).sum())
    silent = int(np.isnan(found.measured_nm).sum())
    for count, why in ((free, "have no target"), (silent, "sent nothing")):
        if count:
            click.secho(f"{count} readings {why}", fg="yellow")
    worst = np.argsort(-np.abs(np.nan_to_num(error)))[:WORST]
    click.echo("furthest away: " + ", ".join(f"{found.rows[i]} {error[i]:+.1f} µm" for i in worst))


def _plane(found: "Orbit", error_nm: Any, plane: str) -> str:
    import numpy as np

    from ringmaster.feedback.matrix import row_plane
    from ringmaster.orbit.static import rms

    chosen = np.array([row_plane(row) == plane for row in found.rows]) & np.isfinite(error_nm)
    if not chosen.any():
        return "no reading"
    largest = float(np.abs(error_nm[chosen]).max()) / NM_PER_UM
    return f"{rms(error_nm, found.rows, plane) / NM_PER_UM:.2f} µm RMS from the target, {largest:.1f} µm at most"


@orbit.command(
    epilog=examples(
        "ringmaster orbit correct --response response.h5 --target golden.yaml -o orbit.yaml",
        "ringmaster orbit correct --response response.h5 --rf sr/rf/frequency --apply --rounds 3 -o orbit.yaml",
        "ringmaster orbit correct --lattice elettra2_like --mapping optics.yaml --supplies 'sr/ps/cs*' -o orbit.yaml",
    )
)
@click.option(
    "--response",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Of `ringmaster response measure` (.h5), or a response matrix (.csv).",
)
@click.option("--lattice", metavar="LATTICE", help="Instead: the response of this lattice, with --mapping.")
@click.option("--mapping", type=click.Path(path_type=Path), metavar="FILE", help="Which element is which supply.")
@click.option("--rf", metavar="SUPPLY", help="The RF's frequency, where no mapping names it; in Hz.")
@click.option("--supplies", multiple=True, metavar="PATTERN", help="Only these. May be repeated.")
@click.option(
    "--cut",
    type=click.FloatRange(0, 1),
    default=1e-3,
    show_default=True,
    help="Singular values below this share of the largest are left out.",
)
@click.option("--modes", type=click.IntRange(1), help="Use at most so many singular values.")
@click.option(
    "--tikhonov", type=click.FloatRange(0), default=0.0, show_default=True, help="Damping, of the largest value."
)
@click.option("--gain", type=click.FloatRange(0, 1, min_open=True), default=1.0, show_default=True, help="Share of it.")
@click.option("--apply", "applies", is_flag=True, help="Apply it at once, and keep it in the journal.")
@click.option("--rounds", type=click.IntRange(1), default=1, show_default=True, help="With --apply: so often, anew.")
@click.option(
    "--settle", type=click.FloatRange(0), default=0.3, show_default=True, help="Seconds from arrival to data."
)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="FILE.yaml", help="The change.")
@click.option(
    "--journal", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER", help="As `change apply`."
)
@_measuring
def correct(
    response: Path | None,
    lattice: str | None,
    mapping: Path | None,
    rf: str | None,
    supplies: tuple[str, ...],
    cut: float,
    modes: int | None,
    tikhonov: float,
    gain: float,
    applies: bool,
    rounds: int,
    settle: float,
    output: Path,
    journal: Path | None,
    target: Path | None,
    seconds: float,
    rate: str | None,
    plot: Path | None,
    workspace: str | None,
    as_json: bool,
) -> None:
    """Find what takes the orbit to its target, by all supplies that may be moved, and write it as a change.

    Both planes and the RF are solved together, by singular values, and within the limits of the supplies. A measured
    response has the BPMs' gains in it, as the orbit has. `ringmaster change apply FILE` applies the change; --apply
    does it at once, and --rounds measures and corrects again. One `ringmaster change undo` undoes all rounds.
    """
    from ringmaster.cli.change import journal_of
    from ringmaster.fabric.workspace import attach
    from ringmaster.feedback.readings import choose
    from ringmaster.orbit.solve import Regularisation

    matrix = _response(response, lattice, mapping, rf)
    how = Regularisation(cut, modes, tikhonov)
    with attach(workspace) as ws:
        of_streams = rate or choose(ws, (), None).rate

        def measured(settle_s: float) -> "Orbit":
            return _measure(ws, matrix.rows, of_streams, seconds, target, settle_s)

        task, after = _Task(ws, matrix, how, supplies, gain, measured), None
        kept = journal_of(journal, output)
        if applies:
            found, change, after = task.go(rounds, settle, output, kept)
        else:
            found, change = task.find(measured(0.0))
            change.save(output)
    if plot is not None:
        from ringmaster.orbit.draw import draw_correction

        draw_correction(found, plot)
    if as_json:
        print_json(_as_json(found, change, after))
        return
    _print(found, change, after, output)
    if after is not None:
        click.echo(f"undo it by: {_undo(output, kept)}")
    print_plot(plot)


def _response(response: Path | None, lattice: str | None, mapping: Path | None, rf: str | None) -> "Matrix":
    """What the readings do, from the file or the lattice. Raises UsageError."""
    if (response is None) == (lattice is None):
        raise click.UsageError("say what the orbit answers to supplies: by --response FILE, or by --lattice LATTICE")
    from ringmaster.machine.mapping import read_mapping
    from ringmaster.orbit.static import matrix_of, rf_of

    given = {} if mapping is None else read_mapping(mapping)
    if response is not None and response.suffix == ".csv":
        from ringmaster.feedback.matrix import load_csv

        return load_csv(response)
    if response is not None:
        from ringmaster.response.measured import load

        return matrix_of(load(response), rf_of(given, rf))
    if mapping is None:
        raise click.UsageError("--lattice: say by --mapping which element is which supply")
    from ringmaster.feedback.from_twin import twin_matrix
    from ringmaster.machine.mapping import resolve
    from ringmaster.twin import Twin, load_lattice

    twin = Twin(load_lattice(str(lattice)))
    twin.enable_6d()
    return twin_matrix(twin, resolve(twin.lattice, given))


@dataclass(frozen=True)
class _Task:
    """Measures, solves, and applies."""

    ws: "Workspace"
    matrix: "Matrix"
    how: "Regularisation"
    supplies: tuple[str, ...]
    gain: float
    measure: "Callable[[float], Orbit]"
    """So many seconds after now."""

    def find(self, now: "Orbit") -> "tuple[Correction, Change]":
        """What takes this orbit to its target."""
        from ringmaster.orbit.static import change_of, correct

        found = correct(self.ws, self.matrix, now, self.how, self.supplies, self.gain)
        return found, change_of(self.ws, found, "orbit", "ringmaster orbit correct")

    def go(self, rounds: int, settle_s: float, output: Path, kept: "Journal") -> "tuple[Correction, Change, Orbit]":
        """The first round's correction, the change of all rounds, and the orbit after them."""
        from ringmaster.cli.change import apply_and_keep

        first, change = self.find(self.measure(0.0))
        entry = apply_and_keep(self.ws, change, kept)
        entry.change.save(output)
        try:
            now = self.measure(settle_s)
            for _ in range(rounds - 1):
                entry = kept.join(entry, apply_and_keep(self.ws, self.find(now)[1], kept))
                entry.change.save(output)
                now = self.measure(settle_s)
        except BaseException:
            click.echo(f"rounds that were done stay; undo them by: {_undo(output, kept)}", err=True)
            raise
        return first, entry.change, now


def _undo(output: Path, kept: "Journal") -> str:
    """The command that takes a change back, wherever it is typed."""
    from ringmaster.cli.change import journal_of

    beside = journal_of(None, output).folder
    return f"ringmaster change undo {output}" + ("" if kept.folder == beside else f" --journal {kept.folder}")


def _as_json(found: "Correction", change: "Change", after: "Orbit | None") -> dict[str, Any]:
    from ringmaster.orbit.static import rms

    orbit, rows = found.orbit, found.orbit.rows
    stuck = [name for name, is_stuck in zip(found.supplies, found.solution.at_limit, strict=True) if is_stuck]
    told: dict[str, Any] = {
        "supplies": len(found.supplies),
        "left_out": dict(found.left_out),
        "modes": found.solution.used,
        "at_limit": stuck,
        "moves": len(change.moves),
        "applied": after is not None,
    }
    for plane in "xy":
        told[f"before_rms_{plane}_nm"] = rms(orbit.error_nm, rows, plane)
        told[f"predicted_rms_{plane}_nm"] = rms(found.left_nm, rows, plane)
        if after is not None:
            told[f"after_rms_{plane}_nm"] = rms(after.error_nm, rows, plane)
    return told


def _print(found: "Correction", change: "Change", after: "Orbit | None", output: Path) -> None:
    solution = found.solution
    for count, why in ((count, why) for why, count in found.left_out.items()):
        click.secho(f"{count} supplies of the response are not used: {why}", fg="yellow")
    click.echo(f"{len(found.supplies)} supplies, {solution.used} of {len(solution.singular)} modes")
    for plane in "xy":
        click.echo(f"{plane} before:    {_plane(found.orbit, found.orbit.error_nm, plane)}")
        click.echo(f"{plane} predicted: {_plane(found.orbit, found.left_nm, plane)}")
        if after is not None:
            click.echo(f"{plane} after:     {_plane(after, after.error_nm, plane)}")
    stuck = [name for name, is_stuck in zip(found.supplies, solution.at_limit, strict=True) if is_stuck]
    if stuck:
        named = ", ".join(stuck[:WORST]) + (f" and {len(stuck) - WORST} more" if len(stuck) > WORST else "")
        click.secho(f"{len(stuck)} supplies go to their limits: {named}", fg="yellow")
    click.echo(f"{output}: {len(change.moves)} moves" + (", applied" if after is not None else ", not applied yet"))
    if after is None:
        click.echo(f"apply it by: ringmaster change apply {output}")
