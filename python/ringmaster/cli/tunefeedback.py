# SPDX-License-Identifier: Apache-2.0
"""`ringmaster tunefeedback`: the feedback on the tunes, on the command line."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ringmaster.cli.options import examples, json_option, print_json, workspace_option

if TYPE_CHECKING:
    from ringmaster.fabric.workspace import Workspace
    from ringmaster.tunefeedback.names import State

Command = TypeVar("Command", bound=Callable[..., Any])
SETTLES_S = 2.0
"""A state that was asked for is there by then; on a machine, after a step or two."""

name_option = click.option(
    "--name", default="tunefeedback", show_default=True, metavar="NAME", help="Of the application, in the workspace."
)


def a_tune_feedback(command: Command) -> Command:
    """The options of every command that speaks to a running one."""
    for option in (name_option, workspace_option):
        command = option(command)
    return command


@dataclass
class TuneFeedback:
    """The application of an attached workspace."""

    ws: "Workspace"
    name: str

    def number(self, short: str) -> float:
        """A reading or setting that is one number."""
        return self.ws.parameters[f"{self.name}/{short}"].number

    @property
    def state(self) -> "State":
        """Now."""
        from ringmaster.tunefeedback.names import State

        return State(int(self.number("state")))

    def put(self, short: str, value: Any) -> None:
        """Asks it to set one of its settings."""
        self.ws.put(f"{self.name}/{short}", value)


@contextmanager
def attached(workspace: str | None, name: str) -> Iterator[TuneFeedback]:
    """The tune feedback that these options mean, which runs."""
    from ringmaster.fabric.workspace import attach

    with attach(workspace) as ws:
        ws.check(ws.parameters[f"{name}/closed"].owner)
        yield TuneFeedback(ws, name)


@click.group(
    epilog=examples(
        "ringmaster tunefeedback status",
        "ringmaster tunefeedback on",
        "ringmaster tunefeedback target 0.301 0.172",
        "ringmaster tunefeedback matrix elettra2_like --families families.yaml -o matrix.csv",
    ),
    no_args_is_help=True,
)
def tunefeedback() -> None:
    """Hold the tunes of a running server's machine by two families of quadrupoles; make the matrix that this needs."""


READINGS = ("wanted_x", "wanted_y", "error_x", "error_y", "offset_1", "offset_2", "trusted", "gain", "gain_margin")


@tunefeedback.command(epilog=examples("ringmaster tunefeedback status", "ringmaster tunefeedback status --json"))
@a_tune_feedback
@json_option
def status(as_json: bool, **where: Any) -> None:
    """Say what it does, what is missing, and for which reason it last left ON by itself."""
    from ringmaster.tunefeedback.names import words_of

    with attached(**where) as it:
        missing, cause = words_of(it.number("missing")), words_of(it.number("cause"))
        numbers = {short: it.number(short) for short in READINGS}
        state, turn, withdrawn = it.state.name, it.number("cause_turn"), it.number("withdrawn") != 0
    if as_json:
        print_json({"state": state, "missing": missing, "cause": cause, "cause_turn": turn, **numbers})
        return
    click.echo(f"{where['name']} is {state}")
    for words in missing:
        click.echo(f"  missing: {words}")
    for words in cause:
        click.echo(f"  it last left ON at turn {turn:.0f}: {words}")
    if withdrawn:
        click.echo("  its permission to act was withdrawn: look, then `ringmaster tunefeedback on`")
    if state == "FAULT":
        click.echo("  it stays so until `ringmaster tunefeedback off`")
    click.echo("  " + ", ".join(f"{short} {value:.6g}" for short, value in numbers.items()))


def _switch(name: str, what: str, value: int) -> None:
    def run(**where: Any) -> None:
        from ringmaster.tunefeedback.names import State, words_of

        aim = {State.ON} if value else {State.OFF, State.READY}
        with attached(**where) as it:
            it.put("closed", value)
            give_up = monotonic() + SETTLES_S
            while it.state not in aim and monotonic() < give_up:
                sleep(0.02)
            click.echo(f"{it.name} is {it.state.name}")
            for words in words_of(it.number("missing")) if value else ():
                click.echo(f"  missing: {words}")

    run.__doc__ = what
    tunefeedback.command(name, epilog=examples(f"ringmaster tunefeedback {name}"))(a_tune_feedback(run))


_switch("on", "Close the loop, as soon as all enable conditions are there.", 1)
_switch("off", "Open the loop: supplies stay where they are.", 0)


@tunefeedback.command(
    epilog=examples("ringmaster tunefeedback target 0.301 0.172", "ringmaster tunefeedback target now")
)
@click.argument("tunes", nargs=-1, required=True, metavar="X Y|now")
@a_tune_feedback
def target(tunes: tuple[str, ...], **where: Any) -> None:
    """Set the tunes of x and y that it goes to; "now": those that there are when the loop is closed."""
    try:
        wanted = [0.0, 0.0] if tunes == ("now",) else [float(tune) for tune in tunes]
    except ValueError:
        wanted = []
    if len(wanted) != 2:
        raise click.UsageError(f"found {' '.join(tunes)!r}, expected the tunes of x and y, or now")
    with attached(**where) as it:
        it.put("target", wanted)
        click.echo(
            f"{it.name}/target: " + ("what there is" if wanted == [0.0, 0.0] else f"{wanted[0]:g}, {wanted[1]:g}")
        )


@tunefeedback.command(
    epilog=examples(
        "ringmaster tunefeedback matrix elettra2_like --families configs/tunefeedback-elettra2.yaml -o matrix.csv"
    )
)
@click.argument("lattice", type=click.Path())
@click.option(
    "--families",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="The tune feedback's own file: its families with `elements` and `strength_per_a`.",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, metavar="FILE.csv", help="Write it there."
)
def matrix(lattice: str, families: Path, output: Path) -> None:
    """Compute what an ampere of each family does to the tunes of LATTICE: a file, or elettra2_like."""
    from ringmaster.tunefeedback.matrix import read_families, save_matrix, seen_tunes, tune_matrix
    from ringmaster.twin import Twin, load_lattice

    listed = read_families(families)
    twin = Twin(load_lattice(lattice))
    twin.disable_6d()
    made = tune_matrix(twin, listed)
    save_matrix(output, listed, made, f"of lattice {twin.lattice.name}, by ringmaster tunefeedback matrix")
    tunes = seen_tunes(twin)
    click.echo(f"{output}: tunes {tunes[0]:.4f} and {tunes[1]:.4f}; {', '.join(family.name for family in listed)}")
