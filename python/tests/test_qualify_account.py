# SPDX-License-Identifier: Apache-2.0
"""Programs at the ends of a wire, as little shell scripts play them."""

import gc
import os
import signal
from pathlib import Path
from types import FrameType

import pytest

from ringmaster.bench.account import account, check, complaint, wait_until_ready
from ringmaster.programs.program import Program, ProgramFailed

READY = """echo '{"ready": true}'"""
NO_ROOM = "echo 'wire: no room' >&2"


def script(text: str) -> Program:
    return Program("sh", "-c", text)


def test_an_account_is_the_last_object_whatever_is_reported_around_it() -> None:
    with script(f"""echo 'EAL: hello'; {READY}; echo '{{"sent": 3}}'; echo 'EAL: bye'""") as program:
        wait_until_ready(program)
        program.wait(10.0)
        check(program)
        assert account(program) == {"sent": 3}
        assert complaint(program) == "EAL: hello; EAL: bye"


def test_a_program_that_runs_is_ended_for_its_account() -> None:
    with script(f"""trap 'echo "{{\\"sent\\": 4}}"; exit 0' INT; {READY}; while :; do sleep 0.02; done""") as program:
        wait_until_ready(program)
        check(program)
        assert account(program) == {"sent": 4}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"{READY}; {NO_ROOM}; exit 3", "sh ended with status 3: wire: no room"),
        ("""echo '{"sent": 1}'; exit 1""", "sh ended with status 1: it said nothing"),
        (READY, "sh ended with status 0: it said nothing"),
        ("""echo '{"sent":'""", "sh ended with status 0"),
    ],
)
def test_no_account_is_an_error_with_what_was_reported(text: str, says: str) -> None:
    with script(text) as program:
        program.wait(10.0)
        with pytest.raises(ProgramFailed, match=says):
            account(program)


def test_a_program_that_ends_before_it_is_ready_is_an_error() -> None:
    with script(f"{NO_ROOM}; exit 1") as program:
        with pytest.raises(ProgramFailed, match="sh ended with status 1: wire: no room"):
            wait_until_ready(program)
        with pytest.raises(ProgramFailed, match="no room"):
            check(program)


def test_who_asks_twice_leaves_nothing_that_runs() -> None:
    """The second Ctrl-C comes while a program takes its time to end."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    handler = signal.signal(signal.SIGALRM, interrupt)
    try:
        with script(f"trap '' INT; {READY}; while :; do sleep 0.02; done") as program:
            wait_until_ready(program)
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(KeyboardInterrupt):
                program.stop()
            assert not program.running
    finally:
        signal.signal(signal.SIGALRM, handler)


@pytest.mark.parametrize("delay_s", [1e-6, 1e-4, 3e-4, 1e-3, 2e-3, 4e-3])
def test_an_interrupt_at_any_moment_of_a_start_leaves_nothing_that_runs(delay_s: float) -> None:
    """As Ctrl-C does that comes while a program is being started."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    mark = f"sleep 98.{os.getpid()}"

    def start(interrupted_after_s: float) -> None:
        signal.setitimer(signal.ITIMER_REAL, interrupted_after_s)
        with script(f"exec {mark}") as program:
            program.wait(10.0)

    handler = signal.signal(signal.SIGALRM, interrupt)
    try:
        for _ in range(5):
            with pytest.raises(KeyboardInterrupt):
                start(delay_s)
            gc.collect(1)  # what the start made is young
            assert not [path for path in Path("/proc").glob("[0-9]*/cmdline") if mark in said_by(path)]
    finally:
        signal.signal(signal.SIGALRM, handler)


def test_a_program_is_ended_although_a_wait_was_interrupted_within_its_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt between two instructions of subprocess leaves the lock of a process taken for ever."""
    monkeypatch.setattr("ringmaster.programs.program.STOP_S", 0.1)
    with script("exec sleep 98") as program:
        program._process._waitpid_lock.acquire()  # type: ignore[attr-defined]
        program.kill()
        assert not program.running


def said_by(path: Path) -> str:
    """The words of a process's command line; none of one that has ended."""
    try:
        return path.read_text().replace("\0", " ")
    except OSError:
        return ""
