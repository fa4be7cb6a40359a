# SPDX-License-Identifier: Apache-2.0
"""What forwards from one memif link to another: our router in its modes, and testpmd's `macswap`; and what is at both
ends of it (bench/through.c), which offers frames and counts those that come out.
"""

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from ringmaster.bench.log import NotMeasured
from ringmaster.bench.windows import TESTPMD
from ringmaster.bench.workspace import own_workspace
from ringmaster.places import find_program
from ringmaster.programs.cores import cores
from ringmaster.programs.program import Program, attach_to, commands_of
from ringmaster.programs.remains import scratch_folder
from ringmaster.report.conditions import Watched

ROUTE, IO, MACSWAP = "route", "io", "macswap"
"""Modes of our router, as its configuration has them."""
SLOTS_LOG2 = 12
"""Of each ring: what our ports take where nobody says another number."""
NEIGHBOURS = 64
"""Next hops that many routes are shared among."""
LONGEST_USUAL_BYTES, BUFFER_BYTES, LONG_BUFFER_BYTES, HEADROOM_BYTES = 1518, 2048, 10_240, 128
"""Of testpmd's buffers."""
SETTLE_S = 0.2


@dataclass(frozen=True)
class Offer:
    """What goes through."""

    destinations: int = 1
    """Networks 16.0.N.0/24 that frames go to, in random order; each has a route."""
    bytes: int = 64
    """Of a frame, with FCS; of a mix the longest."""
    imix: bool = False
    """The simple IMIX: 64, 594 and 1518 bytes, 7 : 4 : 1."""
    stamps: bool = False
    """Each frame has the time when it was offered: latencies are measured."""
    rate_pps: float = 0.0
    """0: as fast as the link takes them."""

    @property
    def load(self) -> str:
        """Only windows of the same are compared."""
        return f"{self.destinations} destination{'s' if self.destinations > 1 else ''}"


@dataclass(frozen=True)
class Forwarder:
    """Something that forwards."""

    pid: int
    mac: str
    """That frames are sent to."""
    load_s: float
    """What its routes took to be loaded, one command each; 0 where it has none."""


def server(workspace: str, folder: Path, core: int, mode: str, offer: Offer) -> str:
    """A configuration of our router: two links, and in mode route a neighbour or more."""
    longest = max(LONGEST_USUAL_BYTES, offer.bytes)
    ports = [
        {"name": name, "kind": "memif", "socket": str(folder / f"{name}.sock"), "role": "client"}
        | ({"longest_frame": longest} if longest > LONGEST_USUAL_BYTES else {})
        for name in ("in", "out")
    ]
    router: dict[str, Any] = {"mode": mode}
    if mode == ROUTE:
        router |= {
            "ipv4_routes": max(1024, 2 * offer.destinations),
            "ipv6_routes": 0,
            "interfaces": [
                {"port": "in", "addresses": ["10.0.0.1/24"], "mtu": longest - 18},
                {"port": "out", "addresses": ["10.1.0.1/24"], "mtu": longest - 18},
            ],
            "neighbours": [
                {"interface": "out", "address": gateway(i), "mac": f"02:00:00:01:00:{i + 2:02x}"}
                for i in range(NEIGHBOURS)
            ],
        }
    roles = [{"role": "forward", "core": core, "ports": ["in", "out"]}]
    return json.dumps({"workspace": workspace, "turn_rate_hz": 1e6, "ports": ports, "roles": roles, "router": router})


def gateway(number: int) -> str:
    """Address of a neighbour behind the way out."""
    return f"10.1.0.{number % NEIGHBOURS + 2}"


def route_words(number: int) -> str:
    """The command that adds the route of a destination."""
    network = (16 << 16) + number
    prefix = f"{network >> 16}.{network >> 8 & 255}.{network & 255}.0/24"
    return f"route add {prefix} via {gateway(number)}"


@contextmanager
def _ours(mode: str, folder: Path, core: int, offer: Offer) -> Iterator[Forwarder]:
    with ExitStack() as stack:
        workspace = stack.enter_context(own_workspace())
        config = folder / "server.yaml"
        config.write_text(server(workspace, folder, core, mode, offer))
        program = stack.enter_context(Program("ringmaster-server", "run", config))
        ws = stack.enter_context(attach_to(workspace, program))
        mac, load_s = "02:00:00:00:00:01", 0.0
        if mode == ROUTE:
            with commands_of(ws, program) as commands:
                interfaces = json.loads("\n".join(commands.run("interface show json")))
                mac = next(one["mac"] for one in interfaces if one["name"] == "in")
                begin = monotonic()
                commands.run_all(map(route_words, range(offer.destinations)))
                load_s = monotonic() - begin
        yield Forwarder(program.pid, mac, load_s)
        program.check()


