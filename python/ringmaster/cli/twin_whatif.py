# SPDX-License-Identifier: Apache-2.0
"""`ringmaster twin what-if`: what a change of supplies would do."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ringmaster.cli.options import examples, json_option, plot_option, print_json, print_plot, workspace_option

if TYPE_CHECKING:
    from ringmaster.twins.what_if import Asking, WhatIf


@click.command(
    "what-if",
    epilog=examples(
        "ringmaster twin what-if elettra2_like --map configs/mappings/optics.yaml --set sr/ps/qf1_01=+0.1",
        "ringmaster twin what-if elettra2_like --map mapping.yaml --set 'sr/ps/qf1_*=+0.1' --set sr/rf/frequency=+100",
        "ringmaster twin what-if elettra2_like --map mapping.yaml --apply correction.yaml --plot change.png",
        "ringmaster twin what-if --on corrected --set sr/ps/qf1_01=+0.1 --json | jq .rms",
    ),
)
@click.argument("lattice", type=click.Path(), required=False)
@click.option("--map", "--mapping", "mapping", type=click.Path(path_type=Path), metavar="FILE", help="See twin follow.")
@click.option("--on", "instance", metavar="NAME", help="Of a running instance of `twin follow`, as it stands now.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="SUPPLY=VALUE",
    help="In its unit: +0.1 and -0.1 by so much, 0.1 to there. A pattern moves all that it matches.",
)
@click.option("--apply", "files", multiple=True, type=click.Path(path_type=Path), metavar="FILE", help="Of a change.")
@click.option("--4d", "flat", is_flag=True, help="Cavities and radiation off.")
@plot_option
@json_option
@workspace_option
def what_if(
    lattice: str | None,
    mapping: Path | None,
    instance: str | None,
    settings: tuple[str, ...],
    files: tuple[Path, ...],
    flat: bool,
    plot: Path | None,
    as_json: bool,
    workspace: str | None,
) -> None:
    """Tell what a change of supplies would do: tunes, β-beating, orbit, dispersion, emittance, before and after.

    Nothing is moved. Without --on the supplies stand at 0 before, as the lattice was designed.
    """
    from ringmaster.programs.threads import keep_to_one_thread

    keep_to_one_thread()
    moves, to = _of_words(settings)
    for file in files:
        from ringmaster.twins.changes import moves_of

        for supply, difference in moves_of(file).items():
            moves[supply] = moves.get(supply, 0.0) + difference
    if not moves and not to:
        raise click.UsageError("nothing changes: give --set SUPPLY=+VALUE or --apply FILE")
    asked = _asked(lattice, mapping, instance, flat, workspace)
    found = asked.what_if(moves, to)
    if plot is not None:
        from ringmaster.twins.plot import plot_what_if

        plot_what_if(found, asked.model.twin.lattice.get_s_pos(list(asked.model.mapping.bpms)), plot)
    if as_json:
        print_json(_data(found))
    else:
        _print(found)
        print_plot(plot)


def _of_words(settings: tuple[str, ...]) -> tuple[dict[str, float], dict[str, float]]:
    moves: dict[str, float] = {}
    to: dict[str, float] = {}
    for text in settings:
        name, _, value = text.partition("=")
        try:
            (moves if value[:1] in ("+", "-") else to)[name.strip()] = float(value)
        except ValueError:
            raise click.UsageError(f"--set {text}: expected SUPPLY=+NUMBER, SUPPLY=-NUMBER or SUPPLY=NUMBER") from None
    return moves, to


def _asked(lattice: str | None, mapping: Path | None, name: str | None, flat: bool, workspace: str | None) -> "Asking":
    from ringmaster.twins.instance import Instance
    from ringmaster.twins.what_if import asking, on_running

    if name is not None:
        if lattice is not None or mapping is not None or flat:
            raise click.UsageError(
                "--on takes lattice, mapping and 4d of the running instance: leave LATTICE, --map and --4d out"
            )
        from ringmaster.fabric.workspace import attach

        with attach(workspace) as ws:
            return on_running(ws, name)
    if lattice is None or mapping is None:
        raise click.UsageError(f"{'LATTICE' if lattice is None else '--map FILE'} is missing, or --on NAME")
    return asking(Instance("what-if", lattice, str(mapping), flat=flat))


def _data(found: "WhatIf") -> dict[str, object]:
    numbers = {name: {"before": before, "after": after} for name, (before, after) in found.numbers().items()}
    moves = {name: {"before": before, "after": after} for name, (before, after) in found.moves.items()}
    at = {
        "beta_beating": found.beating.T.tolist(),
        "orbit_um": found.orbit_um.T.tolist(),
        "dispersion_m": found.dispersion_m.T.tolist(),
    }
    return {"moves": moves, "ring": numbers, "rms": found.rms(), "at_bpms": at, "took_ms": 1e3 * found.took_s}


UNITS = {"emittance_x_m": ("emittance x", 1e12, "pm"), "emittance_y_m": ("emittance y", 1e12, "pm")}


def _print(found: "WhatIf") -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None)
    for name in ("", "before", "after", "change"):
        table.add_column(name, justify="left" if not name else "right")
    for name, (before, after) in found.numbers().items():
        words, scale, unit = UNITS.get(name, (name.replace("_", " "), 1.0, ""))
        cells = [f"{scale * value:.6g}" for value in (before, after)]
        table.add_row(f"{words} {unit}".strip(), *cells, f"{scale * (after - before):+.3g}")
    console = Console()
    shown = list(found.moves.items())
    for name, (before, after) in shown[:8]:
        console.print(f"{name}: {before:g} → {after:g}", highlight=False)
    if len(shown) > 8:
        console.print(f"and {len(shown) - 8} more supplies")
    console.print(table)
    rms = found.rms()
    console.print(
        f"RMS over BPMs, x and y: β-beating {100 * rms['beta_beating_x']:.3g} % and "
        f"{100 * rms['beta_beating_y']:.3g} %; orbit {rms['orbit_um_x']:.3g} µm and {rms['orbit_um_y']:.3g} µm; "
        f"dispersion {1e3 * rms['dispersion_m_x']:.3g} mm and {1e3 * rms['dispersion_m_y']:.3g} mm",
        highlight=False,
    )
    console.print(f"computed in {1e3 * found.took_s:.1f} ms", highlight=False)
