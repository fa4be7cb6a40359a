# SPDX-License-Identifier: Apache-2.0
"""Which feedback is meant: options that its commands share."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ringmaster.cli.options import workspace_option

if TYPE_CHECKING:
    from ringmaster.feedback.loop import Feedback

Command = TypeVar("Command", bound=Callable[..., Any])

output_option = click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, metavar="FILE.csv", help="Write it there."
)

rf_option = click.option("--rf", metavar="ACTUATOR", help="Which actuator is the RF frequency: it is of no plane.")

name_option = click.option(
    "--name", default="feedback", show_default=True, metavar="NAME", help="Of the application, in the workspace."
)
configuration_option = click.option(
    "--configuration",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The feedback's own file; without it the one that the server's configuration names.",
)


def a_feedback(command: Command) -> Command:
    """The options of every command that speaks to a running feedback."""
    for option in (configuration_option, name_option, workspace_option):
        command = option(command)
    return command


@contextmanager
def attached(workspace: str | None, name: str, configuration: Path | None) -> "Iterator[Feedback]":
    """The feedback that these options mean."""
    from ringmaster.fabric.workspace import attach
    from ringmaster.feedback.loop import Feedback

    with attach(workspace) as ws:
        yield Feedback(ws, name, configuration)
