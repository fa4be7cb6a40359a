# SPDX-License-Identifier: Apache-2.0
"""Programs in a terminal multiplexer, by what the screen shows."""

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep

import pytest
from harness import TIMEOUT_S

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="NO TMUX HERE: what terminals show is not tested")


class Terminal:
    """A terminal of a multiplexer of its own, with a program in it."""

    def __init__(self, socket: Path, size: tuple[int, int], command: Sequence[str], **environment: str) -> None:
        self._tmux = ["tmux", "-S", str(socket), "-f", "/dev/null"]
        self.size = size
        settings = [f"{name}={value}" for name, value in environment.items()]
        program = ["env", "-u", "COLUMNS", "-u", "LINES", "-u", "NO_COLOR", *settings, *command]
        started = self.do("new-session", "-d", "-x", str(size[0]), "-y", str(size[1]), *program)
        assert started.returncode == 0, started.stderr

    def do(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """A command of the multiplexer."""
        return subprocess.run([*self._tmux, *words], capture_output=True, text=True, check=False, timeout=TIMEOUT_S)

    def press(self, *keys: str) -> None:
        """Presses keys, as the multiplexer names them."""
        for key in keys:
            self.do("send-keys", key)

    @property
    def screen(self) -> str:
        """What it shows."""
        return self.do("capture-pane", "-p").stdout

    @property
    def escapes(self) -> set[str]:
        """The attributes that it shows, as numbers of the terminal's language."""
        return set(re.findall(r"\x1b\[([0-9;]*)m", self.do("capture-pane", "-p", "-e").stdout))

    @property
    def pid(self) -> int:
        """Of the program."""
        return int(self.do("list-panes", "-F", "#{pane_pid}").stdout)

    @property
    def ended(self) -> bool:
        """Whether the program has."""
        return self.do("has-session").returncode != 0

    def stands_still(self, seconds: float) -> bool:
        """Whether the screen is the same after so long."""
        before = self.screen
        sleep(seconds)
        return self.screen == before

    def until(self, *words: str) -> str:
        """Waits until all of them are on the screen, and returns it."""
        give_up = monotonic() + TIMEOUT_S
        while not all(word in (screen := self.screen) for word in words):
            missing = [word for word in words if word not in screen]
            assert monotonic() < give_up, f"waited {TIMEOUT_S:.0f} s in vain for {missing}:\n{screen}"
            sleep(0.05)
        return screen


@contextmanager
def shown(size: tuple[int, int], command: Sequence[str], **environment: str) -> Iterator[Terminal]:
    """A program in a terminal."""
    with TemporaryDirectory(prefix="ringmaster-test-") as directory:
        there = Terminal(Path(directory) / "tmux", size, command, **environment)
        try:
            yield there
        finally:
            there.do("kill-server")
