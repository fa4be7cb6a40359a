# SPDX-License-Identifier: Apache-2.0
"""What `ringmaster loco fit` and `report` show on a terminal."""

from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from ringmaster.loco.model import Floats
from ringmaster.loco.report import Optics, largest_gradients, largest_residuals
from ringmaster.loco.result import Result


def show(result: Result, optics: Optics | None, stored: dict[str, Any]) -> None:
    """All of it."""
    for fault in result.faults:
        click.secho(f"  {fault}", fg="yellow")
    for note in result.notes:
        click.echo(f"  {note}")
    _numbers(result, stored)
    if optics is not None:
        _optics(optics)
    elif result.mapping:
        click.secho("no optics of the fitted ring: the mapping is not there, or the ring is unstable", fg="red")
    console = Console()
    if result.gradients:
        console.print(_gradients(result))
    console.print(_calibration(result))
    console.print(_residuals(result))


def _numbers(result: Result, stored: dict[str, Any]) -> None:
    begin = f", from {result.history[0]:.6g}" if len(result.history) else ""
    steps = f"{len(result.history) - 1} steps" + ("" if result.converged else ", not at its end yet")
    click.secho(f"χ² {result.reduced:.6g} per degree of freedom{begin}, in {steps}", bold=True)
    click.echo(
        f"{result.elements} elements, {result.parameters} parameters, of which the data decided "
        f"{result.effective:.0f} and priors the rest"
    )
    values = result.singular_values
    cut = "" if result.used == len(values) else f", {len(values) - result.used} cut"
    click.echo(f"singular values: largest {values[0]:.4g}, smallest {values[-1] / values[0]:.2g} of it{cut}")
    for convention in result.conventions:
        click.echo(convention)
    if stored:
        click.echo(
            f"the file's own fit: χ² {stored['stored_chi2_per_degree']:.6g} after {stored['stored_iterations']} steps; "
            f"gradients differ from it by {stored['gradients_off_stored_rms_sigmas']:.2g} σ RMS, "
            f"{stored['gradients_off_stored_max_sigmas']:.2g} σ at most"
        )
    if result.reduced > 2:
        click.echo(
            f"errors below are those of the noise alone: what the model lacks makes residuals "
            f"{np.sqrt(result.reduced):.3g} times as large"
        )


def _optics(optics: Optics) -> None:
    x, y = (100 * value for value in optics.beating)
    click.echo(
        f"β-beating: x {x:.3g} %, y {y:.3g} % RMS; dispersion off by x {1e3 * optics.dispersion_m[0]:.3g} mm, "
        f"y {1e3 * optics.dispersion_m[1]:.3g} mm RMS"
    )
    now = ", ".join(f"{tune % 1:.5f}" for tune in optics.tunes)
    click.echo(f"tunes {now}; by design {', '.join(f'{tune % 1:.5f}' for tune in optics.design_tunes)}")


def _gradients(result: Result) -> Table:
    table = Table("gradient", "design, 1/m²", "off by, 1/m²", "±", "relative", title="farthest from the design")
    for at in largest_gradients(result):
        one, value, sigma = result.gradients[at], result.by_gradient[at], result.by_gradient_sigma[at]
        relative = f"{100 * value / one.design:+.3f} %" if one.component == "B" and abs(one.design) > 1e-3 else ""
        table.add_row(one.label, f"{one.design:.4f}", f"{value:+.5f}", f"{sigma:.1g}", relative)
    return table


def _calibration(result: Result) -> Table:
    table = Table("", "mean", "RMS of the rest", "error of one", title="BPMs and correctors")
    half = result.bpms
    rows: list[tuple[str, Floats, Floats]] = []
    for plane, name in enumerate("xy"):
        some = slice(plane * half, (plane + 1) * half)
        rows.append((f"BPM gain {name}", result.own[some], result.own_sigma[some]))
    rows += [
        ("BPM roll, mrad", 1e3 * result.bpm_roll, 1e3 * result.cross_sigma[:half]),
        ("BPM crunch", result.bpm_crunch, result.cross_sigma[:half]),
    ]
    for plane, name in enumerate("xy"):
        some_columns = result.planes == plane
        rows.append((f"corrector gain {name}", result.gain[some_columns], result.gain_sigma[some_columns]))
        rows.append(
            (f"corrector roll {name}, mrad", 1e3 * result.roll[some_columns], 1e3 * result.roll_sigma[some_columns])
        )
    for name, values, sigma in rows:
        fitted = np.isfinite(sigma)
        if fitted.any():
            median = float(np.median(sigma[fitted]))
            table.add_row(name, f"{values[fitted].mean():.4f}", f"{values[fitted].std():.4f}", f"{median:.2g}")
    return table


def _residuals(result: Result) -> Table:
    table = Table("reading", "corrector", "residual, σ", title="largest residuals")
    for row, column, value in largest_residuals(result):
        table.add_row(row, column, f"{value:+.1f}")
    return table
