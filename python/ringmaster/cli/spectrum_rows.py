# SPDX-License-Identifier: Apache-2.0
"""`ringmaster spectrum` of rows, which are spectra already: on a terminal and as JSON."""

import shutil
from pathlib import Path
from typing import Any

import click
import numpy as np

from ringmaster.cli.options import print_json
from ringmaster.cli.spectrum_text import LABEL, MOST_COLUMNS, print_curve
from ringmaster.console import units
from ringmaster.spectra.rows import RowSpectra, draw_rows, row_peaks

MARKS = 5
"""Intervals of the axis that are told."""


def show_rows(spectra: list[RowSpectra], plot: Path | None, spectrogram: bool, as_json: bool) -> None:
    """Draws, and prints, what was read."""
    if plot is not None:
        draw_rows(spectra, plot, spectrogram)
    if as_json:
        print_json({"rows": [_as_json(one) for one in spectra]})
        return
    for one in spectra:
        _print_rows(one)
    if plot is not None:
        click.echo(f"plot written to {plot}")


def _print_rows(one: RowSpectra) -> None:
    rows, newest = one.rows, one.newest
    click.secho(rows.name, bold=True, nl=False)
    if newest is None:
        click.echo("  no rows yet")
        return
    missing = int(np.count_nonzero(~one.window.ok))
    click.echo(
        f"  turn {one.window.turn[newest]}, {units.several(rows.width, 'value')}, a row every "
        f"{units.quantity(one.period_s, 's', 3)}; of the newest {len(one.window)} rows {missing} are missing"
    )
    if quality := int(one.window.quality[newest]):
        click.secho(f"{'':>{LABEL}} not to be trusted: quality {quality}", fg="yellow")
    row = one.row.astype(np.float64)
    if not np.isfinite(row).all():
        click.echo(f"{'':>{LABEL}} no numbers in it")
        return
    columns = max(30, min(MOST_COLUMNS, shutil.get_terminal_size((100, 30)).columns) - LABEL - 2)
    edges = np.linspace(rows.axis[0], rows.axis[-1], 2 * columns + 1)
    print_curve(rows.axis, row, edges, lambda value: units.length(value, rows.unit, 1))
    click.secho(f"{'':>{LABEL}} {_axis(one, columns)}", dim=True)
    for peak in row_peaks(rows.axis, one.row):
        at = f"{peak.at:.6g} {rows.axis_unit}"
        click.echo(f"{at:>{LABEL + 8}}  {units.length(peak.value, rows.unit)}, {peak.above:.3g} × the median")


def _axis(one: RowSpectra, columns: int) -> str:
    """Places of the axis under the curve."""
    cells = [" "] * (columns + 20)
    for i in range(MARKS + 1):
        value = one.rows.axis[0] + (one.rows.axis[-1] - one.rows.axis[0]) * i / MARKS
        text = f"┴{value:.4g}"
        at = round(i / MARKS * columns)
        cells[at : at + len(text)] = list(text)
    return "".join(cells).rstrip() + f" {one.rows.axis_unit}"


def _as_json(one: RowSpectra) -> dict[str, Any]:
    rows, newest = one.rows, one.newest
    return {
        "name": rows.name,
        "unit": rows.unit,
        "axis": {"name": rows.axis_name, "unit": rows.axis_unit, "values": rows.axis.tolist()},
        "period_s": one.period_s,
        "delay_turns": rows.stream.group_delay_turns,
        "rows": len(one.window),
        "missing": int(np.count_nonzero(~one.window.ok)),
        "turn": None if newest is None else int(one.window.turn[newest]),
        "quality": None if newest is None else int(one.window.quality[newest]),
        "values": one.row.tolist(),
        "peaks": [peak._asdict() for peak in row_peaks(rows.axis, one.row)],
    }
