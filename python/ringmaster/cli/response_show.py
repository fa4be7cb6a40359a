# SPDX-License-Identifier: Apache-2.0
"""`ringmaster response show` and `compare`: what a file has, and by what two of them differ."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ringmaster.cli.options import examples, json_option, plot_option, print_json, print_plot

if TYPE_CHECKING:
    from ringmaster.response.measured import MeasuredResponse

file_argument = click.argument("file", type=click.Path(path_type=Path))
NAMED = 40


@click.command(
    epilog=examples("ringmaster response show response.h5", "ringmaster response show response.h5 --plot response.png")
)
@file_argument
@plot_option
@json_option
def show(file: Path, plot: Path | None, as_json: bool) -> None:
    """Show what a measured response has: a line for each family of supplies, or with --plot a heat map."""
    from ringmaster.response.draw import draw
    from ringmaster.response.measured import load

    read = load(file)
    if plot is not None:
        draw(read, plot, file.name)
    families = _families(read)
    if as_json:
        print_json(
            {"about": dict(read.about), "rows": len(read.rows), "columns": len(read.columns), "families": families}
        )
        return
    about = ", ".join(f"{key} {value}" for key, value in read.about.items())
    click.echo(f"{file}: {len(read.rows)} readings, {len(read.columns)} supplies" + (f"; {about}" if about else ""))
    click.echo(
        f"{'nm per unit of':24} {'number':>6} {'unknown':>7} {'RMS x':>10} {'RMS y':>10} {'error x':>9} {'error y':>9}"
    )
    for name, told in families.items():
        click.echo(
            f"{name:24} {told['number']:6} {told['unknown']:7} {told['rms_x']:10.4g} {told['rms_y']:10.4g} "
            f"{told['sigma_x']:9.3g} {told['sigma_y']:9.3g}"
        )
    print_plot(plot)


def _families(read: "MeasuredResponse") -> dict[str, dict[str, Any]]:
    """By the names of supplies without their numbers; the dispersion last."""
    import numpy as np

    from ringmaster.feedback.matrix import row_plane

    planes = np.array([row_plane(row) for row in read.rows])
    names = np.array([name.rstrip("0123456789_") for name in read.columns])
    made = {}

    def rms(values: Any) -> float:
        finite = values[np.isfinite(values)]
        return float(np.sqrt(np.mean(finite**2))) if finite.size else float("nan")

    for name in dict.fromkeys(names.tolist()):
        at = names == name
        made[name] = {
            "number": int(at.sum()),
            "unknown": int(np.isnan(read.values[:, at]).all(axis=0).sum()),
            **{f"rms_{p}": rms(read.values[np.ix_(planes == p, at)]) for p in "xy"},
            **{f"sigma_{p}": rms(read.sigma[np.ix_(planes == p, at)]) for p in "xy"},
        }
    made["dispersion (per Hz)"] = {
        "number": 1,
        "unknown": int(not np.isfinite(read.dispersion).any()),
        **{f"rms_{p}": rms(read.dispersion[planes == p]) for p in "xy"},
        **{f"sigma_{p}": rms(read.dispersion_sigma[planes == p]) for p in "xy"},
    }
    return made


@click.command(
    epilog=examples(
        "ringmaster response compare monday.h5 tuesday.h5",
        "ringmaster response compare response.h5 --lattice elettra2_like --mapping configs/mappings/optics.yaml",
        "ringmaster response compare monday.h5 tuesday.h5 --plot difference.png --json",
    )
)
@file_argument
@click.argument("other", type=click.Path(path_type=Path), required=False)
@click.option("--lattice", metavar="LATTICE", help="Compare with what this lattice ought to answer.")
@click.option(
    "--mapping", "--map", "mapping", type=click.Path(path_type=Path, exists=True), metavar="FILE", help="Of --lattice."
)
@plot_option
@json_option
def compare(
    file: Path, other: Path | None, lattice: str | None, mapping: Path | None, plot: Path | None, as_json: bool
) -> None:
    """Compare two responses: which supplies and readings have another sign or gain, are dead, or are swapped."""
    from ringmaster.response.compare import compare as compared
    from ringmaster.response.draw import draw_comparison
    from ringmaster.response.measured import load

    if (other is None) == (lattice is None) or (lattice is None) != (mapping is None):
        raise click.UsageError("expected a second FILE, or --lattice and --mapping")
    first = load(file)
    second = load(other) if other is not None else _of_lattice(str(lattice), mapping, first)
    name = str(other or lattice)
    found = compared(first, second)
    if plot is not None:
        draw_comparison(found, plot, f"{file.name} and {name}")
    if as_json:
        gains = {"supplies": dict(zip(found.columns, found.column_gain.tolist(), strict=True))}
        gains["readings"] = dict(zip(found.rows, found.row_gain.tolist(), strict=True))
        findings = [vars(finding) for finding in found.findings]
        print_json({"relative": found.relative, "pull": found.pull, "findings": findings, "gains": gains})
        return
    pull = "" if found.pull != found.pull else f", {found.pull:.2f} of its errors"
    click.echo(
        f"{len(found.rows)} readings and {len(found.columns)} supplies are in both; they differ by "
        f"{100 * found.relative:.2g} % RMS{pull}"
    )
    for finding in found.findings[:NAMED]:
        click.secho(f"  {finding.what} {finding.name} {finding.words}", fg="yellow")
    if len(found.findings) > NAMED:
        click.echo(f"  and {len(found.findings) - NAMED} more (--json has all)")
    if not found.findings:
        click.echo("  no sign, gain or place stands out")
    print_plot(plot)


def _of_lattice(lattice: str, mapping: Any, first: "MeasuredResponse") -> "MeasuredResponse":
    """What it ought to answer, of the supplies that were measured."""
    from ringmaster.response.compare import of_lattice
    from ringmaster.response.expected import by_lattice

    whole, dispersion = by_lattice(lattice, mapping)
    columns = [name for name in first.columns if name in whole.columns]
    at = [whole.columns.index(name) for name in columns]
    return of_lattice(whole.rows, columns, whole.values[:, at], dispersion)
