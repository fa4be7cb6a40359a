# SPDX-License-Identifier: Apache-2.0
"""How a bench runs and ends, and what becomes of what it gives: progress, words for people, JSON, a page."""

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from ringmaster.cli.options import print_json

if TYPE_CHECKING:  # `--help` need not import them
    from ringmaster.report.section import Section


def _require_writable(_context: click.Context, _parameter: click.Parameter, value: Path | None) -> Path | None:
    """Refuses before anything is measured what could not be written in the end. Makes nothing yet."""
    if value is not None:
        there = next(path for path in (value.absolute(), *value.absolute().parents) if os.path.lexists(path))
        if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
            raise click.BadParameter(f"found {value}, expected a directory to write to; {there} is none")
    return value


report_option = click.option(
    "--report",
    type=click.Path(file_okay=False, path_type=Path),
    callback=_require_writable,
    metavar="DIR",
    help="Write a page there, and the JSON.",
)


@contextmanager
def ended_as_by_ctrl_c() -> Iterator[None]:
    """SIGTERM and SIGHUP end a bench as Ctrl-C does: in good order, with what there is. In the main thread alone.

    Once: a terminal that is closed sends SIGHUP twice. What is ignored, as nohup has SIGHUP, stays so.
    """
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    ended = False

    def end(_number: int, _frame: FrameType | None) -> None:
        nonlocal ended
        if not ended:
            ended = True
            raise KeyboardInterrupt

    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def give(section: "Section", as_json: bool, report: Path | None) -> None:
    """Prints the section, for people or as JSON; and writes the page where one is asked for."""
    from ringmaster.report.plain import as_json as plain
    from ringmaster.report.text import print_section

    print_json(plain(section)) if as_json else print_section(section)
    if report is not None:
        write_page(report, [section])


def write_page(directory: Path, sections: Sequence["Section"], **more: Any) -> None:
    """Writes it, with what the doctor finds and what the page takes besides, and says where it is."""
    from ringmaster.report.findings import of_this_host
    from ringmaster.report.page import write_report

    try:
        page = write_report(directory, sections, of_this_host(), **more)
    except OSError as error:
        raise click.ClickException(f"{directory}: the report cannot be written there: {error.strerror}") from error
    click.echo(f"the page is {page.resolve()}", err=True)