@contextmanager
def _testpmd(folder: Path, core: int, offer: Offer) -> Iterator[Forwarder]:
    buffer = LONG_BUFFER_BYTES if offer.bytes > LONGEST_USUAL_BYTES else BUFFER_BYTES
    devices = [
        f"--vdev=net_memif{number},role=client,id=0,socket={folder / name}.sock,socket-abstract=no,rsize={SLOTS_LOG2},"
        f"bsize={buffer}"
        for number, name in enumerate(("in", "out"))
    ]
    with Program(
        "dpdk-testpmd",
        *("--lcores", f"0@{core},1@{core}", "--no-pci", "--no-huge", "-m", "512", "--no-telemetry"),
        *("--file-prefix", folder.name, *devices),
        *("--", "--burst=64", "--txd=1024", "--rxd=1024", "--total-num-mbufs=16384", "--forward-mode=macswap"),
        *("--port-topology=paired", "--stats-period=3600", f"--mbuf-size={buffer + HEADROOM_BYTES}"),
    ) as program:
        yield Forwarder(program.pid, "02:00:00:00:00:01", 0.0)
        program.check()


@dataclass(frozen=True)
class Through:
    """What came through in one window, and of both programs the share of their cores."""

    offered: int
    received: int
    seconds: float
    ends_share: float
    forwarder_share: float
    longest_pause_us: float
    """Of the ends."""
    load_s: float
    sub_rates_pps: tuple[float, ...]
    latency_p50_ns: float | None = None
    """From the offer of a frame until the other end had it; None: frames had no stamps."""
    latency_p99_ns: float | None = None


def send_through(peer: str, offer: Offer, seconds: float) -> Through:
    """Starts one that forwards and both ends of it, measures for some time, ends them. Raises NotMeasured."""
    ends_core, core = cores()
    with scratch_folder("bench") as name:
        folder = Path(name)
        forwarding = _testpmd(folder, core, offer) if peer == TESTPMD else _ours(peer, folder, core, offer)
        with forwarding as forwarder:
            return _observe(ends_of(folder, ends_core, forwarder.mac, offer, SETTLE_S, seconds), forwarder)


def ends_of(folder: Path, core: int, mac: str, offer: Offer, settle_s: float, seconds: float) -> list[str]:
    """The command that is both ends of the links `in` and `out` in a folder; it makes their sockets."""
    return ends_between((str(folder / "in.sock"), str(folder / "out.sock")), core, mac, offer, settle_s, seconds)


def ends_between(
    links: tuple[str, str], core: int, mac: str, offer: Offer, settle_s: float, seconds: float
) -> list[str]:
    """The command that sends to the first of two links, and counts what comes out of the second."""
    return [
        find_program("ringmaster-through"),
        *links,
        *(str(core), f"{settle_s:g}", f"{seconds:g}", "--mac", mac),
        *("--destinations", str(offer.destinations), "--bytes", str(offer.bytes), "--rate", f"{offer.rate_pps:.0f}"),
        *(["--imix"] if offer.imix else []),
        *(["--stamps"] if offer.stamps else []),
    ]


def _observe(command: list[str], forwarder: Forwarder) -> Through:
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as ends:
        try:
            assert ends.stdout is not None
            assert ends.stderr is not None
            if ends.stdout.readline() != "begin\n":
                raise NotMeasured(f"nothing came through: {ends.stderr.read().strip()[-200:]}")
            watched = Watched(forwarder.pid)
            line = ends.stdout.readline()
            (share,) = watched.shares()
        finally:
            with suppress(ProcessLookupError):
                ends.kill()
    return through_of(line, share, forwarder.load_s)


def through_of(line: str, forwarder_share: float, load_s: float) -> Through:
    """From the JSON that the ends print. Raises NotMeasured where it is none."""
    try:
        said = json.loads(line)
        return Through(
            said["offered"],
            said["received"],
            said["seconds"],
            said["share"],
            forwarder_share,
            said["longest_pause_us"],
            load_s,
            tuple(said["sub_rates_pps"]),
            said.get("latency_p50_ns"),
            said.get("latency_p99_ns"),
        )
    except (ValueError, KeyError) as error:
        raise NotMeasured(f"ringmaster-through printed {line[:100]!r}") from error
