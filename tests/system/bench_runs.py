# SPDX-License-Identifier: Apache-2.0
"""Benches as a person runs them: interrupted, ended, killed; and watched for what they leave behind.

All that a bench starts bears a mark in its environment, and makes its folders in one of its own: so it can be found,
whatever became of the bench.
"""

import json
import os
import signal
import subprocess
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from harness import TIMEOUT_S, command_line, wait_for

MARK = "RINGMASTER_TEST_MARK"


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


@contextmanager
def watched() -> Iterator[tuple[str, dict[str, str]]]:
    """A mark, and an environment for what shall bear it; waits for the end of all that does."""
    mark = uuid.uuid4().hex
    with tempfile.TemporaryDirectory(prefix="rm-") as folder:  # short, as names of sockets must be
        yield mark, {MARK: mark, "TMPDIR": folder}
        wait_until_gone(mark)


def check_folders_gone(environment: Mapping[str, str]) -> None:
    """Fails where a bench with that environment has left one."""
    assert not list(Path(environment["TMPDIR"]).glob("ringmaster-bench-*"))


@contextmanager
def started(*words: str | Path) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """A command that runs, and its mark. Nothing that runs may be left of it; and no folder, unless it was killed."""
    pipe = subprocess.PIPE
    with watched() as (mark, more):
        environment = os.environ | more
        with subprocess.Popen(command_line(*words), stdout=pipe, stderr=pipe, text=True, env=environment) as command:
            try:
                yield command, mark
            finally:
                command.kill()
        if command.returncode >= 0:
            check_folders_gone(more)


def wait_for_line(command: "subprocess.Popen[str]", words: str) -> None:
    """Until it has said them on stderr."""
    assert command.stderr is not None
    while (line := command.stderr.readline()) and words not in line:
        pass
    assert words in line


def interrupted(*words: str, after: str, number: signal.Signals = signal.SIGINT) -> dict[str, Any]:
    """The JSON of a bench that gets a signal once it has said something, and its next program runs; nothing is left."""
    with started("bench", *words, "--json") as (bench, mark):
        wait_for_line(bench, after)
        wait_for(lambda: marked(mark, "ringmaster-"), "a program of the next round")
        bench.send_signal(number)
        said, complaints = bench.communicate(timeout=TIMEOUT_S)
        assert bench.returncode == 0, complaints
        assert "Traceback" not in complaints
    section = json.loads(said.splitlines()[-1])
    assert section["interrupted"] is True
    return dict(section)


def windows(section: dict[str, Any]) -> list[dict[str, Any]]:
    """Of a bench that gave some."""
    found = section["data"]["windows"]
    assert found, section["notes"]
    return list(found)
