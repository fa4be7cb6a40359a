# SPDX-License-Identifier: Apache-2.0
"""The command line by its words: in the test's own process, or in one of its own where that is what is tested."""

import os
import subprocess
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from click.testing import CliRunner

from ringmaster.cli.main import main

PACKAGE = Path(__file__).parents[1]


@dataclass(frozen=True)
class Done:
    """What it said to its end."""

    stdout: str
    stderr: str


def ringmaster(*arguments: str, expect: int = 0) -> Done:
    """Runs the command line to its end, here: who starts Python and imports NumPy for each of its words waits long.

    Not for commands in whose place a C program runs: it would take over the test's process.
    """
    with (
        CliRunner().isolation() as (stdout, stderr, _),
        patch.object(sys, "argv", ["ringmaster", *arguments]),
        warnings.catch_warnings(),
    ):
        try:
            main()
        except SystemExit as end:
            status = end.code
        sys.stderr.flush()
        said = Done(*(stream.getvalue().decode() for stream in (stdout, stderr)))
    assert status == expect, said.stderr
    return said


def in_a_process(*arguments: str, expect: int = 0, **environment: str) -> "subprocess.CompletedProcess[str]":
    """The same as a person does it, with more environment."""
    done = subprocess.run(
        [sys.executable, "-m", "ringmaster", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(PACKAGE)} | environment,
    )
    assert done.returncode == expect, done.stderr
    return done
