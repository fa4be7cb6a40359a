# SPDX-License-Identifier: Apache-2.0
"""Measured beam of the LHC, through a real link, into the rings: bit-identical, with the tunes that were published."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from harness import (
    ROOT,
    SERVER_CORE,
    TIMEOUT_S,
    VethPair,
    assert_sums_hold,
    command_line,
    nonzero,
    ringmaster,
    server,
    unique_name,
    wait_for,
)

from ringmaster import Workspace, find_tune
from ringmaster.programs.program import attach_to
from ringmaster.recordings import doros

DOROS = ROOT / "../shared/data/tbt/lhc_doros_50000turns.h5"
TURN_RATE_HZ = 11245
TURNS = 50_000
FIRST_TURN = 7_000_000
SENDER = "10.99.0.2"

pytestmark = pytest.mark.skipif(
    not DOROS.exists(), reason=f"NO MEASURED BEAM AT {DOROS}, so the test of real input is not run"
)

PORTS = {
    "af_packet": "{name: link, kind: af_packet, interface: veth0}",
    "udp": '{name: link, kind: udp, address: "10.99.0.1:4660"}',
}


def configuration(port_kind: str, name: str) -> str:
    described = ringmaster("replay", DOROS, "--describe", "--source", SENDER, "--port-name", "link").stdout
    return (
        f"workspace: {name}\n"
        f"turn_rate_hz: {TURN_RATE_HZ}\npolling: {{naps: true}}\n"
        f"ports:\n  - {PORTS[port_kind]}\n"
        f"buffers: {{turn_records: 65536, fast_records: 8192}}\n"
        f"roles:\n  - {{role: receive, core: {SERVER_CORE}, ports: [link]}}\n"
    ) + described


def send(link: VethPair, port_kind: str) -> str:
    """Replays the recording from the other namespace, by the same kind of port as it is received; the summary."""
    where = {
        "udp": ["--to", "10.99.0.1:4660"],
        "af_packet": ["--to", "10.99.0.1:4660", "--interface", "veth1"],
    }[port_kind]
    options = ["--rate", str(TURN_RATE_HZ), "--first-turn", str(FIRST_TURN), "--source", SENDER]
    command = [*link.enter(1), *command_line("replay", DOROS, *options, "--port-kind", port_kind, *where)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module", params=PORTS)
def received(request: pytest.FixtureRequest, root: Path, link: VethPair) -> Iterator[Workspace]:
    """The workspace after the whole recording was replayed."""
    config = root / "server.yaml"
    name = unique_name("lhc")
    config.write_text(configuration(request.param, name))
    with server(config, link.enter(0)) as running, attach_to(name, running) as ws:
        assert f"sent {3 * TURNS} datagrams" in send(link, request.param)
        port = ws.counters("port/link")
        wait_for(lambda: port["received"] >= 3 * TURNS, f"{nonzero(port)} of {3 * TURNS} datagrams")
        yield ws


def test_every_datagram_arrives_once(received: Workspace) -> None:
    assert nonzero(received.counters("port/link")).keys() == {"received", "decoded", "bytes", "records"}
    assert received.counters("port/link")["decoded"] == 3 * TURNS
    for bpm in doros.read(DOROS):
        counted = nonzero(received.counters(f"stream/{bpm.name}"))
        assert counted == {"accepted": TURNS}, bpm.name
    assert_sums_hold(received)


def test_every_value_is_bit_identical(received: Workspace) -> None:
    recorded = doros.read(DOROS)
    assert len(recorded) == 3
    for bpm in recorded:
        window = received.streams[f"{bpm.name}/turn"].read(FIRST_TURN, TURNS)
        assert window.ok.all(), f"{bpm.name}: {np.count_nonzero(~window.ok)} turns are missing"
        assert [lane.values.dtype.kind for lane in bpm.lanes] == ["f", "f", "i", "i"]
        for lane in bpm.lanes:
            assert window[lane.name].dtype == lane.values.dtype
            np.testing.assert_array_equal(window[lane.name].view("<u4"), lane.values.view("<u4"), lane.name)


def test_the_published_tunes_are_seen(received: Workspace) -> None:
    window = received.streams["lhc_bpm_1l1_b1/turn"].read(FIRST_TURN, TURNS)
    x, y = window.values("x_oscillation"), window.values("y_oscillation")
    driven, natural = slice(0, 8192), slice(0, TURNS)
    assert find_tune(x[driven]) == pytest.approx(0.26999, abs=5e-5)
    assert find_tune(y[driven]) == pytest.approx(0.32198, abs=5e-5)
    assert find_tune(x[natural], low=0.275, high=0.285) == pytest.approx(0.27998, abs=5e-5)
    assert find_tune(y[natural], low=0.305, high=0.315) == pytest.approx(0.31000, abs=5e-5)
