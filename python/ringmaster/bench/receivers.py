# SPDX-License-Identifier: Apache-2.0
"""Sender and receiver of a window: ours or testpmd, on the same cores behind the same sender.

The sender waits when the link is full, as pause frames would make it, so whatever it has sent was taken. testpmd keeps
no record of its cycles unless it is built for that, and polls without pause: its busy share is 1 by construction, and
its busy time per packet is the whole window's.
"""

import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

from ringmaster.bench.loads import Link, Load
from ringmaster.bench.windows import RINGMASTER, Window, sub_rates
from ringmaster.bench.workspace import own_workspace
from ringmaster.errors import WorkspaceError
from ringmaster.fabric.counters import CounterBlock, lost, refused_packets
from ringmaster.fabric.layout import ObjectKind
from ringmaster.fabric.segment import Segment
from ringmaster.fabric.workspace import Workspace, directory_of
from ringmaster.monitor.monitor import RECEIVE_LATENCY, Totals
from ringmaster.programs.cores import cores
from ringmaster.programs.program import START_S, Program, ProgramFailed, attach_to
from ringmaster.programs.remains import release_workspace, scratch_folder
from ringmaster.report.conditions import Probed, Watched

DRAIN_S = 5.0
SETTLE_S = 0.5


NO_TESTPMD = "dpdk-testpmd is not installed (Debian package dpdk-dev): no peer beside our figures"


def has_testpmd() -> bool:
    """Whether there is a peer to measure beside us."""
    return shutil.which("dpdk-testpmd") is not None


@dataclass(frozen=True)
class Sent:
    """What the sender says of itself when it has ended."""

    datagrams: int
    seconds: float
    turn_rate_hz: float
    """Over the whole run."""
    waits: int
    """Times the link was full."""
    longest_wait_us: float

    @property
    def rate_pps(self) -> float:
        """Over the whole run."""
        return self.datagrams / self.seconds if self.seconds > 0 else 0.0


def parse_sent(words: str) -> Sent:
    """From the sender's last line, a JSON object."""
    said = json.loads(words.splitlines()[-1])
    return Sent(
        datagrams=int(said["sent"]),
        seconds=float(said["seconds"]),
        turn_rate_hz=float(said["turn_rate_hz"]),
        waits=int(said["waits"]),
        longest_wait_us=float(said["longest_wait_us"]),
    )


@dataclass(frozen=True)
class Running:
    """A sender that sends and a receiver that receives."""

    receiver: Program
    sender: Program
    ws: Workspace | None
    """Of our server."""
    sender_counts: tuple[CounterBlock, ...]
    """Of all that it sends for."""

    def check(self) -> None:
        """Raises ProgramFailed when one of the two has ended."""
        self.receiver.check()
        self.sender.check()

    def sent(self) -> int:
        """Datagrams that the sender has sent so far, as it counts."""
        return sum(block["sent"] for block in self.sender_counts)

    def totals(self) -> Totals:
        """All counters of our server; nothing of testpmd."""
        return {name: dict(block) for name, block in self.ws.counter_blocks.items()} if self.ws else {}

    def finish(self) -> tuple[Sent, dict[str, int] | None]:
        """Stops the sender. What it sent, and the faults in receiving that (faults_of); None: nobody can tell."""
        self.sender.stop()
        sent = parse_sent(self.sender.words)
        if self.ws is None:
            return sent, None
        return sent, faults_of(self.totals(), missing(self.ws, sent.datagrams))


def missing(ws: Workspace, sent: int) -> int:
    """Datagrams that the sender counts and the server does not, once it has had time to take what was under way."""
    deadline = monotonic() + DRAIN_S
    while (left := sent - _received(ws)) > 0 and monotonic() < deadline:
        sleep(0.02)
    return left


def _received(ws: Workspace) -> int:
    return sum(block["received"] for block in ws.counter_blocks.values() if block.set_name == "port")


