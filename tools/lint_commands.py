# SPDX-License-Identifier: Apache-2.0
"""Write the compilation database for the C linter: of all commands that compile a file, one for each set of macros.

Libraries, tests' rigs and programs compile some files up to six times, with other paths and options of the optimiser.
The linter would find the same in each, and these are its slowest files.
"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TypedDict

NAME = "compile_commands.json"


class Command(TypedDict):
    """Of the database: one call of the compiler."""

    directory: str
    command: str
    file: str


def macros(command: Command) -> frozenset[str]:
    """What the command line defines."""
    return frozenset(word for word in shlex.split(command["command"]) if word.startswith("-D"))


def different(commands: list[Command]) -> list[Command]:
    """The first command of each file and set of macros, in their order."""
    first: dict[tuple[Path, frozenset[str]], Command] = {}
    for command in commands:
        first.setdefault((Path(command["directory"], command["file"]).resolve(), macros(command)), command)
    return list(first.values())


def main() -> int:
    """Reads the database of the build folder, writes that of the linter's; returns the exit status."""
    build, lint = map(Path, sys.argv[1:])
    lint.mkdir(exist_ok=True)
    (lint / NAME).write_text(json.dumps(different(json.loads((build / NAME).read_text())), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
