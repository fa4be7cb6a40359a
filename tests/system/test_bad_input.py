# SPDX-License-Identifier: Apache-2.0
"""Datagrams and frames made wrong by hand: the counter that names the mistake goes up, no other, and life goes on."""

import random
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from harness import (
    REASONS,
    ROOT,
    SERVER_CORE,
    VethPair,
    assert_sums_hold,
    difference,
    free_udp_port,
    server,
    unique_name,
    wait_for,
)

from ringmaster import Workspace
from ringmaster.programs.program import Program, attach_to

FIRST_TURN = 5_000_000
TURN_RATE_HZ = 10_000
VECTORS = ROOT / "src/wire/vectors/native.txt"


def native(
    turn: int = FIRST_TURN,
    lanes: int = 2,
    *,
    magic: int = 0x4D52,
    version: int = 1,
    kind: int = 1,
    instrument: int = 1,
) -> bytes:
    """A native datagram; lane i is turn + i."""
    values = struct.pack(f"<{lanes}I", *((turn + i) & 0xFFFFFFFF for i in range(lanes)))
    return struct.pack("<HBBHHQ", magic, version, kind, instrument, 0, turn) + values


def configuration(name: str, port: str, instruments: str) -> str:
    return (
        f"workspace: {name}\n"
        f"turn_rate_hz: {TURN_RATE_HZ}\npolling: {{naps: true}}\n"
        f"ports:\n  - {port}\n"
        "buffers: {turn_records: 16384, fast_records: 1024}\n"
        f"roles:\n  - {{role: receive, core: {SERVER_CORE}, ports: [door]}}\n"
        f"instruments:\n{instruments}"
    )


@dataclass
class Door:
    """A server with one UDP port, and one instrument, bpm01, that sends two lanes from 127.0.0.1."""

    running: Program
    ws: Workspace
    udp_port: int
    next_turn: int = FIRST_TURN

    @property
    def counted(self) -> dict[str, int]:
        """Reasons and outcomes."""
        port = {name: count for name, count in self.ws.counters("port/door").items() if name in REASONS}
        return {**port, **self.ws.counters("stream/bpm01")}

    def send(self, *datagrams: bytes, source: str = "127.0.0.1") -> None:
        """Sends them, one after the other, and waits until the server has counted each."""
        port = self.ws.counters("port/door")
        before = port["received"]
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.bind((source, 0))
            for datagram in datagrams:
                sender.sendto(datagram, ("127.0.0.1", self.udp_port))
        wait_for(lambda: port["received"] >= before + len(datagrams), f"{len(datagrams)} datagrams more: {dict(port)}")
        assert port["received"] == before + len(datagrams)
        assert_sums_hold(self.ws)

    def send_good(self) -> None:
        """The next turn is taken."""
        before = self.counted
        self.send(native(self.next_turn))
        assert difference(before, self.counted) == {"accepted": 1}
        window = self.ws.streams["bpm01/turn"].read(self.next_turn, 1)
        assert window.ok.all()
        assert (window["x"].item(), window["y"].item()) == (self.next_turn, self.next_turn + 1)
        self.next_turn += 1


@pytest.fixture(scope="module")
def door(root: Path) -> Iterator[Door]:
    """A server on the loopback interface that has seen one good datagram."""
    name, udp_port = unique_name("door"), free_udp_port()
    config = root / "door.yaml"
    config.write_text(
        configuration(
            name,
            f'{{name: door, kind: udp, address: "127.0.0.1:{udp_port}"}}',
            "  - name: bpm01\n    kind: bpm\n    id: 1\n    port: door\n    source: 127.0.0.1\n"
            "    lanes: [{name: x, unit: nm, type: i32}, {name: y, unit: nm, type: i32}]\n",
        )
    )
    with server(config) as running, attach_to(name, running) as ws:
        door = Door(running, ws, udp_port)
        door.send_good()
        yield door
        running.check()


