# SPDX-License-Identifier: Apache-2.0
"""A command whose first word is its argument, or the name of another command: `twin follow`, `optics lines`."""

from typing import Any

import click


def or_command(*others: click.Command) -> type[click.Command]:
    """The class of a command whose first word may be the name of another one."""
    by_name = {other.name: other for other in others}

    class _Either(click.Command):
        def make_context(
            self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
        ) -> click.Context:
            """Of the command that is meant."""
            other = by_name.get(args[0]) if args else None
            if other is not None:
                return other.make_context(f"{info_name} {other.name}", args[1:], parent, **extra)
            return super().make_context(info_name, args, parent, **extra)

    return _Either
