# SPDX-License-Identifier: Apache-2.0
"""What a measurement says while it runs, and what it has to say about its figures."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from ringmaster.programs.program import ProgramFailed

T = TypeVar("T")


class NotMeasured(Exception):
    """A figure cannot be had here; the text says why."""


@dataclass
class Log:
    """Progress goes to `say` and is forgotten; notes are kept beside the figures."""

    say: Callable[[str], None]
    notes: list[str] = field(default_factory=list)

    def note(self, line: str) -> None:
        """Something that the reader of the figures has to know."""
        self.notes.append(line)
        self.say(line)

    def attempt(self, make: Callable[[], T], what: str = "") -> T | None:
        """What it makes; None, with a note, where that cannot be measured or a program fails."""
        try:
            return make()
        except (NotMeasured, ProgramFailed) as error:
            self.note(f"{f'{what}: ' if what else ''}not measured: {error}")
            return None
