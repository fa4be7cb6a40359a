# SPDX-License-Identifier: Apache-2.0
"""`ringmaster monitor`: every change of parameters, a line each."""

from typing import TYPE_CHECKING

import click

from ringmaster.cli.complete import complete_parameter
from ringmaster.cli.options import examples, json_option, print_json, severity_style, workspace_option

if TYPE_CHECKING:
    from ringmaster.values.changes import Change


@click.command(
    epilog=examples(
        "ringmaster monitor ramp/rate",
        "ringmaster monitor 'sr/ps/ch_s01_*/readback' --unit urad --every 1",
        "ringmaster monitor supply/state --changes 1 --seconds 60",
        "ringmaster monitor 'ramp/*' --json | jq .value",
    )
)
@click.argument("names", metavar="NAME…", nargs=-1, required=True, shell_complete=complete_parameter)
@click.option("--unit", metavar="UNIT", help="Show parameters in this unit, those that have it; µ may be written u.")
@click.option("--changes", type=click.IntRange(min=1), metavar="N", help="End after so many lines of changes.")
@click.option("--seconds", type=click.FloatRange(0), metavar="S", help="End after that time.")
@click.option(
    "--every",
    type=click.FloatRange(0),
    default=0.1,
    show_default=True,
    metavar="SECONDS",
    help="How often to look; changes between two looks are counted, not shown.",
)
@workspace_option
@json_option
def monitor(
    names: tuple[str, ...],
    unit: str | None,
    changes: int | None,
    seconds: float | None,
    every: float,
    workspace: str | None,
    as_json: bool,
) -> None:
    """Print the parameters as they are, then a line for each change: time, turn, name, value, severity.

    A NAME is a whole name or a shell pattern. Changes that came between two looks are told as missed: only the newest
    value is in memory. Ctrl-C ends it. The exit status is not 0 where an owner had ended, or was stopped, by then.
    """
    from contextlib import closing

    from ringmaster.values.changes import Watch

    with closing(Watch(workspace, names, unit)) as watch:
        shown = missed = 0
        ended = "stopped"
        of = f"{watch.count} parameter{'' if watch.count == 1 else 's'}"
        if changes is not None:
            limit = "" if seconds is None else f", at most {seconds:g} s"
            wanted = f"{changes} change{'' if changes == 1 else 's'}"
            click.echo(f"waiting for {wanted} of {of}{limit}; Ctrl-C ends it", err=True)
        try:
            for change in watch.changes(every, seconds):
                if change.words is not None:
                    click.echo(change.words, err=True)
                    continue
                if as_json:
                    print_json(change.as_json())
                else:
                    _print(change, watch.width)
                shown += not change.first
                missed += change.missed
                if changes is not None and shown >= changes:
                    break
            ended = "done"
        except KeyboardInterrupt:
            pass
        lost = f", {missed} between two looks not shown" if missed else ""
        click.echo(f"{ended}: {shown} change{'' if shown == 1 else 's'} of {of} shown{lost}", err=True)
        watch.check()


def _print(change: "Change", width: int) -> None:
    from ringmaster.values import time_format
    from ringmaster.values.value_format import show

    reading = change.reading
    assert reading is not None
    turn = "–" if reading.turn is None else str(reading.turn)
    severity = reading.severity
    alarm = "" if not severity else "  " + severity.name.lower()
    value = click.style(f"{show(reading.value, reading.unit)}{alarm}", **severity_style(severity))
    missed = f"  (+{change.missed} missed)" if change.missed else ""
    click.echo(
        f"{time_format.clock_time(reading.timestamp_tai_ns):<15}  {turn:>12}  {change.name:<{width}}  {value}{missed}"
    )
