# SPDX-License-Identifier: Apache-2.0
"""A command whose first word is its argument, or the name of another command: `twin follow`, `optics lines`."""

from typing import Any

import click


def or_command(other: click.Command) -> type[click.Command]:
    """The class of a command whose first word may be the name of another one."""

    class _Either(click.Command):
        def make_context(
            self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
        ) -> click.Context:
            """Of the command that is meant."""
            if args and args[0] == other.name:
                return other.make_context(f"{info_name} {other.name}", args[1:], parent, **extra)
            return super().make_context(info_name, args, parent, **extra)

    return _Either
