# SPDX-License-Identifier: Apache-2.0
"""`ringmaster postmortem`: what is kept of a beam loss, and the catalogue of it."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from ringmaster.cli.options import Command, examples, json_option, print_json, workspace_option
from ringmaster.cli.signals import end_asked
from ringmaster.fabric.naming import counted
from ringmaster.programs.threads import keep_to_one_thread

if TYPE_CHECKING:
    from ringmaster.postmortem.catalogue import Catalogue
    from ringmaster.postmortem.event import Event
    from ringmaster.postmortem.first_look import FirstLook

WIDTH = 160
"""Columns of the table, at least: as of `archive ls`."""

NOW_S = 20.0
"""At most, until a watch has made the entry of a command."""


@click.group(
    epilog=examples(
        "ringmaster postmortem watch recorder.yaml",
        "ringmaster postmortem now --reason 'orbit jumped'",
        "ringmaster postmortem ls",
        "ringmaster postmortem show last",
        "ringmaster postmortem open last",
        "ringmaster postmortem compare 20261125T1943 last",
        "ringmaster postmortem reviewed last --by 'A. Name' --note 'quench of ID04'",
    ),
    no_args_is_help=True,
)
def postmortem() -> None:
    """Keep what happened around a beam loss, and look at it: triggers, the catalogue of events, the report.

    An ID may be cut short, and "last" is the newest. docs/postmortem.md goes through it.
    """


def _complete_id(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from ringmaster.postmortem.place import find_catalogue

    try:
        events = find_catalogue(context.params.get("directory"), context.params.get("workspace")).events()
    except (ValueError, OSError):
        return []
    return [CompletionItem(event.id, help=event.reason) for event in events if event.id.startswith(incomplete)]


def _of_a_catalogue(command: Command) -> Command:
    """The options of every command that looks at the catalogue."""
    directory = click.option(
        "-d",
        "--directory",
        type=click.Path(path_type=Path, file_okay=False),
        help="The archive's folder; else $RINGMASTER_ARCHIVE, else what the watch of the workspace says.",
    )
    return directory(workspace_option(command))


def _an_id(command: Command) -> Command:
    return click.argument("id_", metavar="ID", shell_complete=_complete_id)(command)


def _an_id_or_last(command: Command) -> Command:
    return click.argument("id_", metavar="[ID]", default="last", shell_complete=_complete_id)(command)


def _catalogue(directory: Path | None, workspace: str | None) -> "Catalogue":
    from ringmaster.postmortem.place import find_catalogue

    return find_catalogue(directory, workspace)


def _find(catalogue: "Catalogue", id_: str) -> "Event":
    from ringmaster.postmortem.catalogue import EventAbsent

    try:
        return catalogue.find(id_)
    except EventAbsent as error:
        raise click.ClickException(str(error)) from None


# ---- making events


@postmortem.command(epilog=examples("ringmaster postmortem watch recorder.yaml"))
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
def watch(file: Path) -> None:
    """Look at the triggers of FILE until stopped, and capture what they see.

    FILE is the recorder's, with a key `postmortem`. A recorder need not run: what it does not record is saved from
    shared memory. What happens is printed, a line each. Started again, it goes on with what it was capturing.
    """
    from ringmaster.postmortem.settings import read_settings
    from ringmaster.postmortem.watch import Watch

    with end_asked(signal.SIGHUP) as over:
        running = Watch(read_settings(file), lambda line: click.echo(f"postmortem: {line}"))
        try:
            running.run(over.is_set)
        finally:
            running.close()


@postmortem.command(
    epilog=examples("ringmaster postmortem now --reason 'orbit jumped'", "ringmaster postmortem now recorder.yaml")
)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), required=False)
@click.option("--reason", default="", help="Why, in words; it stands in the catalogue.")
@workspace_option
@json_option
def now(file: Path | None, reason: str, workspace: str | None, as_json: bool) -> None:
    """Make an event of now; print its ID.

    The watch of the workspace makes it. Where none runs, give the recorder's FILE: then it is made here.
    """
    from ringmaster.postmortem.commanding import ask_watch, capture_here

    id_ = ask_watch(workspace, reason, NOW_S) if file is None else capture_here(file, reason)
    if as_json:
        print_json({"id": id_})
    else:
        click.echo(id_)


# ---- the catalogue


@postmortem.command(epilog=examples("ringmaster postmortem ls", "ringmaster postmortem ls --json | jq '.[].id'"))
@click.option("--to-review", is_flag=True, help="Only those that no person has reviewed.")
@click.option(
    "--times", is_flag=True, help="Say instead how long it took from the turn zero to the entry, and to the end."
)
@_of_a_catalogue
@json_option
def ls(to_review: bool, times: bool, directory: Path | None, workspace: str | None, as_json: bool) -> None:
    """List the events, the newest last."""
    from ringmaster.postmortem.show import review_word

    catalogue = _catalogue(directory, workspace)
    events = [event for event in catalogue.events() if not (to_review and event.reviewed)]
    if times:
        _print_times(events, as_json)
        return
    if as_json:
        print_json([_plain(event) for event in events])
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("ID", "REASON", "TURN ZERO", "STATE", "FIRST CAUSE", "REVIEWED"):
        table.add_column(column, overflow="fold", no_wrap=column == "ID")
    for event in events:
        cells = (event.id, event.reason, str(event.zero.turn), event.state, event.cause or "–", review_word(event))
        table.add_row(*map(Text, cells))
    if events:
        console = Console()
        console.width = max(console.width, WIDTH)
        console.print(table)
    waiting = sum(event.reviewed is None for event in events)
    click.echo(f"{counted(len(events), 'event')}, {waiting} to review, in {catalogue.folder}")
    for why in catalogue.damaged.values():
        click.echo(f"left out: {why}", err=True)


def _print_times(events: "list[Event]", as_json: bool) -> None:
    from ringmaster.postmortem.times import times_of

    times = times_of(events)
    if times is None:
        raise click.ClickException("no event began with a record that tells its turn, so no time is known")
    if as_json:
        print_json(asdict(times))
        return
    entry = f"{times.trigger_to_entry_s:.3f} s, p99 {times.trigger_to_entry_p99_s:.3f} s"
    done = f"{times.after_windows_to_done_s:.2f} s, p99 {times.after_windows_to_done_p99_s:.2f} s"
    click.echo(f"{counted(times.events, 'event')}: turn zero to entry {entry}; end of the windows to complete {done}")


@postmortem.command(epilog=examples("ringmaster postmortem show", "ringmaster postmortem show 20261125T1943 --streams"))
@_an_id_or_last
@click.option("--streams", is_flag=True, help="List what is kept of each stream.")
@_of_a_catalogue
@json_option
def show(id_: str, streams: bool, directory: Path | None, workspace: str | None, as_json: bool) -> None:
    """Print what is known of an event, the newest one without an ID."""
    from ringmaster.postmortem.show import words

    event = _find(_catalogue(directory, workspace), id_)
    if as_json:
        print_json(_plain(event))
        return
    for line in words(event):
        click.echo(line)
    for name, kept in event.streams.items() if streams else ():
        span = f"turns {kept.first_turn} to {kept.last_turn}, {counted(kept.records, 'record')}, {kept.missing} missing"
        what = "; ".join(part for part in (span if kept.records else "", kept.why) if part)
        click.echo(f"  {name:<32} {kept.where:<8} {what or 'nothing changed'}")


@postmortem.command("open", epilog=examples("ringmaster postmortem open", "ringmaster postmortem open --no-browser"))
@_an_id_or_last
@click.option("--browser/--no-browser", default=True, help="Show the report in a browser.  [default: browser]")
@_of_a_catalogue
@json_option
def open_(id_: str, browser: bool, directory: Path | None, workspace: str | None, as_json: bool) -> None:
    """Look for the causes of an event, the newest one without an ID, and make its report.

    Prints the likeliest causes, and where the report is; --json has all causes and all names, and opens no browser. The
    first cause then stands in the catalogue.
    """
    keep_to_one_thread()
    from ringmaster.postmortem.event import CAPTURING
    from ringmaster.postmortem.first_look import STEPS, look_at, write_report

    catalogue = _catalogue(directory, workspace)
    event = _find(catalogue, id_)
    if event.state == CAPTURING:
        raise click.ClickException(f"{event.id} is still being captured; try again when its windows have passed")
    with _steps(STEPS) as say:
        found = look_at(event, say)
        event = catalogue.name_cause(event.id, found.verdict)
        say("drawing the report")
        page = write_report(event, found)
    if as_json:
        print_json({**_causes_as_json(found), "id": event.id, "report": str(page) if page else None})
        return
    click.echo(f"{event.id}: {event.reason}")
    click.echo(f"first cause: {found.verdict}")
    for line in _cause_lines(found):
        click.echo(f"  {line}")
    if page is not None:
        click.echo(f"report: {page}")
        if browser:
            click.launch(page.resolve().as_uri())


@contextmanager
def _steps(count: int) -> "Iterator[Callable[[str], None]]":
    """Gives what is told of each step when it begins: a bar shows them on a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    shown = sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not shown) as progress:
        task = progress.add_task("", total=count)
        begun = 0

        def say(words: str) -> None:
            nonlocal begun
            progress.update(task, description=words, completed=begun)
            begun += 1

        yield say


