# SPDX-License-Identifier: Apache-2.0
"""`ringmaster response measure`: on a running server, or in simulated time."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ringmaster.cli.options import examples, json_option, plot_option, print_json, print_plot
from ringmaster.cli.response_options import Asked, of_a_plan, server_of, tell_plan
from ringmaster.cli.tune_options import progress_bar, told_of_ctrl_c

if TYPE_CHECKING:
    from ringmaster.response.analysis import Analysis
    from ringmaster.response.expected import Expected
    from ringmaster.response.plan import Plan
    from ringmaster.response.run import Ran

NAMED = 5
FAR = 5.0
"""Standard errors of a family's phase."""
SLIGHT_DEG = 0.5
MUCH = 1.3
"""Imaginary parts of so many errors: some plant is another."""
GAPS = 0.01


@click.command(
    epilog=examples(
        "ringmaster response measure elettra2_like --mapping configs/mappings/optics.yaml -o users.h5",
        "ringmaster response measure elettra2_like --mapping configs/mappings/optics.yaml --mode machine -o machine.h5",
        "ringmaster response measure ring.mat --mapping ring.yaml --plan plan.yaml -o response.h5 --plot response.png",
        "ringmaster response measure ring.mat --mapping ring.yaml --closed feedback --band 150 400 -o response.h5",
        "ringmaster response measure elettra2_like --mapping configs/mappings/optics.yaml "
        "--simulated configs/optics.yaml configs/optics-ring.yaml -o simulated.h5",
    )
)
@of_a_plan
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, metavar="FILE.h5", help="Write it there."
)
@click.option(
    "--plan", "plan_file", type=click.Path(path_type=Path, exists=True), metavar="FILE", help="Of response plan."
)
@click.option("--fit-plants", is_flag=True, help="Fit the plants of --plants to the phases, too.")
@click.option("--closed", metavar="NAME", help="The loop of this application is on; divide it out.")
@click.option(
    "--simulated",
    type=(click.Path(path_type=Path, exists=True), click.Path(path_type=Path, exists=True)),
    metavar="CONFIG OVERLAY",
    help="No server: run the application and this virtual ring in simulated time, and compare with its truth.",
)
@plot_option
@json_option
def measure(
    output: Path,
    plan_file: Path | None,
    fit_plants: bool,
    closed: str | None,
    simulated: tuple[Path, Path] | None,
    plot: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Measure the response matrix and the dispersion: the application `excite` moves all supplies by small sines.

    The plan is made, or read from --plan, and told. Then the supplies move, and the BPMs' streams are read meanwhile.
    At the end, after Ctrl-C and errors too, the sines are off and all settings are as they were.
    """
    asked = Asked(**options)
    if simulated is not None:
        if closed is not None:
            raise click.UsageError(
                "--simulated: one application is simulated, so no loop can be closed; leave out --closed"
            )
        _simulated(asked, simulated, output, plan_file, fit_plants, plot, as_json)
        return
    _live(asked, output, plan_file, fit_plants, closed, plot, as_json)


def _plan(asked: Asked, expected: "Expected", plan_file: Path | None, stands: Any = None) -> "Plan":
    from ringmaster.response.plan import load

    made = load(plan_file) if plan_file is not None else asked.make(expected, stands)
    unknown = [name for name in made.supplies if name not in expected.columns]
    if unknown:
        raise ValueError(f"{plan_file}: {unknown[0]} is no supply of {asked.application} that the mapping has")
    tell_plan(made, expected, asked.noise_um, err=True)
    return made


def _live(
    asked: Asked,
    output: Path,
    plan_file: Path | None,
    fit_plants: bool,
    closed: str | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    from ringmaster.fabric.workspace import attach
    from ringmaster.machine.server_file import of_workspace
    from ringmaster.response import run as running
    from ringmaster.response.expected import supplies_of_application

    with attach(asked.workspace) as ws:
        server = server_of(asked) if asked.server is not None else of_workspace(ws)
        expected = asked.expect(server)
        made = _plan(asked, expected, plan_file, running.stands(ws, asked.application))
        loop = supplies_of_application(server, closed) if closed is not None else ()
        with told_of_ctrl_c("all supplies are"), progress_bar(f"{len(made.supplies)} supplies move") as progress:
            ran = running.run(
                ws,
                made,
                expected.rows,
                application=asked.application,
                loop=loop,
                loop_application=closed,
                progress=progress,
            )
        about = {"workspace": ws.name}
    found = _analysed(asked, expected, made, ran, about, fit_plants, closed)
    _finish(found, expected, made, ran, output, plot, as_json)


def _simulated(
    asked: Asked,
    files: tuple[Path, Path],
    output: Path,
    plan_file: Path | None,
    fit_plants: bool,
    plot: Path | None,
    as_json: bool,
) -> None:
    from ringmaster.machine.server_file import read_yaml
    from ringmaster.response import simulated
    from ringmaster.response.expected import supplies_of_application

    server = read_yaml(files[0])
    expected = asked.expect(server)
    made = _plan(asked, expected, plan_file)
    order = supplies_of_application(server, asked.application)
    with tempfile.TemporaryDirectory(prefix="ringmaster-response-", dir=output.resolve().parent) as folder:
        ran, simulation = simulated.run(
            *files, made, expected.rows, Path(folder), application=asked.application, supplies=order, quiet=False
        )
        found = _analysed(asked, expected, made, ran, {"simulated": str(files[1])}, fit_plants, None)
        truth = simulated.true_response(simulation, expected.rows, found.response.columns)
    _finish(found, expected, made, ran, output, plot, as_json, truth)


def _analysed(
    asked: Asked,
    expected: "Expected",
    made: "Plan",
    ran: "Ran",
    about: dict[str, str],
    fit_plants: bool,
    closed: str | None,
) -> "Analysis":
    from ringmaster.response.analysis import analyse

    told: dict[str, str | float] = {
        **about,
        "mode": made.mode,
        "lattice": asked.lattice,
        "feedback": "open" if closed is None else "divided out",
        "first_turn": float(ran.taken[0].first_turn),
        "seconds": made.seconds,
    }
    with progress_bar("all sines are fitted") as progress:
        return analyse(
            expected.rows,
            made,
            ran.taken,
            expected.families,
            rf=expected.rf,
            left_out=list(ran.left_out),
            about=told,
            fit_plants=fit_plants,
            progress=progress,
        )


def _finish(
    found: "Analysis",
    expected: "Expected",
    made: "Plan",
    ran: "Ran",
    output: Path,
    plot: Path | None,
    as_json: bool,
    truth: Any = None,
) -> None:
    """Writes, draws, tells."""
    from ringmaster.response import measured
    from ringmaster.response.draw import draw

    measured.save(output, found.response)
    if plot is not None:
        draw(found.response, plot, f"{output.name}: {made.mode} mode, {made.seconds:.1f} s")
    summary = _summary(found, expected, ran, truth)
    if as_json:
        print_json({"output": str(output), **summary})
        return
    _tell(found, ran, summary)
    click.echo(f"response written to {output}")
    print_plot(plot)


def _summary(found: "Analysis", expected: "Expected", ran: "Ran", truth: Any) -> dict[str, Any]:
    import numpy as np

    response = found.response
    at = [expected.columns.index(name) for name in response.columns]
    columns, rows = expected.column_planes[at], expected.row_planes
    planes = {}
    for plane in "xy":
        index = np.ix_(rows == plane, columns == plane)
        if not index[0].size or not index[1].size:
            continue
        values, sigma = response.values[index], response.sigma[index]
        share = found.excursion_nm[rows == plane] / expected.size_nm[rows == plane]
        planes[plane] = {
            "relative_error": float(np.sqrt(np.nanmean(sigma**2) / np.nanmean(values**2))),
            "rms_nm_per_unit": float(np.sqrt(np.nanmean(values**2))),
            "orbit_rms_um": 1e-3 * float(np.sqrt(np.nanmean(found.excursion_nm[rows == plane] ** 2))),
            "largest_rms_share_of_size": float(np.nanmax(share)),
            "noise_nm": float(np.nanmedian(response.noise_nm[rows == plane])),
        }
    known = np.isfinite(response.dispersion) & (rows == "x")
    made: dict[str, Any] = {
        "planes": planes,
        "dispersion_relative_error": float(
            np.sqrt(np.mean(response.dispersion_sigma[known] ** 2) / np.mean(response.dispersion[known] ** 2))
        )
        if known.any()
        else None,
        "imaginary_pull": found.imaginary_pull,
        "mains_hz": found.mains_hz,
        "missing": found.missing,
        "clipped_steps": ran.clipped,
        "silent": list(found.silent),
        "left_out": dict(ran.left_out),
        "phases": [vars(check) for check in found.phases],
        "plants": {
            family.name: {
                "bandwidth_hz": family.plant.bandwidth_hz,
                "second_hz": family.plant.second_hz,
                "delay_us": 1e6 * family.plant.delay_s,
                "given": family.given,
            }
            for family in found.families
        },
    }
    if truth is not None:
        pull = (response.values - truth) / response.sigma
        made["pull_of_truth"] = float(np.sqrt(np.nanmean(pull**2)))
    return made


def _tell(found: "Analysis", ran: "Ran", summary: dict[str, Any]) -> None:
    for plane, told in summary["planes"].items():
        error, share = 100 * told["relative_error"], 100 * told["largest_rms_share_of_size"]
        click.echo(
            f"{plane}: error {error:.2g} % of the elements' RMS of {told['rms_nm_per_unit']:.4g} nm per unit; orbit "
            f"moved by {told['orbit_rms_um']:.3g} µm RMS, {share:.2g} % RMS of the beam's size at most; noise "
            f"{told['noise_nm']:.3g} nm"
        )
    if summary["dispersion_relative_error"] is not None:
        click.echo(f"dispersion: error {100 * summary['dispersion_relative_error']:.2g} % of its RMS in x")
    mains = "no mains seen" if found.mains_hz != found.mains_hz else f"mains at {found.mains_hz:.4f} Hz"
    click.secho(
        f"{mains}; imaginary parts are {found.imaginary_pull:.2f} of their errors, 1 is right",
        fg="yellow" if found.imaginary_pull > MUCH else None,
    )
    for check in found.phases:
        off = abs(check.mean_deg) > FAR * check.sigma_deg + SLIGHT_DEG
        phase = f"phase {check.mean_deg:+.3f} ± {check.sigma_deg:.2g}° beyond"
        click.secho(
            f"  {check.family}: {check.columns} supplies, {check.delay_us:+.1f} µs later than their plant, {phase}"
            + (": are its bandwidths others? (--fit-plants)" if off else ""),
            fg="yellow" if off else None,
        )
    if "pull_of_truth" in summary:
        click.echo(f"against the machine's true response: pull {summary['pull_of_truth']:.3f} RMS, 1 is right")
    if found.missing > GAPS:
        click.secho(
            f"{100 * found.missing:.2g} % of the records did not come; they have no weight", fg="yellow", err=True
        )
    _named("readings are silent", found.silent)
    _named("supplies did not do what they were told, and are left out", [f"{k} ({v})" for k, v in ran.left_out.items()])
    if ran.clipped:
        click.secho(f"a limit cut sines in {ran.clipped} steps: take smaller amplitudes", fg="yellow", err=True)


def _named(what: str, names: Sequence[str]) -> None:
    if names:
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        click.secho(f"{len(names)} {what}: {', '.join(names[:NAMED])}{more}", fg="yellow", err=True)
