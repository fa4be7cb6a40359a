# SPDX-License-Identifier: Apache-2.0
"""`ringmaster archive plot`: lanes over time."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ringmaster.cli.archive_options import archive_argument, opened, over_a_span, sources
from ringmaster.cli.options import examples

if TYPE_CHECKING:
    from ringmaster.archive.times import Edge


@click.command(
    epilog=examples(
        "ringmaster archive plot /archive bpm01/turn --from 2026-11-25T14:00 --until 2026-11-25T14:01 -o minute.png",
        "ringmaster archive plot /archive 'bpm0[1-4]/turn' --lane x1 --from 120000000 --until 120001000 -o turns.svg",
    )
)
@archive_argument
@click.argument("names", metavar="NAME…", nargs=-1, required=True)
@over_a_span
@click.option("--lane", "lanes", multiple=True, metavar="LANE", help="Only these lanes; may be repeated.")
@click.option("--points", type=click.IntRange(min=2), default=2000, show_default=True, help="Of a curve, about.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, metavar="FILE", help="A .png, .svg or .pdf."
)
def plot(
    path: str,
    names: tuple[str, ...],
    start: "Edge",
    stop: "Edge",
    lanes: tuple[str, ...],
    points: int,
    output: Path,
) -> None:
    """Draw the streams NAME (shell patterns) over time.

    Long spans are drawn from the reduction that has enough points: the mean, and a band from the smallest to the
    largest value. What was not recorded is a gap.
    """
    from ringmaster import plots
    from ringmaster.archive.plot import draw
    from ringmaster.archive.stream import StoredStream

    plots.check(output)
    archive = opened(path)
    streams = [source for source in sources(archive, names, None) if isinstance(source, StoredStream)]
    drawn = draw(streams, start, stop, points, lanes, output)
    click.echo(f"{output}: {drawn}")
