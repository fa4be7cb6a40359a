# SPDX-License-Identifier: Apache-2.0
"""`ringmaster optics`: of the ring, from the turns of a kicked or driven beam."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ringmaster.cli.first_word import or_command
from ringmaster.cli.optics_lines import lines
from ringmaster.cli.options import examples, json_option, plot_option, print_json, print_plot
from ringmaster.cli.series_options import of_series, read_series, with_rate

if TYPE_CHECKING:
    from ringmaster.optics.dispersion import Dispersion
    from ringmaster.optics.driven import Drive
    from ringmaster.optics.turns import Measured
    from ringmaster.twin import Lattice, Twin


@click.command(
    cls=or_command(lines),
    epilog=examples(
        "ringmaster optics elettra2_like --mapping bpms.yaml --archive /archive --from 120000000 --until 120002000",
        "ringmaster optics elettra2.mat --mapping bpms.yaml --seconds 0.01 --plot optics.png",
        "ringmaster optics elettra2.mat --mapping bpms.yaml --driven 0.29 0.18 --exciter KICKER_1 --json",
        "ringmaster optics lines --help",
    ),
)
@click.argument("lattice")
@click.option(
    "--mapping", type=click.Path(path_type=Path), required=True, metavar="FILE", help="Which BPM is which row."
)
@click.option("--driven", type=float, nargs=2, metavar="QX QY", help="Fractional tunes at which an exciter drives.")
@click.option("--exciter", metavar="ELEMENT", help="--driven: where it is in the lattice.")
@click.option("--synchrotron", type=float, metavar="QS", help="Tune of an energy oscillation, to a half: dispersion.")
@click.option("--rate", default="turn", show_default=True, help="Of the streams.")
@plot_option
@of_series
@json_option
def optics(
    lattice: str,
    mapping: Path,
    driven: tuple[float, float] | None,
    exciter: str | None,
    synchrotron: float | None,
    rate: str,
    plot: Path | None,
    as_json: bool,
    **span: Any,
) -> None:
    """Measure the optics from turn-by-turn positions of a kicked or driven beam, beside those of LATTICE.

    Phase advances, β from phase (which needs no calibration) and from amplitude, coupling, and what is wrong with
    BPMs: dead or noisy ones, wrong signs, swapped planes, shifts by whole turns. The span shall begin when the beam is
    kicked. --mapping says which BPM is which row, as for `ringmaster feedback matrix twin`.

    `ringmaster optics lines FILE` names the lines of a recording instead, and needs no lattice.
    """
    import numpy as np

    from ringmaster.machine.mapping import read_mapping, resolve
    from ringmaster.optics.dispersion import measure_dispersion
    from ringmaster.optics.model import model_of
    from ringmaster.optics.turns import measure
    from ringmaster.spectra.series import joined
    from ringmaster.twin import Twin, load_lattice

    if (driven is None) != (exciter is None):
        raise click.UsageError("--driven and --exciter belong together")
    ring = load_lattice(lattice)
    given = read_mapping(mapping)
    resolved = resolve(ring, {key: given[key] for key in ("bpms", "rows") if key in given})
    twin = Twin(ring)
    model = model_of(twin, resolved.bpms, [ring.names[i] for i in resolved.bpms])
    names = tuple(with_rate(row, rate) for row in resolved.rows)
    series = {one.name: one for one in joined(read_series(names, **span))}
    values = np.array([series[name].values for name in names])
    drive = None if driven is None or exciter is None else _drive(twin, ring, driven, exciter)
    found = measure(values[0::2], values[1::2], model, drive)
    dispersion = None if synchrotron is None else measure_dispersion(values[0::2], model.dispersion_m, synchrotron)
    if plot is not None:
        from ringmaster.optics.draw import draw

        draw(found, plot, dispersion)
    if as_json:
        print_json(_as_json(found, resolved.rows) | _dispersion_as_json(dispersion))
        return
    _print(found, values.shape[1])
    if dispersion is not None:
        off, sigma = 1e3 * (dispersion.dispersion_m - dispersion.model_m), 1e3 * dispersion.sigma_m
        click.echo(
            f"synchrotron tune {dispersion.tune:.6f}, dispersion {np.nanstd(off):.3g} mm RMS off the model's (one BPM "
            f"is right to {np.nanmedian(sigma):.2g} mm)"
        )
    print_plot(plot)


def _drive(twin: "Twin", ring: "Lattice", tunes: tuple[float, float], exciter: str) -> "Drive":
    from ringmaster.optics.driven import Drive
    from ringmaster.optics.model import model_of

    if exciter not in ring.names:
        raise ValueError(f"{ring.name} has no element {exciter!r}: where is the exciter?")
    at = model_of(twin, [ring.names.index(exciter)], [exciter])
    return Drive(tunes, (float(at.phase_rad[0, 0]), float(at.phase_rad[0, 1])))


def _print(found: "Measured", turns: int) -> None:
    import numpy as np

    click.echo(f"{len(found.model)} BPMs, {turns} turns")
    for plane, (name, one) in enumerate(zip("xy", found.planes, strict=True)):
        percent = 100 / found.model.beta_m[:, plane]
        beating = np.nanstd(one.beta_phase_m * percent)
        sigma, phase = np.nanmedian(one.sigma_beta_phase_m * percent), 1e3 * np.nanstd(one.phase_error_rad)
        click.echo(
            f"{name}: tune {one.tune:.6f} ± {one.sigma_tune:.1g}, β beating {beating:.2f} % RMS (one BPM is right to "
            f"{sigma:.2g} %), phase {phase:.2f} mrad RMS off the model's"
        )
    if np.isfinite(found.closest_approach):
        click.echo(f"closest approach of the tunes {found.closest_approach:.2g}")
    for fault in found.faults:
        click.secho(f"  {fault}", fg="yellow")
    if not found.faults:
        click.echo("all BPMs are as they should be")


def _dispersion_as_json(found: "Dispersion | None") -> dict[str, Any]:
    if found is None:
        return {}
    return {
        "synchrotron_tune": found.tune,
        "dispersion_m": found.dispersion_m.tolist(),
        "dispersion_sigma_m": found.sigma_m.tolist(),
        "dispersion_model_m": found.model_m.tolist(),
    }


def _as_json(found: "Measured", rows: tuple[str, ...]) -> dict[str, Any]:
    planes = {}
    for plane, (name, one) in enumerate(zip("xy", found.planes, strict=True)):
        planes[name] = {
            "tune": one.tune,
            "tune_sigma": one.sigma_tune,
            "beta_model_m": found.model.beta_m[:, plane].tolist(),
            "beta_phase_m": one.beta_phase_m.tolist(),
            "beta_phase_sigma_m": one.sigma_beta_phase_m.tolist(),
            "beta_amplitude_m": one.beta_amplitude_m.tolist(),
            "phase_error_rad": one.phase_error_rad.tolist(),
            "phase_sigma_rad": one.sigma_phase_rad.tolist(),
        }
    return {
        "bpms": list(found.model.names),
        "rows": list(rows[0::2]),
        "closest_approach": found.closest_approach,
        "faults": {fault.bpm: fault.what for fault in found.faults},
        **planes,
    }
