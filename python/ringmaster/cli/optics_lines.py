# SPDX-License-Identifier: Apache-2.0
"""`ringmaster optics lines`: driven, free and other lines of each BPM of a recording, window by window."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ringmaster.cli.options import examples, json_option, print_json

if TYPE_CHECKING:
    from ringmaster.optics.windows import NamedLine
    from ringmaster.recordings.recording import RecordedInstrument

OSCILLATION = "_oscillation"
"""Ends the names of lanes with the motion alone, where electronics have them beside the position."""
MOST_ROWS = 60
"""On a terminal."""


@click.command(
    name="lines",
    epilog=examples(
        "ringmaster optics lines lhc.h5 --driven 0.27 0.322 --free 0.28 0.31 --window 4096",
        "ringmaster optics lines lhc.sdds --driven 0.27 0.322 --json",
    ),
)
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--driven", type=float, nargs=2, metavar="QX QY", help="Fractional tunes at which an exciter drives.")
@click.option("--free", type=float, nargs=2, metavar="QX QY", help="Fractional tunes of the free beam, to 0.003.")
@click.option(
    "--window", type=click.IntRange(min=64), metavar="TURNS", help="Of each of several windows; without it, one."
)
@json_option
def lines(
    file: Path,
    driven: tuple[float, float] | None,
    free: tuple[float, float] | None,
    window: int | None,
    as_json: bool,
) -> None:
    """Name the lines in the turns of a recording FILE: driven, free or other, with their errors.

    Of each BPM by itself, so that beams are never mixed; of each plane; and of each window, as an exciter is at work in
    some turns only. FILE is what `ringmaster replay` takes. A tune's error is that of a sine in the noise, or more
    where the line's phase wanders.
    """
    from ringmaster.recordings.recording import read_recording

    found = [
        (instrument.name, lane, line)
        for instrument in read_recording(file)
        for lane, line in _of_instrument(instrument, driven, free, window or 0)
    ]
    if as_json:
        print_json({"lines": [_as_json(*one) for one in found]})
        return
    for name, lane, one in found[:MOST_ROWS]:
        line = one.line
        click.echo(
            f"{name}/{lane}  turns {one.first_turn} to {one.first_turn + one.turns - 1}  {one.name:<6}  "
            f"{line.tune:.6f} ± {line.sigma_tune:.1g}  {abs(line.amplitude):.4g} ± {line.sigma_amplitude:.1g}"
        )
    if len(found) > MOST_ROWS:
        click.echo(f"… and {len(found) - MOST_ROWS} more; --json tells all")
    if not found:
        click.echo("no line stands out of the noise")


def _of_instrument(
    instrument: "RecordedInstrument",
    driven: tuple[float, float] | None,
    free: tuple[float, float] | None,
    window: int,
) -> "Iterator[tuple[str, NamedLine]]":
    from ringmaster.optics.windows import Expected, lines_of

    lanes = instrument.physical()
    moving = [lane for lane in lanes if lane.endswith(OSCILLATION)] or list(lanes)
    for plane, letter in enumerate("xy"):
        expected = Expected(driven[plane] if driven else None, free[plane] if free else None)
        for lane in moving:
            if lane.startswith(letter):
                yield from ((lane, line) for line in lines_of(lanes[lane], expected, window))


def _as_json(name: str, lane: str, one: "NamedLine") -> dict[str, Any]:
    line = one.line
    return {
        "instrument": name,
        "lane": lane,
        "first_turn": one.first_turn,
        "turns": one.turns,
        "name": one.name,
        "tune": line.tune,
        "tune_sigma": line.sigma_tune,
        "amplitude": abs(line.amplitude),
        "amplitude_sigma": line.sigma_amplitude,
    }
