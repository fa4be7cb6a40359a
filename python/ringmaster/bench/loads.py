# SPDX-License-Identifier: Apache-2.0
"""What is sent over memif in a measurement: the server's configuration, and the sender's command."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from ringmaster.bench.setups import TURN_RATE_HZ, UDP_PORT, Mapping, lanes_of, server
from ringmaster.fabric.layout import InstrumentKind
from ringmaster.plan.memory import frame_bytes
from ringmaster.recordings.recording import RecordedInstrument, RecordedLane, write_replay

SOURCE = "10.20.0.1"
REPLAYED_TURNS = 512
UNPACED_PPS = 12e6
"""About what a link takes. A server has to be told a turn rate; a sender without a pace has none."""
UNPACED_AHEAD_TURNS = 4096
"""The most there is: such a sender may become faster from one moment to the next, when it gets its core back."""
FAST_PERIOD_TURNS = 116
"""From one reading to the next of a 10 kHz instrument: 1 157 000 / 116 = 9974 Hz."""


@dataclass(frozen=True)
class Link:
    """Where sender and receiver meet."""

    directory: Path
    """Of this window alone: configurations and the socket."""
    workspace: str
    sender_core: int
    receiver_core: int

    @property
    def sender_workspace(self) -> str:
        """Where the sender publishes what it has sent, whatever receives."""
        return f"{self.workspace}-sender"

    @property
    def socket(self) -> Path:
        """Of memif; the receiver's side makes it."""
        return self.directory / "ring.sock"

    @property
    def port(self) -> Mapping:
        """The server's port."""
        return {"name": "ring", "kind": "memif", "socket": str(self.socket), "role": "server", "udp_port": UDP_PORT}


class Load(Protocol):
    """One kind of traffic."""

    @property
    def name(self) -> str:
        """For tables."""
        ...

    @property
    def packets_per_turn(self) -> float:
        """Datagrams of all instruments."""
        ...

    def server(self, link: Link, turn_rate_hz: float) -> str:
        """Configuration of the server that takes it; the rate as for ``sender``."""
        ...

    def sender(self, link: Link, turn_rate_hz: float) -> list[str]:
        """Arguments of ringmaster-instruments, whose files this writes; a rate of 0 is as fast as the link takes it."""
        ...


@dataclass(frozen=True)
class Replayed:
    """Native datagrams of so many instruments, sent from memory: the sender does little but write frames."""

    instruments: int
    lanes: int
    turn_records: int = 1 << 16
    queues: int = 1
    """Of the server's port. The sender has one and fills that."""

    @property
    def name(self) -> str:
        """By the size of its frames and the number of instruments."""
        return f"{frame_bytes(self.lanes)}-byte frames of {self.instruments}"

    @property
    def packets_per_turn(self) -> float:
        """One of each."""
        return float(self.instruments)

    def server(self, link: Link, turn_rate_hz: float) -> str:
        """One receive role."""
        rate_hz = turn_rate_hz or UNPACED_PPS / self.instruments
        entry = {"name": "bpm", "kind": "bpm", "id": 1, "count": self.instruments, "port": "ring"}
        entry |= {"source": SOURCE, "lanes": lanes_of(self.lanes)}
        port = {**link.port, "queues": self.queues}
        return server(
            *(link.workspace, [port], [entry], link.receiver_core, self.turn_records),
            turn_rate_hz=rate_hz,
            ahead_turns=UNPACED_AHEAD_TURNS,
        )

    def sender(self, link: Link, turn_rate_hz: float) -> list[str]:
        """A replay that begins again and again."""
        path = link.directory / "frames.replay"
        values = np.arange(REPLAYED_TURNS, dtype=np.int32)
        lanes = tuple(RecordedLane(str(lane["name"]), "counts", values) for lane in lanes_of(self.lanes))
        recorded = [RecordedInstrument(f"bpm{i}", InstrumentKind.BPM, lanes) for i in range(self.instruments)]
        with path.open("wb") as file:
            write_replay(file, recorded, SOURCE)
        published = ["--workspace", link.sender_workspace]
        where = ["--port-kind", "memif", "--socket", str(link.socket), "--core", str(link.sender_core)]
        return ["replay", str(path), *where, "--rate", f"{turn_rate_hz:.0f}", "--loop", "--json", *published]


@dataclass(frozen=True)
class Ring:
    """A virtual ring that computes its beam, as in `make demo`."""

    name: str
    instruments: tuple[Mapping, ...]
    """As configurations list them, without the port."""
    turn_records: int = 1 << 20
    polling: Mapping | None = None
    """The server's `polling`; None: its default."""

    @property
    def packets_per_turn(self) -> float:
        """Those that do not send every turn count in part."""
        return sum(_number(entry, "count") / _number(entry, "period_turns") for entry in self.instruments)

    def server(self, link: Link, turn_rate_hz: float) -> str:
        """One receive role."""
        return self._machine(link, link.workspace, turn_rate_hz)

    def _machine(self, link: Link, workspace: str, turn_rate_hz: float) -> str:
        entries = [{"port": "ring", **entry} for entry in self.instruments]
        return server(
            *(workspace, [link.port], entries, link.receiver_core, self.turn_records),
            turn_rate_hz=turn_rate_hz or UNPACED_PPS / self.packets_per_turn,
            polling=self.polling,
        )

    def sender(self, link: Link, turn_rate_hz: float) -> list[str]:
        """The virtual ring of the same machine, in a workspace of its own."""
        machine, overlay = link.directory / "machine.yaml", link.directory / "ring.yaml"
        machine.write_text(self._machine(link, link.sender_workspace, turn_rate_hz or TURN_RATE_HZ))
        overlay.write_text(json.dumps({"first_turn": 1_000_000, "core": link.sender_core}))
        return ["run", str(machine), str(overlay), "--turn-rate", f"{turn_rate_hz:.0f}", "--json"]


def _number(entry: Mapping, key: str) -> float:
    value = entry.get(key, 1)
    return float(value) if isinstance(value, int) else 1.0


def _entry(name: str, kind: str, first_id: int, source: str, more: Sequence[tuple[str, object]] = ()) -> Mapping:
    return {"name": name, "kind": kind, "id": first_id, "source": source, **dict(more)}


def elettra(polling: Mapping | None = None) -> Ring:
    """What Elettra sent: eight streams at the turn rate, and 96 BPMs at 10 kHz."""
    turn_by_turn = _entry("bpm", "bpm", 1, "10.20.0.1", [("count", 7)])
    fast = _entry("fast", "bpm", 101, "10.20.3.1", [("count", 96), ("period_turns", FAST_PERIOD_TURNS)])
    return Ring("Elettra", (turn_by_turn, _entry("llrf01", "llrf", 1, "10.20.2.1"), fast), polling=polling)


def single(polling: Mapping | None = None) -> Ring:
    """One BPM electronics."""
    return Ring("one instrument", (_entry("bpm01", "bpm", 1, "10.20.0.1"),), polling=polling)
