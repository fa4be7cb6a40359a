# SPDX-License-Identifier: Apache-2.0
"""Programs that run beside us."""

import os
import select
import subprocess
import sys
from pathlib import Path
from time import sleep

import pytest

from ringmaster.programs.program import Program

STARTS_ONE = """
import time
from ringmaster.programs.program import Program
sleeper = Program("sleep", "1000")
print(sleeper.pid, flush=True)
time.sleep(1000)
"""


def test_one_ends_when_who_started_it_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", STARTS_ONE], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        child = os.pidfd_open(pid)
        while Path(f"/proc/{pid}/comm").read_text() != "sleep\n":  # until then nobody has asked for its end
            sleep(0.01)
        parent.kill()
    select.select([child], [], [])  # what never ends is ended by the test's own time-out
    os.close(child)


INTERRUPTED = """
import time
try:
    print("runs", flush=True)
    time.sleep(1000)
except KeyboardInterrupt:
    print("was interrupted", flush=True)
"""
STOPS_ONE = """
import signal, sys, time
from ringmaster.programs.program import Program
signal.signal(signal.SIGINT, signal.SIG_IGN)
with Program(sys.executable, "-c", sys.argv[1]) as program:
    while program.words != "runs":
        time.sleep(0.01)
    program.stop()
    print(program.words)
"""


def test_one_is_stopped_by_a_process_of_the_background_too() -> None:
    done = subprocess.run([sys.executable, "-c", STOPS_ONE, INTERRUPTED], capture_output=True, text=True, check=True)
    assert done.stdout == "runs\nwas interrupted\n"


def test_one_that_there_is_not_is_named() -> None:
    with pytest.raises(FileNotFoundError, match="no-such-program"):
        Program("no-such-program")
