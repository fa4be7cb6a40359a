# SPDX-License-Identifier: Apache-2.0
"""What the commands of `ringmaster archive` share: spans, and bars for what takes long."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from ringmaster.archive.archive import Archive
    from ringmaster.archive.images import StoredCamera
    from ringmaster.archive.stream import StoredReduction, StoredStream
    from ringmaster.archive.times import Edge

Command = TypeVar("Command", bound=Callable[..., Any])
SHOWN_AFTER_S = 2.0
"""What takes longer has a bar."""


class _Edge(click.ParamType["Edge"]):
    """A turn, or a time in UTC."""

    name = "turn or time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> "Edge":
        """Digits alone are a turn."""
        from ringmaster.archive.times import utc_ns
        from ringmaster.errors import ArchiveArgument

        if not isinstance(value, str):
            return value  # type: ignore[no-any-return]
        if value.isdecimal():
            return int(value)
        try:
            utc_ns(value)
        except ArchiveArgument as error:
            self.fail(str(error), param, ctx)
        return value


EDGE = _Edge()
archive_argument = click.argument("path", metavar="ARCHIVE", type=click.Path())


def over_a_span(command: Command) -> Command:
    """The options of a command that reads [from, until)."""
    command = _in_order(command)
    for option in (
        click.option("--until", "stop", type=EDGE, metavar="WHEN", help="The end, which is not included."),
        click.option(
            "--from", "start", type=EDGE, metavar="WHEN", help="The begin: a turn, or UTC as 2026-11-25T14:00:01.5"
        ),
    ):
        command = option(command)
    return command


def _in_order(command: Command) -> Command:
    """Refuses an end that comes before the begin."""

    @wraps(command)
    def checked(start: "Edge", stop: "Edge", **others: Any) -> Any:
        from ringmaster.archive.times import comes_before

        if start is not None and stop is not None and comes_before(stop, start):
            raise click.UsageError(f"--until {stop} comes before --from {start}; the end is the later one")
        return command(start=start, stop=stop, **others)

    return checked  # type: ignore[return-value]


def opened(path: str) -> "Archive":
    """The archive; what is damaged in it is said on stderr."""
    from ringmaster.archive.archive import Archive

    archive = Archive(path)
    for damage in archive.damages:
        click.echo(f"ringmaster: warning: {damage.path}: at byte {damage.offset}: {damage.what}", err=True)
    return archive


def sources(archive: "Archive", names: tuple[str, ...], step: int | None) -> "list[StoredStream | StoredReduction]":
    """The streams whose name matches one of the patterns, the newest of each name; or their reductions of that step."""
    from fnmatch import fnmatchcase

    known = dict.fromkeys(stream.name for stream in archive.streams)
    known |= dict.fromkeys(reduction.name for reduction in archive.all_reductions)
    found: list[StoredStream | StoredReduction] = []
    for name in known:
        if any(fnmatchcase(name, pattern) for pattern in names):
            found.append(archive[name] if step is None else archive.reduced(name, step))
    if not found and not cameras(archive, names):
        found.append(archive[names[0]])  # says what there is
    return found


def cameras(archive: "Archive", names: tuple[str, ...]) -> "list[StoredCamera]":
    """Those whose name matches one of the patterns."""
    from fnmatch import fnmatchcase

    known = dict.fromkeys(camera.name for camera in archive.cameras)
    return [archive.camera(name) for name in known if any(fnmatchcase(name, pattern) for pattern in names)]


@contextmanager
def progress_bar(words: str, total: int) -> Iterator[Callable[[int], None]]:
    """Gives what takes the advance. The bar comes on a terminal, and after two seconds."""
    from rich.console import Console
    from rich.progress import Progress

    progress = Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty())
    task = progress.add_task(words, total=total)
    begin = monotonic()

    def advance(by: int) -> None:
        if not progress.live.is_started and monotonic() - begin > SHOWN_AFTER_S:
            progress.start()
        progress.advance(task, by)

    try:
        yield advance
    finally:
        progress.stop()
