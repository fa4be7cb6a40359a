# SPDX-License-Identifier: Apache-2.0
"""Hosts that are network namespaces of the kernel, links between them, and what people run over a network."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from harness import TIMEOUT_S, wait_for

CHECKSUMS_OFF = (
    "import array, fcntl, socket, struct, sys\n"
    "off = array.array('B', struct.pack('II', 0x17, 0))\n"  # ETHTOOL_STXCSUM
    "request = struct.pack('16sP', sys.argv[1].encode(), off.buffer_info()[0])\n"
    "with socket.socket() as any_socket:\n"
    "    fcntl.ioctl(any_socket, 0x8946, request)\n"  # SIOCETHTOOL
)
"""A virtual link has no hardware that would fill in a checksum that the kernel left out."""


@dataclass(frozen=True)
class Host:
    """A network namespace."""

    name: str
    pid: int
    """Of the process that holds it."""

    @property
    def enter(self) -> list[str]:
        """Put before a command, runs it there."""
        return ["nsenter", f"--net=/proc/{self.pid}/ns/net"]

    def run(self, line: str, expect: int | None = 0) -> str:
        """Runs a line of shell there; returns what it printed. ``expect=None``: it may fail."""
        command = [*self.enter, "sh", "-c", line]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
        assert expect is None or done.returncode == expect, f"{self.name}: {line}: {done.stdout}{done.stderr}"
        return done.stdout

    def python(self, code: str, *words: str) -> str:
        """Runs Python there; returns what it printed."""
        command = [*self.enter, sys.executable, "-c", code, *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
        assert done.returncode == 0, f"{self.name}: {done.stderr}"
        return done.stdout

    def start(self, line: str) -> "subprocess.Popen[str]":
        """Starts a line of shell there; `exec` it, so that it ends when it is told to."""
        return subprocess.Popen([*self.enter, "sh", "-c", f"exec {line}"], stdout=subprocess.PIPE, text=True)


@contextmanager
def running(host: Host, line: str) -> Iterator["subprocess.Popen[str]"]:
    """A program that runs there meanwhile."""
    with host.start(line) as process:
        try:
            yield process
        finally:
            process.terminate()


@contextmanager
def host(name: str) -> Iterator[Host]:
    """A new namespace; skips where none can be made."""
    with subprocess.Popen(["unshare", "--net", "sleep", "3600"], stderr=subprocess.PIPE, text=True) as holder:
        own = Path("/proc/self/ns/net").readlink()

        def made() -> bool:
            if holder.poll() is not None:
                assert holder.stderr is not None
                pytest.skip(f"NO NETWORK NAMESPACES HERE, so no router is tested: {holder.stderr.read().strip()}")
            return Path(f"/proc/{holder.pid}/ns/net").readlink() != own

        try:
            wait_for(made, "a namespace")
            there = Host(name, holder.pid)
            there.run("ip link set lo up")
            yield there
        finally:
            holder.terminate()


def link(one: Host, its: str, other: Host, others: str) -> None:
    """A cable between two hosts, and the names of its ends there."""
    ends = ["netns", str(one.pid), "type", "veth", "peer", "name", others, "netns", str(other.pid)]
    subprocess.run(["ip", "link", "add", its, *ends], check=True, timeout=TIMEOUT_S)
    for there, name in ((one, its), (other, others)):
        there.python(CHECKSUMS_OFF, name)
        there.run(f"ip link set {name} up")


def address(there: Host, interface: str, *addresses: str) -> None:
    """Gives an interface addresses."""
    for text in addresses:
        there.run(f"ip addr add {text} dev {interface}" + (" nodad" if ":" in text else ""))


def gateway(there: Host, *gateways: str) -> None:
    """Where all that is not on its own networks goes."""
    for text in gateways:
        there.run(f"ip {'-6 ' if ':' in text else ''}route add default via {text}")


def pings(there: Host, to: str) -> None:
    """Waits until it is answered: once a ping of three comes back, all of three do."""
    wait_for(lambda: "bytes from" in there.run(f"ping -c 1 -W 1 {to}", expect=None), f"{there.name} pings {to}")
    said = there.run(f"ping -c 3 -i 0.2 -W 10 {to}")
    assert "3 packets transmitted, 3 received" in said, said
    assert "DUP" not in said, said


def hops(there: Host, to: str) -> list[str]:
    """The routers on the way, and the end of it; * for one that did not tell of itself."""
    words = "-6 " if ":" in to else ""
    lines = there.run(f"traceroute {words}-n -q 1 -N 1 -w 10 -m 6 {to}").splitlines()[1:]
    return [line.split()[1] for line in lines]


def streams(server: Host, client: Host, to: str) -> None:
    """A TCP stream each way, by iperf3."""
    for reverse in ("", "-R"):
        with running(server, "iperf3 -s -1 --forceflush") as listening:
            assert listening.stdout is not None
            while "listening" not in listening.stdout.readline():
                assert listening.poll() is None, "iperf3 has ended"
            said = client.run(f"iperf3 -c {to} -n 2M {reverse} --connect-timeout 60000")
            assert "iperf Done" in said, said
            assert listening.wait(TIMEOUT_S) == 0


SERVE = (
    "import http.server, socket, sys\n"
    "http.server.ThreadingHTTPServer.address_family = socket.AF_INET6 if ':' in sys.argv[1] else socket.AF_INET\n"
    "server = http.server.ThreadingHTTPServer((sys.argv[1], 8000), http.server.SimpleHTTPRequestHandler)\n"
    "print('ready', flush=True)\n"
    "server.serve_forever()\n"
)
FETCH = (
    "import hashlib, sys, urllib.request\n"
    "with urllib.request.urlopen(sys.argv[1], timeout=60) as answer:\n"
    "    print(hashlib.sha256(answer.read()).hexdigest())\n"
)


def downloads(server: Host, client: Host, to: str, file: Path) -> str:
    """The SHA-256 of a file that the client has fetched by HTTP."""
    command = [*server.enter, sys.executable, "-c", SERVE, to]
    with subprocess.Popen(
        command, cwd=file.parent, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as serving:
        try:
            assert serving.stdout is not None
            assert serving.stdout.readline() == "ready\n"
            name = f"[{to}]" if ":" in to else to
            return client.python(FETCH, f"http://{name}:8000/{file.name}").strip()
        finally:
            serving.terminate()
