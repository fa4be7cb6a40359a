# SPDX-License-Identifier: Apache-2.0
"""Benches as a person runs them: interrupted, and watched for what they leave behind."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

from harness import PATIENCE_S, command_line, wait_for

OURS = ("pace", "catch", "veth-pair", "server", "instruments")
MARK = "RINGMASTER_TEST_OWNER"
"""In the environment of all that a test starts."""


def below(parent: int) -> list[str]:
    """Our programs with the mark of this process that run."""
    running = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace").split("\0")
            environment = (path.parent / "environ").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if Path(words[0]).name.removeprefix("ringmaster-") in OURS and f"{MARK}={parent}" in environment.split("\0"):
            running.append(words[0])
    return running


def check_nothing_left() -> None:
    """Waits until all that this process has marked by MARK has ended, or fails."""
    wait_for(lambda: not below(os.getpid()), lambda: f"the end of {below(os.getpid())}")


def windows(section: dict[str, Any]) -> list[dict[str, Any]]:
    found = section["data"]["windows"]
    assert found, section["notes"]
    return list(found)


def interrupted(*words: str, after: str) -> dict[str, Any]:
    """Runs a bench, sends Ctrl-C once it has said something, and gives its JSON."""
    command = command_line("bench", *words, "--json")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as bench:
        assert bench.stderr is not None
        while (line := bench.stderr.readline()) and after not in line:
            pass
        assert after in line
        bench.send_signal(signal.SIGINT)
        said, complaints = bench.communicate(timeout=PATIENCE_S)
    assert "Traceback" not in complaints
    return dict(json.loads(said.splitlines()[-1]))