WRONG = [
    ("too_short", b""),
    ("too_short", b"R"),
    ("too_short", native(lanes=0)),
    ("too_short", native()[:19]),
    ("too_long", native(lanes=13)),
    ("too_long", native(lanes=12) + b"\0"),
    ("too_long", native(lanes=2000)),
    ("too_long", native(lanes=16000)),
    ("bad_length", native() + b"\0"),
    ("bad_length", native()[:-2]),
    ("bad_magic", native(magic=0x524D)),
    ("bad_magic", bytes(24)),
    ("unknown_version", native(version=0)),
    ("unknown_version", native(version=2)),
    ("unknown_kind", native(kind=0)),
    ("unknown_kind", native(kind=7)),
    ("unknown_kind", native(kind=255)),
    ("unknown_instrument", native(instrument=0)),
    ("unknown_instrument", native(instrument=2)),
    ("unknown_instrument", native(instrument=65535)),
    ("wrong_kind", native(kind=2)),
    ("wrong_lanes", native(lanes=1)),
    ("wrong_lanes", native(lanes=12)),
    ("turn_behind", native(turn=0)),
    ("turn_behind", native(turn=FIRST_TURN - 500_000)),
    ("turn_ahead", native(turn=1 << 40)),
    ("turn_ahead", native(turn=(1 << 62) - 1)),
    ("turn_out_of_range", native(turn=1 << 62)),
    ("turn_out_of_range", native(turn=1 << 63)),
    ("turn_out_of_range", native(turn=(1 << 64) - 2)),
    ("turn_out_of_range", native(turn=(1 << 64) - 1)),
    ("duplicate", native(turn=FIRST_TURN)),
]


@pytest.mark.parametrize(("counter", "datagram"), WRONG, ids=[f"{i}-{name}" for i, (name, _) in enumerate(WRONG)])
def test_a_wrong_datagram_is_counted_by_its_mistake(door: Door, counter: str, datagram: bytes) -> None:
    before = door.counted
    door.send(datagram)
    assert difference(before, door.counted) == {counter: 1}
    door.send_good()


def test_another_address_is_not_the_instrument(door: Door) -> None:
    before = door.counted
    door.send(native(door.next_turn), source="127.0.0.2")
    assert difference(before, door.counted) == {"unknown_source": 1}
    door.send_good()


