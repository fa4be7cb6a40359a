# SPDX-License-Identifier: Apache-2.0
"""The demonstration: a virtual ring and a server, side by side, and what became of every datagram."""

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic, sleep

from ringmaster import remains
from ringmaster.counters import lost, refused, refused_packets
from ringmaster.monitor import Monitor, Snapshot
from ringmaster.programs import Program, attach_to
from ringmaster.remains import scratch_folder
from ringmaster.workspace import Workspace, directory_of

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
WORKSPACE = "demo"
OWNERS = ("server", "ring")
"""Who has segments in it as soon as it runs."""
FULL_TURN_RATE_HZ = 1_157_000.0
TRIAL_S = 1.5
KEEPS_UP = 0.95
"""A ring that sends this share of its turns in time keeps up: the rest is what a stall has left to be caught up."""
HEADROOM = 0.85
"""A lowered rate is this share of what the machine just showed."""
TRIALS = 5
DRAIN_S = 5.0
TUNE_TOLERANCE = 1e-3
LATENCY = "latency/receive/0"


@dataclass(frozen=True)
class Report:
    """What a run came to; the JSON line has these names."""

    packets: int
    """Datagrams that reached the server."""
    rate_pps: float
    """Over the whole run."""
    turn_rate_hz: float
    """As really sent, over the whole run."""
    set_turn_rate_hz: float
    """As asked of the ring: full_turn_rate_hz where the machine could carry it when it was tried."""
    full_turn_rate_hz: float
    behind_turns: int
    """By which the ring was behind its pace in the end; many, when the machine became slower meanwhile."""
    lost: int
    duplicate: int
    out_of_order: int
    refused: int
    """Outside the accepted turns, or no datagram of a configured instrument."""
    sent: int
    tune_found: dict[str, float] | None
    tune_simulated: dict[str, float] | None
    latency_ns: dict[str, float]
    """From the arrival of a burst to its records being visible: count, p50, p90, p99, p99.9, max."""
    longest_sender_wait_us: float
    """The longest time that the sender waited for a full link."""
    busy_share: dict[str, float]
    """Of each core of the server, 0–1."""
    seconds: float

    @property
    def faults(self) -> list[str]:
        """What is wrong, in words; empty when nothing is."""
        wrong = [
            f"{count} {name}"
            for name, count in (
                ("lost", self.lost),
                ("duplicate", self.duplicate),
                ("out_of_order", self.out_of_order),
                ("refused", self.refused),
            )
            if count
        ]
        if self.packets != self.sent:
            wrong.append(f"{self.sent} sent but {self.packets} received")
        if self.packets == 0:
            wrong.append("nothing was received")
        return wrong + self._tune_faults()

    def _tune_faults(self) -> list[str]:
        if self.tune_found is None or self.tune_simulated is None:
            return ["no tune was found"]
        return [
            f"tune {plane} found at {self.tune_found[plane]:.5f}, simulated {self.tune_simulated[plane]:.5f}"
            for plane in ("x", "y")
            if not abs(self.tune_found[plane] - self.tune_simulated[plane]) < TUNE_TOLERANCE
        ]

    def as_json(self) -> dict[str, object]:
        """Plain dictionaries and numbers."""
        return asdict(self)


