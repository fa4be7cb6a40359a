# SPDX-License-Identifier: Apache-2.0
"""Whole programs as a person runs them: servers, rings and the command line, and links between them."""

import functools
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from time import monotonic, sleep
from typing import Any, ParamSpec

import pytest

from ringmaster.fabric._counters import COUNTERS
from ringmaster.fabric.workspace import Workspace
from ringmaster.programs.cores import cores
from ringmaster.programs.program import Program

ROOT = Path(__file__).resolve().parents[2]
LIBEXEC = ROOT / "build/libexec"
TIMEOUT_S = 120.0
"""How long anything may take on a busy machine before a test fails."""
TRIES = 4
STARVED = 0.25
"""Share of a test's time: on a quiet host a thread waits for a core in a few per cent of it."""
STILL_S = 2.0
"""What has not come so long after the last of it was lost."""
KEPT_S = 0.3
"""Within that time housekeeping asks a port for its own counts, on a core that runs."""
_PORT_COUNTERS = tuple(counter.name for counter in COUNTERS["port"])
REASONS = (
    *_PORT_COUNTERS[2 : _PORT_COUNTERS.index("wrong_lanes") + 1],
    "wrong_vlan",
    "bad_fragment",
    "unfinished_checksum",
    "repeated_id",
)
"""Counters of a port, one of which every frame is in that was not decoded."""
OUTCOMES = (
    "accepted",
    "out_of_order",
    "duplicate",
    "turn_ahead",
    "turn_behind",
    "turn_out_of_range",
    "mirrored",
    "unanchored",
)
"""Counters of a stream, one of which every record is in."""

Parameters = ParamSpec("Parameters")

PORTS_OF_A_PROCESS, PROCESSES = 100, 200
_first_udp_port = 10_000 + os.getpid() % PROCESSES * PORTS_OF_A_PROCESS
_udp_ports = cycle(range(_first_udp_port, _first_udp_port + PORTS_OF_A_PROCESS))

RING_CORE, SERVER_CORE = cores()
SHORTER: Mapping[str, float] = {
    "ringmaster.bench.measurement.FLOOR_S": 0.05,
    "ringmaster.bench.carried.WARM_UP_S": 0.2,
    "ringmaster.bench.steady.FLAT_OUT_S": 0.2,
}
"""What surrounds a measurement on two cores: looks at the stall floor, warming, what a link carries flat out."""
NO_CONSTANTS: Mapping[str, float] = {}
NOBODY = ("setpriv", "--reuid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all")
"""Words before a command that shall have no rights at all."""


def unique_name(word: str) -> str:
    """A name for a workspace that no other run has: DPDK knows servers by it."""
    return f"{word}-{os.getpid()}"


def wait_for(there: Callable[[], object], what: str | Callable[[], str]) -> None:
    """Waits until ``there()`` is true. ``what`` says what was waited for; a function does when it has not come."""
    give_up = monotonic() + TIMEOUT_S
    while not there():
        assert monotonic() < give_up, f"waited {TIMEOUT_S:.0f} s in vain: {what if isinstance(what, str) else what()}"
        sleep(0.01)


def wait_for_all(counters: Mapping[str, int], name: str, count: int) -> None:
    """Waits until a counter has come so far; where it stands still before that, the rest was lost."""
    seen, begin = counters[name], monotonic()
    give_up = begin + TIMEOUT_S
    while counters[name] < count:
        if counters[name] != seen:
            seen, begin = counters[name], monotonic()
        still = monotonic() > min(begin + STILL_S, give_up)
        assert not still, f"{counters[name]} of {count} {name}, and no more come: {nonzero(counters)}"
        sleep(0.01)


def _waiting_s() -> float:
    """Seconds of the host's life, so far, in which a thread that was ready to run had no core; and what the hypervisor
    took. 0 where the kernel does not say.
    """
    waited = 0.0
    try:
        some = Path("/proc/pressure/cpu").read_text().splitlines()[0]
        waited = int(some.rpartition("=")[2]) * 1e-6
    except OSError:
        pass
    stolen = int(Path("/proc/stat").read_text().split()[8]) / os.sysconf("SC_CLK_TCK")
    return waited + stolen


