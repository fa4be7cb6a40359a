# SPDX-License-Identifier: Apache-2.0
"""`ringmaster loco`: the optics of a machine, and errors of BPMs and correctors, from its measured orbit response."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ringmaster.cli.loco_correct import correct
from ringmaster.cli.loco_jacobian import jacobian
from ringmaster.cli.loco_options import Width, fit_bar, flat_option, mapping_option, result_argument, twin_of
from ringmaster.cli.options import examples, json_option, plot_option, print_json, print_plot
from ringmaster.programs.threads import keep_to_one_thread

if TYPE_CHECKING:
    from ringmaster.loco.fit import Options
    from ringmaster.loco.matlab import LocoFile
    from ringmaster.loco.report import Optics
    from ringmaster.loco.result import Result


@click.group()
def loco() -> None:
    """Fit the optics of a machine, and the errors of its BPMs and correctors, to its measured orbit response.

    `fit` takes what `ringmaster response measure` wrote, or a file of MATLAB's LOCO; `correct` makes of its result a
    change of supplies, which `ringmaster change apply` applies and undoes. docs/loco.md tells what is fitted, and how.
    """


loco.add_command(correct)
loco.add_command(jacobian)


@loco.command(
    epilog=examples(
        "ringmaster loco fit response.h5 elettra2_like --mapping configs/mappings/optics.yaml -o fit.h5",
        "ringmaster loco fit response.h5 ring.mat --mapping ring.yaml --repair --plot fit.png",
        "ringmaster loco fit response.h5 ring.mat --mapping ring.yaml --gradient 'Q*=0.01' --skew 'SF*=0.02'",
        "ringmaster loco fit spear3_loco.mat --json | jq .chi2_per_degree",
    )
)
@click.argument("measurement", type=click.Path(path_type=Path))
@click.argument("lattice", required=False)
@mapping_option
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FIT.h5", help="Write the result there.")
@click.option(
    "--gradient",
    "gradients",
    multiple=True,
    type=Width(0.005),
    help="Magnets to fit, and how far off they may be, relative.",
)
@click.option("--skew", "skews", multiple=True, type=Width(0.01), help="The same of skew gradients, 1/m².")
@click.option(
    "--gradient-sigma",
    type=click.FloatRange(0, min_open=True),
    default=0.005,
    show_default=True,
    help="Prior width of the usual gradients, relative.",
)
@click.option(
    "--skew-sigma",
    type=click.FloatRange(0, min_open=True),
    default=0.001,
    show_default=True,
    help="Of skew gradients times length, 1/m.",
)
@click.option(
    "--feed-down-um",
    type=click.FloatRange(0),
    default=50.0,
    show_default=True,
    help="Of the beam in sextupoles: 0 leaves them out.",
)
@click.option("--no-skew", is_flag=True, help="Fit no skew gradients.")
@click.option(
    "--gain-sigma",
    type=click.FloatRange(0, min_open=True),
    default=0.2,
    show_default=True,
    help="Prior width of gains.",
)
@click.option("--no-rolls", is_flag=True, help="Fit no rolls of correctors, nor what BPMs have of the other plane.")
@click.option("--energy", is_flag=True, help="Fit energy shifts of correctors, for --4d.")
@click.option(
    "--cut",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="SHARE",
    help="No priors: singular values below SHARE of the largest are 0.",
)
@click.option("--outliers", type=float, metavar="SIGMAS", help="Leave out elements that are farther off.")
@click.option("--iterations", type=click.IntRange(1), default=12, show_default=True, help="At most.")
@click.option("--repair", "faults", flag_value="repair", help="Put right signs and swapped cables, and fit them, too.")
@click.option("--keep", "faults", flag_value="keep", help="Fit what is at fault as it is.")
@flat_option
@plot_option
@json_option
def fit(
    measurement: Path,
    lattice: str | None,
    mapping: Path | None,
    output: Path | None,
    faults: str | None,
    flat: bool,
    plot: Path | None,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Fit LATTICE to MEASUREMENT.

    Fitted are gradients, skew gradients, and what sextupoles feed down; of each BPM a matrix of its two readings; of
    each corrector gain and roll. BPMs and correctors that are dead, have the wrong sign, or swapped planes or cables
    are found first, named and left out.

    MEASUREMENT may be a file of MATLAB's LOCO, which has all of it: parameters, flags and weights are the file's, and
    its last stored fit is compared. Ctrl-C ends the fit where it is.
    """
    keep_to_one_thread()
    from ringmaster.loco.matlab import is_loco_file
    from ringmaster.loco.result import save

    if is_loco_file(measurement):
        if lattice is not None or mapping is not None:
            raise click.UsageError("a file of MATLAB's LOCO has its own lattice: give neither LATTICE nor --mapping")
        result, optics, stored = _fit_matlab(measurement, chosen["iterations"])
    else:
        if lattice is None or mapping is None:
            raise click.UsageError("give LATTICE and --mapping: which element is which reading and supply")
        result, optics = _fit_measured(measurement, lattice, mapping, faults or "exclude", flat, chosen)
        stored = {}
    if output is not None:
        save(output, result)
    if plot is not None:
        from ringmaster.loco.draw import draw

        draw(result, optics, plot)
    _show(result, optics, as_json, stored)
    if not as_json:
        if output is not None:
            click.echo(f"result written to {output}")
        print_plot(plot)


