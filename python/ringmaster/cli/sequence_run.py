# SPDX-License-Identifier: Apache-2.0
"""`ringmaster sequence run`, `status` and `abort`: the sequences of a running server."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ringmaster.cli.options import examples, json_option, print_json, workspace_option
from ringmaster.cli.sequence_check import errors_by_line
from ringmaster.cli.sequence_simulate import marks_option, set_option, values_of

if TYPE_CHECKING:
    from ringmaster.sequence.course import Passage
    from ringmaster.sequence.marks import MarkRow
    from ringmaster.sequence.running import Following, Runner, Status

Command = TypeVar("Command", bound=Callable[..., Any])
LOOK_S = 0.1


def of_a_runner(command: Command) -> Command:
    """The options of every command that speaks to a running one."""
    options = (
        click.option("--file", "own", type=click.Path(path_type=Path), metavar="FILE",
                     help="Its own file, if it is not found."),
        click.option("--name", "application", default="sequence", show_default=True, metavar="NAME",
                     help="Of the application, in the workspace."),
        workspace_option,
    )  # fmt: skip
    for option in options:
        command = option(command)
    return command


@contextmanager
def attached(workspace: str | None, application: str, own: Path | None) -> Iterator["Runner"]:
    """The application that these options mean, which runs."""
    from ringmaster.errors import RequestRefused, RequestUnanswered
    from ringmaster.fabric.workspace import attach
    from ringmaster.sequence.running import Runner

    with attach(workspace) as ws, errors_by_line():
        try:
            yield Runner(ws, application, own)
        except (RequestRefused, RequestUnanswered) as error:
            raise click.ClickException(str(error)) from None


@dataclass
class _Shown:
    """What was shown, and what there is to write in the end."""

    runner: "Runner"
    following: "Following"
    reads: tuple[str, ...]
    say: Callable[[str], None]
    entered: "list[Passage]" = field(default_factory=list)
    rows: "list[MarkRow]" = field(default_factory=list)

    def look(self) -> None:
        """Tells of states that were left since the last look, and reads marks."""
        from ringmaster.sequence.marks import of_workspace

        entered, marks = self.following.look()
        for passage in entered:
            self._leave(passage.turn)
            self.entered.append(passage)
            if passage.state.end is not None:
                self.say(self._line(passage, None))
        self.rows += [of_workspace(self.runner.ws, self.runner.name, self.reads, mark) for mark in marks]

    def _leave(self, turn: int) -> None:
        if self.entered and self.entered[-1].state.end is None:
            self.say(self._line(self.entered[-1], turn))

    def end(self) -> None:
        """The last state, where it was none of the ends."""
        if self.entered and self.entered[-1].state.end is None:
            self.say(self._line(self.entered[-1], self.following.ended_turn))

    def _line(self, passage: "Passage", left: int | None) -> str:
        rate = self.runner.ws.parameters["server/turn_rate_hz"].number
        at = (passage.turn - (self.following.begun_turn or passage.turn)) / rate
        stays = f"{(left - passage.turn) / rate:.5g} s" if left is not None else ""
        name = "  " * (passage.depth - 1) + passage.state.name
        end = f"end: {passage.state.end}, " if passage.state.end else ""
        return f"{at:9.4f}  {passage.turn:>12}  {name:<16} {stays:>9}  {end}{passage.why}"


@click.command(
    epilog=examples(
        "ringmaster sequence run degauss",
        "ringmaster sequence run tune_knob --set qx=0.002 --set qy=-0.001",
        "ringmaster sequence run rf_sweep --marks sweep.csv --read machine/tune",
    )
)
@click.argument("sequence", metavar="SEQUENCE")
@set_option
@marks_option
@click.option(
    "--read", "reads", multiple=True, metavar="STREAM", help="--marks: of this stream too, such as tune/tune."
)
@of_a_runner
@json_option
def run(
    sequence: str,
    settings: tuple[str, ...],
    marks: Path | None,
    reads: tuple[str, ...],
    as_json: bool,
    **where: Any,
) -> None:
    """Let a SEQUENCE run, and show its states until it ends.

    This gives the permission, and takes it back in the end. Ctrl-C asks the sequence to abort, and waits until it has
    gone its way out; the second Ctrl-C leaves it alone with that. Ending this command in another way changes nothing:
    the sequence runs in the server, until its end or its timeout.

    Exits 1 where the sequence did not come to a good end.
    """
    from ringmaster.sequence.running import outcome

    values = values_of(settings)
    with attached(**where) as runner:
        for stream in reads:
            runner.ws.streams[stream]
        chosen = runner.file.sequence(sequence)
        following = runner.begin(chosen, values)
        quiet: Callable[[str], None] = lambda _: None  # noqa: E731
        shown = _Shown(runner, following, reads, quiet if as_json else click.echo)
        if not as_json:
            click.echo(f"{'s':>9}  {'turn':>12}  {'state':<16} {'stays':>9}  because")
        _follow(shown, as_json)
        status = runner.status()
        runner.finish()
        if marks is not None:
            from ringmaster.sequence.marks import save_csv

            save_csv(marks, shown.rows)
    if as_json:
        print_json(_run_as_json(sequence, status, shown))
    else:
        click.echo(f"{sequence} is {outcome(status.result, status.cause)}")
        if marks is not None:
            click.echo(f"{len(shown.rows)} marks written to {marks}")
    sys.exit(0 if status.result.name == "DONE" else 1)


def _follow(shown: _Shown, quiet: bool) -> None:
    """Until it has ended. The first Ctrl-C asks it to abort."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn

    asked = False
    columns = SpinnerColumn(), TextColumn("{task.description}")
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=quiet) as bar:
        task = bar.add_task("", total=None)
        while True:
            try:
                ended = shown.following.has_ended
                shown.look()
                if ended:
                    break
                bar.update(task, description=_now(shown.runner.status()))
                sleep(LOOK_S)
            except KeyboardInterrupt:
                if asked:
                    raise
                asked = True
                shown.runner.abort()
                click.echo(
                    "abort was asked for: waiting until it has gone its way out; Ctrl-C leaves it alone", err=True
                )
    shown.end()


