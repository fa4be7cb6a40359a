# SPDX-License-Identifier: Apache-2.0
"""Completion on the shell's command line."""

import click
from click.shell_completion import CompletionItem, get_completion_class

from ringmaster.cli.options import examples

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
    from ringmaster.errors import WorkspaceError
    from ringmaster.inventory import short_name
    from ringmaster.workspace import attach

    try:
        with attach(context.params.get("workspace"), dead=True) as ws:
            names = [short_name(info) for info in ws.objects.values()]
    except (WorkspaceError, OSError):
        return []
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]
