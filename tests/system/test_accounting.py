# SPDX-License-Identifier: Apache-2.0
"""Every datagram is in one count: at overload, when a port goes down, when senders die or contradict each other."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import sleep

import foreign_sender
import numpy as np
import pytest
from harness import (
    OUTCOMES,
    RING_CORE,
    SERVER_CORE,
    TIMEOUT_S,
    VethPair,
    assert_sums_hold,
    came,
    kill_at_once,
    nonzero,
    server,
    unique_name,
    veth_pair,
    wait_for,
    wait_until_still,
)

from ringmaster import Workspace
from ringmaster.fabric.counters import CounterBlock, lost
from ringmaster.programs.program import Program, attach_to

INSTRUMENTS = [f"bpm{i}" for i in range(1, 9)]
TURN_RATE_HZ = 50_000
FIRST_TURN = 1_000_000
TURN_RECORDS = 131_072
STORED = ("accepted", "out_of_order")
PORTS = {
    "af_packet": "kind: af_packet, interface: veth0",
    "af_xdp": "kind: af_xdp, interface: veth0",
    "udp": 'kind: udp, address: "10.99.0.1:4660"',
}
RINGS = dict.fromkeys(("af_packet", "af_xdp"), "kind: af_packet, interface: veth1")
RINGS["udp"] = RINGS["af_packet"] + ', destination_mac: "02:00:00:00:00:01"'
"""What sends to those. To another's MAC where the kernel has no socket for it: then it does not answer."""
HOLDS = {"af_packet": 16_384, "af_xdp": 16_384, "udp": 200_000}
"""Datagrams that wait in a port at most: what comes then is lost."""
MEMIF_HOLDS = 16_384
LINK_HOLDS = 1024
"""Datagrams between both ends at most, which the kernel throws away uncounted when the interface goes down."""
BURST = 64


def write_server(root: Path, name: str, port: str, silence_turns: int = 1 << 30) -> Path:
    """A server whose instruments come by one port. As a rule the clock does not move the head of a silent stream."""
    file = root / f"{name}.yaml"
    file.write_text(
        f"workspace: {name}\nturn_rate_hz: {TURN_RATE_HZ}\npolling: {{naps: true}}\nports: [{{name: hall, {port}}}]\n"
        f"buffers: {{turn_records: {TURN_RECORDS}, fast_records: 8192}}\n"
        f"turn_window: {{silence_turns: {silence_turns}}}\n"
        f"roles: [{{role: receive, core: {SERVER_CORE}, ports: [hall]}}]\ninstruments:\n"
        + "".join(
            f"  - {{name: {n}, kind: bpm, id: {i}, port: hall, source: 10.99.0.2}}\n"
            for i, n in enumerate(INSTRUMENTS, 1)
        )
    )
    return file


def write_ring(root: Path, name: str, first_turn: int, port: str = "") -> tuple[Path, Path]:
    """The ring of that server: its file, and an overlay, which may say how the port is reached."""
    overlay = root / f"{name}-ring.yaml"
    more = f", {port}" if port else ""
    overlay.write_text(
        f"first_turn: {first_turn}\ncore: {RING_CORE}\nports: [{{name: hall, destination: 10.99.0.1{more}}}]\n"
    )
    return root / f"{name}.yaml", overlay


@pytest.fixture(scope="module")
def wired() -> Iterator[VethPair]:
    """A link of this module's own: it goes down."""
    with veth_pair() as pair:
        yield pair


def link_counts(link: VethPair) -> dict[str, int]:
    """What the kernel counted: `arrived` at the server's end, `dropped` at the sender's."""
    found = []
    for end in range(2):
        command = [*link.enter(end), "ip", "-json", "-stats", "link", "show", f"veth{end}"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=TIMEOUT_S)
        found.append(json.loads(done.stdout)[0]["stats64"])
    return {"arrived": found[0]["rx"]["packets"], "dropped": found[1]["tx"]["dropped"]}


@contextmanager
def link_down(link: VethPair) -> Iterator[None]:
    """The server's end of the link is down."""
    command = [*link.enter(0), "ip", "link", "set", "veth0"]
    subprocess.run([*command, "down"], check=True, timeout=TIMEOUT_S)
    try:
        yield
    finally:
        subprocess.run([*command, "up"], check=True, timeout=TIMEOUT_S)