def _now(status: "Status") -> str:
    if status.sequence is None or status.state is None:
        return "not begun"
    limit = "" if status.state.timeout_s is None else f" of at most {status.state.timeout_s:g} s"
    paused = ", paused" if status.is_paused else ""
    return f"{status.sequence.name}: {status.state.name}, {status.seconds:.2f} s{limit}{paused}"


def _run_as_json(name: str, status: "Status", shown: _Shown) -> dict[str, Any]:
    return {
        "sequence": name,
        "result": status.result.name.lower(),
        "cause": _cause(status),
        "states": [
            {
                "turn": passage.turn,
                "sequence": passage.sequence.name,
                "state": passage.state.name,
                "depth": passage.depth,
                "why": passage.why,
                "is_way_out": passage.is_way_out,
            }
            for passage in shown.entered
        ],
        "marks": len(shown.rows),
    }


def _cause(status: "Status") -> str | None:
    from ringmaster.sequence.names import words_of

    return words_of(status.cause) or None


@click.command(epilog=examples("ringmaster sequence status", "ringmaster sequence status --json"))
@of_a_runner
@json_option
def status(as_json: bool, **where: Any) -> None:
    """Say what runs, in which state; how the last one ended, and why; and the variables."""
    with attached(**where) as runner:
        now, values = runner.status(), runner.values()
        names = [one.name for one in runner.file.sequences]
        units = {one.name: one.unit for one in runner.file.variables}
        last = runner.file.sequences[int(runner.number("last")) - 1].name if runner.number("last") else None
    if as_json:
        print_json(_status_as_json(now, last, values, names))
        return
    for line in _status_lines(now, last, where["application"]):
        click.echo(line)
    click.echo(f"  sequences: {', '.join(names)}")
    if values:
        click.echo("  " + ", ".join(f"{name} {value:g} {units[name]}".rstrip() for name, value in values.items()))


def _status_lines(now: "Status", last: str | None, name: str) -> list[str]:
    from ringmaster.sequence.running import outcome

    if now.sequence is not None and now.state is not None:
        lines = [f"{name} runs {_now(now)}" + (": it aborts" if now.is_aborting else "")]
        lines.append(f"  {now.transitions} transitions and {now.marks} marks so far")
    else:
        lines = [f"{name} is idle"]
    if last is not None and now.sequence is None:
        lines.append(f"  the last one, {last}, is {outcome(now.result, now.cause)}")
        if now.ended is not None:
            lines.append(f"  at turn {now.cause_turn}, in the state {now.ended[1].name} of {now.ended[0].name}")
    if now.withdrawn:
        lines.append(
            "  its permission was withdrawn, as what had given it has ended: look at the machine, then run again"
        )
    return lines


def _status_as_json(now: "Status", last: str | None, values: dict[str, float], names: list[str]) -> dict[str, Any]:
    return {
        "running": None if now.sequence is None else now.sequence.name,
        "state": None if now.state is None else now.state.name,
        "seconds": now.seconds,
        "aborting": now.is_aborting,
        "paused": now.is_paused,
        "last": last,
        "result": now.result.name.lower(),
        "cause": _cause(now),
        "cause_turn": now.cause_turn if now.ended is not None else None,
        "cause_state": None if now.ended is None else now.ended[1].name,
        "marks": now.marks,
        "transitions": now.transitions,
        "withdrawn": now.withdrawn,
        "variables": values,
        "sequences": names,
    }


@click.command(epilog=examples("ringmaster sequence abort", "ringmaster sequence abort --timeout 60"))
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(0, min_open=True),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for the end of its way out.",
)
@of_a_runner
def abort(timeout_s: float, **where: Any) -> None:
    """Ask what runs to abort, and wait until it has gone its way out."""
    from time import monotonic

    from ringmaster.sequence.running import outcome

    with attached(**where) as runner:
        if runner.status().sequence is None:
            click.echo(f"{runner.name} is idle: there is nothing to abort")
            return
        runner.abort()
        give_up = monotonic() + timeout_s
        while runner.status().sequence is not None:
            if monotonic() > give_up:
                raise click.ClickException(
                    f"it is on its way out since {timeout_s:g} s, {_now(runner.status())}; "
                    f"`ringmaster put {runner.name}/run 0` stops it dead, with supplies where they are"
                )
            runner.check()
            sleep(LOOK_S)
        now = runner.status()
        runner.finish()
    click.echo(f"{where['application']} is {outcome(now.result, now.cause)}")
