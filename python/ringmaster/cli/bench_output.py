# SPDX-License-Identifier: Apache-2.0
"""How a bench that gives a section runs and what becomes of it: progress, words for people, JSON, a page."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ringmaster.cli.options import print_json

if TYPE_CHECKING:  # `--help` need not import them
    from ringmaster.report.section import Section

Measure = Callable[[Callable[[str], None], Callable[[], None]], "Section"]
"""Given how to say a line, and how to step on."""

report_option = click.option(
    "--report",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write a page there, and the JSON.",
)


def show(name: str, steps: int, measure: Measure, as_json: bool, report: Path | None) -> None:
    """Measures with a bar, then prints the section; the page last, when everything is safe."""
    from ringmaster.bench.log import NotMeasured
    from ringmaster.bench.verdicts import bar
    from ringmaster.report.text import as_json as section_as_json

    try:
        with bar(name, steps) as (say, step):
            section = measure(say, step)
    except NotMeasured as error:
        raise click.ClickException(str(error)) from error
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
