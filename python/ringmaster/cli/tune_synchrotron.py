# SPDX-License-Identifier: Apache-2.0
"""`ringmaster tune synchrotron`: from dispersive BPMs, and from phases of the RF."""

from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ringmaster.cli.options import examples, print_json
from ringmaster.cli.series_options import of_series, read_series, with_rate
from ringmaster.cli.tune_options import of_a_lattice

if TYPE_CHECKING:
    from ringmaster.spectra.series import Series
    from ringmaster.tune.model import Expected
    from ringmaster.tune.synchrotron import SynchrotronLine

PHASES = "*/turn/*phase"
"""Lanes of a low-level RF that may show it."""
MOST_MISSING = 0.5
"""Share of a phase's records: with more of them gone it is left out, and that is told."""


@click.command(
    epilog=examples(
        "ringmaster tune synchrotron elettra2_like --mapping configs/mappings/tune-lattice.yaml",
        "ringmaster tune synchrotron elettra2.mat --mapping bpms.yaml --plot synchrotron.png",
        "ringmaster tune synchrotron elettra2.mat --mapping bpms.yaml --archive /data --from 12000000 --until 13000000",
    )
)
@of_a_lattice
@of_series
def synchrotron(lattice: str, mapping: Path, plot: Path | None, as_json: bool, **span: Any) -> None:
    """Measure the synchrotron tune beside that of LATTICE: from the energy that dispersive BPMs see, turn by turn.

    The beam is not moved: noise of the RF suffices. Phases that a low-level RF sends turn by turn are looked at, too.
    The longer the span, the better: a quarter of a second gives some 2 in 1000.
    """
    from ringmaster import plots
    from ringmaster.tune.draw import draw_synchrotron
    from ringmaster.tune.model import expect

    plots.check(plot)
    expected = expect(lattice, mapping)
    if expected.cavities is None:
        raise ValueError(f"{expected.name} has no cavity, and no synchrotron tune")
    rows = [with_rate(expected.rows[2 * bpm], "turn") for bpm in expected.dispersive]
    if not rows:
        raise ValueError(f"no BPM of the mapping stands where {expected.name} has dispersion")
    series = read_series(lambda lanes: _chosen(rows, lanes), **span)
    found, missing = _lines(series, rows, expected)
    if plot is not None:
        draw_synchrotron(found, expected, plot)
    if as_json:
        print_json(_as_json(found, missing, expected))
        return
    _tell(found, missing, expected)
    if plot is not None:
        click.echo(f"plot written to {plot}")


def _chosen(rows: list[str], lanes: dict[str, list[str]]) -> tuple[str, ...]:
    """The BPMs' rows, and what is a phase."""
    names = [f"{stream}/{lane}" for stream, there in lanes.items() for lane in there]
    return (*rows, *(name for name in names if fnmatchcase(name, PHASES)))


def _lines(
    series: "list[Series]", rows: list[str], expected: "Expected"
) -> "tuple[list[SynchrotronLine], dict[str, str]]":
    """Of the BPMs first; and why not. Raises ValueError where nothing shows it."""
    import numpy as np

    from ringmaster.feedback.names import LENGTHS
    from ringmaster.spectra.series import interpolated, joined
    from ringmaster.tune.synchrotron import delta_of, find

    by_name = {one.name: one for one in joined(series)}
    x_m = np.array([by_name[row].values * LENGTHS[by_name[row].unit] * 1e-9 for row in rows])
    signals = {f"{len(rows)} dispersive BPMs": (delta_of(x_m, expected.dispersion_m[expected.dispersive]), "")}
    others = {name: one for name, one in by_name.items() if name not in rows}
    signals |= {
        name: (interpolated(one.values), one.unit) for name, one in others.items() if one.missing < MOST_MISSING
    }
    found: list[SynchrotronLine] = []
    missing = {
        name: f"{name}: {one.missing:.0%} of its records are not there"
        for name, one in others.items()
        if one.missing >= MOST_MISSING
    }
    for name, (values, unit) in signals.items():
        try:
            found.append(find(name, values, unit, expected.synchrotron_tune, expected.damping_turns[2]))
        except ValueError as error:
            missing[name] = str(error)
    if not found:
        raise ValueError("; ".join(missing.values()))
    return found, missing


def _tell(found: "list[SynchrotronLine]", missing: dict[str, str], expected: "Expected") -> None:
    cavities = expected.cavities
    assert cavities is not None
    for one in found:
        size = f"δ of {one.rms:.2g}" if not one.unit else f"{one.rms:.3g} {one.unit}"
        click.echo(
            f"{one.name}: synchrotron tune {one.tune:.6f} ± {one.sigma:.1g}; {size} RMS, remembered for "
            f"{one.damping_turns:.0f} ± {one.damping_sigma:.0f} turns"
        )
    for why in missing.values():
        click.secho(why, fg="yellow")
    click.echo(f"the lattice's: {expected.synchrotron_tune:.6f}, damped in {expected.damping_turns[2]:.0f} turns")
    click.echo(
        f"  by a momentum compaction of {cavities.momentum_compaction:.4g}, {cavities.voltage_v / 1e6:.4g} MV and the "
        f"harmonic number {cavities.harmonic_number}; the measured tune takes "
        f"{cavities.voltage_of(found[0].tune) / 1e6:.4g} MV"
    )


def _as_json(found: "list[SynchrotronLine]", missing: dict[str, str], expected: "Expected") -> dict[str, Any]:
    assert expected.cavities is not None
    return {
        "lines": [
            {
                "name": one.name,
                "tune": one.tune,
                "sigma": one.sigma,
                "damping_turns": one.damping_turns,
                "damping_sigma": one.damping_sigma,
                "rms": one.rms,
                "unit": one.unit,
                "above": one.above,
            }
            for one in found
        ],
        "missing": missing,
        "lattice": {
            "tune": expected.synchrotron_tune,
            "damping_turns": expected.damping_turns[2],
            "voltage_v": expected.cavities.voltage_v,
        },
        "voltage_v": expected.cavities.voltage_of(found[0].tune),
    }
