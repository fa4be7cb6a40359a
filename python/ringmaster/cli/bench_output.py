# SPDX-License-Identifier: Apache-2.0
"""How a bench runs and ends, and what becomes of what it gives: progress, words for people, JSON, a page."""

import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from ringmaster.cli.options import print_json

if TYPE_CHECKING:  # `--help` need not import them
    from ringmaster.report.section import Section

Measure = Callable[[Callable[[str], None], Callable[[], None]], "Section"]
"""Given how to say a line, and how to step on."""


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


@contextmanager
def measuring(name: str, steps: int) -> Iterator[tuple[Callable[[str], None], Callable[[], None]]]:
    """A bar meanwhile: gives how to say a line, and how to step on. What cannot be measured is said, exit code 1."""
    from ringmaster.bench.log import NotMeasured
    from ringmaster.report.verdicts import bar

    try:
        with bar(name, steps) as watch:
            yield watch
    except NotMeasured as error:
        raise click.ClickException(str(error)) from error


def show(name: str, steps: int, measure: Measure, as_json: bool, report: Path | None) -> None:
    """Measures with a bar, then prints the section; the page last, when everything is safe."""
    from ringmaster.report.text import as_json as section_as_json

    with measuring(name, steps) as (say, step):
        section = measure(say, step)
    give(section, section_as_json(section) if as_json else None, report)


def keep_numpy_to_one_thread() -> None:
    """Before NumPy is imported; or its threads would share the one core that is measured on."""
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))


def give(section: "Section", said: Mapping[str, object] | None, report: Path | None) -> None:
    """Prints the JSON where there is one, else the section; and writes the page where one is asked for."""
    from ringmaster.report.text import print_section

    print_section(section) if said is None else print_json(said)
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
