# SPDX-License-Identifier: Apache-2.0
"""`ringmaster qualify`: the doctor and all benches, and their report where it is kept."""

import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from ringmaster.bench.benches import BENCHES
from ringmaster.bench.options import Finite
from ringmaster.cli.bench_output import ended_as_by_ctrl_c, write_page
from ringmaster.cli.bench_suite import watching
from ringmaster.cli.options import examples

QUICK = ("parameters",)
MINUTES, QUICK_MINUTES = 15.0, 0.1


def _place(directory: Path | None) -> Path:
    """The folder of a report of now."""
    if directory is not None:
        return directory
    return Path("reports") / datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%SZ")


@click.command(
    epilog="""\b
Exit codes:
  0 measured   1 a bench failed   2 wrong usage   130 interrupted

"""
    + examples("ringmaster qualify", "ringmaster qualify --minutes 60", "ringmaster qualify --quick out")
)
@click.argument("directory", required=False, type=click.Path(path_type=Path, file_okay=False), metavar="[DIR]")
@click.option("--minutes", type=Finite(0.1), default=MINUTES, show_default=True, help="For all of it.")
@click.option("--quick", is_flag=True, help="One short bench alone: a look at whether this works.")
def qualify(directory: Path | None, minutes: float, quick: bool) -> None:
    """Examine and measure this machine, and leave the report: a page and its JSON.

    They lie in DIR; else in ./reports, in a folder of this time.
    """
    from ringmaster.bench.suite import run_suite

    chosen = [bench for bench in BENCHES if not quick or bench.name in QUICK]
    seconds = 60.0 * (QUICK_MINUTES if quick else minutes)
    place = _place(directory)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.BadParameter(
            f"{place}: {error.strerror}, expected a folder to write to", param_hint="DIR"
        ) from error
    with ended_as_by_ctrl_c(), watching(seconds) as watch:
        outcome = run_suite(chosen, seconds, watch)
    write_page(place, outcome.sections, notes=outcome.notes)
    for note in outcome.notes:
        click.echo(f"note: {note}")
    if outcome.failed:
        raise click.ClickException(f"{', '.join(outcome.failed)} failed; the notes say why")
    if outcome.interrupted:
        sys.exit(130)
