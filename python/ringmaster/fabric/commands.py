# SPDX-License-Identifier: Apache-2.0
"""What a running server can be told in lines of words: a generator's traffic, a router's routes, roles' cores.

    with Commands(workspace.path) as commands:
        commands.run("set 0 rate 99")
        for line in commands.run("route show"):
            print(line)

The socket, and what goes over it, is described in src/commands/command_server.h.
"""

import os
import socket
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Self

from ringmaster.errors import WorkspaceAbsent, WorkspaceDead

SOCKET = "commands"
"""Its name in the workspace's folder."""
AT_ONCE = 64
"""Lines that are said before their answers are read: a server waits for no client that does not read."""
LINE_BYTES = 1023
"""That a line may have, as in src/commands/command.h; a server hangs up on a client that says more."""


def batched(lines: Iterable[str], size: int) -> Iterator[list[str]]:
    """So many at a time; the last ones may be fewer."""
    rest = iter(lines)
    while some := list(islice(rest, size)):
        yield some


class CommandRefused(RuntimeError):
    """The server refused a command; its words say why, and what it expected."""


def _as_bytes(line: str) -> bytes:
    """A line as it is said. Raises CommandRefused for what a server would hang up on."""
    told = line.encode(errors="surrogateescape")
    if len(told) > LINE_BYTES or 0 in told:
        raise CommandRefused(f"a line of {len(told)} bytes, expected text of at most {LINE_BYTES}")
    return told + b"\n"


class Commands:
    """A connection to one server. One thread's."""

    def __init__(self, workspace: Path) -> None:
        """Connects. Raises WorkspaceAbsent where no server takes commands."""
        try:
            folder = os.open(workspace, os.O_PATH | os.O_DIRECTORY)
        except OSError as error:
            raise WorkspaceAbsent(f"{workspace}: {error.strerror}, expected the folder of a workspace") from None
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.connect(f"/proc/self/fd/{folder}/{SOCKET}")  # however long the folder's path is
        except OSError as error:
            self._socket.close()
            raise WorkspaceAbsent(f"{workspace / SOCKET}: {error.strerror}: no server takes commands there") from None
        finally:
            os.close(folder)
        self._lines = self._socket.makefile("r", encoding="utf-8", errors="replace")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection; what was told stays."""
        self._lines.close()
        self._socket.close()

    def run(self, line: str) -> list[str]:
        """Says one line, and returns the lines of the answer. Raises CommandRefused where it is refused."""
        if "\n" in line:
            raise CommandRefused(f"{line!r} has more than one line, expected one command")
        told = _as_bytes(line)
        try:
            self._socket.sendall(told)
        except OSError as error:
            raise WorkspaceDead(f"the server has ended: {error.strerror}") from None
        return self._answer()

    def run_all(self, lines: Iterable[str]) -> None:
        """Says many lines, some at once, whose answers do not matter. Raises CommandRefused at the first that is
        refused; up to AT_ONCE after it were said too.
        """
        for some in batched(lines, AT_ONCE):
            told = b"".join(map(_as_bytes, some))
            try:
                self._socket.sendall(told)
            except OSError as error:
                raise WorkspaceDead(f"the server has ended: {error.strerror}") from None
            for _ in some:
                self._answer()

    def complete(self, text: str) -> list[str]:
        """The words that may come next; arguments in capitals. The last word of `text` may be half."""
        return self.run(f"complete {text}")

    def _answer(self) -> list[str]:
        answer: list[str] = []
        for told in self._lines:
            if told.startswith(" "):
                answer.append(told[1:].rstrip("\n"))
            elif told == "ok\n":
                return answer
            else:
                raise CommandRefused(told.removeprefix("error: ").rstrip("\n"))
        raise WorkspaceDead("the server has ended before it answered")
