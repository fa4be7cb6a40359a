# SPDX-License-Identifier: Apache-2.0
"""`ringmaster archive`: what was recorded, read back."""

import click

from ringmaster.cli.archive_export import export
from ringmaster.cli.archive_get import get
from ringmaster.cli.archive_import import import_
from ringmaster.cli.archive_ls import ls
from ringmaster.cli.archive_plot import plot
from ringmaster.cli.options import examples


@click.group(
    epilog=examples(
        "ringmaster archive ls /archive",
        "ringmaster archive plot /archive bpm01/turn --from 2026-11-25T14:00 --until 2026-11-25T14:01 -o minute.png",
        "ringmaster archive get /archive bpm01/turn --around 2026-11-25T14:00:01.5 --records 1000",
        "ringmaster archive export /archive 'bpm*/turn' --from 120000000 --until 120100000 -o beam.h5",
    ),
    no_args_is_help=True,
)
def archive() -> None:
    """Read what `ringmaster record` has written: list, print, draw, and write it in the formats of other programs.

    ARCHIVE is the recorder's directory, an event's folder in it, or one file.
    """


for command in (ls, get, plot, export, import_):
    archive.add_command(command)
