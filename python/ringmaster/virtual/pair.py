# SPDX-License-Identifier: Apache-2.0
"""A pair of servers on this host, with their applications, the processes of their link, and one virtual ring for both.

Each can be killed, stopped, let go on and started again, while the others run: that is what a pair is for.
"""

import json
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import RLock
from time import monotonic, sleep
from typing import Any

from ringmaster.errors import WorkspaceError
from ringmaster.fabric.layout import StandbyRole
from ringmaster.fabric.workspace import Workspace, attach
from ringmaster.programs.program import Program, ProgramFailed
from ringmaster.programs.remains import release_workspace
from ringmaster.standby.figures import StandbyFigures, read_standby
from ringmaster.standby.file import FileServer, read_pair

LOOKS_S = 0.02
TIMEOUT_S = 60.0
"""How long anything may take on a busy host before it is said to have failed."""
RUNNING = (StandbyRole.ACTIVE, StandbyRole.READY)
VIOLATIONS = ("two_masters", "two_instances", "over_limit", "over_slew", "divided")
"""What the judge of the virtual chains finds that must not be (instruments/chain_judge.h)."""


class PairServer:
    """One of the two: its server, the process of its link, and its applications that are processes of their own."""

    def __init__(self, file: FileServer, applications: Sequence[str] = ()) -> None:
        self.file = file
        self.name = file.name
        self.workspace = file.workspace
        self._applications = tuple(applications)
        self.server: Program | None = None
        self.link: Program | None = None
        self.others: list[Program] = []
        self._ws: Workspace | None = None
        self._looks = RLock()

    def __repr__(self) -> str:
        return f"<server {self.name} of a pair>"

    def start(self) -> None:
        """Starts what does not run: the server first, then what attaches to it."""
        if self.server is None:
            self.server = Program("ringmaster-server", "run", self.file.config)
            give_up = monotonic() + TIMEOUT_S
            while self.attached() is None:
                self.check()
                if monotonic() > give_up:
                    raise ProgramFailed(f"server {self.name} is not ready after {TIMEOUT_S:.0f} s: {self.words}")
                sleep(LOOKS_S)
        if self.link is None:
            self.link = Program("ringmaster-standby", self.file.config)
        if not self.others:
            self.others = [Program("ringmaster-application", self.file.config, one) for one in self._applications]

    @property
    def programs(self) -> list[Program]:
        """All that run."""
        return [one for one in (self.server, self.link, *self.others) if one is not None]

    def check(self) -> None:
        """Raises ProgramFailed where one has ended by itself."""
        for program in self.programs:
            program.check()

    @property
    def words(self) -> str:
        """What they have said."""
        return "\n".join(f"{one.name}: {one.words}" for one in self.programs)

    def kill(self) -> None:
        """All of it at once, as if its computer had lost its power."""
        for program in self.programs:
            program.kill()
        self._forget()

    def kill_server(self) -> None:
        """The server alone, by `kill -9`; its link and its applications go on."""
        assert self.server is not None
        self.server.kill()
        self.server.__exit__(None, None, None)
        self.server = None

    def stop(self) -> None:
        """Ends it in good order."""
        for program in reversed(self.programs):
            program.stop()
        self._forget()

    def freeze(self) -> None:
        """Stops all of it where it stands, by SIGSTOP."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Lets it go on."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        for program in self.programs:
            with suppress(ProcessLookupError):
                os.kill(program.pid, number)

    def _forget(self) -> None:
        for program in self.programs:
            program.__exit__(None, None, None)
        self.server = self.link = None
        self.others = []
        self.detach()

    def attached(self) -> Workspace | None:
        """Its workspace as it is now; None where its server does not live, or is stopped."""
        with self._looks:
            if self._ws is not None:
                with suppress(WorkspaceError):
                    self._ws.check()
                    if not self._ws.outdated:
                        return self._ws
            self.detach()
            with suppress(WorkspaceError):
                self._ws = attach(self.workspace)
            return self._ws

    def detach(self) -> None:
        """Lets go of the workspace."""
        with self._looks:
            if self._ws is not None:
                self._ws.close()
                self._ws = None

    def figures(self) -> StandbyFigures | None:
        """What it says of itself; None where it does not live, is stopped, or has not begun. From any thread."""
        with self._looks:
            ws = self.attached()
            return None if ws is None else read_standby(ws)

    @property
    def role(self) -> StandbyRole | None:
        """Now."""
        figures = self.figures()
        return None if figures is None else figures.role


class Pair:
    """Both servers and their ring. Made by ``start``."""

    def __init__(self, servers: tuple[PairServer, PairServer], ring: Program) -> None:
        self.a, self.b = servers
        self.servers = servers
        self.ring = ring

    @property
    def active(self) -> PairServer | None:
        """The one that says that it sends; None where none does. Of two that say so, that of the higher term."""
        found = [(figures.term, one) for one in self.servers if (figures := one.figures()) and figures.sends]
        return max(found, key=lambda pair: pair[0])[1] if found else None

    def other(self, server: PairServer) -> PairServer:
        """Its peer."""
        return self.b if server is self.a else self.a

    @property
    def whole(self) -> bool:
        """Whether one is active and the other one READY."""
        return sorted(filter(None, (one.role for one in self.servers))) == sorted(RUNNING)

    def check(self) -> None:
        """Raises ProgramFailed where a program has ended by itself."""
        self.ring.check()
        for server in self.servers:
            server.check()

    def wait(self, there: Callable[[], object], what: str, timeout_s: float = TIMEOUT_S) -> None:
        """Waits for a state. Raises ProgramFailed where it does not come, or a program has ended by itself."""
        give_up = monotonic() + timeout_s
        while not there():
            self.check()
            if monotonic() > give_up:
                raise ProgramFailed(f"waited {timeout_s:.0f} s in vain for {what}: {self.told()}")
            sleep(LOOKS_S)

    def wait_whole(self) -> PairServer:
        """Waits until one sends and the other is READY; returns the one that sends."""
        self.wait(lambda: self.whole, "one active server and one that is READY")
        active = self.active
        return self.wait_whole() if active is None else active

    def wait_active(self, server: PairServer) -> StandbyFigures:
        """Waits until this one sends."""
        self.wait(lambda: server.role == StandbyRole.ACTIVE, f"{server.name} to be active")
        figures = server.figures()
        return self.wait_active(server) if figures is None else figures

    def told(self) -> str:
        """What all say of themselves."""
        roles = "; ".join(f"{one.name}: {one.figures()}" for one in self.servers)
        return "\n".join([roles, *(one.words for one in self.servers), f"ring: {self.ring.words}"])

    def judged(self) -> dict[str, float]:
        """Ends the ring; returns what its chains' judge saw (instruments/chain_judge.h)."""
        return dict(self.stop_ring()["judge"])

    def stop_ring(self) -> dict[str, Any]:
        """Ends the ring; returns what it did."""
        self.ring.stop()
        summary = json.loads(self.ring.words.splitlines()[-1])
        assert isinstance(summary, dict)
        return summary


@contextmanager
def start(config: Path, overlay: Path, applications: Sequence[str] = ()) -> Iterator[Pair]:
    """Starts both servers of a file, then the ring, and ends them on leaving; ``applications`` are processes."""
    with ExitStack() as stack:
        servers = tuple(PairServer(one, applications) for one in read_pair(config))
        for server in servers:
            stack.callback(release_workspace, server.workspace)
            stack.callback(server.kill)
            server.start()
        ring = stack.enter_context(Program("ringmaster-instruments", "run", config, overlay, "--json"))
        yield Pair((servers[0], servers[1]), ring)
