# SPDX-License-Identifier: Apache-2.0
"""Options and outputs that several commands share."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

workspace_option = click.option(
    "-w",
    "--workspace",
    metavar="NAME",
    help="Name or path of the workspace; without it, the only one that runs.",
)
dead_option = click.option("--dead", is_flag=True, help="Read what an ended server left, too.")


def _checked_plot(_context: click.Context, _option: click.Parameter, path: Path | None) -> Path | None:
    """Says at once what a long measurement would otherwise end with."""
    if path is not None:
        from ringmaster import plots

        plots.check(path)
    return path


plot_option = click.option(
    "--plot",
    type=click.Path(path_type=Path),
    callback=_checked_plot,
    metavar="FILE",
    help="Draw it into a .png, .svg or .pdf.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")


def reads_a_workspace(command: Command) -> Command:
    """The options of every command that looks into a workspace."""
    for option in (json_option, dead_option, workspace_option):
        command = option(command)
    return command


class ServerFile(click.Path):
    """A server's configuration that is there: FILE, or FILE@NAME of one of two servers."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, exists=True, dir_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The whole, where its FILE is there."""
        from ringmaster.fabric.config_file import split

        super().convert(split(value)[0], param, ctx)
        return Path(value)


def examples(*lines: str) -> str:
    """The end of a help text: commands to try, each on a line of its own."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def severity_style(severity: int) -> dict[str, Any]:
    """How a value of that severity looks on a terminal."""
    return ({}, {"fg": "yellow"}, {"fg": "red"}, {"fg": "magenta"})[severity]


def print_json(value: object) -> None:
    """Prints a value as one line of JSON; what is not a number becomes null, which JSON has, unlike NaN."""
    click.echo(json.dumps(_finite(value), ensure_ascii=False))


def print_plot(path: Path | None) -> None:
    """Says where the plot is, if there is one."""
    if path is not None:
        click.echo(f"plot written to {path}")


def _finite(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
