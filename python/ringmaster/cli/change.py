# SPDX-License-Identifier: Apache-2.0
"""`ringmaster change`: groups of setpoints that are applied, and undone, as one."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ringmaster.cli.options import examples, json_option, print_json, workspace_option

if TYPE_CHECKING:
    from rich.table import Table

    from ringmaster.fabric.workspace import Workspace
    from ringmaster.moving.change import Change, Move
    from ringmaster.moving.change_journal import Entry, Journal

Command = TypeVar("Command", bound=Callable[..., Any])
SHOWN = 20
"""Moves of a change that are listed; more with --all."""

_file_argument = click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
_journal_option = click.option(
    "--journal",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Where applied changes are kept; without it `change-journal` beside FILE, or here.",
)


def _moving(command: Command) -> Command:
    """The options of what moves."""
    options = (
        click.option(
            "--steps", type=click.IntRange(1), default=1, show_default=True, help="Equal ones; each is waited for."
        ),
        click.option("--dry-run", is_flag=True, help="Move nothing; say what would move, and what could not."),
        click.option("--force", is_flag=True, help="Go there from wherever all stand now."),
        _journal_option,
        workspace_option,
        json_option,
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.group()
def change() -> None:
    """Apply and undo changes: files with supplies and parameters, where they stood before, and where they go.

    `ringmaster loco correct`, `bba correct` and `orbit correct` write such files. One is applied as a whole: through
    the server's guard, in equal steps, each waited for by its readback. An error or Ctrl-C puts all back. What another
    program or person has moved meanwhile is refused by name.
    """


@change.command(
    epilog=examples("ringmaster change show gradients.yaml", "ringmaster change show orbit.yaml --all -w optics")
)
@_file_argument
@click.option("--all", "whole", is_flag=True, help="List every move.")
@workspace_option
@json_option
def show(file: Path, whole: bool, workspace: str | None, as_json: bool) -> None:
    """Show what a change moves; with -w also where all stand now, and what could not be applied."""
    from ringmaster.moving.change import load

    read = load(file)
    if workspace is None:
        _tell(read, None, whole, as_json)
        return
    from ringmaster.fabric.workspace import attach

    with attach(workspace) as ws:
        _tell(read, ws, whole, as_json)


def _tell(told: "Change", ws: "Workspace | None", whole: bool, as_json: bool) -> None:
    from ringmaster.moving.change import problems

    reasons = None if ws is None else list(problems(ws, told))
    if as_json:
        print_json({**_as_json(told), **({} if reasons is None else {"problems": reasons})})
        return
    _print_change(told, whole, {} if ws is None else _now(ws, told))
    for reason in reasons or []:
        click.secho(reason, fg="yellow")
    if reasons == []:
        click.echo("it can be applied: all stand where it begins")


def _now(ws: "Workspace", told: "Change") -> dict[str, str]:
    from ringmaster.moving.change import standing

    found = standing(ws, [move.name for move in told.moves])
    return {name: f"{value:.6g}" if value == value else "–" for name, value in found.items()}


def _as_json(told: "Change") -> dict[str, Any]:
    return {"title": told.title, "made_by": told.made_by, "moves": [vars(move) for move in told.moves]}


def _print_change(told: "Change", whole: bool, now: dict[str, str]) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    console.width = max(console.width, 100)
    console.print(f"[bold]{told.title}[/], made by {told.made_by or 'nothing that it names'}: {_count(told)}")
    if not told.moves:
        return
    console.print(_families(told))
    listed = told.moves if whole or len(told.moves) <= SHOWN else sorted(told.moves, key=_size, reverse=True)[:SHOWN]
    console.print("" if len(listed) == len(told.moves) else f"\nthe largest {SHOWN} (--all lists every one):")
    console.print(_moves(listed, now))


def _size(move: "Move") -> float:
    size = abs(move.after - move.before)
    return size if size == size else 0.0


def _count(told: "Change") -> str:
    return f"{len(told.moves)} move{'' if len(told.moves) == 1 else 's'}"


def _table(columns: tuple[str, ...], left: int) -> "Table":
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i < left else "right", no_wrap=True)
    return table


def _moves(moves: "tuple[Move, ...] | list[Move]", now: dict[str, str]) -> "Table":
    table = _table(("NAME", "UNIT", "BEFORE", "AFTER", "CHANGE", *(("NOW",) if now else ())), 2)
    for move in moves:
        values = (f"{move.before:.6g}", f"{move.after:.6g}", f"{move.after - move.before:+.4g}")
        table.add_row(move.name, move.unit, *values, *((now[move.name],) if now else ()))
    return table


def _families(told: "Change") -> "Table":
    """Names that differ in their last number alone, as one line."""
    families: dict[tuple[str, str], list[Move]] = {}
    for move in told.moves:
        families.setdefault((re.sub(r"\d+(?=\]?$)", "*", move.name), move.unit), []).append(move)
    table = _table(("FAMILY", "UNIT", "MOVES", "RMS", "LARGEST"), 2)
    for (name, unit), moves in families.items():
        sizes = [_size(move) for move in moves]
        rms = (sum(size**2 for size in sizes) / len(sizes)) ** 0.5
        table.add_row(name, unit, str(len(moves)), f"{rms:.4g}", f"{max(sizes):.4g}")
    return table


@change.command(
    epilog=examples(
        "ringmaster change apply gradients.yaml --dry-run",
        "ringmaster change apply gradients.yaml --steps 5",
        "ringmaster change apply orbit.yaml --journal /shift/changes",
    )
)
@_file_argument
@_moving
def apply(
    file: Path, steps: int, dry_run: bool, force: bool, journal: Path | None, workspace: str | None, as_json: bool
) -> None:
    """Apply the change in FILE: all of it, or nothing."""
    from ringmaster.fabric.workspace import attach
    from ringmaster.moving.change import load

    read = load(file)
    with attach(workspace) as ws:
        if dry_run:
            _dry_run(ws, read, force, as_json)
            return
        entry = apply_and_keep(ws, read, journal_of(journal, file), steps, force)
    if as_json:
        print_json({"applied": entry.number, "journal": str(entry.path), "title": read.title, "moves": len(read.moves)})
        return
    click.echo(f"applied {entry.number}: {read.title}, {_count(read)}")
    beside = "" if journal is None and file.parent == Path() else f" --journal {entry.path.parent}"
    click.echo(f"undo it by: ringmaster change undo{beside}")


def apply_and_keep(ws: "Workspace", read: "Change", kept: "Journal", steps: int = 1, force: bool = False) -> "Entry":
    """Applies a change with a progress bar, and keeps it in the journal. KeyboardInterrupt comes after all is back."""
    from ringmaster.cli.tune_options import progress_bar, told_of_ctrl_c
    from ringmaster.moving.change import apply as apply_change
    from ringmaster.moving.hand import NotPutBack
    from ringmaster.moving.stopping import stopped_at_pauses

    entry, stays = kept.begin(read, ws.name), False
    try:
        with stopped_at_pauses() as pause:  # until the journal has it: no signal comes between
            with told_of_ctrl_c("all is"), progress_bar(read.title) as progress:
                apply_change(ws, read, pause, progress, steps, force)
            stays = True
            return kept.applied(entry)
    except NotPutBack as error:
        raise click.ClickException(
            f"{error}; or all of it by `ringmaster change undo {entry.number} --force --journal {kept.folder}`"
        ) from None
    except BaseException:
        if not stays:
            kept.drop(entry)
        raise


def _dry_run(ws: "Workspace", read: "Change", force: bool, as_json: bool) -> None:
    from ringmaster.moving.change import problems

    reasons = list(problems(ws, read, force))
    if as_json:
        print_json({"dry_run": True, **_as_json(read), "problems": reasons})
    else:
        _print_change(read, whole=False, now=_now(ws, read))
        for reason in reasons:
            click.secho(reason, fg="yellow")
        click.echo("nothing was moved; " + (f"{len(reasons)} could not be" if reasons else "all of it could be"))
    if reasons:
        raise SystemExit(1)


def journal_of(folder: Path | None, file: Path | None) -> "Journal":
    """The folder, or that beside the file, or here."""
    from ringmaster.moving.change_journal import FOLDER, Journal

    return Journal(folder or (Path() if file is None else file.parent) / FOLDER)


@change.command(
    epilog=examples(
        "ringmaster change undo",
        "ringmaster change undo gradients.yaml",
        "ringmaster change undo 3 --journal /shift/changes",
    )
)
@click.argument("which", metavar="[FILE|NUMBER]", required=False)
@_moving
def undo(
    which: str | None,
    steps: int,
    dry_run: bool,
    force: bool,
    journal: Path | None,
    workspace: str | None,
    as_json: bool,
) -> None:
    """Undo a change: by its file, by its number in the journal, or the last one that is not undone yet."""
    from ringmaster.fabric.workspace import attach

    with attach(workspace) as ws:
        kept, read, entry = _which(ws, which, journal, force)
        if dry_run:
            _dry_run(ws, read.back, force, as_json)
            return
        undo_and_keep(ws, read, kept, entry, steps, force)
    if as_json:
        number = None if entry is None else entry.number
        print_json({"undone": number, "title": read.title, "moves": len(read.moves)})
        return
    click.echo(f"undone{'' if entry is None else f' {entry.number}'}: {read.title}, {_count(read)}")


def undo_and_keep(
    ws: "Workspace", read: "Change", kept: "Journal", entry: "Entry | None", steps: int = 1, force: bool = False
) -> None:
    """Undoes a change with a progress bar, and says so in the journal. KeyboardInterrupt comes after all is back."""
    from ringmaster.cli.tune_options import progress_bar, told_of_ctrl_c
    from ringmaster.moving.change import undo as undo_change
    from ringmaster.moving.stopping import stopped_at_pauses

    with stopped_at_pauses() as pause:
        with told_of_ctrl_c("all is"), progress_bar(f"undo {read.title}") as progress:
            undo_change(ws, read, pause, progress, steps, force)
        if entry is not None:
            kept.undone(entry)


def _which(
    ws: "Workspace", which: str | None, journal: Path | None, force: bool
) -> "tuple[Journal, Change, Entry | None]":
    """What is meant: its journal, the change, and its entry there if it has one."""
    from ringmaster.moving.change import load
    from ringmaster.moving.change_journal import APPLYING, UNDONE

    if which is not None and not which.isdigit():
        path = Path(which)
        kept, read = journal_of(journal, path), load(path)
        return kept, read, kept.of(read, ws.name)
    kept = journal_of(journal, None)
    entry = kept.last(ws.name) if which is None else kept.entry(int(which))
    if entry.state == UNDONE and not force:
        raise click.ClickException(f"change {entry.number}, {entry.change.title}, is undone already, {entry.undone}")
    if entry.state == APPLYING and not force:
        raise click.ClickException(
            f"change {entry.number}, {entry.change.title}, was cut off while it was applied, so parts of it may not be "
            f"where it left them: look by `ringmaster change show {entry.path} -w {ws.name}`, then undo it by --force"
        )
    return kept, entry.change, entry


@change.command("ls", epilog=examples("ringmaster change ls", "ringmaster change ls --journal /shift/changes --json"))
@_journal_option
@json_option
def list_changes(journal: Path | None, as_json: bool) -> None:
    """List the changes that were applied, from a journal."""
    from rich.console import Console

    kept = journal_of(journal, None)
    entries = kept.entries()
    if as_json:
        print_json([{**vars(entry), "path": str(entry.path), "change": _as_json(entry.change)} for entry in entries])
        return
    if not entries:
        click.echo(f"{kept.folder}: no changes were applied yet")
        return
    table = _table(("NUMBER", "STATE", "APPLIED (UTC)", "UNDONE", "WORKSPACE", "MOVES", "TITLE"), 7)
    for entry in entries:
        words = (entry.state, entry.applied, entry.undone or "–", entry.workspace)
        table.add_row(str(entry.number), *words, str(len(entry.change.moves)), entry.change.title)
    console = Console(highlight=False)
    console.width = max(console.width, 120)
    console.print(table)