def test_garbage_changes_no_record(door: Door) -> None:
    """Random bytes, and good datagrams with one bit flipped where it makes them wrong."""
    chance = random.Random(1)
    stream = door.ws.streams["bpm01/turn"]
    for _ in range(3):
        door.send_good()
    before = stream.read(FIRST_TURN, door.next_turn - FIRST_TURN)
    accepted = door.counted["accepted"]
    garbage = [chance.randbytes(chance.randrange(120)) for _ in range(500)]
    for bit in [*range(48), *range(8 * 13, 8 * 16)]:  # magic to instrument, and the upper bytes of the turn
        flipped = bytearray(native(door.next_turn))
        flipped[bit // 8] ^= 1 << bit % 8
        garbage.append(bytes(flipped))
    chance.shuffle(garbage)
    door.send(*garbage)
    after = stream.read(FIRST_TURN, door.next_turn - FIRST_TURN)
    assert (door.counted["accepted"], stream.head) == (accepted, door.next_turn - 1)
    assert before.records.tobytes() == after.records.tobytes()
    door.send_good()


def vectors() -> dict[str, tuple[str, bytes]]:
    """The frames of the published test vectors, with the counters that they belong to."""
    found: dict[str, tuple[str, bytes]] = {}
    for block in VECTORS.read_text().split("\nname ")[1:]:
        name, *lines = block.splitlines()
        fields = dict(line.split(" ", 1) for line in lines if " " in line and not line.startswith("#"))
        parts = (fields.get(part, "") for part in ("ethernet", "ipv4", "udp", "payload", "trailer"))
        found[name] = (fields["verdict"], bytes.fromhex("".join(parts)))
    return found


UNSEEN = {
    "cut-ethernet": "the kernel sends no frame without a whole Ethernet header",
    "cut-vlan": "the kernel takes tags off, and drops a frame that ends in one",
    "fragment-first": "the kernel waits for the rest of it",
    "fragment-last": "the kernel waits for the rest of it",
}
"""Vectors that no packet socket gets to see."""
FRAMES = {name: vector for name, vector in vectors().items() if name not in UNSEEN}


def lanes(count: int, lane_type: str) -> str:
    return "[" + ", ".join(f"{{name: v{i}, unit: counts, type: {lane_type}}}" for i in range(count)) + "]"


@pytest.fixture(scope="module")
def wire(root: Path, link: VethPair) -> Iterator[tuple[VethPair, Workspace]]:
    """A server on one end of a link, past the kernel; it knows the instruments of the test vectors."""
    name = unique_name("wire")
    config = root / "wire.yaml"
    instruments = [
        "name: bpm, kind: bpm, id: 7",
        f"name: blm, kind: blm, id: 300, lanes: {lanes(12, 'i32')}",
        f"name: llrf, kind: llrf, id: 1, lanes: {lanes(4, 'f32')}",
        f"name: interlock, kind: interlock, id: 65535, lanes: {lanes(1, 'i32')}",
        f"name: photon, kind: photon_bpm, id: 0, lanes: {lanes(2, 'i32')}",
        "name: supply, kind: power_supply, id: 12",
    ]
    listed = "".join(f"  - {{{instrument}, port: door, source: 10.0.0.7}}\n" for instrument in instruments)
    config.write_text(configuration(name, "{name: door, kind: af_packet, interface: veth0}", listed))
    with server(config, link.enter(0)) as running, attach_to(name, running) as ws:
        yield link, ws
        running.check()


def test_the_vectors_hold_every_reason_that_needs_a_frame() -> None:
    verdicts = {verdict for verdict, _ in FRAMES.values()}
    assert verdicts >= {"not_ipv4", "not_udp", "truncated", "bad_ip_header", "bad_udp_checksum"}


def counted_for(wire: tuple[VethPair, Workspace], *frames: bytes) -> dict[str, int]:
    """What the port counts when these frames have come as one packet."""
    link, ws = wire
    port = ws.counters("port/door")
    before = dict(port)
    link.send_frames(1, frames)
    wait_for(lambda: port["bytes"] > before["bytes"], "a packet")  # counted last
    assert_sums_hold(ws)
    return difference(before, {**port, "bytes": before["bytes"], "records": before["records"]})


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_is_counted_as_its_vector_says(wire: tuple[VethPair, Workspace], name: str) -> None:
    verdict, frame = FRAMES[name]
    assert counted_for(wire, frame) == {"received": 1, verdict: 1}


def test_another_udp_port_is_not_ours(wire: tuple[VethPair, Workspace]) -> None:
    frame = bytearray(FRAMES["no-udp-checksum"][1])
    frame[36:38] = struct.pack(">H", 4661)
    assert counted_for(wire, bytes(frame)) == {"received": 1, "not_our_port": 1}


def internet_checksum(header: bytearray) -> int:
    total: int = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def fragment(frame: bytes, first: int, end: int) -> bytes:
    """Bytes ``first`` to ``end`` of an IPv4 packet's content, as a fragment of their own."""
    ethernet, header, content = frame[:14], bytearray(frame[14:34]), frame[34:]
    more = end < len(content)
    struct.pack_into(">HHH", header, 2, 20 + end - first, 1, more << 13 | first // 8)
    struct.pack_into(">H", header, 10, 0)
    struct.pack_into(">H", header, 10, internet_checksum(header))
    return ethernet + header + content[first:end]


def test_the_kernel_puts_fragments_together_before_a_packet_socket(wire: tuple[VethPair, Workspace]) -> None:
    frame = FRAMES["bpm"][1]
    pieces = fragment(frame, 0, 32), fragment(frame, 32, len(frame) - 34)
    assert counted_for(wire, *pieces) == {"received": 1, "decoded": 1}
