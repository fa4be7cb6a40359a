# SPDX-License-Identifier: Apache-2.0
"""`ringmaster spectrum`: of any lane of any stream, live or archived."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ringmaster.cli.options import examples, json_option, plot_option, print_json, print_plot
from ringmaster.cli.series_options import of_series, read_series

if TYPE_CHECKING:
    from ringmaster.spectra.density import SpectralLine
    from ringmaster.spectra.draw import Spectrum
    from ringmaster.spectra.rows import RowSpectra
    from ringmaster.spectra.series import Series

MOST_CURVES = 12
"""On a terminal."""


@click.command(
    epilog=examples(
        "ringmaster spectrum bpm01/turn/x1",
        "ringmaster spectrum 'bpm0*/fast/[xy]1' --seconds 10 --plot orbit.png --spectrogram",
        "ringmaster spectrum bpm01/turn --archive /archive --from 2026-11-25T14:00 --until 2026-11-25T14:01",
        "ringmaster spectrum tune/spectrum_x --spectrogram --plot tune.png",
        "ringmaster spectrum bpm01/turn/x1 --json | jq .spectra[0].lines",
    )
)
@click.argument("names", metavar="NAME…", nargs=-1, required=True)
@of_series
@click.option("--resolution", type=click.FloatRange(0, min_open=True), metavar="HZ", help="From bin to bin.")
@click.option("--window", type=click.Choice(["hann", "rectangular"]), default="hann", show_default=True)
@plot_option
@click.option("--spectrogram", is_flag=True, help="--plot: how it changed over the time, too.")
@click.option("--linear", is_flag=True, help="Frequencies side by side, not by decades.")
@json_option
def spectrum(
    names: tuple[str, ...],
    resolution: float | None,
    window: str,
    plot: Path | None,
    spectrogram: bool,
    linear: bool,
    as_json: bool,
    **span: Any,
) -> None:
    """Show the spectrum of NAME: a stream's lane as bpm01/turn/x1, a whole stream, or a shell pattern of them.

    The density is one-sided, in the lane's unit squared per hertz, averaged over half-overlapping pieces (Welch): eight
    of them, or as many as --resolution allows. Its integral is the square of the RMS. What was lost on the way is left
    out of the fit, and its share is told. Lines stand where noise alone would show one in a thousand spectra; their
    amplitude is that of the sine. Of a tune that is measured now the window leaves less of it: the amplitude that is
    corrected for that stands beside.

    Of rows, such as tune/spectrum_x, which are spectra already, it shows the newest, and draws all that the ring holds.
    """
    from ringmaster.cli.spectrum_text import print_spectrum

    if spectrogram and plot is None:
        raise click.UsageError("--spectrogram is drawn: give --plot FILE")
    if rows := _rows(names, resolution, **span):
        from ringmaster.cli.spectrum_rows import show_rows

        show_rows(rows, plot, spectrogram, as_json)
        return
    series = read_series(names, **span)
    spectra = [_spectrum(one, resolution, window) for one in series]
    if plot is not None:
        from ringmaster.spectra.draw import draw

        draw(spectra, plot, spectrogram, linear)
    if as_json:
        print_json({"spectra": [_as_json(one) for one in spectra]})
        return
    for one in spectra[:MOST_CURVES]:
        print_spectrum(one, linear)
    if len(spectra) > MOST_CURVES:
        click.echo(f"… and {len(spectra) - MOST_CURVES} more; --plot draws all, --json tells all")
    print_plot(plot)


def _rows(names: tuple[str, ...], resolution: float | None, **span: Any) -> "list[RowSpectra]":
    """Rows of these names, where each is one; none where they are lanes."""
    from ringmaster.fabric.workspace import attach
    from ringmaster.spectra.rows import read_rows

    if span["archive"] is not None or span["start"] is not None or span["stop"] is not None:
        return []
    with attach(span["workspace"]) as ws:
        are_rows = [bool(ws.rows.match(name)) for name in names]
        if not any(are_rows):
            return []
        if not all(are_rows) or resolution is not None:
            raise click.UsageError("these rows are spectra already: name them alone, without lanes and --resolution")
        return read_rows(ws, names, span["seconds"])


def _spectrum(series: "Series", resolution_hz: float | None, window: str) -> "Spectrum":
    from ringmaster.console.units import quantity
    from ringmaster.spectra.density import lines, welch
    from ringmaster.spectra.draw import Spectrum

    size = 0 if resolution_hz is None else round(series.rate_hz / resolution_hz)
    if size > len(series):
        span, best = quantity(series.seconds, "s", 3), quantity(1 / series.seconds, "Hz", 3)
        raise ValueError(f"{series.name}: a span of {span} resolves {best}, and no less")
    try:
        found = welch(series.values, series.rate_hz, size, window)
    except ValueError as error:
        raise ValueError(f"{series.name}: {error}") from None
    return Spectrum(series, found, lines(found))


def _corrected(series: "Series", line: "SpectralLine") -> dict[str, Any]:
    """Of a measured tune, for its window."""
    if series.tune_window is None:
        return {}
    return {"amplitude_corrected": line.amplitude * series.correction(line.hz)}


def _as_json(one: "Spectrum") -> dict[str, Any]:
    found = one.density
    return {
        "name": one.series.name,
        "unit": one.series.unit,
        "rate_hz": one.series.rate_hz,
        "first_turn": one.series.first_turn,
        "records": len(one.series),
        "missing": found.missing,
        "window": found.window,
        "pieces": found.pieces,
        "pieces_left_out": found.left_out,
        "noise_bandwidth_hz": found.enbw_hz,
        "relative_sigma": found.relative_sigma,
        "rms": found.rms(),
        "lines": [line.as_json() | _corrected(one.series, line) for line in one.lines],
        "hz": found.hz.tolist(),
        "density": found.density.tolist(),
    }
