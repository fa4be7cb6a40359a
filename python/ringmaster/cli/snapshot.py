# SPDX-License-Identifier: Apache-2.0
"""`ringmaster save`, `diff` and `restore`: many parameters at once, in a file."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ringmaster.cli.complete import complete_parameter
from ringmaster.cli.options import examples, json_option, print_json, reads_a_workspace, workspace_option

if TYPE_CHECKING:
    from ringmaster.values.restoring import Step
    from ringmaster.values.snapshot import Snapshot, Tolerance

FILE = click.Path(path_type=Path, allow_dash=True)
LIVE = "live"


@click.command(
    epilog=examples(
        "ringmaster save monday.yaml",
        "ringmaster save orbit.json 'orbit/*' 'sr/ps/*'",
        "ringmaster save everything.yaml --all",
        "ringmaster save - 'ramp/*' | less",
    )
)
@click.argument("file", type=FILE)
@click.argument("patterns", metavar="[PATTERN…]", nargs=-1, shell_complete=complete_parameter)
@click.option("--all", "readings", is_flag=True, help="Also parameters that are no settings.")
@click.option("--force", is_flag=True, help="Write over FILE where it exists.")
@reads_a_workspace
def save(
    file: Path, patterns: tuple[str, ...], readings: bool, force: bool, workspace: str | None, dead: bool, as_json: bool
) -> None:
    """Save the settings of a workspace, or those that match a PATTERN, to FILE: YAML, or JSON where it ends so.

    Members of a group are saved as they were between two changes of it. FILE "-" is standard output.
    """
    from ringmaster.fabric.workspace import attach
    from ringmaster.values import snapshot

    if file.exists() and not force:
        raise click.ClickException(f"{file} exists; --force writes over it")
    with attach(workspace, dead) as ws:
        taken = snapshot.take(ws, patterns, readings, dead)
    snapshot.write(taken, file)
    if as_json:
        print_json({"file": str(file), "parameters": list(taken.parameters), "time": taken.time, "turn": taken.turn})
    else:
        click.echo(f"{file}: {_count(len(taken.parameters), 'parameter')} of {taken.workspace}", err=True)


def _tolerance(_context: click.Context, _parameter: click.Parameter, words: str | None) -> "Tolerance":
    """Reads "0.01", absolute, or "1%", a share."""
    from ringmaster.values.snapshot import Tolerance

    if words is None:
        return Tolerance()
    try:
        number = float(words.rstrip("% "))
    except ValueError:
        number = -1.0
    if not number >= 0:
        raise click.BadParameter(f"found {words!r}, expected a number, as 0.01, or a share, as 1%")
    return Tolerance(share=number / 100) if "%" in words else Tolerance(absolute=number)


class Trouble(click.ClickException):
    """`diff` cannot read a file: an exit status of 1 would say that something differs."""

    exit_code = 2


def _read(file: Path) -> "Snapshot":
    from ringmaster.values import snapshot

    try:
        return snapshot.read(file)
    except (OSError, snapshot.SnapshotInvalid) as error:
        raise Trouble(str(error)) from None


@click.command(
    epilog=examples(
        "ringmaster diff monday.yaml",
        "ringmaster diff monday.yaml 'sr/ps/*' --tolerance 0.01",
        "ringmaster diff monday.yaml tuesday.yaml --tolerance 0.1%",
        "ringmaster diff monday.yaml --json | jq '.differences[].name'",
    )
)
@click.argument("file", type=FILE)
@click.argument("other", metavar="[FILE2|live]", default=LIVE)
@click.argument("patterns", metavar="[PATTERN…]", nargs=-1)
@click.option(
    "--tolerance",
    callback=_tolerance,
    metavar="NUMBER|SHARE%",
    help="What differs by no more is the same: in the parameters' units, or per cent.",
)
@reads_a_workspace
def diff(
    file: Path,
    other: str,
    patterns: tuple[str, ...],
    tolerance: "Tolerance",
    workspace: str | None,
    dead: bool,
    as_json: bool,
) -> None:
    """Show what differs between a snapshot and another, or the workspace as it is now ("live", the default).

    Exit status: 0 when nothing differs, 1 when something does, more when it could not be found out. Of what is live
    only FILE's parameters are looked at.
    """
    from ringmaster.fabric.workspace import attach
    from ringmaster.values import snapshot

    if other not in (LIVE, "-") and not Path(other).exists():
        patterns, other = (other, *patterns), LIVE  # `diff FILE PATTERN`: what is no file names parameters
    saved = _read(file)
    before = saved.only(patterns)
    if other == LIVE:
        with attach(workspace, dead) as ws:
            after = snapshot.live(ws, list(before), dead)
    else:
        second = _read(Path(other))
        after = {
            name: entry for name, entry in second.parameters.items() if not patterns or name in second.only(patterns)
        }
    found = list(snapshot.compare(before, after, tolerance))
    if as_json:
        listed = [{"name": d.name, "before": d.before, "after": d.after, "words": d.words} for d in found]
        print_json({"compared": len(before.keys() | after.keys()), "differences": listed})
    else:
        width = max((len(d.name) for d in found), default=0)
        for difference in found:
            click.echo(f"{difference.name:<{width}}  {difference.words}")
        against = "live" if other == LIVE else other
        total = _count(len(before.keys() | after.keys()), "parameter")
        click.echo(f"{file} ({saved.time}) → {against}: {len(found)} of {total} differ", err=True)
    sys.exit(1 if found else 0)


@click.command(
    epilog=examples(
        "ringmaster restore monday.yaml --dry-run",
        "ringmaster restore monday.yaml",
        "ringmaster restore monday.yaml 'ramp/*'",
    )
)
@click.argument("file", type=FILE)
@click.argument("patterns", metavar="[PATTERN…]", nargs=-1)
@click.option("--dry-run", is_flag=True, help="Ask for nothing; say what would be asked for.")
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for each answer.",
)
@workspace_option
@json_option
def restore(
    file: Path, patterns: tuple[str, ...], dry_run: bool, timeout: float, workspace: str | None, as_json: bool
) -> None:
    """Ask the owners for the values of a snapshot, or of those of its parameters that match a PATTERN.

    What is as it was is left alone. Says what was refused, and why, and what is no longer there; then the exit status
    is 1. Owners are asked for one parameter after another, those of a group together.
    """
    from ringmaster.fabric.workspace import attach
    from ringmaster.values import restoring, snapshot

    saved = snapshot.read(file)
    with attach(workspace) as ws:
        steps = []
        for step in restoring.restore(ws, saved.only(patterns), timeout, dry_run):
            steps.append(step)
            if not as_json:
                _print_step(step)
    failed = [step for step in steps if step.failed]
    if as_json:
        print_json({"dry_run": dry_run, "steps": [vars(step) for step in steps]})
    else:
        _print_summary(saved, steps, dry_run)
    sys.exit(1 if failed else 0)


COLOURS = {"refused": "red", "gone": "yellow", "unanswered": "red", "set": "green"}


def _print_step(step: "Step") -> None:
    if step.outcome != "unchanged":
        click.echo(f"{click.style(f'{step.outcome:<10}', fg=COLOURS.get(step.outcome))}  {step.name}: {step.words}")


def _print_summary(saved: "Snapshot", steps: "list[Step]", dry_run: bool) -> None:
    outcomes = [step.outcome for step in steps]
    counts = ", ".join(f"{outcomes.count(outcome)} {outcome}" for outcome in dict.fromkeys(outcomes))
    asked = "; nothing was asked for" if dry_run else ""
    click.echo(f"snapshot of {saved.workspace}, {saved.time}: {counts}{asked}", err=True)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
