# SPDX-License-Identifier: Apache-2.0
"""`ringmaster archive import`: recorded turns of other programs, put into an archive."""

from pathlib import Path

import click

from ringmaster.cli.options import examples
from ringmaster.fabric.naming import counted


@click.command(
    "import",
    epilog=examples(
        "ringmaster archive import /archive beam.sdds --rate 11245.5 --at 2024-03-08T17:41:48",
        "ringmaster archive import /archive turns.npz --rate 1157000 --log machine-day",
    ),
)
@click.argument("path", metavar="ARCHIVE", type=click.Path(path_type=Path))
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--rate", type=click.FloatRange(0, min_open=True), required=True, metavar="HZ", help="Turns per second.")
@click.option("--at", default="1970-01-01", metavar="TIME", help="Of the first turn, in UTC.")
@click.option("--first-turn", type=click.IntRange(min=0), default=0, metavar="N", help="Number of the first turn.")
@click.option("--log", default="imported", show_default=True, metavar="NAME", help="The log that it comes into.")
def import_(path: Path, file: Path, rate: float, at: str, first_turn: int, log: str) -> None:
    """Put FILE into ARCHIVE: SDDS of the LHC or the SPS, NumPy, LHC DOROS, or our own exports (HDF5).

    ARCHIVE is the recorder's directory, or a new one. NaN are missing records. A calibration in FILE stays there.
    """
    from ringmaster.archive.importing import import_recording
    from ringmaster.archive.times import utc_ns
    from ringmaster.recordings.recording import read_recording

    instruments = read_recording(file)
    written = import_recording(path, log, instruments, rate, utc_ns(at), first_turn)
    turns = max(instrument.turns for instrument in instruments)
    click.echo(f"{written}: {counted(len(instruments), 'stream')} of {counted(turns, 'turn')}")