def again_if_starved(test: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """For a test of what must come in time: a failure counts only while the host gave the cores.

    A body that fails while others had the cores for more than STARVED of its time runs again, up to TRIES times. The
    last failure is its own, whatever the host did. A body that passes has proven what it proves, on any host.
    """

    @functools.wraps(test)
    def judged(*args: Parameters.args, **kwargs: Parameters.kwargs) -> None:
        for left in reversed(range(TRIES)):
            begin, waited = monotonic(), _waiting_s()
            try:
                return test(*args, **kwargs)
            except AssertionError as failure:
                share = (_waiting_s() - waited) / (monotonic() - begin)
                if left == 0 or share < STARVED:
                    raise
                print(f"the host was starved for {100 * share:.0f} % of the time, so once more: {failure}")
        return None

    return judged


def command_line(*arguments: str | Path, shorter: Mapping[str, float] = NO_CONSTANTS) -> list[str]:
    """The words that run `ringmaster`, with some of its constants ``shorter``: in a measurement always SHORTER's."""
    words = [*map(str, arguments)]
    constants = {**(SHORTER if words[:1] == ["bench"] else {}), **shorter}
    if not constants:
        return [sys.executable, "-m", "ringmaster", *words]
    settings = [f"{name}={value}" for name, value in constants.items()]
    return [sys.executable, str(Path(__file__).with_name("shorter.py")), *settings, *words]


def ringmaster(
    *arguments: str | Path, expect: int = 0, prefix: Sequence[str] = (), shorter: Mapping[str, float] = NO_CONSTANTS
) -> "subprocess.CompletedProcess[str]":
    """Runs the command line to its end."""
    command = [*prefix, *command_line(*arguments, shorter=shorter)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S * 4)
    assert done.returncode == expect, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def ringmaster_json(*arguments: str | Path, shorter: Mapping[str, float] = NO_CONSTANTS) -> Any:
    """What a command's last line says in JSON."""
    return json.loads(ringmaster(*arguments, shorter=shorter).stdout.splitlines()[-1])


def server(config: Path, prefix: Sequence[str] = ()) -> Program:
    """A server; `attach_to` waits for it."""
    return Program("ringmaster-server", "run", config, prefix=prefix)


def terminate(program: Program) -> int:
    """Ends a program as a service manager does; returns its exit status."""
    os.kill(program.pid, signal.SIGTERM)
    return program.wait(TIMEOUT_S)


def kill_at_once(pid: int) -> None:
    """As by `kill -9`. Returns when all of its threads have ended, and its locks with them: until then it is alive."""
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: _has_ended(pid), f"the end of process {pid}")


def _has_ended(pid: int) -> bool:
    """A process of which nothing but the entry for its parent is left, if that."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state in "ZX" and len(list(Path(f"/proc/{pid}/task").iterdir())) <= 1
    except (FileNotFoundError, ProcessLookupError):
        return True


def port_sum(port: Mapping[str, int]) -> int:
    """Everything that became of a port's frames: equals `received`."""
    return port["decoded"] + sum(port[name] for name in REASONS)


def came(port: Mapping[str, int]) -> int:
    """Everything that came to a port, taken or missed."""
    return port["received"] + port["kernel_missed"]


def wait_until_still(ws: Workspace, port: str) -> None:
    """Waits until nothing more comes to a port, which the server polls, and whose own counts it has asked for."""
    counts, core = ws.counters(f"port/{port}"), ws.counters(f"core/{SERVER_CORE}")

    def still() -> bool:
        before, loops, begin = came(counts), core["loops"], monotonic()
        wait_for(lambda: core["loops"] > loops + 1000 and monotonic() > begin + KEPT_S, "the server to poll")
        return came(counts) == before

    wait_for(still, lambda: f"stillness: {nonzero(counts)}")


def assert_sums_hold(ws: Workspace) -> None:
    """Every datagram that came is in exactly one count: holds once traffic has stopped."""
    blocks = list(ws.counter_blocks.values())
    records = 0
    for port in (block for block in blocks if block.set_name == "port"):
        assert port["received"] == port_sum(port), dict(port)
        records += port["records"]
    assert records == sum(block[name] for block in blocks if block.set_name == "stream" for name in OUTCOMES)


def nonzero(counters: Mapping[str, int]) -> dict[str, int]:
    """What was counted. Gauges of the phase are no counts."""
    return {name: count for name, count in counters.items() if count and not name.startswith("phase_")}


def difference(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """Which counters went up, and by how much."""
    return nonzero({name: after[name] - before[name] for name in after})


def free_udp_port() -> int:
    """A UDP port of the loopback interface that nobody listens on, and that nobody else takes soon: it lies below those
    that the kernel gives to all who ask for any, and tests that run beside have others.
    """
    while True:
        port = next(_udp_ports)
        with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind(("127.0.0.1", port))
            return port


@dataclass(frozen=True)
class VethPair:
    """Namespace 0 has veth0, 10.99.0.1; namespace 1 has veth1, 10.99.0.2."""

    holders: tuple[int, int]

    def enter(self, end: int) -> list[str]:
        """Put before a command, runs it in that namespace."""
        return ["nsenter", f"--net=/proc/{self.holders[end]}/ns/net"]

    def send_frames(self, end: int, frames: Sequence[bytes]) -> None:
        """Sends whole Ethernet frames into the link, from that namespace."""
        code = (
            "import socket, sys\n"
            "with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as link:\n"
            "    link.bind((sys.argv[1], 0))\n"
            "    for line in sys.stdin:\n"
            "        link.send(bytes.fromhex(line))\n"
        )
        words = "\n".join(frame.hex() for frame in frames)
        command = [*self.enter(end), sys.executable, "-c", code, f"veth{end}"]
        subprocess.run(command, input=words, text=True, check=True, timeout=TIMEOUT_S)


@contextmanager
def veth_pair() -> Iterator[VethPair]:
    """Two network namespaces and a link between them; skips where they cannot be made."""
    program = ROOT / "build/bench/namespaces/ringmaster-veth-pair"
    with subprocess.Popen(
        [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as pair:
        assert pair.stdin is not None
        assert pair.stdout is not None
        assert pair.stderr is not None
        line = pair.stdout.readline()
        if not line:
            pytest.skip(f"NO NETWORK NAMESPACES HERE, so links are not tested: {pair.stderr.read().strip()}")
        first, second = map(int, line.split())
        try:
            yield VethPair((first, second))
        finally:
            pair.stdin.close()
            pair.wait(TIMEOUT_S)
