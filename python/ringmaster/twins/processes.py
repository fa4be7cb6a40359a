# SPDX-License-Identifier: Apache-2.0
"""The instances of a file, a process each: started together, ended together, and one that dies is named."""

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from time import sleep

from ringmaster.programs.program import Program

LOOK_S = 0.2


def command_of(file: Path, name: str, workspace: str | None) -> tuple[str, ...]:
    """What follows with one instance of a file."""
    where = () if workspace is None else ("-w", workspace)
    return (sys.executable, "-m", "ringmaster", "twin", "follow", str(file), "--only", name, *where)


def run_all(commands: dict[str, Sequence[str]], stop: Callable[[], bool], say: Callable[[str], None]) -> dict[str, int]:
    """Until asked to stop, interrupted, or none is left. Gives the status of each that ended by itself."""
    ended: dict[str, int] = {}
    with ExitStack() as stack:
        running = {name: stack.enter_context(Program(*command)) for name, command in commands.items()}
        told = dict.fromkeys(running, 0)
        while len(ended) < len(running) and not stop():
            for name, program in running.items():
                if name in ended:
                    continue
                words = program.words
                for line in words[told[name] :].splitlines():
                    say(line)
                told[name] = len(words)
                if not program.running:
                    ended[name] = program.wait(0.0)
                    say(f"{name} has ended with status {ended[name]}; the others go on")
            sleep(LOOK_S)
    return ended
