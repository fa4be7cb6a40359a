# SPDX-License-Identifier: Apache-2.0
"""`ringmaster correlate`: what moves together, what follows what, and what the source is."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ringmaster.cli.options import examples, json_option, plot_option, print_json, print_plot
from ringmaster.cli.series_options import of_series, read_series, with_rate

if TYPE_CHECKING:
    from ringmaster.feedback.matrix import Matrix

MOST_NAMES = 4
"""Of a mode's pattern, or of a group, on a terminal."""


@click.group()
def correlate() -> None:
    """Find what moves together (modes), what follows what (pair), and which source moves the beam (sources)."""


@correlate.command(
    epilog=examples(
        "ringmaster correlate modes 'bpm*/fast/x[12]'",
        "ringmaster correlate modes 'bpm*/turn/[xy]1' --separate --modes 6 --plot modes.png",
    )
)
@click.argument("names", metavar="NAME…", nargs=-1, required=True)
@click.option("--modes", "count", type=click.IntRange(1, 64), default=8, show_default=True)
@click.option("--separate", is_flag=True, help="Tell motions of different spectra apart, where the SVD mixes them.")
@plot_option
@of_series
@json_option
def modes(names: tuple[str, ...], count: int, separate: bool, plot: Path | None, as_json: bool, **span: Any) -> None:
    """Break the motion of the lanes NAME into modes: each a course in time and a pattern over the lanes.

    By singular value decomposition, strongest first. --separate turns them until their correlations over time vanish
    (SOBI): two lines of like strength, which the decomposition mixes, come apart.
    """
    import numpy as np

    from ringmaster.spectra import modes as of
    from ringmaster.spectra.density import lines, welch
    from ringmaster.spectra.series import joined

    series = joined(read_series(names, **span))
    found = of.svd(np.array([one.values for one in series]), count)
    if separate:
        found = of.separate(found)
    if plot is not None:
        from ringmaster.spectra.draw_correlation import draw_modes

        draw_modes(found, series, plot)
    made = []
    for i in range(len(found.share)):
        density = welch(found.time[i], series[0].rate_hz)
        order = np.argsort(-np.abs(found.space[:, i]))
        made.append(
            {
                "share": float(found.share[i]),
                "lines_hz": [line.hz for line in lines(density, 3)],
                "strongest": series[order[0]].name,
                "space": {one.name: float(found.space[j, i]) for j, one in enumerate(series)},
            }
        )
    if as_json:
        print_json({"records": len(series[0]), "missing": found.missing, "modes": made})
        return
    click.echo(f"{len(series)} lanes over {len(series[0])} records, {found.missing:.2g} of them missing")
    for number, mode in enumerate(made, 1):
        hz = ", ".join(f"{line:.5g} Hz" for line in mode["lines_hz"]) or "no line"
        click.echo(f"{number:>3}  {100 * mode['share']:6.2f} %  strongest at {mode['strongest']}  {hz}")
    print_plot(plot)


@correlate.command(
    epilog=examples(
        "ringmaster correlate pair csx_1/raw/csx_1_03 bpm17/raw/x1",
        "ringmaster correlate pair llrf01/turn/phase bpm01/turn/x1 --at 100 --archive /archive --from 2026-11-25T14:00",
    )
)
@click.argument("source")
@click.argument("answer")
@click.option("--resolution", type=click.FloatRange(0, min_open=True), metavar="HZ", help="From bin to bin.")
@click.option("--at", "at_hz", type=float, metavar="HZ", help="Say what is so at this frequency.")
@plot_option
@of_series
@json_option
def pair(
    source: str,
    answer: str,
    resolution: float | None,
    at_hz: float | None,
    plot: Path | None,
    as_json: bool,
    **span: Any,
) -> None:
    """Compare two lanes: coherence, transfer function, and the delay of ANSWER behind SOURCE.

    Coherence means something only above a threshold, which depends on the number of pieces: it is told. The delay is
    the slope of the phase over all frequencies that are above it.
    """
    import numpy as np

    from ringmaster.spectra.cross import bin_of, cross
    from ringmaster.spectra.series import joined

    found_series = read_series((source, answer), **span)
    if len(found_series) != 2:
        raise ValueError(f"{source} and {answer} are {len(found_series)} lanes, expected two: give each as STREAM/LANE")
    a, b = joined(found_series)
    size = 0 if resolution is None else round(a.rate_hz / resolution)
    found = cross(a.values, b.values, a.rate_hz, size)
    if plot is not None:
        from ringmaster.spectra.draw_correlation import draw_pair

        draw_pair(found, a, b, plot)
    delay, sigma = found.delay()
    at = int(np.argmax(found.coherence)) if at_hz is None else bin_of(at_hz, a.rate_hz, 2 * (len(found.hz) + 1))
    gain, phase = abs(found.transfer[at]), math.degrees(np.angle(found.transfer[at]))
    if as_json:
        print_json(
            {
                "source": a.name,
                "answer": b.name,
                "pieces": found.pieces,
                "missing": found.missing,
                "threshold": found.threshold,
                "delay_s": delay,
                "delay_sigma_s": sigma,
                "hz": found.hz.tolist(),
                "coherence": found.coherence.tolist(),
                "transfer_real": found.transfer.real.tolist(),
                "transfer_imaginary": found.transfer.imag.tolist(),
                "transfer_sigma": found.transfer_sigma.tolist(),
            }
        )
        return
    above = int((found.coherence > found.threshold).sum())
    click.echo(
        f"{b.name} over {a.name}: {found.pieces:.3g} independent pieces, {above} of {len(found.hz)} bins are above the "
        f"threshold {found.threshold:.3f}"
    )
    click.echo(
        f"at {found.hz[at]:.5g} Hz: coherence {found.coherence[at]:.3f}, gain {gain:.4g} "
        f"{b.unit or '1'}/{a.unit or '1'} ± {found.transfer_sigma[at]:.2g}, phase {phase:.1f}°"
    )
    click.echo(
        f"delay {1e6 * delay:.4g} ± {1e6 * sigma:.2g} µs" if math.isfinite(delay) else "no delay: too few coherent bins"
    )
    print_plot(plot)


