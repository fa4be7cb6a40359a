# SPDX-License-Identifier: Apache-2.0
"""Completion on the shell's command line."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem, get_completion_class

from ringmaster.cli.options import examples

if TYPE_CHECKING:
    from ringmaster.fabric.workspace import Workspace

VARIABLE = "_RINGMASTER_COMPLETE"


@click.command(
    epilog=examples(
        "ringmaster completion bash > ~/.local/share/bash-completion/completions/ringmaster",
        "ringmaster completion fish > ~/.config/fish/completions/ringmaster.fish",
        "source <(ringmaster completion zsh)",
    )
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print what makes SHELL complete ringmaster's commands, options and object names."""
    completer = get_completion_class(shell)
    assert completer is not None
    click.echo(completer(context.find_root().command, {}, "ringmaster", VARIABLE).source())


def complete_object(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of the workspace's objects that begin so; none when it cannot be attached to."""
    from ringmaster.values.inventory import short_name

    return _complete(context, incomplete, lambda ws: [short_name(info) for info in ws.objects.values()])


def complete_parameter(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of parameters."""
    return _complete(context, incomplete, lambda ws: list(ws.parameters))


def complete_writable(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of parameters that others may ask to be set."""
    return _complete(context, incomplete, lambda ws: [name for name, it in ws.parameters.items() if it.writable])


def _complete(
    context: click.Context, incomplete: str, names: "Callable[[Workspace], list[str]]"
) -> list[CompletionItem]:
    from ringmaster.errors import WorkspaceError
    from ringmaster.fabric.workspace import attach

    try:
        with attach(context.params.get("workspace"), dead=True) as ws:
            return [CompletionItem(name) for name in names(ws) if name.startswith(incomplete)]
    except (WorkspaceError, OSError):
        return []
