# SPDX-License-Identifier: Apache-2.0
"""What the commands of `ringmaster tune` share."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from ringmaster.cli.options import json_option

Command = TypeVar("Command", bound=Callable[..., Any])
PARTS = 1000
"""Of a progress bar."""
lattice_argument = click.argument("lattice")
mapping_option = click.option(
    "--mapping", type=click.Path(path_type=Path), required=True, metavar="FILE", help="Which BPM is which row."
)
plot_option = click.option(
    "--plot", type=click.Path(path_type=Path), metavar="FILE", help="Draw it into a .png, .svg or .pdf."
)


def of_a_lattice(command: Command) -> Command:
    """LATTICE, --mapping, --plot and --json."""
    for option in (json_option, plot_option, mapping_option, lattice_argument):
        command = option(command)
    return command


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[float], None]]:
    """On standard error; gives what is to be told the share that is done, 0 to 1."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=PARTS)
        yield lambda share: bar.update(task, completed=min(PARTS, share * PARTS))


@contextmanager
def told_of_ctrl_c(what: str) -> Iterator[None]:
    """Says after Ctrl-C that what was moved is back."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo(f"interrupted; {what} back where it stood", err=True)
        raise
