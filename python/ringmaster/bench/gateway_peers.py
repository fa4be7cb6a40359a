# SPDX-License-Identifier: Apache-2.0
"""What the parts of `ringmaster bench gateway` run beside themselves: programs that end with them, on loopback."""

import os
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from time import monotonic, sleep

from ringmaster.bench.log import NotMeasured

START_S = 180.0
HERE = "127.0.0.1"
GATEWAY = "gateway"
"""The peer that is ours."""


def missing(*packages: str) -> str:
    """What is not installed, and what installs it; empty where all are."""
    absent = [name for name in packages if find_spec(name) is None]
    return f"{', '.join(absent)} not installed: `make gateways` installs them" if absent else ""


def free_ports(*kinds: socket.SocketKind) -> list[int]:
    """A free port for each kind of socket."""
    with ExitStack() as stack:
        held = [stack.enter_context(socket.socket(socket.AF_INET, kind)) for kind in kinds]
        for each in held:
            each.bind((HERE, 0))
        return [int(each.getsockname()[1]) for each in held]


def loopback() -> dict[str, str]:
    """EPICS' variables for a server and its client that no other program meets, and whose threads are ordinary ones:
    root's would be real-time threads in one peer, and half of them in the other.
    """
    pva, search, ca = map(str, free_ports(socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_STREAM))
    server = {"INTF_ADDR_LIST": HERE, "BEACON_ADDR_LIST": HERE, "AUTO_BEACON_ADDR_LIST": "NO"}
    ports = {"SERVER_PORT": pva, "BROADCAST_PORT": search}
    return {
        "EPICS_ALLOW_POSIX_THREAD_PRIORITY_SCHEDULING": "NO",
        **{f"EPICS_{kind}_{name}": value for kind in ("PVAS", "CAS") for name, value in server.items()},
        **{f"EPICS_{kind}_{name}": value for kind in ("PVAS", "PVA") for name, value in ports.items()},
        "EPICS_PVA_ADDR_LIST": HERE,
        "EPICS_PVA_AUTO_ADDR_LIST": "NO",
        "EPICS_CA_SERVER_PORT": ca,
    }


def cpu_s(pid: int) -> float:
    """Time that a process has had of all cores; 0 where it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def running(command: Sequence[str], environment: Mapping[str, str], ready: str, log: Path) -> Iterator[int]:
    """A program that ends with us; it is there when its log says so. It tells each put: a pipe would fill."""
    with (
        log.open("w") as told,
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=told,
            stderr=subprocess.STDOUT,
            env=os.environ | dict(environment),
        ) as process,
    ):
        try:
            give_up = monotonic() + START_S
            while ready not in log.read_text():
                if process.poll() is not None or monotonic() > give_up:
                    raise NotMeasured(f"{command[2]} did not start: {log.read_text().strip()[-200:]}")
                sleep(0.05)
            yield process.pid
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(START_S)
            process.kill()