STREAM_FAULTS = ("duplicate", "out_of_order", "turn_ahead", "turn_behind", "turn_out_of_range", "unanchored")
"""Counters of what a stream did not take as its newest turn."""


def faults_of(totals: Totals, missing_datagrams: int) -> dict[str, int]:
    """Everything that is not a datagram in its place, by the counter that tells it; empty when all is well.

    A datagram that its stream refuses leaves its turn empty, too: it is in two of the counts.
    """
    streams = [block for name, block in totals.items() if name.startswith("stream/")]
    ports = [block for name, block in totals.items() if name.startswith("port/")]
    faults = {name: sum(block[name] for block in streams) for name in STREAM_FAULTS}
    faults |= {"lost": sum(map(lost, streams)), "refused": sum(map(refused_packets, ports))}
    faults["missing"] = missing_datagrams
    return {name: count for name, count in faults.items() if count}


@contextmanager
def _server(load: Load, link: Link, turn_rate_hz: float) -> Iterator[tuple[Program, Workspace | None]]:
    config = link.directory / "server.yaml"
    config.write_text(load.server(link, turn_rate_hz))
    with ExitStack() as stack:
        program = stack.enter_context(Program("ringmaster-server", "run", config))
        yield program, stack.enter_context(attach_to(link.workspace, program))


@contextmanager
def _testpmd(link: Link) -> Iterator[tuple[Program, Workspace | None]]:
    core = link.receiver_core
    with Program(
        "dpdk-testpmd",
        *("--lcores", f"0@{core},1@{core}", "--no-pci", "--no-huge", "-m", "256", "--no-telemetry"),
        *("--file-prefix", link.directory.name),
        f"--vdev=net_memif0,role=server,socket={link.socket},socket-abstract=no",
        *("--", "--burst=64", "--txd=1024", "--rxd=1024", "--total-num-mbufs=16384", "--forward-mode=rxonly"),
        "--stats-period=3600",
    ) as program:
        while not link.socket.exists():
            program.check()
            sleep(0.02)
        yield program, None


def _sender_segment(workspace: str, sender: Program) -> Segment:
    """What the sender publishes, as soon as it does. It stands alone: no server made this workspace."""
    deadline = monotonic() + START_S
    while True:
        sender.check()
        with suppress(WorkspaceError, FileNotFoundError):
            return Segment(directory_of(workspace) / "ring.segment")
        if monotonic() > deadline:
            raise ProgramFailed(f"{sender.name} does not send after {START_S:.0f} s: {sender.words}")
        sleep(0.02)


@contextmanager
def alone(load: Load, turn_rate_hz: float) -> Iterator[Workspace]:
    """Our server as for ``running``, but nobody sends to it. Gives its workspace."""
    with ExitStack() as stack:
        workspace = stack.enter_context(own_workspace())
        directory = Path(stack.enter_context(scratch_folder("bench")))
        _, ws = stack.enter_context(_server(load, Link(directory, workspace, *cores()), turn_rate_hz))
        assert ws is not None
        sleep(SETTLE_S)
        yield ws


@contextmanager
def running(receiver: str, load: Load, turn_rate_hz: float) -> Iterator[Running]:
    """Starts receiver and sender and lets them settle; ends both on leaving, and leaves nothing behind."""
    sender_core, receiver_core = cores()
    with ExitStack() as stack:
        workspace = stack.enter_context(own_workspace())
        directory = Path(stack.enter_context(scratch_folder("bench")))
        link = Link(directory, workspace, sender_core, receiver_core)
        started = _server(load, link, turn_rate_hz) if receiver == RINGMASTER else _testpmd(link)
        program, ws = stack.enter_context(started)
        stack.callback(release_workspace, link.sender_workspace)
        sender = stack.enter_context(Program("ringmaster-instruments", *load.sender(link, turn_rate_hz)))
        segment = stack.enter_context(closing(_sender_segment(link.sender_workspace, sender)))
        infos = [info for info in segment.objects if info.kind == ObjectKind.COUNTERS]
        counts = tuple(CounterBlock(segment, info) for info in infos)
        sleep(SETTLE_S)
        run = Running(program, sender, ws, counts)
        run.check()
        yield run


