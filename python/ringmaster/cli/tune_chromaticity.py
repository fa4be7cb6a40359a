# SPDX-License-Identifier: Apache-2.0
"""`ringmaster tune chromaticity`: by a small sine of the RF frequency."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ringmaster.cli.options import examples, print_json, workspace_option
from ringmaster.cli.tune_options import of_a_lattice, progress_bar, told_of_ctrl_c

if TYPE_CHECKING:
    from ringmaster.tune.chromaticity import Chromaticity

FAR = 5.0
"""Standard deviations."""
SLOW = 0.1
"""Of the response, that may be out of phase: supply, cycle and readback take some time."""
DOUBT = 0.05
"""Of δ, by which orbit and momentum compaction may differ: dispersion and BPMs are not perfect."""


@click.command(
    epilog=examples(
        "ringmaster tune chromaticity elettra2_like --mapping configs/mappings/tune-lattice.yaml",
        "ringmaster tune chromaticity elettra2.mat --mapping bpms.yaml --seconds 30 --plot chromaticity.png",
        "ringmaster tune chromaticity elettra2.mat --mapping bpms.yaml --delta 2e-4 --json | jq .x",
    )
)
@of_a_lattice
@click.option("--delta", type=click.FloatRange(1e-7, 1e-2), default=8e-5, show_default=True, help="Amplitude of δ.")
@click.option("--hz", type=click.FloatRange(0.01, 20), default=2.0, show_default=True, help="Of the sine.")
@click.option("--seconds", type=click.FloatRange(0.1), default=10.0, show_default=True, help="How long.")
@click.option("--application", default="tune", show_default=True, metavar="NAME", help="That measures the tune.")
@workspace_option
def chromaticity(
    lattice: str,
    mapping: Path,
    delta: float,
    hz: float,
    seconds: float,
    application: str,
    workspace: str | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Measure the chromaticities: move the RF frequency by a small sine, and look how the tunes follow.

    The RF is a supply of the operator, which the key `rf` of the mapping names; it is moved through the server's guard.
    At the end it is back where it stood, after Ctrl-C and errors too. δ follows from LATTICE's momentum compaction, and
    once more from the orbit at dispersive BPMs, as a check.
    """
    from ringmaster import plots
    from ringmaster.fabric.workspace import attach
    from ringmaster.tune.chromaticity import measure
    from ringmaster.tune.draw import draw_chromaticity
    from ringmaster.tune.model import expect

    plots.check(plot)
    with attach(workspace) as ws:
        expected = expect(lattice, mapping)
        with told_of_ctrl_c("the RF is"), progress_bar(f"δ of ±{delta:g} at {hz:g} Hz") as progress:
            found = measure(ws, expected, application, delta, hz, seconds, progress)
    if plot is not None:
        draw_chromaticity(found, plot)
    if as_json:
        print_json(_as_json(found))
        return
    _tell(found)
    if plot is not None:
        click.echo(f"plot written to {plot}")


def _tell(found: "Chromaticity") -> None:
    click.echo(f"RF ± {found.rf_hz:.3g} Hz at {found.hz:g} Hz, {found.periods} periods")
    orbit = ""
    if found.dispersive_bpms:
        orbit = f", {found.delta_orbit:.3g} ± {found.delta_orbit_sigma:.1g} by {found.dispersive_bpms} dispersive BPMs"
    click.echo(f"δ ± {found.delta:.3g} by the lattice's momentum compaction{orbit}")
    for plane, name in enumerate("xy"):
        click.echo(
            f"{name}: chromaticity {found.value[plane]:.3f} ± {found.sigma[plane]:.2g}, the lattice's "
            f"{found.expected[plane]:.3f}; tune {found.tune[plane]:.6f}"
        )
        if abs(found.out_of_phase[plane]) > FAR * found.sigma[plane] + SLOW * abs(found.value[plane]):
            click.secho(
                f"  {found.out_of_phase[plane]:.2g} of it is a quarter of a period off: the tune does not follow the "
                f"RF alone",
                fg="yellow",
            )
    click.echo(f"{100 * found.trusted:.0f} % of the tunes were to be trusted")
    if abs(found.delta_orbit - found.delta) > DOUBT * found.delta + FAR * found.delta_orbit_sigma:
        click.secho("the two δ differ: are dispersion and momentum compaction those of this lattice?", fg="yellow")


def _as_json(found: "Chromaticity") -> dict[str, Any]:
    planes = {
        name: {
            "chromaticity": found.value[plane],
            "sigma": found.sigma[plane],
            "out_of_phase": found.out_of_phase[plane],
            "lattice": found.expected[plane],
            "tune": found.tune[plane],
        }
        for plane, name in enumerate("xy")
    }
    return planes | {
        "rf_hz": found.rf_hz,
        "delta": found.delta,
        "delta_orbit": found.delta_orbit,
        "delta_orbit_sigma": found.delta_orbit_sigma,
        "dispersive_bpms": found.dispersive_bpms,
        "hz": found.hz,
        "periods": found.periods,
        "attenuation": found.attenuation,
        "trusted": found.trusted,
    }
