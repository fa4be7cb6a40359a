# SPDX-License-Identifier: Apache-2.0
"""`ringmaster archive export`: a part of an archive in a file of another format."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ringmaster.cli.archive_options import archive_argument, cameras, opened, over_a_span, progress_bar, sources
from ringmaster.cli.options import examples
from ringmaster.fabric.naming import counted

if TYPE_CHECKING:
    from ringmaster.archive.archive import Archive
    from ringmaster.archive.images import StoredCamera
    from ringmaster.archive.stream import StoredReduction, StoredStream
    from ringmaster.archive.times import Edge


@click.command(
    epilog=examples(
        "ringmaster archive export /archive 'bpm*/turn' --from 2026-11-25T14:00 --until 2026-11-25T14:01 -o beam.h5",
        "ringmaster archive export /archive bpm01/turn -o beam.parquet",
        "ringmaster archive export /archive 'bpm*/fast' --step 12000 -o year.h5",
        "ringmaster archive export /archive 'bpm*/turn' --live -o live.h5",
        "ringmaster archive export /archive 'cam*' --from 2026-11-25T14:00 --until 2026-11-25T14:01 -o frames.mcap",
    )
)
@archive_argument
@click.argument("names", metavar="NAME…", nargs=-1, required=True)
@over_a_span
@click.option("--step", type=click.IntRange(min=1), metavar="TURNS", help="The reduction of that step instead.")
@click.option("--compress", is_flag=True, help="HDF5: by Blosc; readers need hdf5plugin then.")
@click.option("--live", is_flag=True, help="HDF5: refer to the records in the archive's files, copy nothing.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="A new file: .h5 (HDF5 with NeXus classes), .parquet or .sdds; of cameras .h5, .mcap or .pcapng.",
)
def export(
    path: str,
    names: tuple[str, ...],
    start: "Edge",
    stop: "Edge",
    step: int | None,
    compress: bool,
    live: bool,
    output: Path,
) -> None:
    """Write the streams NAME (shell patterns) with turns, times, units, and which records were had; and the frames of
    cameras NAME.

    Frames go to HDF5, unpacked, or to MCAP, or as packets of GigE Vision to pcapng; streams to all others. Ctrl-C ends
    it early; what was written by then is in the file, which is whole.
    """
    archive = opened(path)
    chosen, frames_of = sources(archive, names, step), cameras(archive, names)
    if live:
        _refer(archive, chosen, (start, stop), step is None and not compress and not frames_of, output)
        return
    total = 0
    if chosen:
        total += _write_streams(archive, chosen, (start, stop), compress, output)
    if frames_of:
        total += _write_frames(frames_of, (start, stop), compress, output, bool(chosen))
    if total == 0:
        raise click.ClickException("nothing was recorded in this span; `ringmaster archive ls` shows what was")


def _refer(
    archive: "Archive",
    chosen: "list[StoredStream | StoredReduction]",
    span: "tuple[Edge, Edge]",
    plain: bool,
    output: Path,
) -> None:
    from ringmaster.archive.live import write_live
    from ringmaster.archive.stream import StoredStream

    if not plain:
        raise click.UsageError("--live refers to records as they are; leave out --step, --compress, and cameras")
    streams = [source for source in chosen if isinstance(source, StoredStream)]
    records = write_live(output, archive, streams, *span)
    click.echo(f"{output}: refers to {counted(records, 'record')} of {counted(len(streams), 'stream')}")


def _write_streams(
    archive: "Archive",
    chosen: "list[StoredStream | StoredReduction]",
    span: "tuple[Edge, Edge]",
    compress: bool,
    output: Path,
) -> int:
    from ringmaster.archive.export import export as write
    from ringmaster.archive.export import open_writer
    from ringmaster.archive.pieces import Piecewise

    parts = [Piecewise.of(source, *span) for source in chosen]
    total = sum(part.records for part in parts)
    if total == 0:
        return 0
    done = 0

    def count(records: int) -> None:
        nonlocal done
        done += records
        advance(records)

    try:
        with open_writer(output, archive, compress) as writer, progress_bar("writing", total) as advance:
            write(writer, parts, count)
    except KeyboardInterrupt:
        click.echo(f"{output}: stopped; it has {done} of {total} records", err=True)
        sys.exit(130)
    click.echo(f"{output}: {counted(done, 'record')} of {counted(len(parts), 'stream')}")
    return done


def _write_frames(
    frames_of: "list[StoredCamera]", span: "tuple[Edge, Edge]", compress: bool, output: Path, beside: bool
) -> int:
    """``beside``: the file has streams of this command."""
    from ringmaster.archive.image_writers import export_images, open_image_writer

    total = sum(len(camera.find(*span)) for camera in frames_of)
    if total == 0:
        return 0
    if output.exists() and not beside:
        raise FileExistsError(f"{output}: is there already; it is not overwritten")
    done = 0

    def count(frames: int) -> None:
        nonlocal done
        done += frames
        advance(frames)

    try:
        with open_image_writer(output, compress) as writer, progress_bar("writing", total) as advance:
            written, left_out = export_images(writer, frames_of, *span, count)
    except KeyboardInterrupt:
        click.echo(f"{output}: stopped; it has {done} of {total} frames", err=True)
        sys.exit(130)
    lacking = f"; {counted(left_out, 'frame')} of pixels that are not known left out" if left_out else ""
    click.echo(f"{output}: {counted(written, 'frame')} of {counted(len(frames_of), 'camera')}{lacking}")
    return written + left_out