@dataclass
class Hall:
    """A server that runs, a ring that sends to it, and what both count."""

    running: Program
    ring: Program
    ws: Workspace

    @property
    def port(self) -> CounterBlock:
        """What the server makes of all datagrams."""
        return self.ws.counters("port/hall")

    @property
    def sent(self) -> int:
        """Datagrams that left the ring."""
        return sum(self.ws.counters(f"sender/{instrument}")["sent"] for instrument in INSTRUMENTS)

    @property
    def waits(self) -> int:
        """Times that the ring waited for its link."""
        return sum(self.ws.counters(f"sender/{instrument}")["waits"] for instrument in INSTRUMENTS)

    def stream(self, instrument: str) -> dict[str, int]:
        """What the server made of an instrument's records."""
        return dict(self.ws.counters(f"stream/{instrument}"))

    def receives(self, count: int) -> None:
        """Waits until so many more have come."""
        goal = self.port["received"] + count
        wait_for(lambda: self.port["received"] >= goal, lambda: f"{goal} received: {self}")

    def __str__(self) -> str:
        return f"sent {self.sent}, {nonzero(self.port)}; {self.running.words}; {self.ring.words}"

    def stop_ring(self) -> None:
        """Ends the ring in good order: what it sent has left it."""
        assert self.ring.stop() == 0, self.ring.words


@contextmanager
def hall(server_config: Path, ring: tuple[Path, Path], link: VethPair | None, *options: str) -> Iterator[Hall]:
    """Starts both, at the two ends of a link."""
    enter = [link.enter(end) if link else [] for end in range(2)]
    name = server_config.stem
    with (
        server(server_config, enter[0]) as running,
        attach_to(name, running),
        Program("ringmaster-instruments", "run", *ring, *options, prefix=enter[1]) as sending,
        attach_to(name, running, ("server", "ring")) as ws,
    ):
        made = Hall(running, sending, ws)
        made.receives(1000)
        yield made


