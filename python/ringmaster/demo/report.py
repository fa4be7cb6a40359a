# SPDX-License-Identifier: Apache-2.0
"""What became of every datagram of a virtual ring, and what of it is wrong."""

from dataclasses import asdict, dataclass
from time import monotonic, sleep

from ringmaster.fabric.counters import lost, refused, refused_packets
from ringmaster.monitor.monitor import RECEIVE_LATENCY, Monitor, Snapshot
from ringmaster.virtual.ring import FULL_TURN_RATE_HZ, Progress, VirtualRing

DRAIN_S = 5.0
TUNE_TOLERANCE = 1e-3


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


def finish(ring: VirtualRing) -> Report:
    """Looks once more, stops the ring, lets the server take what is under way, and adds up."""
    monitor = Monitor(ring.ws)
    sleep(1.0)
    snapshot, now = monitor.look(), ring.progress()
    ring.ring.stop()
    _drain(ring)
    return _report(ring, snapshot, now)


def _drain(ring: VirtualRing) -> None:
    """Waits until all that was sent has come, or nothing more comes."""
    deadline = monotonic() + DRAIN_S
    while (now := ring.progress()).received < now.sent and monotonic() < deadline:
        sleep(0.05)


def _report(ring: VirtualRing, snapshot: Snapshot, now: Progress) -> Report:
    blocks = ring.ws.counter_blocks.values()
    streams = [dict(block) for block in blocks if block.set_name == "stream"]
    ports = [dict(block) for block in blocks if block.set_name == "port"]
    end, seconds = ring.progress(), now.time_s - ring.begun.time_s
    return Report(
        packets=end.received,
        rate_pps=(now.received - ring.begun.received) / seconds,
        turn_rate_hz=(now.turns - ring.begun.turns) / seconds,
        set_turn_rate_hz=ring.turn_rate_hz,
        full_turn_rate_hz=FULL_TURN_RATE_HZ,
        behind_turns=max((sender.behind_turns for sender in snapshot.senders), default=0),
        lost=sum(map(lost, streams)),
        duplicate=sum(stream["duplicate"] for stream in streams),
        out_of_order=sum(stream["out_of_order"] for stream in streams),
        refused=sum(map(refused, streams)) + sum(map(refused_packets, ports)),
        sent=end.sent,
        tune_found=_planes(snapshot.tunes),
        tune_simulated=_planes(snapshot.tunes_simulated),
        latency_ns=snapshot.latency_ns[RECEIVE_LATENCY],
        longest_sender_wait_us=max((sender.longest_wait_us for sender in snapshot.senders), default=0.0),
        busy_share={core.name: core.busy_share for core in snapshot.cores},
        seconds=seconds,
    )


def _planes(pair: tuple[float, float] | None) -> dict[str, float] | None:
    return None if pair is None else {"x": pair[0], "y": pair[1]}
