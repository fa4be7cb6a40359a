# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench compare`."""

from pathlib import Path

import click

from ringmaster.cli.bench_output import report_option
from ringmaster.cli.options import examples, json_option, print_json

RUN = click.Path(exists=True, path_type=Path)


@click.command(
    epilog=examples(
        "ringmaster bench compare first.json second.json",
        "ringmaster bench compare monday tuesday",
        "ringmaster bench compare monday tuesday --report beside",
    )
)
@click.argument("first", type=RUN)
@click.argument("second", type=RUN)
@report_option
@json_option
def compare(first: Path, second: Path, report: Path | None, as_json: bool) -> None:
    """Show the headline figures of two runs side by side.

    Runs are directories that --report wrote, or files that --json printed, of one bench. Each figure with its spread,
    and how they agree: "within" when each median lies in the other's spread, "overlap" when the spreads do, "apart"
    when not even that. With --report, a page has their tables side by side, and their charts in one another.
    """
    from ringmaster.report import headlines
    from ringmaster.report.compare import compare as compare_runs
    from ringmaster.report.compare import read_both, write_comparison

    try:
        runs = read_both(first, second)
    except (headlines.NotAReport, OSError) as error:
        raise click.ClickException(str(error)) from error
    compared = compare_runs(*runs)
    if as_json:
        print_json(headlines.as_json(compared))
    else:
        click.echo("\n".join(headlines.lines(compared)))
    if report is not None:
        try:
            page = write_comparison(report, *runs)
        except OSError as error:
            raise click.ClickException(f"{report}: the page cannot be written there: {error.strerror}") from error
        click.echo(f"the page is {page.resolve()}", err=True)
