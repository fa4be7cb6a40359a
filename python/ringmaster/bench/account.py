# SPDX-License-Identifier: Apache-2.0
"""What a program at an end of a wire says: that it is ready, what it complains of, and its account in the end.

Each prints {"ready": true} once its links are open, and one JSON object last. What is no JSON is for people.
"""

import json
from time import monotonic, sleep
from typing import Any

from ringmaster.programs.program import START_S, Program, ProgramFailed

LOOK_S = 0.01
_READY = '"ready"'


def complaint(program: Program) -> str:
    """What it has said to people."""
    return "; ".join(line for line in program.words.splitlines() if not line.startswith("{")) or "it said nothing"


def check(program: Program) -> None:
    """Raises ProgramFailed, with its complaint, when it has ended in failure."""
    if not program.running and program.wait(0) != 0:
        raise _failed(program)


def wait_until_ready(program: Program) -> None:
    """Until its links are open. Raises ProgramFailed where they cannot be."""
    give_up = monotonic() + START_S
    while _READY not in program.words:
        if not program.running:
            raise _failed(program)
        if monotonic() > give_up:
            raise ProgramFailed(f"{program.name} is not ready after {START_S:.0f} s: {complaint(program)}")
        sleep(LOOK_S)


def account(program: Program) -> dict[str, Any]:
    """Its last object, which DPDK may have words after; ends it where it runs. Raises ProgramFailed without one."""
    status = program.stop()
    objects = [line for line in program.words.splitlines() if line.startswith("{") and _READY not in line]
    try:
        if status == 0:
            return dict(json.loads(objects[-1]))
    except (IndexError, ValueError):
        pass
    raise _failed(program)


def _failed(program: Program) -> ProgramFailed:
    return ProgramFailed(f"{program.name} ended with status {program.wait(0)}: {complaint(program)}")
