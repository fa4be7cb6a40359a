# SPDX-License-Identifier: Apache-2.0
"""How a bench that gives a section runs and what becomes of it: progress, words for people, JSON, a page."""

from collections.abc import Callable
from pathlib import Path

import click

from ringmaster.bench.log import NotMeasured
from ringmaster.bench.verdicts import bar
from ringmaster.cli.options import print_json
from ringmaster.report.section import Section

Measure = Callable[[Callable[[str], None], Callable[[], None]], Section]
"""Given how to say a line, and how to step on."""

report_option = click.option(
    "--report",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write a page there, and the JSON.",
)


def show(name: str, steps: int, measure: Measure, as_json: bool, report: Path | None) -> None:
    """Measures with a bar, then prints the section; the page last, when everything is safe."""
    from ringmaster.report import text

    try:
        with bar(name, steps) as (say, step):
            section = measure(say, step)
    except NotMeasured as error:
        raise click.ClickException(str(error)) from error
    print_json(text.as_json(section)) if as_json else text.print_section(section)
    if report is not None:
        from ringmaster.report.page import write_report

        write_report(report, [section])
