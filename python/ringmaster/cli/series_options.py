# SPDX-License-Identifier: Apache-2.0
"""What the commands share that look at series of lanes: of now, or of a recording."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ringmaster.cli.archive_options import EDGE, opened
from ringmaster.cli.options import workspace_option

if TYPE_CHECKING:
    from ringmaster.archive.times import Edge
    from ringmaster.spectra.series import Series

Command = TypeVar("Command", bound=Callable[..., Any])
Names = tuple[str, ...] | Callable[[dict[str, list[str]]], tuple[str, ...]]
"""Patterns; or what chooses them from the lanes of each stream that there is."""


def of_series(command: Command) -> Command:
    """The options that say which span is looked at; ``read_series`` takes them."""
    for option in (
        click.option("--until", "stop", type=EDGE, metavar="WHEN", help="--archive: the end, which is not included."),
        click.option("--from", "start", type=EDGE, metavar="WHEN", help="--archive: the begin: a turn, or UTC."),
        click.option("--archive", metavar="ARCHIVE", type=click.Path(), help="Of a recording, not of now."),
        click.option(
            "--seconds",
            type=click.FloatRange(0, min_open=True),
            metavar="SECONDS",
            help="The newest so many; without it 4, or what the rings hold.",
        ),
        workspace_option,
    ):
        command = option(command)
    return command


def read_series(
    names: Names,
    workspace: str | None,
    seconds: float | None,
    archive: str | None,
    start: "Edge",
    stop: "Edge",
) -> "list[Series]":
    """What was asked for by the options of ``of_series``."""
    from ringmaster.spectra.series import archived, lanes_of, live

    if archive is None:
        if start is not None or stop is not None:
            raise click.UsageError("--from and --until are of an --archive; of now there is --seconds")
        from ringmaster.fabric.workspace import attach

        with attach(workspace) as ws:
            chosen = names if isinstance(names, tuple) else names(lanes_of(ws.streams.values()))
            return live(ws, chosen, seconds)
    if seconds is not None or workspace is not None:
        raise click.UsageError("--archive has its own span: --from and --until")
    source = opened(archive)
    chosen = names if isinstance(names, tuple) else names(lanes_of(source.streams))
    return archived(source, chosen, start, stop)


def with_rate(row: str, rate: str) -> str:
    """The lane that a row of a matrix, "bpm01/x1", is at a rate: "bpm01/turn/x1"."""
    instrument, _, lane = row.rpartition("/")
    return f"{instrument}/{rate}/{lane}"