@contextmanager
def kept_from_its_core(program: Program) -> Iterator[None]:
    """A program that does not get to run, as on a machine with too much to do."""
    os.kill(program.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(program.pid, signal.SIGCONT)


def assert_loss_shows(hall: Hall) -> None:
    """In each stream: between its first turn and its newest one every turn is stored, or lost."""
    for instrument in INSTRUMENTS:
        stream, counts = hall.ws.streams[f"{instrument}/turn"], hall.stream(instrument)
        assert stream.head is not None
        assert stream.first is not None
        assert sum(counts[name] for name in STORED) + lost(counts) == stream.head - stream.first + 1, counts
        if stream.head - stream.first < TURN_RECORDS // 2:
            whole = stream.read(stream.first, stream.head - stream.first + 1)
            assert np.count_nonzero(~whole.ok) == lost(counts)


def lost_on_the_way(hall: Hall, instrument: str, last_turn: int) -> int:
    """By its turn numbers, of the turns from FIRST_TURN to the last one that was sent: those that did not come."""
    stream, counts = hall.ws.streams[f"{instrument}/turn"], hall.stream(instrument)
    assert stream.head is not None
    assert stream.first is not None
    outside = stream.first - FIRST_TURN + last_turn - stream.head
    return outside + lost(counts) - counts["turn_ahead"] - counts["turn_behind"]


def assert_same_as_undisturbed(root: Path, hall: Hall, turns: int) -> None:
    """What is stored of the newest turns is, to the bit, what another server stores of the same turns without loss."""
    newest = min(stream.head for n in INSTRUMENTS if (stream := hall.ws.streams[f"{n}/turn"]).head is not None)
    first = newest - turns + 1
    name = unique_name("undisturbed")
    link = f"kind: memif, socket: {root}/{name}.sock"
    server_config = write_server(root, name, f"{link}, role: server")
    ring = write_ring(root, name, first)
    with server(server_config) as running, attach_to(name, running) as right:
        with Program("ringmaster-instruments", "run", *ring, "--turns", str(turns)) as sending:
            assert sending.wait(TIMEOUT_S) == 0, sending.words
        port = right.counters("port/hall")
        wait_for(lambda: port["received"] >= turns * len(INSTRUMENTS), lambda: f"the same turns again: {nonzero(port)}")
        for instrument in INSTRUMENTS:
            found = hall.ws.streams[f"{instrument}/turn"].read(first, turns)
            expected = right.streams[f"{instrument}/turn"].read(first, turns)
            assert expected.ok.all()
            assert found.ok.any()
            for lane in (lane.name for lane in hall.ws.streams[f"{instrument}/turn"].lanes):
                np.testing.assert_array_equal(found[lane][found.ok], expected[lane][found.ok], f"{instrument} {lane}")


@pytest.mark.parametrize("kind", PORTS)
def test_at_overload_all_that_is_lost_is_counted(root: Path, wired: VethPair, kind: str) -> None:
    """The ring sends as fast as it can, and the server gets to take less than half of it."""
    name = unique_name(f"over-{kind}")
    before = link_counts(wired)
    server_config = write_server(root, name, PORTS[kind])
    ring = write_ring(root, name, FIRST_TURN, RINGS[kind])
    with hall(server_config, ring, wired, "--turn-rate", "0") as made:
        for last_round in (False, False, True):
            with kept_from_its_core(made.running):
                enough = 2 * (made.port["received"] + HOLDS[kind])
                wait_for(lambda: made.sent >= enough, lambda: f"{enough} sent: {made}")  # noqa: B023
                if last_round:
                    made.stop_ring()
            if not last_round:
                made.receives(1000)
        link = {what: count - before[what] for what, count in link_counts(wired).items()}
        assert made.sent == link["arrived"] + link["dropped"]
        port = made.port
        wait_for(lambda: came(made.port) >= link["arrived"], lambda: f"{link}: {made}")
        assert came(made.port) == link["arrived"]
        assert made.sent >= 2 * port["received"]
        assert_sums_hold(made.ws)
        assert_loss_shows(made)
        last_turn = FIRST_TURN + made.sent // len(INSTRUMENTS) - 1
        ways = {instrument: lost_on_the_way(made, instrument, last_turn) for instrument in INSTRUMENTS}
        assert sum(ways.values()) == port["kernel_missed"] + link["dropped"]
        taken = {n: sum(made.stream(n)[outcome] for outcome in OUTCOMES) for n in INSTRUMENTS}
        for instrument in INSTRUMENTS:
            assert taken[instrument] + ways[instrument] == made.ws.counters(f"sender/{instrument}")["sent"]
        fair_share = port["received"] / len(INSTRUMENTS)
        assert min(taken.values()) >= fair_share / 4, taken
        assert_same_as_undisturbed(root, made, turns=40_000)


@pytest.mark.parametrize("kind", PORTS)
def test_a_port_that_goes_down_and_comes_back(root: Path, wired: VethPair, kind: str) -> None:
    """Its streams go on, and the outage is in each of them as lost turns."""
    name = unique_name(f"down-{kind}")
    before = link_counts(wired)
    server_config = write_server(root, name, PORTS[kind])
    ring = write_ring(root, name, FIRST_TURN, RINGS[kind])
    with hall(server_config, ring, wired) as made:
        waits = made.waits
        with link_down(wired):
            wait_for(lambda: made.waits > waits, lambda: f"the ring to see that its link is down: {made}")
            sleep(0.05)  # so that some turns are due; nothing is asserted of how many
        made.receives(20_000)
        made.stop_ring()
        link = {what: count - before[what] for what, count in link_counts(wired).items()}
        wait_until_still(made.ws, "hall")
        forgotten = link["arrived"] - came(made.port)
        assert 0 <= forgotten <= LINK_HOLDS
        assert 0 <= made.sent - link["arrived"] <= link["dropped"]
        assert_sums_hold(made.ws)
        assert_loss_shows(made)
        for instrument in INSTRUMENTS:
            assert lost(made.stream(instrument)) > 0
            assert made.stream(instrument)["turn_epochs"] == 0
        assert_same_as_undisturbed(root, made, turns=10_000)


@pytest.mark.parametrize("end", [lambda ring: kill_at_once(ring.pid), Program.stop], ids=["killed", "stopped"])
def test_a_ring_that_starts_again_at_turn_0(root: Path, end: Callable[[Program], object]) -> None:
    """Another process takes its place on the link, and all its instruments count from 0: a new turn-counter epoch."""
    name = unique_name(f"again{len(end.__name__)}")
    link = f"kind: memif, socket: {root}/{name}.sock"
    server_config = write_server(root, name, f"{link}, role: server", silence_turns=FIRST_TURN // 2)
    with hall(server_config, write_ring(root, name, FIRST_TURN), None) as made:
        made.receives(20_000)
        end(made.ring)
        made.ring.wait(TIMEOUT_S)
        first_life = made.sent
        again = write_ring(root, name, 0)
        with (
            Program("ringmaster-instruments", "run", *again) as ring,
            attach_to(name, made.running, ("server", "ring")) as ws,
        ):
            wait_for(
                lambda: all(made.stream(n)["turn_epochs"] == 1 for n in INSTRUMENTS),
                lambda: f"a new grant number: {made}",
            )
            made.receives(20_000)
            assert ring.stop() == 0, ring.words
            sent = first_life + sum(ws.counters(f"sender/{n}")["sent"] for n in INSTRUMENTS)
        in_flight = BURST + MEMIF_HOLDS if end is not Program.stop else 0
        wait_for(lambda: made.port["received"] >= sent - in_flight, lambda: f"{sent} received: {made}")
        assert abs(made.port["received"] - sent) <= in_flight
        assert_sums_hold(made.ws)
        for instrument in INSTRUMENTS:
            stream = made.ws.streams[f"{instrument}/turn"]
            assert stream.turn_epoch == made.stream(instrument)["turn_epochs"] == 1
            assert stream.head is not None
            assert stream.head < FIRST_TURN
            assert stream.latest(1000).ok.all()
        assert_same_as_undisturbed(root, made, turns=2000)


def test_of_two_senders_with_one_id_the_first_copy_wins(root: Path, link: VethPair) -> None:
    """They send other values for the same turns, from one address, each with losses of its own."""
    turns, rate_hz, loss = 12_000, 10_000, (0.2, 0.3)
    name = unique_name("two")
    file = root / "two.yaml"
    file.write_text(
        f"workspace: {name}\nturn_rate_hz: {rate_hz}\npolling: {{naps: true}}\n"
        'ports: [{name: spare, kind: "null"}, {name: hall, kind: af_packet, interface: veth0}]\n'
        "buffers: {turn_records: 16384, fast_records: 1024}\n"
        f"roles: [{{role: receive, core: {SERVER_CORE}, ports: [spare, hall], first: [hall]}}]\ninstruments:\n"
        "  - {name: bpm01, kind: bpm, id: 1, port: hall, source: 10.99.0.2,\n"
        "     lanes: [{name: x, unit: nm, type: i32}, {name: y, unit: nm, type: i32}]}\n"
    )
    words = ["--count", str(turns), "--first", str(FIRST_TURN), "--rate", str(rate_hz)]
    for network in range(2):
        words += ["--to", "10.99.0.1:4660", "--source", "10.99.0.2"]
        words += ["--loss", str(loss[network]), "--pattern", str(network + 1)]
    with server(file, link.enter(0)) as running, attach_to(name, running) as ws:
        command = [*link.enter(1), sys.executable, foreign_sender.__file__, "native", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=TIMEOUT_S)
        sent = sum(map(int, done.stdout.split()))
        port, counts = ws.counters("port/hall"), ws.counters("stream/bpm01")
        wait_for(lambda: port["decoded"] >= sent, lambda: f"{sent} datagrams: {nonzero(port)}")
        assert port["decoded"] == sent
        assert_sums_hold(ws)
        gone = [np.random.default_rng(network + 1).random(turns) < loss[network] for network in range(2)]
        neither, both = gone[0] & gone[1], ~gone[0] & ~gone[1]
        assert nonzero(counts).keys() <= {"accepted", "out_of_order", "duplicate", "skipped", "fast_missing"}
        assert counts["duplicate"] == np.count_nonzero(both)
        window = ws.streams["bpm01/turn"].read(FIRST_TURN, turns)
        np.testing.assert_array_equal(window.ok, ~neither)
        sent_turns = np.arange(FIRST_TURN, FIRST_TURN + turns)
        for lane, lane_name in enumerate(("x", "y")):
            ours, theirs = (foreign_sender.values(sent_turns, pattern, lane) for pattern in (1, 2))
            expected = np.where(gone[0], theirs, ours)
            np.testing.assert_array_equal(window[lane_name][window.ok], expected[window.ok], lane_name)
