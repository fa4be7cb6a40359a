# SPDX-License-Identifier: Apache-2.0
"""A gateway as its own process, an owner behind it, and clients that others wrote, all on loopback with own ports."""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from time import monotonic, sleep

import fabric
import numpy as np
from command import PACKAGE

from ringmaster import Limits
from ringmaster.fabric.layout import ElementType
from ringmaster.fabric.owner import Owner, Request

TIMEOUT_S = 120.0
"""How long anything may take on a busy machine."""
CLIENT_S = 60
"""How long a client waits for one answer: not the few seconds that are its default."""
PATIENT = f"""
from functools import partial
from p4p.client.thread import Context, RemoteError
context = Context("pva")
context.get, context.put = partial(context.get, timeout={CLIENT_S}), partial(context.put, timeout={CLIENT_S})
"""
"""How a program with p4p's client begins."""
TURN = 4711
LIMITS = Limits(control_low=-10, control_high=10, minor_high=8, major_high=9, display_low=-12, display_high=12)


def wait_for(there: Callable[[], object], what: str | Callable[[], str]) -> None:
    """Waits until it is true."""
    give_up = monotonic() + TIMEOUT_S
    while not there():
        assert monotonic() < give_up, f"waited in vain: {what if isinstance(what, str) else what()}"
        sleep(0.02)


def free_ports(count: int) -> list[int]:
    """Ports that are free for TCP and UDP."""
    found: list[int] = []
    with ExitStack() as stack:
        while len(found) < count:
            stream = stack.enter_context(socket.socket())
            stream.bind(("127.0.0.1", 0))
            port = int(stream.getsockname()[1])
            with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
                datagrams.bind(("127.0.0.1", port))
                found.append(port)
    return found


def ports() -> dict[str, str]:
    """EPICS' environment for a gateway and its clients, which no other program meets.

    Clients of PV Access search by TCP. Of processes on one host that share the port of searches, a datagram to
    127.0.0.1 reaches one alone: it may be a client, which is to pass it on, and one that is stopped never does.
    """
    pva, pva_udp, ca, repeater = map(str, free_ports(4))
    here = "127.0.0.1"
    return {
        "EPICS_PVAS_INTF_ADDR_LIST": here,
        "EPICS_PVAS_SERVER_PORT": pva,
        "EPICS_PVAS_BROADCAST_PORT": pva_udp,
        "EPICS_PVAS_BEACON_ADDR_LIST": here,
        "EPICS_PVAS_AUTO_BEACON_ADDR_LIST": "NO",
        "EPICS_PVA_NAME_SERVERS": f"{here}:{pva}",
        "EPICS_PVA_ADDR_LIST": "",
        "EPICS_PVA_AUTO_ADDR_LIST": "NO",
        "EPICS_PVA_BROADCAST_PORT": pva_udp,
        "EPICS_PVA_SERVER_PORT": pva,
        "EPICS_CAS_INTF_ADDR_LIST": here,
        "EPICS_CAS_BEACON_ADDR_LIST": here,
        "EPICS_CAS_AUTO_BEACON_ADDR_LIST": "NO",
        "EPICS_CA_SERVER_PORT": ca,
        "EPICS_CAS_BEACON_PORT": repeater,
        "EPICS_CA_REPEATER_PORT": repeater,
        "EPICS_CA_ADDR_LIST": here,
        "EPICS_CA_AUTO_ADDR_LIST": "NO",
    }


class Program:
    """A process whose lines are kept."""

    def __init__(self, command: list[str], environment: Mapping[str, str]) -> None:
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
        )
        self._thread = Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip())

    @property
    def text(self) -> str:
        """All that it has said."""
        return "\n".join(self.lines)

    def wait_for(self, words: str, since: int = 0) -> str:
        """Waits for a line with these words after so many others, and returns it."""

        def found() -> str | None:
            return next((line for line in self.lines[since:] if re.search(words, line)), None)

        def told() -> str:
            return f"{words!r} of {self.process.args!r}, which said:\n{self.text}"

        wait_for(lambda: found() or self.process.poll() is not None, told)
        line = found()
        assert line is not None, told()
        return line

    def end(self) -> int:
        """As a service manager ends it."""
        self.process.terminate()
        status = self.process.wait(TIMEOUT_S)
        self._thread.join()
        assert self.process.stdout is not None
        self.process.stdout.close()
        return status