@correlate.command(
    epilog=examples(
        "ringmaster correlate sources --at 100 --matrix configs/elettra2-response.csv",
        "ringmaster correlate sources --at 50 --matrix response.csv --rate fast --archive /archive --json",
    )
)
@click.option("--at", "at_hz", type=click.FloatRange(0, min_open=True), metavar="HZ", required=True)
@click.option("--matrix", "path", type=click.Path(path_type=Path), metavar="FILE", required=True, help="The response.")
@click.option("--rate", default="raw", show_default=True, help="Of the streams: of BPMs and of readbacks.")
@click.option("--hidden", multiple=True, metavar="NAME", help="Take this source's readback for none; may be repeated.")
@plot_option
@of_series
@json_option
def sources(
    at_hz: float, path: Path, rate: str, hidden: tuple[str, ...], plot: Path | None, as_json: bool, **span: Any
) -> None:
    """Rank the sources of the motion at a frequency, by what each is predicted to do there.

    The sources are the columns of a response matrix. What a source does is its response times its readback. All
    supplies on the mains are coherent with all motion at 50 Hz, so coherence alone says nothing. A source without a
    readback is one that may have done anything. The answer may be a group that cannot be told apart, or none of these.
    """
    from ringmaster.feedback.matrix import load_csv
    from ringmaster.spectra.series import joined
    from ringmaster.spectra.sources import rank_at

    matrix = load_csv(path)
    series = joined(read_series(_lanes(matrix, rate, hidden), **span))
    ranking = rank_at(
        at_hz,
        {one.name.replace(f"/{rate}/", "/", 1): one for one in series},
        matrix.rows,
        matrix.columns,
        matrix.values,
    )
    if plot is not None:
        from ringmaster.spectra.draw_correlation import draw_sources

        draw_sources(ranking, at_hz, plot)
    if as_json:
        print_json(ranking.as_json())
        return
    click.echo(f"at {at_hz:g} Hz the motion has {ranking.signal_to_noise:.3g} times the power of the noise beside it")
    click.echo("true in 90 of 100 such cases:")
    answer = ranking.answer
    more = f" … ({len(answer)})" if len(answer) > MOST_NAMES else ""
    click.secho(f"  {', '.join(answer[:MOST_NAMES])}{more}", bold=True)
    for one in ranking.ranked[:10]:
        share = "no readback" if math.isnan(one.share) else f"predicted to be {100 * one.share:.1f} % of the motion"
        click.echo(f"{100 * one.probability:7.2f} %  {one.name}  amplitude {one.amplitude:.4g}, {share}")
    click.echo(f"{100 * ranking.none:7.2f} %  none of these")
    click.echo(f"{100 * ranking.nothing:7.2f} %  nothing above the noise")
    print_plot(plot)


def _lanes(matrix: "Matrix", rate: str, hidden: tuple[str, ...]) -> Callable[[dict[str, list[str]]], tuple[str, ...]]:
    """Chooses the lanes that are rows of the matrix, and the readbacks of its columns, from those that there are."""

    def choose(lanes: dict[str, list[str]]) -> tuple[str, ...]:
        rows = [with_rate(row, rate) for row in matrix.rows]
        found = [row for row in rows if row.rpartition("/")[2] in lanes.get(row.rpartition("/")[0], [])]
        if not found:
            raise ValueError(f"no row of the matrix is a lane at the rate {rate!r}; the first one is {rows[0]}")
        wanted = {column.rpartition("/")[2] for column in matrix.columns if column not in hidden}
        for stream, there in lanes.items():
            if stream.endswith(f"/{rate}"):
                found += [f"{stream}/{lane}" for lane in there if lane in wanted]
        return tuple(found)

    return choose
