# SPDX-License-Identifier: Apache-2.0
"""Two networks bring the same instrument, each loses on its own, and the stream is whole where one copy came."""

import subprocess
import sys
from pathlib import Path

import foreign_sender
import numpy as np
from harness import SERVER_CORE, TIMEOUT_S, VethPair, assert_sums_hold, nonzero, server, unique_name, wait_for

from ringmaster.fabric.counters import CounterBlock
from ringmaster.programs.program import attach_to

TURN_RATE_HZ = 10_000
TURNS = 14_000
FIRST_TURN = 5_000_000
LOSS = (0.05, 0.08)
SOURCES = ("10.99.0.2", "10.98.0.2")
LATE_TURNS = 1024


def add_second_link(link: VethPair) -> None:
    """Another pair between the two namespaces: vethb0, 10.98.0.1, and vethb1, 10.98.0.2."""
    make = ["ip", "link", "add", "vethb0", "type", "veth", "peer", "name", "vethb1", "netns", str(link.holders[1])]
    subprocess.run([*link.enter(0), *make], check=True)
    for end in range(2):
        for words in (
            ["addr", "add", f"10.98.0.{end + 1}/24", "dev", f"vethb{end}"],
            ["link", "set", f"vethb{end}", "up"],
        ):
            subprocess.run([*link.enter(end), "ip", *words], check=True)


def wait_until(counters: CounterBlock, name: str, count: int) -> None:
    """Waits until a counter has come that far."""
    wait_for(lambda: counters[name] >= count, f"{nonzero(counters)}, {name} {count}")


def lost_on(network: int) -> np.ndarray:
    """Which turns a network loses: the sender's own dice."""
    return np.random.default_rng(network + 1).random(TURNS) < LOSS[network]


def test_a_mirrored_pair_with_losses_of_their_own(root: Path, link: VethPair) -> None:
    add_second_link(link)
    name = unique_name("mirror")
    file = root / "mirror.yaml"
    file.write_text(
        f"workspace: {name}\n"
        f"turn_rate_hz: {TURN_RATE_HZ}\npolling: {{naps: true}}\n"
        "ports:\n"
        "  - {name: red, kind: af_packet, interface: veth0}\n"
        "  - {name: blue, kind: af_packet, interface: vethb0}\n"
        f"buffers: {{turn_records: 16384, fast_records: 1024}}\n"
        f"turn_window: {{late_turns: {LATE_TURNS}}}\n"
        f"roles:\n  - {{role: receive, core: {SERVER_CORE}, ports: [red, blue]}}\n"
        "instruments:\n"
        f"  - name: bpm01\n    kind: bpm\n    id: 1\n    port: red\n    source: {SOURCES[0]}\n"
        f"    mirror: {{port: blue, source: {SOURCES[1]}}}\n"
        "    lanes: [{name: x, unit: nm, type: i32}, {name: y, unit: nm, type: i32}]\n"
    )
    with server(file, link.enter(0)) as running, attach_to(name, running) as ws:
        words: list[str] = []
        for network in range(2):
            words += ["--to", f"10.{99 - network}.0.1:4660", "--source", SOURCES[network], "--loss", str(LOSS[network])]
        words += ["--count", str(TURNS), "--first", str(FIRST_TURN), "--rate", str(TURN_RATE_HZ), "--no-checksum"]
        command = [*link.enter(1), sys.executable, foreign_sender.__file__, "native", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=TIMEOUT_S)
        sent = [int(count) for count in done.stdout.split()]
        lost = [lost_on(network) for network in range(2)]
        assert sent == [int(TURNS - np.count_nonzero(which)) for which in lost]
        ports = [ws.counters(f"port/{port}") for port in ("red", "blue")]
        for port, count in zip(ports, sent, strict=True):
            wait_until(port, "received", count)
        assert_sums_hold(ws)
        both = lost[0] & lost[1]
        stream = ws.counters("stream/bpm01")
        paths = [ws.counters(f"path/bpm01/{port}") for port in ("red", "blue")]
        # A network that begins a moment later than the other, or ends sooner, is not late: all is settled by turn.
        stored = stream["accepted"] + stream["out_of_order"]
        assert stored == TURNS - np.count_nonzero(both), [nonzero(block) for block in (stream, *ports, *paths)]
        assert stream["duplicate"] == stream["turn_ahead"] == stream["turn_behind"] == 0
        assert stream["mirrored"] == sum(path["second"] for path in paths) == sum(sent) - TURNS + np.count_nonzero(both)
        assert [path["received"] for path in paths] == sent
        window = ws.streams["bpm01/turn"].read(FIRST_TURN, TURNS)
        first, last = np.flatnonzero(~both)[[0, -1]]
        np.testing.assert_array_equal(window.ok, ~both, f"turns {first} to {last} came by one network or both")
        turns = np.arange(FIRST_TURN, FIRST_TURN + TURNS)[window.ok]
        np.testing.assert_array_equal(window["x"][window.ok], foreign_sender.values(turns, 1, 0))
        # Each network's own loss shows once its turns are settled: behind the late window.
        settled = slice(None, TURNS - LATE_TURNS - 1)
        for path, which in zip(paths, lost, strict=True):
            expected = int(np.count_nonzero(which[settled]))
            wait_until(path, "lost", expected - 2)
            assert path["lost"] <= np.count_nonzero(which) + 2