@contextmanager
def program(command: list[str], environment: Mapping[str, str]) -> Iterator[Program]:
    """Runs it meanwhile."""
    running = Program(command, environment)
    try:
        yield running
    finally:
        running.end()


@dataclass
class Bump:
    """An owner in a thread: a bump whose rate cannot be set while it is 13."""

    path: Path
    asked: list[Request] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._over, ready = Event(), Event()
        self._thread = Thread(target=self._serve, args=(ready,))
        self._thread.start()
        assert ready.wait(TIMEOUT_S)

    def _serve(self, ready: Event) -> None:
        owner = Owner("bump", str(self.path))
        self.current = owner.parameter("bump/current", 2.0, "A", "where it shall go", limits=LIMITS, writable=True)
        rate = owner.parameter("bump/rate", 5.0, "A/s", writable=True)
        self.actual = owner.parameter("bump/actual", 0.0, "A", limits=LIMITS)
        owner.parameter("bump/mode", 1, writable=True)
        owner.parameter("bump/weights", np.arange(8.0), "1", writable=True)
        owner.parameter("bump/comment", "fine", writable=True, room=64)
        owner.parameter("bump/counts", np.zeros(3, "u8"), writable=True)

        def judge(request: Request) -> str | None:
            return "not at 13" if request.parameter == rate.name and rate.number == 13 else None

        with owner:
            ready.set()
            while not self._over.is_set():
                self.asked += owner.serve(timeout=0.02, judge=judge, turn=TURN)

    def end(self) -> None:
        """It closes in good order."""
        self._over.set()
        self._thread.join()


@dataclass
class Scene:
    """All of it."""

    path: Path
    environment: dict[str, str]
    gateway: Program
    server: fabric.Owner
    bump: Bump

    def client(self, *command: str, expect: int = 0) -> str:
        """What a client says to its end."""
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=self.environment, timeout=TIMEOUT_S
        )
        told = f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}\n{self.gateway.text}"
        assert done.returncode == expect, told
        return done.stdout + done.stderr

    def pvget(self, *names: str) -> str:
        """By p4p's command line, with all fields."""
        return self.client(sys.executable, "-m", "p4p.client.cli", "-w", str(CLIENT_S), "--raw", "get", *names)

    def caproto(self, tool: str, *arguments: str) -> str:
        """By caproto's command line: get, put, monitor."""
        return self.client(tool_of(tool), "--no-repeater", "--timeout", str(CLIENT_S), *arguments)

    def python(self, code: str) -> str:
        """By a program in Python, with p4p's client as `context`."""
        return self.client(sys.executable, "-c", PATIENT + code)


def tool_of(tool: str) -> str:
    """Where caproto-get and its like are."""
    return str(Path(sys.executable).with_name(f"caproto-{tool}"))


def server_of(path: Path) -> fabric.Owner:
    """The server of the workspace, which has a reading and two BPMs."""
    rate = fabric.parameter("server/turn_rate_hz", np.array([1000.0]), "Hz", ElementType.F64)
    streams = [fabric.stream(f"{bpm}/turn", capacity=4096) for bpm in ("bpm01", "bpm02")]
    return fabric.Owner(path, [rate, *streams])


@contextmanager
def scene(
    folder: Path,
    settings: str,
    protocol: tuple[str, ...] = ("epics",),
    ready: str = "PVs of demo",
    before: str = "",
) -> Iterator[Scene]:
    """A server's memory, an owner, and a gateway whose file has these settings, with the words that it begins with.

    ``before`` it begins this code runs.
    """
    path = folder / "demo"
    file = folder / "gateway.yaml"
    file.write_text(settings)
    environment = os.environ | {"PYTHONPATH": str(PACKAGE), "RINGMASTER_WORKSPACES": str(folder)} | ports()
    server = server_of(path)
    bump = Bump(path)
    begin = ["-c", f"{before}\nfrom ringmaster.cli.main import main\nmain()"] if before else ["-m", "ringmaster"]
    command = [sys.executable, *begin, "gateway", *protocol, str(file)]
    try:
        with program(command, environment) as gateway:
            made = Scene(path, environment, gateway, server, bump)
            gateway.wait_for(ready)
            yield made
            assert gateway.process.poll() is None, gateway.text
    finally:
        bump.end()
        server.die()
