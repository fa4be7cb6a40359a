# SPDX-License-Identifier: Apache-2.0
"""`ringmaster demo --pair`: two servers, one machine, and a key that kills the one that sends."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from time import sleep
from typing import TYPE_CHECKING

from ringmaster.cli.options import print_json

if TYPE_CHECKING:
    from ringmaster.virtual.pair import PairServer
    from ringmaster.virtual.pair_loop import PairLoop

KILL_KEY, KILL_WORDS = "k", "kill the server that sends"
AWAY_S = 3.0
"""How long a killed server is away, so that a person sees it."""


def demonstrate_pair(live: bool, say: Callable[[str], None]) -> None:
    """On a terminal live until `q`; else by itself, to its end, with a line of JSON."""
    from ringmaster.virtual import pair_loop

    with pair_loop.start(say) as loop:
        if live:
            _show(loop)
        else:
            _by_itself(loop, say)


def _by_itself(loop: "PairLoop", say: Callable[[str], None]) -> None:
    from ringmaster.demo.pair import demonstrate

    report = demonstrate(loop, say)
    for fault in report.faults:
        say(f"wrong: {fault}")
    print_json({"pair": report.as_json()})
    if report.faults:
        sys.exit(1)


class Killer:
    """Kills the server that sends, and starts it again after a while; one at a time."""

    def __init__(self, loop: "PairLoop") -> None:
        """Make it before this process lowers its own priority, and keeps off the servers' cores: what its thread starts
        inherits both of the thread.
        """
        self._loop = loop
        self._busy = Lock()
        self._trouble = ""
        self._cores = os.sched_getaffinity(0)
        self._killed: SimpleQueue[PairServer] = SimpleQueue()
        Thread(target=self._restart, daemon=True).start()

    def __call__(self) -> str:
        """Returns what happened, for the screen."""
        if self._trouble:
            return self._trouble
        server = self._loop.pair.active
        if server is None or not self._busy.acquire(blocking=False):
            return "one server is down just now: wait until it has joined"
        assert server.server is not None
        words = f"kill -9 {server.server.pid}: server {server.name}, which was sending, is gone"
        server.kill()
        self._killed.put(server)
        return f"{words}; it is started again in {AWAY_S:.0f} s"

    def _restart(self) -> None:
        while True:
            server = self._killed.get()
            sleep(AWAY_S)
            os.sched_setaffinity(0, self._cores)  # of this thread: the page has taken all of them off
            try:
                server.start()
            except (OSError, RuntimeError) as error:
                self._trouble = f"server {server.name} did not start again: {' '.join(str(error).split())}"
            finally:
                self._busy.release()

    def end(self) -> None:
        """Waits until nothing is being started any more."""
        with self._busy:
            return


def _show(loop: "PairLoop") -> None:
    from ringmaster.cli.console import Console
    from ringmaster.fabric.workspace import attach
    from ringmaster.virtual import loop as virtual_loop

    _close(loop)
    killer = Killer(loop)
    rate_hz = virtual_loop.stable_rate_hz() or virtual_loop.STABLE_HZ

    def shown() -> Path | None:
        server = loop.pair.active
        ws = None if server is None else server.attached()
        return None if ws is None else ws.path

    _, ws = loop.active()
    console = Console(attach(str(ws.path)), page="standby", rate_hz=rate_hz)
    console.follow(shown)
    console.add_key(KILL_KEY, KILL_WORDS, killer)
    console.run()
    killer.end()
    if console.return_code:
        raise SystemExit(console.return_code)


def _close(loop: "PairLoop") -> None:
    from ringmaster.demo.pair import close

    close(loop)