def _cause_lines(found: "FirstLook") -> "Iterator[str]":
    from ringmaster.postmortem.words import cause_words, evidence_words, percent_words

    evidence = found.evidence
    for cause in found.causes:
        before = evidence.turn_zero - cause.turn
        side = "before" if before >= 0 else "after"
        when = f"{abs(evidence.ms(before)):.3g} ± {evidence.ms(cause.turn_sigma):.2g} ms {side} turn zero"
        yield f"{percent_words(cause):>9}  {cause_words(cause)}: evidence {evidence_words(cause.log_ratio)}; {when}"
    others = len(found.ranking.causes) - len(found.causes) if found.ranking else 0
    if others:
        yield f"less likely: {counted(others, 'other cause')}; --json has all, with all names"


def _causes_as_json(found: "FirstLook") -> dict[str, Any]:
    causes = found.ranking.causes if found.ranking else ()
    return {"first_cause": found.verdict, "why_not_judged": found.why_not, "causes": [asdict(one) for one in causes]}


@postmortem.command(epilog=examples("ringmaster postmortem compare 20261125T1943 last"))
@click.argument("one", shell_complete=_complete_id)
@click.argument("other", shell_complete=_complete_id)
@_of_a_catalogue
@json_option
def compare(one: str, other: str, directory: Path | None, workspace: str | None, as_json: bool) -> None:
    """Say what differs between two events: causes, and levels of the streams before the turn zero."""
    keep_to_one_thread()
    from ringmaster.postmortem.compare import compare as differences
    from ringmaster.postmortem.first_look import STEPS, look_at

    catalogue = _catalogue(directory, workspace)
    events = [_find(catalogue, id_) for id_ in (one, other)]
    if events[0].id == events[1].id:
        raise click.ClickException(
            f"{events[0].id}: both are this event; name two, `ringmaster postmortem ls` has them"
        )
    with _steps(2 * (STEPS - 1)) as say:
        first, second = (look_at(event, say) for event in events)
    levels, alone = differences(first.evidence, second.evidence)
    if as_json:
        causes = [explained.verdict for explained in (first, second)]
        plain = [{"one": asdict(level.one), "other": asdict(level.other)} for level in levels]
        print_json({"ids": [event.id for event in events], "causes": causes, "levels": plain, "only_in_one": alone})
        return
    for event, explained in zip(events, (first, second), strict=True):
        click.echo(f"{event.id}: {event.reason}; first cause: {explained.verdict}")
    for level in levels:
        before = (
            f"mean {level.one.mean:.4g} and {level.other.mean:.4g}, RMS {level.one.rms:.3g} and {level.other.rms:.3g}"
        )
        click.echo(f"  {level.one.name:<28} {before} {level.one.unit}")
    click.echo(f"levels that differ: {len(levels)}; streams that are in only one of them: {len(alone)}")


