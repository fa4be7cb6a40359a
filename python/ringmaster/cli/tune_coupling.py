# SPDX-License-Identifier: Apache-2.0
"""`ringmaster tune coupling`: the closest approach of the tunes, by moving quadrupoles."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ringmaster.cli.options import examples, print_json, workspace_option
from ringmaster.cli.tune_options import of_a_lattice, progress_bar, told_of_ctrl_c

if TYPE_CHECKING:
    from ringmaster.tune.coupling import Coupling


@click.command(
    epilog=examples(
        "ringmaster tune coupling elettra2_like --mapping configs/mappings/tune-lattice.yaml \\",
        "    --quadrupoles 'sr/ps/qf1_*' --most 5",
        "ringmaster tune coupling elettra2.mat --mapping bpms.yaml --quadrupoles sr/ps/qf1 --most 2 --json",
    )
)
@of_a_lattice
@click.option("--quadrupoles", multiple=True, required=True, metavar="PATTERN", help="Supplies. May be repeated.")
@click.option("--most", type=click.FloatRange(0, min_open=True), required=True, help="± from where they stand.")
@click.option(
    "--span", type=click.FloatRange(1e-4, 0.1), default=0.01, show_default=True, help="± of Qx − Qy that is scanned."
)
@click.option("--points", type=click.IntRange(5), default=11, show_default=True, help="Of the scan.")
@click.option(
    "--settle", type=click.FloatRange(0), default=0.1, show_default=True, help="Seconds from arrival to data."
)
@workspace_option
def coupling(
    lattice: str,
    mapping: Path,
    quadrupoles: tuple[str, ...],
    most: float,
    span: float,
    points: int,
    settle: float,
    workspace: str | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Measure the coupling |C⁻|: move the tunes through one another by quadrupoles, and see how near they get.

    All supplies that --quadrupoles names move by the same, through the server's guard, and no further than --most. At
    the end they are back where they stood, after Ctrl-C and errors too. Only frequencies count, so no roll or crosstalk
    of a BPM is taken for coupling. `ringmaster optics` tells it from turns, without moving anything.
    """
    from ringmaster import plots
    from ringmaster.fabric.workspace import attach
    from ringmaster.feedback.by_hand import choose
    from ringmaster.tune.coupling import Scan, measure
    from ringmaster.tune.draw import draw_coupling
    from ringmaster.tune.model import expect

    plots.check(plot)
    with attach(workspace) as ws:
        expected = expect(lattice, mapping)
        names, _ = choose(ws, quadrupoles)
        scan = Scan(names, most, span, points, settle)
        unit = ws.supplies[names[0]].setpoint.unit
        with told_of_ctrl_c("all quadrupoles are"), progress_bar(f"{len(names)} supplies") as progress:
            found = measure(ws, expected, scan, progress=progress)
    if plot is not None:
        draw_coupling(found, unit, plot)
    if as_json:
        print_json(_as_json(found, unit, names))
        return
    _tell(found, unit, names)
    if plot is not None:
        click.echo(f"plot written to {plot}")


def _tell(found: "Coupling", unit: str, names: list[str]) -> None:
    click.echo(
        f"closest approach of the tunes |C⁻| = {found.closest_approach:.3g} ± {found.sigma:.1g}, where {len(names)} "
        f"supplies are {found.centre:+.3f} {unit} from where they stood"
    )
    click.echo(
        f"Qx − Qy moves by {found.slope:.3g} per {unit}; only frequencies were looked at, so BPMs' rolls and crosstalk "
        f"have no part in it"
    )
    if found.merged:
        click.secho(f"at {found.merged} settings two lines could not be told apart; they are left out", fg="yellow")
    click.echo(
        f"tunes before {found.start[0]:.5f}, {found.start[1]:.5f}, and with all back {found.end[0]:.5f}, "
        f"{found.end[1]:.5f}"
    )


def _as_json(found: "Coupling", unit: str, names: list[str]) -> dict[str, Any]:
    return {
        "closest_approach": found.closest_approach,
        "sigma": found.sigma,
        "centre": found.centre,
        "slope_per_unit": found.slope,
        "unit": unit,
        "supplies": names,
        "offset": found.offset.tolist(),
        "tune": found.tune.tolist(),
        "tune_sigma": found.tune_sigma.tolist(),
        "fit_distance": found.fit.tolist(),
        "merged": found.merged,
        "start": list(found.start),
        "end": list(found.end),
    }