class Demo:
    """A ring that sends and its server. Made by ``start``; ``finish`` ends the ring and counts."""

    def __init__(self, server: Program, ring: Program, ws: Workspace, turn_rate_hz: float) -> None:
        self.server = server
        self.ring = ring
        self.ws = ws
        self.turn_rate_hz = turn_rate_hz
        while self.turns() == 0:
            self.check()
            sleep(0.01)
        self._started, self._turns_before, self._received_before = monotonic(), self.turns(), self._received()

    def check(self) -> None:
        """Raises ProgramFailed when one of the two programs has ended."""
        self.server.check()
        self.ring.check()

    def attach(self) -> Workspace:
        """The workspace once more, for who closes what it was given: a console does."""
        return attach_to(self.ws.name, self.server, OWNERS)

    def finish(self) -> Report:
        """Looks once more, stops the ring, lets the server take what is under way, and adds up."""
        monitor = Monitor(self.ws)
        sleep(1.0)
        snapshot = monitor.look()
        seconds = monotonic() - self._started
        turns, received = self.turns() - self._turns_before, self._received() - self._received_before
        self.ring.stop()
        self._drain()
        return self._report(snapshot, seconds, turns, received)

    def turns(self) -> int:
        """Of the instrument that sends most often: every turn."""
        return max(
            (block["turns"] for block in self.ws.counter_blocks.values() if block.set_name == "sender"), default=0
        )

    def _sent(self) -> int:
        return sum(block["sent"] for block in self.ws.counter_blocks.values() if block.set_name == "sender")

    def _received(self) -> int:
        return sum(block["received"] for block in self.ws.counter_blocks.values() if block.set_name == "port")

    def _drain(self) -> None:
        """Waits until all that was sent has come, or nothing more comes."""
        deadline = monotonic() + DRAIN_S
        while self._received() < self._sent() and monotonic() < deadline:
            sleep(0.05)

    def _report(self, snapshot: Snapshot, seconds: float, turns: int, received: int) -> Report:
        blocks = self.ws.counter_blocks.values()
        streams = [dict(block) for block in blocks if block.set_name == "stream"]
        ports = [dict(block) for block in blocks if block.set_name == "port"]
        packets = self._received()
        return Report(
            packets=packets,
            rate_pps=received / seconds,
            turn_rate_hz=turns / seconds,
            set_turn_rate_hz=self.turn_rate_hz,
            full_turn_rate_hz=FULL_TURN_RATE_HZ,
            behind_turns=max((sender.behind_turns for sender in snapshot.senders), default=0),
            lost=sum(map(lost, streams)),
            duplicate=sum(stream["duplicate"] for stream in streams),
            out_of_order=sum(stream["out_of_order"] for stream in streams),
            refused=sum(map(refused, streams)) + sum(map(refused_packets, ports)),
            sent=self._sent(),
            tune_found=_planes(snapshot.tunes),
            tune_simulated=_planes(snapshot.tunes_simulated),
            latency_ns=snapshot.latency_ns[LATENCY],
            longest_sender_wait_us=max((sender.longest_wait_us for sender in snapshot.senders), default=0.0),
            busy_share={core.name: core.busy_share for core in snapshot.cores},
            seconds=seconds,
        )


def _planes(pair: tuple[float, float] | None) -> dict[str, float] | None:
    return None if pair is None else {"x": pair[0], "y": pair[1]}


def allowed_cores() -> list[int]:
    """CPUs that this process may use."""
    return sorted(os.sched_getaffinity(0))


def cores() -> tuple[int, int]:
    """CPUs for the ring and the server: the first two that this process may use; one twice if there is but one."""
    allowed = allowed_cores()
    return allowed[0], allowed[min(1, len(allowed) - 1)]


def adapted(config: str, directory: Path, turn_rate_hz: float, core: int) -> Path:
    """A shipped configuration with this machine's cores, the rate, and a link of our own; the rest as it is."""
    text = (CONFIGS / config).read_text()
    text = re.sub(r"\bcore: \d+", f"core: {core}", text)
    text = re.sub(r"\bsocket: [^,}\s]+", f"socket: {directory}/ring.sock", text)
    text = re.sub(r"^turn_rate_hz: .*$", f"turn_rate_hz: {turn_rate_hz:.0f}", text, flags=re.MULTILINE)
    path = directory / config
    path.write_text(text)
    return path


@contextmanager
def start(turn_rate_hz: float) -> Iterator[Demo]:
    """Starts the server, then the ring, and waits until the ring is seen; ends both on leaving."""
    ring_core, server_core = cores()
    with ExitStack() as stack:
        directory = Path(stack.enter_context(scratch_folder("demo")))
        server_config = adapted("demo.yaml", directory, turn_rate_hz, server_core)
        overlay = adapted("demo-ring.yaml", directory, turn_rate_hz, ring_core)
        stack.callback(remove_workspace, WORKSPACE)
        server = stack.enter_context(Program("ringmaster-server", "run", server_config))
        attach_to(WORKSPACE, server).close()
        ring = stack.enter_context(Program("ringmaster-instruments", "run", server_config, overlay))
        ws = stack.enter_context(attach_to(WORKSPACE, server, OWNERS))
        yield Demo(server, ring, ws, turn_rate_hz)


def remove_workspace(name: str) -> None:
    """Gives back the memory that an ended server's rings still hold; does nothing while one of their owners lives."""
    with suppress(remains.StillOwned, OSError):
        remains.remove_workspace(directory_of(name))


def achieved_turn_rate_hz(demo: Demo, seconds: float = TRIAL_S) -> float:
    """Turns per second that the ring really sends, over some time."""
    before, then = demo.turns(), monotonic()
    sleep(seconds)
    demo.check()
    return (demo.turns() - before) / (monotonic() - then)


def find_turn_rate() -> tuple[float, float]:
    """The turn rate to run at, and what the machine showed at the last trial; the full rate where it keeps up."""
    rate = FULL_TURN_RATE_HZ
    achieved = 0.0
    for _ in range(TRIALS):
        with start(rate) as demo:
            achieved = achieved_turn_rate_hz(demo)
        if achieved >= KEEPS_UP * rate:
            break
        rate = max(1000.0, round(HEADROOM * achieved, -3))
    return rate, achieved
