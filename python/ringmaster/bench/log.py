# SPDX-License-Identifier: Apache-2.0
"""What a measurement says while it runs, and what it has to say about its figures."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")


class NotMeasured(Exception):
    """A figure cannot be had here; the text says why."""


@dataclass
class Log:
    """Progress goes to `echo` and is forgotten; notes are kept beside the figures."""

    echo: Callable[[str], None]
    notes: list[str] = field(default_factory=list)

    def say(self, line: str) -> None:
        """Progress."""
        self.echo(line)

    def note(self, line: str) -> None:
        """Something that the reader of the figures has to know."""
        self.notes.append(line)
        self.echo(line)


def attempt(log: Log, what: Callable[[], T]) -> T | None:
    """What it gives; None, with a note, where it raises NotMeasured."""
    try:
        return what()
    except NotMeasured as error:
        log.note(f"not measured: {error}")
        return None
