# SPDX-License-Identifier: Apache-2.0
"""Commands whose descendants can be found again, whatever became of them: they all bear a mark in their environment."""

import json
import os
import signal
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from harness import PATIENCE_S, command_line, wait_for

MARK = "RINGMASTER_TEST_MARK"


@contextmanager
def started(*words: str) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """The command line, running, and its mark."""
    mark = uuid.uuid4().hex
    pipe = subprocess.PIPE
    environment = os.environ | {MARK: mark}
    with subprocess.Popen(command_line(*words), stdout=pipe, stderr=pipe, text=True, env=environment) as command:
        try:
            yield command, mark
        finally:
            command.kill()


def marked(mark: str, name: str = "") -> list[int]:
    """Processes that bear it, and are called so."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark.encode() in (process / "environ").read_bytes() and name in (process / "cmdline").read_text():
                found.append(int(process.name))
    return found


def wait_until_gone(mark: str) -> None:
    """Until no process bears it."""
    wait_for(lambda: not marked(mark), lambda: f"the end of processes {marked(mark)}")


def interrupted(bench: str, first: str) -> Any:
    """What a bench over memif says when it is interrupted after it has said `first`; nothing of it runs on."""
    traffic = ("--kinds", "memif", "--links", "1", "--instruments", "2", "--rate", "500")
    with started("bench", bench, *traffic, "--seconds", "0.3", "--rounds", "1000", "--json") as (command, mark):
        assert command.stderr is not None
        while first not in command.stderr.readline():
            assert command.poll() is None
        wait_for(lambda: marked(mark, "ringmaster-"), "a program of the next round")
        command.send_signal(signal.SIGINT)
        said, words = command.communicate(timeout=PATIENCE_S)
        assert command.returncode == 0, words
        wait_until_gone(mark)
    section = json.loads(said.splitlines()[-1])
    assert section["interrupted"] is True
    return section
