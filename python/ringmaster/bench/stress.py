# SPDX-License-Identifier: Apache-2.0
"""A loaded machine, as the source loaded its own: stress-ng on CPU, cache and memory, and `top -d0` without pause.

The source says what it ran and not with which options: here one worker of each kind for each core. They run at
ordinary priority where the kernel puts them, on the cores that are given: on isolated cores nothing runs unasked.
"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from time import sleep

from ringmaster.bench.log import NotMeasured
from ringmaster.programs.program import Program, ProgramFailed

WORKER_MEMORY = "64m"
"""Of each memory worker: more than it finds in a cache, and little for a machine."""
STARTING_S = 0.5
"""Until all workers run."""
LOADED_WITH = "stress-ng"
_ENDS_WITH_US = ("setpriv", "--pdeathsig", "TERM")
"""Words before a command that ends when this process does, however that ends."""


@contextmanager
def loaded(cores: Sequence[int]) -> Iterator[str]:
    """Loads these cores meanwhile; gives what runs there, in words. Raises NotMeasured where it cannot."""
    require_load()
    count = str(len(cores))
    workers = ("--cpu", count, "--cache", count, "--vm", count, "--vm-bytes", WORKER_MEMORY)
    on = ",".join(map(str, cores))
    prefix = ("taskset", "-c", on, *_ENDS_WITH_US)
    with ExitStack() as stack:
        programs = [
            stack.enter_context(Program(LOADED_WITH, *workers, prefix=prefix)),
            stack.enter_context(Program("sh", "-c", "exec top -b -d0 > /dev/null", prefix=prefix)),
        ]
        sleep(STARTING_S)
        _check(programs)
        yield f"{LOADED_WITH} {' '.join(workers)} and top -d0 on cores {on}"
        _check(programs)


def require_load() -> None:
    """Raises NotMeasured where the machine cannot be loaded."""
    missing = [name for name in (LOADED_WITH, "top", "taskset", "setpriv") if shutil.which(name) is None]
    if missing:
        raise NotMeasured(f"a loaded machine: {', '.join(missing)} is not installed (apt install {' '.join(missing)})")


def _check(programs: Sequence[Program]) -> None:
    try:
        for program in programs:
            program.check()
    except ProgramFailed as error:
        raise NotMeasured(f"a loaded machine: {error}") from error
