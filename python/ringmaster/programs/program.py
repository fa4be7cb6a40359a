# SPDX-License-Identifier: Apache-2.0
"""A program that runs beside us until it is stopped, and the workspace that it makes."""

import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from types import FrameType, TracebackType
from typing import Self

from ringmaster.errors import WorkspaceError
from ringmaster.fabric.commands import Commands
from ringmaster.fabric.workspace import Workspace, attach
from ringmaster.places import find_program

START_S = 60.0
STOP_S = 10.0
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)


class ProgramFailed(RuntimeError):
    """A program ended before it should have; the text is what it said last."""


@contextmanager
def _signals_later() -> Iterator[None]:
    """What Python would do on a signal that ends or hurries us, it does at the end of this."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    found = {number: signal.getsignal(number) for number in ENDING_SIGNALS}
    handlers = {number: handler for number, handler in found.items() if callable(handler)}
    for number in handlers:
        signal.signal(number, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for sent, frame in came:
            handlers[signal.Signals(sent)](sent, frame)


def _ends_with_us(program: str) -> tuple[str, ...]:
    """Words before a command that is to be ended when this process is killed, and can stop nothing itself.

    The kernel watches the thread that starts it, so another thread than the main one, which may end long before the
    process, starts what it starts without.
    """
    if threading.current_thread() is not threading.main_thread() or not all(map(shutil.which, ("setpriv", program))):
        return ()
    return ("setpriv", "--pdeathsig", "TERM")


def _hears_us(program: str) -> tuple[str, ...]:
    """Words before a command that shall hear our SIGINT although this process is deaf to it.

    A shell starts so what it puts into the background. Programs inherit that, and those in Python then raise no
    KeyboardInterrupt.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN or not all(map(shutil.which, ("env", program))):
        return ()
    return ("env", "--default-signal=INT")


class Program:
    """A program, ours or a peer's, that runs until it is stopped; its words are kept in a file.

    A context manager: leaving it ends the program, by SIGINT and, should that not help, by SIGKILL.
    """

    def __init__(self, name: str, *arguments: str | Path, prefix: Sequence[str] = ()) -> None:
        self.name = name
        path = find_program(name) if name.startswith("ringmaster-") else name
        command = [*prefix, path, *map(str, arguments)]
        with _signals_later():  # an interrupt within Popen would leave a child that nobody knows
            self._words = tempfile.TemporaryFile(mode="w+b")  # noqa: SIM115 closed by __exit__
            self._process = subprocess.Popen(
                [*_ends_with_us(command[0]), *_hears_us(command[0]), *command],
                stdin=subprocess.DEVNULL,
                stdout=self._words,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def __del__(self) -> None:
        """Ends what an interrupt kept from being entered."""
        if hasattr(self, "_process") and self.running:
            self.kill()
        if hasattr(self, "_words"):
            self._words.close()

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    @property
    def words(self) -> str:
        """What it has printed so far, standard output and standard error."""
        self._words.seek(0)
        return self._words.read().decode(errors="replace").strip()

    def check(self) -> None:
        """Raises ProgramFailed when it has ended."""
        if not self.running:
            raise ProgramFailed(f"{self.name} ended with status {self._process.returncode}: {self.words}")

    def wait(self, timeout_s: float) -> int:
        """Waits for its own end; returns its exit status."""
        return self._process.wait(timeout_s)

    def stop(self) -> int:
        """Ends it in good order; returns its exit status."""
        if self.running:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self.kill()
            except KeyboardInterrupt:  # who asks twice does not want to wait, nor to find it running
                self.kill()
                raise
        return self._process.returncode

    def kill(self) -> None:
        """Ends it at once."""
        self._process.kill()
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:  # an interrupt within an earlier wait has left Popen's own lock taken
            with suppress(ChildProcessError):
                os.waitpid(self.pid, 0)
            self._process.returncode = -signal.SIGKILL

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self._words.close()


def attach_to(workspace: str, server: Program, owners: Sequence[str] = ("server",)) -> Workspace:
    """Attaches as soon as the server that was just started is ready and all ``owners`` have their segments."""
    deadline = monotonic() + START_S
    while True:
        server.check()
        try:
            ws = attach(workspace)
            if all(owner in ws.segments and ws.segments[owner].alive for owner in owners):
                return ws
            ws.close()
        except WorkspaceError:
            pass
        if monotonic() > deadline:
            raise ProgramFailed(f"{server.name} is not ready after {START_S:.0f} s: {server.words}")
        sleep(0.02)


def commands_of(ws: Workspace, server: Program) -> Commands:
    """Connects as soon as the server, which has just been attached to, takes commands."""
    deadline = monotonic() + START_S
    while True:
        server.check()
        try:
            return Commands(ws.path)
        except WorkspaceError as error:
            if monotonic() > deadline:
                raise ProgramFailed(f"{server.name}: {error}") from error
        sleep(0.02)