@dataclass(frozen=True, kw_only=True)
class Received(Window):
    """One window of one receiver. Its rate is of the sender's whole run: the window and the moment before it."""

    turn_rate_hz: float
    """As really sent."""
    faults: dict[str, int] | None
    """What was lost, by the counters that tell it; "missing" was sent and never received."""
    busy_share: float
    """Of the receiver's time; 1 for testpmd, by construction."""
    busy_ns_per_packet: float
    """The port's share included."""
    busy_cycles_per_packet: float
    """TSC ticks."""
    latency_ns: dict[str, float] | None
    """Arrival of a burst to its records being visible; ours alone."""
    longest_wait_us: float
    """The longest time that the sender waited for a full link."""

    @property
    def more_words(self) -> str:
        """What it took, and what was lost."""
        lost = "".join(f"  {count} {name}" for name, count in (self.faults or {}).items())
        return f"  busy {self.busy_share:.2f}, {self.busy_ns_per_packet:.1f} ns a packet{lost}"


@dataclass(frozen=True)
class Observed:
    """What was seen of two running programs in between."""

    shares: tuple[float, float]
    """Of their cores: sender, receiver."""
    before: Totals
    after: Totals
    latency_ns: dict[str, float] | None
    sub_rates_pps: tuple[float, ...] = ()


def observe(run: Running, seconds: float) -> Observed:
    """Looks on for so long."""
    watched, before = Watched(run.sender.pid, run.receiver.pid), run.totals()
    latency = run.ws.histograms[RECEIVE_LATENCY].read() if run.ws else None
    rates = sub_rates(run, seconds)
    run.check()
    sender, receiver = watched.shares()
    later = run.ws.histograms[RECEIVE_LATENCY].read() if run.ws else None
    summary = later.since(latency).summary() if later and latency else None
    return Observed((sender, receiver), before, run.totals(), summary, rates)


def core_gone(seen: Observed) -> dict[str, int]:
    """By how much the counters of our one core grew."""
    (name,) = (name for name in seen.after if name.startswith("core/"))
    return {key: seen.after[name][key] - seen.before[name][key] for key in seen.after[name]}


def _busy(seen: Observed, sent: Sent, tsc_hz: float) -> tuple[float, float]:
    """Busy share, and busy ticks per packet."""
    if not seen.after:
        return 1.0, tsc_hz * seen.shares[1] / max(1.0, sent.rate_pps)
    gone = core_gone(seen)
    ticks = max(1, gone["busy_ticks"] + gone["idle_ticks"])
    return gone["busy_ticks"] / ticks, gone["busy_ticks"] / max(1, gone["packets"])


def measure_window(receiver: str, load: Load, turn_rate_hz: float, seconds: float, tsc_hz: float) -> Received:
    """Starts receiver and sender, measures for some time, ends both. A turn rate of 0: all that the link takes."""
    with Probed(*cores()) as probed, running(receiver, load, turn_rate_hz) as run:
        seen = observe(run, seconds)
        sent, faults = run.finish()
    busy_share, busy_ticks = _busy(seen, sent, tsc_hz)
    return Received(
        peer=receiver,
        load=load.name,
        rate_pps=sent.rate_pps,
        turn_rate_hz=sent.turn_rate_hz,
        core_to_core_ns=probed.ns,
        distance=probed.distance,
        sender_share=seen.shares[0],
        receiver_share=seen.shares[1],
        lost=None if faults is None else sum(faults.values()),
        faults=faults,
        busy_share=busy_share,
        busy_ns_per_packet=busy_ticks / tsc_hz * 1e9,
        busy_cycles_per_packet=busy_ticks,
        latency_ns=seen.latency_ns,
        longest_wait_us=sent.longest_wait_us,
        sub_rates_pps=seen.sub_rates_pps,
    )
