# SPDX-License-Identifier: Apache-2.0
"""Lines of words to a server, and its answers: against a socket that answers as a server does."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from ringmaster.errors import WorkspaceAbsent
from ringmaster.fabric.commands import AT_ONCE, SOCKET, CommandRefused, Commands, batched


@contextmanager
def server(folder: Path) -> Iterator[list[str]]:
    """Answers each line: "no…" is refused, "show" is two lines. Gives the lines that came."""
    came: list[str] = []
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.bind(str(folder / SOCKET))
    listening.listen()

    def serve() -> None:
        client, _ = listening.accept()
        gone = suppress(BrokenPipeError, ConnectionResetError)  # a client that was refused reads no more
        with client, client.makefile("r", encoding="utf-8", errors="replace") as lines, gone:
            for line in lines:
                came.append(line.rstrip("\n"))
                answer = {"show\n": " one\n two\nok\n"}.get(line, "ok\n")
                client.sendall(("error: no such word\n" if line.startswith("no") else answer).encode())

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield came
    finally:
        thread.join()
        listening.close()


def test_a_line_is_answered_or_refused(tmp_path: Path) -> None:
    with server(tmp_path), Commands(tmp_path) as commands:
        assert commands.run("show") == ["one", "two"]
        with pytest.raises(CommandRefused, match="no such word"):
            commands.run("nonsense")
        assert commands.run("start") == []


def test_many_lines_are_said_in_order(tmp_path: Path) -> None:
    lines = [f"route add {number}" for number in range(3 * AT_ONCE + 5)]
    with server(tmp_path) as came, Commands(tmp_path) as commands:
        commands.run_all(lines)
    assert came == lines


def test_many_lines_end_where_one_is_refused(tmp_path: Path) -> None:
    lines = ["set"] * AT_ONCE + ["no"] + ["set"] * 5 * AT_ONCE
    with server(tmp_path) as came, Commands(tmp_path) as commands, pytest.raises(CommandRefused):
        commands.run_all(lines)
    assert AT_ONCE < len(came) <= 2 * AT_ONCE


def test_lines_come_in_batches() -> None:
    assert list(batched(["a", "b", "c"], 2)) == [["a", "b"], ["c"]]
    assert list(batched([], 2)) == []


def test_no_server_takes_commands(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceAbsent, match="no server takes commands"):
        Commands(tmp_path)


def test_what_a_server_would_hang_up_on_is_not_said(tmp_path: Path) -> None:
    with server(tmp_path) as came, Commands(tmp_path) as commands:
        for line in ("x" * 1024, "é" * 512, "a\0b"):
            with pytest.raises(CommandRefused, match="expected text of at most 1023"):
                commands.run(line)
        commands.run("x" * 1023)
        commands.run("\udcff")  # what Python makes of a byte that is no text
    assert len(came) == 2