@postmortem.command(
    epilog=examples("ringmaster postmortem reviewed last --by 'A. Name' --note 'quench of ID04, known'")
)
@_an_id
@click.option("--by", required=True, help="Who has reviewed it.")
@click.option("--note", default="", help="What was found.")
@_of_a_catalogue
def reviewed(id_: str, by: str, note: str, directory: Path | None, workspace: str | None) -> None:
    """Say that an event was reviewed. Its data stay until the quota needs their room."""
    catalogue = _catalogue(directory, workspace)
    event = catalogue.review(_find(catalogue, id_).id, by, note)
    click.echo(f"{event.id}: reviewed by {by}")


@postmortem.command(epilog=examples("ringmaster postmortem release 20261125T1943"))
@_an_id
@_of_a_catalogue
def release(id_: str, directory: Path | None, workspace: str | None) -> None:
    """Give the data of a reviewed event back now; its entry and its report stay."""
    catalogue = _catalogue(directory, workspace)
    event = catalogue.release(_find(catalogue, id_).id)
    click.echo(f"{event.id}: its data are released")


def _plain(event: "Event") -> dict[str, Any]:
    reviewed_by = asdict(event.reviewed) if event.reviewed else None
    return {**event.as_json(), "folder": str(event.folder), "reviewed": reviewed_by}
