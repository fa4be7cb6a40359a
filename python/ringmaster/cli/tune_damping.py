# SPDX-License-Identifier: Apache-2.0
"""`ringmaster tune damping`: from the turns after a kick."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ringmaster.cli.archive_options import EDGE
from ringmaster.cli.options import examples, print_json, workspace_option
from ringmaster.cli.series_options import read_series, with_rate
from ringmaster.cli.tune_options import of_a_lattice

if TYPE_CHECKING:
    from ringmaster.archive.times import Edge
    from ringmaster.spectra.series import Series
    from ringmaster.tune.damping import Damping
    from ringmaster.tune.kicked import KickedTurns
    from ringmaster.tune.model import Expected


@click.command(
    epilog=examples(
        "ringmaster tune damping elettra2_like --mapping configs/mappings/tune-lattice.yaml --plot damping.png",
        "ringmaster tune damping elettra2.mat --mapping bpms.yaml --timeout 60 --json",
        "ringmaster tune damping elettra2.mat --mapping bpms.yaml --archive /data --from 119900000 --until 120030000",
    )
)
@of_a_lattice
@click.option("--timeout", type=click.FloatRange(0), metavar="SECONDS", help="How long a kick is waited for.")
@click.option("--archive", metavar="ARCHIVE", type=click.Path(), help="Of a recording, not of now.")
@click.option("--from", "start", type=EDGE, metavar="WHEN", help="--archive: the begin, well before the kick.")
@click.option("--until", "stop", type=EDGE, metavar="WHEN", help="--archive: the end, which is not included.")
@workspace_option
def damping(
    lattice: str,
    mapping: Path,
    timeout: float | None,
    archive: str | None,
    start: "Edge",
    stop: "Edge",
    workspace: str | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Measure the damping times of both planes from the turns after a kick, beside those of LATTICE.

    The next kick is waited for: eight damping times before it tell how the beam moves by itself, four after it how it
    fades. Decoherence fades a kick, too: where the envelope is not an exponential, or breathes with the synchrotron
    oscillation, that is told. Nothing is moved. Or of an --archive.
    """
    from ringmaster import plots
    from ringmaster.tune.draw import draw_damping
    from ringmaster.tune.kicked import of_series
    from ringmaster.tune.model import expect

    plots.check(plot)
    expected = expect(lattice, mapping)
    if not expected.damping_turns[0] == expected.damping_turns[0]:
        raise ValueError(f"{expected.name} has no cavity, so the twin knows no damping times")
    names = tuple(with_rate(row, "turn") for row in expected.rows)
    series = _live(names, expected, workspace, timeout) if archive is None else None
    if series is None:
        by_name = {one.name: one for one in read_series(names, workspace, None, archive, start, stop)}
        series = [by_name[name] for name in names]
    turns = of_series(series)
    found, missing = _both(turns, expected)
    if plot is not None:
        draw_damping(found, expected, turns.unit, plot)
    if as_json:
        print_json(_as_json(found, missing, expected, turns))
        return
    _tell(found, missing, expected, turns)
    if plot is not None:
        click.echo(f"plot written to {plot}")


def _live(names: tuple[str, ...], expected: "Expected", workspace: str | None, timeout: float | None) -> "list[Series]":
    from rich.console import Console

    from ringmaster.fabric.workspace import attach
    from ringmaster.tune.damping import AFTER, BEFORE
    from ringmaster.tune.kicked import await_kick

    longest = max(expected.damping_turns)
    limit = "" if timeout is None else f" for up to {timeout:g} s"
    with attach(workspace) as ws, Console(stderr=True).status(f"waiting{limit} for a kick; Ctrl-C ends it"):
        found = await_kick(ws, names, int(BEFORE * longest), int(AFTER * longest), timeout)
    if found is None:
        raise click.ClickException(f"no kick within {timeout:g} s: kick the beam meanwhile")
    return found


def _both(turns: "KickedTurns", expected: "Expected") -> "tuple[dict[str, Damping], dict[str, str]]":
    """What was found of each plane, and why not. Raises ValueError where neither was."""
    from ringmaster.tune.damping import measure

    found, missing = {}, {}
    for plane, (name, signals) in enumerate((("x", turns.x), ("y", turns.y))):
        try:
            found[name] = measure(
                signals, turns.kick, expected.tunes[plane], expected.damping_turns[plane], expected.synchrotron_tune
            )
        except ValueError as error:
            missing[name] = str(error)
    if not found:
        raise ValueError("; ".join(f"{name}: {why}" for name, why in missing.items()))
    return found, missing


def _tell(found: "dict[str, Damping]", missing: dict[str, str], expected: "Expected", turns: "KickedTurns") -> None:
    click.echo(f"kick at turn {turns.turn}, {len(turns.x)} BPMs")
    for name, one in found.items():
        lattice = expected.damping_turns["xy".index(name)]
        click.echo(
            f"{name}: damping time {one.turns.value:.0f} ± {one.turns.sigma:.0f} turns, the lattice's {lattice:.0f}; "
            f"tune {one.tune:.6f}, {one.snr:.3g} times what is there without a kick"
        )
        if one.bend.is_seen:
            click.secho(
                f"  the envelope bends by {one.bend.value:.2g} ± {one.bend.sigma:.1g} from an exponential: the beam "
                f"decoheres by detuning with amplitude, and the time is not that of damping alone",
                fg="yellow",
            )
        if one.breathing.is_seen:
            click.secho(
                f"  the envelope breathes with the synchrotron oscillation by {one.breathing.value:.2g}: the beam "
                f"decoheres by its chromaticity",
                fg="yellow",
            )
        if not one.bend.is_seen and not one.breathing.is_seen:
            click.echo(
                f"  an exponential: bend {one.bend.value:.2g} ± {one.bend.sigma:.1g}, breathing "
                f"{one.breathing.value:.2g} ± {one.breathing.sigma:.1g}; no decoherence is seen"
            )
    for name, why in missing.items():
        click.secho(f"{name}: {why}", fg="yellow")


def _as_json(
    found: "dict[str, Damping]", missing: dict[str, str], expected: "Expected", turns: "KickedTurns"
) -> dict[str, Any]:
    planes = {
        name: {
            "damping_turns": one.turns.value,
            "sigma_turns": one.turns.sigma,
            "lattice_turns": expected.damping_turns["xy".index(name)],
            "bend": one.bend.value,
            "bend_sigma": one.bend.sigma,
            "breathing": one.breathing.value,
            "breathing_sigma": one.breathing.sigma,
            "tune": one.tune,
            "snr": one.snr,
        }
        for name, one in found.items()
    }
    return {"kick_turn": turns.turn, "bpms": len(turns.x), **planes, "missing": missing}
