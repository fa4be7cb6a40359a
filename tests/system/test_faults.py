# SPDX-License-Identifier: Apache-2.0
"""Every fault that the virtual ring can make: the server counts exactly what the ring did, and keeps all else."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from harness import (
    REASONS,
    RING_CORE,
    SERVER_CORE,
    TIMEOUT_S,
    assert_sums_hold,
    nonzero,
    server,
    unique_name,
    wait_for,
)

from ringmaster import Window, Workspace
from ringmaster.fabric.counters import lost
from ringmaster.programs.program import Program, attach_to

TURNS = 40_000
TURN_RATE_HZ = 20_000
FIRST_TURN = 1_000_000
LAST_TURN = FIRST_TURN + TURNS - 1
MIDDLE = FIRST_TURN + TURNS // 2

FAULTS = {
    "good": "",
    "dropping": "fault: drop, probability: 2e-3",
    "doubling": "fault: duplicate, probability: 2e-3",
    "swapping": "fault: reorder, probability: 5e-4",
    "tardy": "fault: late, probability: 1e-3, turns: 200",
    "corrupting": "fault: corrupt, probability: 2e-3",
    "truncating": "fault: truncated, probability: 2e-3",
    "modern": "fault: wrong_version, probability: 2e-3",
    "ahead": "fault: turn_jump, probability: 2e-4, turns: 1000000",
    "behind": f"fault: turn_jump, at_turn: {MIDDLE}, turns: -900000, duration: 40",
    "reset": f"fault: turn_reset, at_turn: {MIDDLE}",
    "distant": "fault: delay, turns: 40",
    "last": "",
}
"""What each instrument has to suffer."""

REFUSED_AS = {
    "corrupting": ("corrupted", "bad_udp_checksum"),
    "truncating": ("truncated", "truncated"),
    "modern": ("wrong_version", "unknown_version"),
}
"""Faults that make a datagram useless: the sender's counter, and the port's."""


def write_configurations(root: Path, name: str, faults: list[str]) -> tuple[Path, Path]:
    """A server, and the overlay of a ring with these faults, on a link of their own."""
    listed = [(i + 1, instrument) for i, instrument in enumerate(FAULTS)]
    link = f"kind: memif, socket: {root}/{name}.sock"
    server_config, overlay = root / f"{name}-server.yaml", root / f"{name}-ring.yaml"
    server_config.write_text(
        f"workspace: {name}\n"
        f"turn_rate_hz: {TURN_RATE_HZ}\npolling: {{naps: true}}\n"
        f"ports:\n  - {{name: ring, {link}, role: server}}\n"
        f"buffers: {{turn_records: 65536, fast_records: 8192}}\n"
        f"roles:\n  - {{role: receive, core: {SERVER_CORE}, ports: [ring]}}\n"
        "instruments:\n"
        + "".join(f"  - {{name: {n}, kind: bpm, id: {i}, port: ring, source: 10.20.0.{i}}}\n" for i, n in listed)
    )
    overlay.write_text(
        f"first_turn: {FIRST_TURN}\ncore: {RING_CORE}\nudp_checksum: true\n"
        + ("faults:\n" if faults else "")
        + "".join(f"  - {{{fault}}}\n" for fault in faults)
    )
    return server_config, overlay


@dataclass
class Run:
    """What is left in memory when the ring has sent everything, and the server runs on."""

    ws: Workspace

    def sent(self, instrument: str) -> dict[str, int]:
        """What the ring did."""
        return dict(self.ws.counters(f"sender/{instrument}"))

    def came(self, instrument: str) -> dict[str, int]:
        """What the server made of it."""
        return dict(self.ws.counters(f"stream/{instrument}"))

    @property
    def port(self) -> dict[str, int]:
        """What the server made of all datagrams."""
        return dict(self.ws.counters("port/ring"))

    def whole(self, instrument: str) -> Window:
        """Every turn of the run."""
        return self.ws.streams[f"{instrument}/turn"].read(FIRST_TURN, TURNS)


@contextmanager
def run_ring(root: Path, word: str, faults: list[str]) -> Iterator[Run]:
    """Lets a ring send all its turns."""
    name = unique_name(word)
    server_config, overlay = write_configurations(root, name, faults)
    with server(server_config) as running:
        attach_to(name, running).close()
        with Program("ringmaster-instruments", "run", server_config, overlay, "--turns", str(TURNS)) as ring:
            assert ring.wait(TIMEOUT_S) == 0, ring.words
        with attach_to(name, running) as ws:
            run = Run(ws)
            sent = sum(run.sent(instrument)["sent"] for instrument in FAULTS)
            wait_for(lambda: run.port["received"] >= sent, f"{sent} datagrams: {nonzero(run.port)}")
            yield run


@pytest.fixture(scope="module")
def faultless(root: Path) -> Iterator[Run]:
    """The same beam without any fault."""
    with run_ring(root, "faultless", []) as run:
        yield run


@pytest.fixture(scope="module")
def faulty(root: Path) -> Iterator[Run]:
    """The beam with all faults at once."""
    with run_ring(root, "faulty", [f"instrument: {name}, {fault}" for name, fault in FAULTS.items() if fault]) as run:
        yield run


def test_without_faults_nothing_is_wrong(faultless: Run) -> None:
    for instrument in FAULTS:
        assert nonzero(faultless.came(instrument)) == {"accepted": TURNS}
        assert faultless.whole(instrument).ok.all()
    assert nonzero(faultless.port).keys() == {"received", "decoded", "bytes", "records"}
    assert_sums_hold(faultless.ws)


def test_the_ring_made_every_fault(faulty: Run) -> None:
    made = {
        "dropping": "dropped",
        "doubling": "duplicated",
        "swapping": "reordered",
        "tardy": "delayed",
        "corrupting": "corrupted",
        "truncating": "truncated",
        "modern": "wrong_version",
        "ahead": "turn_jumps",
        "behind": "turn_jumps",
        "reset": "turn_resets",
        "distant": "delayed",
    }
    assert made.keys() == {name for name, fault in FAULTS.items() if fault}
    for instrument, counter in made.items():
        assert faulty.sent(instrument)[counter] > 0, instrument


def test_every_datagram_is_counted_once(faulty: Run) -> None:
    assert faulty.port["received"] == sum(faulty.sent(instrument)["sent"] for instrument in FAULTS)
    assert_sums_hold(faulty.ws)


@pytest.mark.parametrize("instrument", ["good", "last", "distant"])
def test_good_instruments_are_not_disturbed(faulty: Run, instrument: str) -> None:
    assert nonzero(faulty.came(instrument)) == {"accepted": TURNS}


def test_dropped_turns_are_lost(faulty: Run) -> None:
    sent, came = faulty.sent("dropping"), faulty.came("dropping")
    assert nonzero(came).keys() <= {"accepted", "skipped", "fast_missing"}
    assert sent["sent"] == TURNS - sent["dropped"] == came["accepted"]
    assert lost(came) == sent["dropped"]
    assert np.count_nonzero(~faulty.whole("dropping").ok) == sent["dropped"]


def test_duplicates_are_dropped(faulty: Run) -> None:
    assert nonzero(faulty.came("doubling")) == {
        "accepted": TURNS,
        "duplicate": faulty.sent("doubling")["duplicated"],
    }


@pytest.mark.parametrize(("instrument", "fault"), [("swapping", "reordered"), ("tardy", "delayed")])
def test_late_turns_find_their_place(faulty: Run, instrument: str, fault: str) -> None:
    count, came = faulty.sent(instrument)[fault], faulty.came(instrument)
    assert (came["out_of_order"], came["accepted"]) == (count, TURNS - count)
    assert lost(came) == 0
    assert faulty.whole(instrument).ok.all()


def test_only_what_came_too_late_for_the_filters_is_bridged(faulty: Run) -> None:
    assert faulty.came("swapping")["fast_missing"] == 0
    assert faulty.came("tardy")["fast_missing"] == faulty.sent("tardy")["delayed"]
    assert faulty.came("dropping")["fast_missing"] == faulty.sent("dropping")["dropped"]


@pytest.mark.parametrize("instrument", REFUSED_AS)
def test_useless_datagrams_are_refused_by_name_and_lost(faulty: Run, instrument: str) -> None:
    sender_counter, port_counter = REFUSED_AS[instrument]
    count, came = faulty.sent(instrument)[sender_counter], faulty.came(instrument)
    assert faulty.port[port_counter] == count
    assert (came["accepted"], lost(came)) == (TURNS - count, count)


def test_nothing_else_was_refused(faulty: Run) -> None:
    reasons = nonzero({name: count for name, count in faulty.port.items() if name in REASONS})
    assert reasons.keys() == {port_counter for _, port_counter in REFUSED_AS.values()}
    assert faulty.port["kernel_missed"] == 0


@pytest.mark.parametrize(
    ("instrument", "counter", "count"), [("ahead", "turn_ahead", None), ("behind", "turn_behind", 40)]
)
def test_jumps_of_one_are_refused(faulty: Run, instrument: str, counter: str, count: int | None) -> None:
    expected, came = count or faulty.sent(instrument)["turn_jumps"], faulty.came(instrument)
    assert (came[counter], came["accepted"], lost(came)) == (expected, TURNS - expected, expected)
    assert came["turn_epochs"] == 0


def test_one_that_starts_anew_is_not_believed(faulty: Run) -> None:
    came = faulty.came("reset")
    assert (came["accepted"], came["turn_behind"]) == (MIDDLE - FIRST_TURN, LAST_TURN - MIDDLE + 1)
    assert came["turn_epochs"] == 0
    assert faulty.ws.counters("clock/0")["anchors"] == 1


def test_no_slot_holds_anything_wrong(faultless: Run, faulty: Run) -> None:
    """Whatever was stored is, bit by bit, what the same beam stores without faults."""
    for instrument in FAULTS:
        right, found = faultless.whole(instrument), faulty.whole(instrument)
        assert (
            np.count_nonzero(found.ok) == faulty.came(instrument)["accepted"] + faulty.came(instrument)["out_of_order"]
        )
        for lane in (lane.name for lane in faulty.ws.streams[f"{instrument}/turn"].lanes):
            np.testing.assert_array_equal(found[lane][found.ok], right[lane][found.ok], f"{instrument} {lane}")


def test_when_all_start_anew_the_server_follows(root: Path, faultless: Run) -> None:
    with run_ring(root, "restart", [f"instrument: all, fault: turn_reset, at_turn: {MIDDLE}"]) as run:
        assert run.ws.clock.read().turn_epoch == 1
        assert run.ws.counters("clock/0")["anchors"] == 2
        assert_sums_hold(run.ws)
        for instrument in FAULTS:
            came, stream = run.came(instrument), run.ws.streams[f"{instrument}/turn"]
            assert run.sent(instrument)["turn_resets"] == 1
            assert (came["turn_epochs"], stream.turn_epoch) == (1, 1)
            assert nonzero(came).keys() <= {"accepted", "turn_behind", "turn_epochs"}
            assert came["accepted"] + came["turn_behind"] == TURNS
            assert came["turn_behind"] < 100, "the quorum took long"
            assert stream.head == LAST_TURN - MIDDLE
            assert stream.first is not None
            count = stream.head - stream.first + 1
            window, right = stream.read(stream.first, count), faultless.whole(instrument)
            assert window.ok.all()
            np.testing.assert_array_equal(window["x1"], right["x1"][-count:])
