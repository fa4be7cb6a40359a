# SPDX-License-Identifier: Apache-2.0
"""`ringmaster sequence simulate`: a sequence on the virtual ring, in simulated time."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from ringmaster.cli.options import examples, json_option, plot_option, print_json, print_plot
from ringmaster.cli.sequence_check import errors_by_line

if TYPE_CHECKING:
    from ringmaster.sequence.course import Passage
    from ringmaster.sequence.simulated import Simulated

LOOPED_MOST = 40
"""More stays than so many are told in the middle by their number alone."""


def values_of(texts: tuple[str, ...]) -> dict[str, float]:
    """Of --set NAME=VALUE."""
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        try:
            values[name] = float(value)
        except ValueError:
            equals = ""
        if not equals or not name:
            raise click.UsageError(f"--set {text}: expected VARIABLE=NUMBER, such as --set amplitude=2")
    return values


set_option = click.option(
    "--set", "settings", multiple=True, metavar="VARIABLE=V", help="A variable of the file; as often as you like."
)
marks_option = click.option(
    "--marks",
    type=click.Path(path_type=Path),
    metavar="FILE.csv",
    help="Write what all inputs read at each mark: means of the 10 ms before it.",
)


@click.command(
    epilog=examples(
        "ringmaster sequence simulate configs/sequence.yaml configs/sequence-ring.yaml degauss --plot degauss.png",
        "ringmaster sequence simulate configs/sequence.yaml configs/sequence-ring.yaml tune_knob --set qx=0.002",
        "ringmaster sequence simulate configs/sequence.yaml configs/sequence-ring.yaml bump_scan --marks scan.csv",
        "ringmaster sequence simulate configs/sequence.yaml configs/sequence-ring.yaml injection_bump \\",
        '    --at "0.1:trip=sr/ps/bump_01" --plot trip.png',
    )
)
@click.argument("config", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.argument("overlay", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.argument("name", metavar="SEQUENCE")
@set_option
@click.option(
    "--at", multiple=True, metavar="T:NAME=VALUE", help="What happens T seconds after its begin, as in `simulate`."
)
@click.option("--seconds", type=click.FloatRange(0, min_open=True), metavar="S", help="At most so long.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Keep what the simulation leaves.")
@click.option("--application", metavar="NAME", help="That runs sequences, where CONFIG has several.")
@marks_option
@plot_option
@json_option
def simulate(
    config: Path,
    overlay: Path,
    name: str,
    settings: tuple[str, ...],
    at: tuple[str, ...],
    seconds: float | None,
    out: Path | None,
    application: str | None,
    marks: Path | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Run a SEQUENCE of CONFIG's application on the virtual ring of OVERLAY, until it has ended.

    Nothing but simulated time passes, so the same command gives the same steps to the bit. What happens meanwhile
    (--at) is what `ringmaster simulate` takes: a supply that trips, an instrument that is lost, `machine/beam=0`,
    `sequence/abort=1`.

    The picture (--plot) has the states above, then the supplies that moved with setpoint and current, then the inputs
    of the file. Exits 1 where the sequence did not come to a good end.
    """
    from ringmaster.sequence.simulated import simulate_sequence

    given = values_of(settings)
    with _folder(out) as folder, errors_by_line(), _progress(name, as_json) as progress:
        done = simulate_sequence(
            config,
            overlay,
            name,
            folder,
            application=application,
            values=given,
            at=at,
            seconds=seconds,
            progress=progress,
        )
        _leave(done, at, marks, plot)
    if as_json:
        print_json(_as_json(done))
    else:
        for line in lines_of(done):
            click.echo(line)
        print_plot(plot)
        if marks is not None:
            click.echo(f"{len(done.marks)} marks written to {marks}")
    sys.exit(0 if done.result.name == "DONE" else 1)


def _leave(done: "Simulated", at: tuple[str, ...], marks: Path | None, plot: Path | None) -> None:
    """Files, while the folder of the simulation is there."""
    if marks is not None:
        from ringmaster.sequence.marks import of_simulation, save_csv

        save_csv(marks, of_simulation(done))
    if plot is not None:
        from ringmaster.sequence.timeline import draw

        happened = {float(event.partition(":")[0]): event.partition(":")[2] for event in at}
        draw(done, plot, happened)


@contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    if out is not None:
        yield out
        return
    with TemporaryDirectory(prefix="ringmaster-sequence-") as folder:
        yield Path(folder)


@contextmanager
def _progress(name: str, quiet: bool) -> Iterator[Callable[[float, str], None]]:
    """On standard error: the state, and how much time has passed in the simulation."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn

    columns = SpinnerColumn(), TextColumn("{task.description}")
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=quiet) as shown:
        task = shown.add_task(f"{name}: the machine is made", total=None)
        yield lambda seconds, state: shown.update(task, description=f"{name}: {seconds:.2f} s, {state or 'idle'}")


def lines_of(done: "Simulated") -> list[str]:
    """What happened, in which turn."""
    from ringmaster.sequence.names import Result, words_of

    lines = [f"{'s':>9}  {'turn':>10}  {'state':<16} {'stays':>9}  because"]
    shown = list(done.passages)
    left = len(shown) - LOOPED_MOST
    head, tail = (shown, []) if left <= 0 else (shown[: LOOPED_MOST // 2], shown[-LOOPED_MOST // 2 :])
    lines += [_line_of(done, passage) for passage in head]
    if left > 0:
        lines.append(f"{'…':>9}  {left} more")
    lines += [_line_of(done, passage) for passage in tail]
    words = words_of(done.cause)
    if done.result is Result.RUNNING:
        lines.append(f"{done.sequence.name} had not ended when the simulation did: --seconds says how long")
    elif done.result is Result.DONE:
        lines.append(f"{done.sequence.name} is done, after {done.seconds:.6g} s; {len(done.marks)} marks")
    else:
        lines.append(f"{done.sequence.name} {done.result.name.lower()} after {done.seconds:.6g} s: {words}")
    return lines


def _line_of(done: "Simulated", passage: "Passage") -> str:
    at, stays = done.time_s[passage.step], f"{passage.steps / done.run.rate_hz:.5g} s"
    name = "  " * (passage.depth - 1) + passage.state.name
    end = f"end: {passage.state.end}, " if passage.state.end else ""
    return f"{at:9.5f}  {passage.turn:>10}  {name:<16} {stays if not end else '':>9}  {end}{passage.why}"


def _as_json(done: "Simulated") -> dict[str, Any]:
    from ringmaster.sequence.names import words_of

    return {
        "sequence": done.sequence.name,
        "result": done.result.name.lower(),
        "cause": words_of(done.cause) or None,
        "seconds": done.seconds,
        "passages": [
            {
                "at_s": float(done.time_s[passage.step]),
                "turn": passage.turn,
                "sequence": passage.sequence.name,
                "state": passage.state.name,
                "depth": passage.depth,
                "why": passage.why,
                "is_way_out": passage.is_way_out,
                "steps": passage.steps,
            }
            for passage in done.passages
        ],
        "marks": [
            {"at_s": float(done.time_s[mark.step]), "turn": mark.turn, "state": mark.state.name} for mark in done.marks
        ],
        "wall_s": done.run.summary["wall_s"],
    }
