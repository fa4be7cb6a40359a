# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench suite`: every bench in a short form, in a stated time, and one page of it all."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import click

from ringmaster.bench.benches import BENCHES
from ringmaster.bench.options import Finite, SomeOf
from ringmaster.cli.bench_output import report_option, write_page
from ringmaster.cli.options import examples, json_option, print_json

if TYPE_CHECKING:
    from ringmaster.bench.suite import Watch

NAMES = tuple(bench.name for bench in BENCHES)


@click.command(
    epilog="""\b
Exit codes:
  0 measured   1 a bench failed   2 wrong usage   130 interrupted

"""
    + examples(
        "ringmaster bench suite --report out",
        "ringmaster bench suite --minutes 60 --report out",
        "ringmaster bench suite --benches rtt,jitter --minutes 5 --json > suite.json",
    )
)
@click.option("--minutes", type=Finite(0.1), default=15.0, show_default=True, help="For all of it.")
@click.option(
    "--benches", default=",".join(NAMES), type=SomeOf(NAMES), metavar="NAME,…", help="Of: " + ", ".join(NAMES)
)
@report_option
@json_option
def suite(minutes: float, benches: tuple[str, ...], report: Path | None, as_json: bool) -> None:
    """Run every bench in a short form: what this machine can do, in a quarter of an hour.

    Each bench gets its share of the time and fits itself into that; the longer, the narrower are the spreads. What
    cannot be measured here is said, and what breaks does not stop the others. Ctrl-C gives what was measured so far.
    """
    from ringmaster.bench.suite import run_suite
    from ringmaster.report.plain import as_json as section_as_json
    from ringmaster.report.text import print_section

    with watching(60.0 * minutes) as watch:
        outcome = run_suite([bench for bench in BENCHES if bench.name in benches], 60.0 * minutes, watch)
    if as_json:
        print_json({"sections": [section_as_json(one) for one in outcome.sections], "notes": outcome.notes})
    else:
        for section in outcome.sections:
            print_section(section)
            click.echo()
        for note in outcome.notes:
            click.echo(f"note: {note}")
    if report is not None:
        write_page(report, outcome.sections, notes=outcome.notes)
    if outcome.failed:
        raise click.ClickException(f"{', '.join(outcome.failed)} failed; the notes say why")
    if outcome.interrupted:
        sys.exit(130)


@contextmanager
def watching(seconds: float) -> Iterator["Watch"]:
    """Two bars on a terminal: the whole by its time, and the bench by its steps; the lines above them."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.text import Text

    from ringmaster.bench.suite import Watch

    begin = monotonic()

    class Left(ProgressColumn):
        """Minutes and seconds until the stated end."""

        def render(self, task: Task) -> Text:
            left_s = max(0, round(begin + seconds - monotonic()))
            if task.id == 0:
                return Text(f"{left_s // 60}:{left_s % 60:02d} left")
            return Text(f"{task.completed:.0f} of {task.total:.0f}")

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    columns = (TextColumn("{task.description}"), BarColumn(), Left())
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as progress:
        whole, part = progress.add_task("suite", total=seconds), progress.add_task("", total=1)

        def say(line: str) -> None:
            progress.update(whole, completed=monotonic() - begin)
            console.print(line, markup=False)

        def start(name: str, steps: int) -> None:
            progress.reset(part, description=name, total=steps)

        def step() -> None:
            progress.update(whole, completed=monotonic() - begin)
            progress.advance(part)

        yield Watch(say, start, step)
