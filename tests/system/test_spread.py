# SPDX-License-Identifier: Apache-2.0
"""A device with one queue, two receive roles: every instrument comes to one of them, always the same."""

import subprocess
import sys
from pathlib import Path

import foreign_sender
from harness import (
    SERVER_CORE,
    TIMEOUT_S,
    VethPair,
    again_if_starved,
    assert_sums_hold,
    nonzero,
    ringmaster,
    server,
    unique_name,
    wait_for_all,
)

from ringmaster.programs.program import attach_to

TURN_RATE_HZ = 5_000
TURNS = 6_000
SENDERS = 4


def configuration(name: str, spread: bool) -> str:
    instruments = "".join(
        f"  - {{name: bpm{i}, kind: bpm, id: 1, port: hall, source: 10.99.0.{i + 2},"
        " lanes: [{name: x, unit: nm, type: i32}, {name: y, unit: nm, type: i32}]}\n"
        for i in range(SENDERS)
    )
    roles = f"  - {{role: receive, core: {SERVER_CORE}, ports: [hall/0]}}\n"
    roles += f"  - {{role: receive, core: {SERVER_CORE}, ports: [hall/1]}}\n"
    if spread:
        roles += f"  - {{role: spread, core: {SERVER_CORE}, ports: [hall]}}\n"
    return (
        f"workspace: {name}\nturn_rate_hz: {TURN_RATE_HZ}\npolling: {{naps: true}}\n"
        "ports:\n  - {name: hall, kind: af_packet, interface: veth0, queues: 2"
        + (", spread: true" if spread else "")
        + "}\nbuffers: {turn_records: 16384, fast_records: 1024}\n"
        f"roles:\n{roles}instruments:\n{instruments}"
    )


@again_if_starved
def test_each_instrument_comes_to_one_role(root: Path, link: VethPair) -> None:
    name = unique_name("spread")
    file = root / "spread.yaml"
    file.write_text(configuration(name, spread=True))
    for i in range(1, SENDERS):
        add = ["ip", "addr", "replace", f"10.99.0.{i + 2}/24", "dev", "veth1"]
        subprocess.run([*link.enter(1), *add], check=True, timeout=TIMEOUT_S)
    with server(file, link.enter(0)) as running, attach_to(name, running) as ws:
        steering = str(ws.parameters["server/steering"].value).splitlines()
        assert [line.split()[0] for line in steering] == [f"bpm{i}" for i in range(SENDERS)]
        roles = [int(line.split()[3]) for line in steering]
        assert all(line.endswith("software") for line in steering), steering
        assert set(roles) == {0, 1}, "four addresses, and all come to one role: the hash is poor"
        senders = [
            subprocess.Popen(
                [
                    *link.enter(1),
                    *(sys.executable, foreign_sender.__file__, "native", "--to", "10.99.0.1:4660"),
                    *("--source", f"10.99.0.{i + 2}", "--count", str(TURNS), "--rate", str(TURN_RATE_HZ)),
                ],
                stdout=subprocess.PIPE,
                text=True,
            )
            for i in range(SENDERS)
        ]
        for sender in senders:
            assert int(sender.communicate(timeout=TIMEOUT_S)[0]) == TURNS
        port = ws.counters("port/hall")
        wait_for_all(port, "received", SENDERS * TURNS)
        assert_sums_hold(ws)
        assert port["spread_full"] == 0
        for i in range(SENDERS):
            assert nonzero(ws.counters(f"stream/bpm{i}")) == {"accepted": TURNS}


def test_two_roles_without_spreading_are_refused(root: Path) -> None:
    file = root / "unspread.yaml"
    file.write_text(configuration(unique_name("unspread"), spread=False))
    refusal = ringmaster("check", file, expect=1).stderr
    assert "two queues for one identity" in refusal
    assert "spread: true" in refusal