def _fit_measured(
    measurement: Path, lattice: str, mapping: Path, faults: str, flat: bool, chosen: dict[str, Any]
) -> "tuple[Result, Optics | None]":
    from ringmaster.loco.report import optics_of_result
    from ringmaster.loco.result import result_of
    from ringmaster.loco.session import mapping_of, run
    from ringmaster.response.measured import load
    from ringmaster.twin import load_lattice

    measured = load(measurement)
    ring = load_lattice(lattice)
    twin, resolved = twin_of(ring, flat), mapping_of(ring, mapping, measured)
    options = _options(chosen)
    with fit_bar(options.iterations) as progress:
        found, wrong = run(twin, resolved, measured, _choice(chosen), options, faults, progress)
    result = result_of(found, wrong, lattice, str(mapping), str(measurement))
    return result, optics_of_result(result, twin, resolved.bpms)


def _choice(chosen: dict[str, Any]) -> Any:
    from ringmaster.loco.gradients import Priors
    from ringmaster.loco.session import Choice

    priors = Priors(chosen["gradient_sigma"], chosen["skew_sigma"], 1e-6 * chosen["feed_down_um"])
    return Choice(chosen["gradients"], chosen["skews"], priors, not chosen["no_skew"])


def _options(chosen: dict[str, Any]) -> "Options":
    from ringmaster.loco.fit import Options

    return Options(
        cross=not chosen["no_rolls"],
        rolls=not chosen["no_rolls"],
        energy=chosen["energy"],
        gain_sigma=chosen["gain_sigma"],
        cut=chosen["cut"],
        outliers=chosen["outliers"],
        iterations=chosen["iterations"],
    )


def _fit_matlab(path: Path, iterations: int) -> "tuple[Result, Optics | None, dict[str, Any]]":
    from dataclasses import replace

    from ringmaster.loco.fit import Fitter
    from ringmaster.loco.matlab import load_loco
    from ringmaster.loco.report import optics_of
    from ringmaster.loco.result import result_of

    file = load_loco(path)
    with fit_bar(iterations) as progress:
        run = Fitter(file.model, file.data, replace(file.options, iterations=iterations), file.begin)
        found = run.run(lambda n, chi2: progress("fit", n, chi2))
    result = result_of(found, [], file.lattice.name or path.stem, "", str(path), file.notes)
    design = found.model.twin.copy()
    found.model.put(file.begin.gradients)
    design, fitted = found.model.twin.copy(), design
    return result, optics_of(design, fitted, found.model.bpms), _beside_stored(file, result)


def _beside_stored(file: "LocoFile", result: "Result") -> dict[str, Any]:
    import numpy as np

    if not file.stored:
        return {}
    last, first = file.stored[-1], file.stored[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        off = (result.by_gradient + first.values - last.values) / last.sigma
    off = off[np.isfinite(off)]
    return {
        "stored_chi2_per_degree": last.chi2,
        "stored_iterations": last.iteration,
        "gradients_off_stored_rms_sigmas": float(np.sqrt(np.mean(off**2))) if len(off) else float("nan"),
        "gradients_off_stored_max_sigmas": float(np.abs(off).max()) if len(off) else float("nan"),
    }


@loco.command(
    epilog=examples(
        "ringmaster loco report fit.h5",
        "ringmaster loco report fit.h5 --plot fit.png",
        "ringmaster loco report fit.h5 --json | jq .correctors",
    )
)
@result_argument
@mapping_option
@plot_option
@json_option
def report(fit_file: Path, mapping: Path | None, plot: Path | None, as_json: bool) -> None:
    """Show what `ringmaster loco fit -o FIT.h5` found."""
    keep_to_one_thread()
    from ringmaster.loco.report import optics_of_result
    from ringmaster.loco.result import load
    from ringmaster.loco.session import mapping_of
    from ringmaster.twin import load_lattice

    result = load(fit_file)
    optics = None
    path = mapping or (Path(result.mapping) if result.mapping else None)
    if path is not None and path.exists():
        ring = load_lattice(result.lattice)
        optics = optics_of_result(result, twin_of(ring, not result.is_6d), mapping_of(ring, path).bpms)
    if plot is not None:
        from ringmaster.loco.draw import draw

        draw(result, optics, plot)
    _show(result, optics, as_json, {})
    if not as_json:
        print_plot(plot)


def _show(result: "Result", optics: "Optics | None", as_json: bool, stored: dict[str, Any]) -> None:
    from ringmaster.loco.report import as_json as json_of

    if as_json:
        print_json(json_of(result, optics) | stored)
        return
    from ringmaster.cli.loco_text import show

    show(result, optics, stored)
