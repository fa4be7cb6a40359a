# SPDX-License-Identifier: Apache-2.0
"""One virtual ring that sends through several ports, and has its supplies at one of them."""

import shutil
from pathlib import Path

import numpy as np
from harness import (
    RING_CORE,
    SERVER_CORE,
    TIMEOUT_S,
    assert_sums_hold,
    free_udp_port,
    nonzero,
    ringmaster,
    server,
    unique_name,
    wait_for,
)

from ringmaster.programs.program import Program, attach_to

TURNS, TURN_RATE_HZ, PERIOD = 20_000, 10_000, 10
DPDK = Path("/var/run/dpdk")


def write_files(root: Path, name: str) -> tuple[Path, Path]:
    """A server of three ports, and its ring."""
    left, right = (f"kind: memif, socket: {root}/{name}-{end}.sock" for end in ("l", "r"))
    socket = f"127.0.0.1:{free_udp_port()}"
    config, ring = root / f"{name}.yaml", root / f"{name}-ring.yaml"
    config.write_text(f"""
workspace: {name}
turn_rate_hz: {TURN_RATE_HZ}
polling: {{naps: true}}
ports:
  - {{name: left, {left}, role: server}}
  - {{name: right, {right}, role: server, answer: 10.30.0.254}}
  - {{name: kernel, kind: udp, address: "{socket}"}}
buffers: {{turn_records: 32768, fast_records: 1024}}
instruments:
  - {{name: bpm, kind: bpm, id: 1, count: 2, port: left, source: 10.20.0.1}}
  - {{name: blm, kind: blm, id: 1, port: right, source: 10.20.0.2}}
  - {{name: llrf, kind: llrf, id: 1, port: kernel, source: 127.0.0.3, period_turns: {PERIOD}}}
setpoints: {{period_turns: 10, phase_turns: 5, lost_cycles: 10000}}
chains:
  - {{name: c, id: 1, port: right, address: 10.30.0.1,
     supplies: [{{name: "ps", count: 2, unit: A, limits: [-10, 10], slew: 100}}]}}
roles: [{{role: receive, core: {SERVER_CORE}, ports: [left, right, kernel]}}, {{role: transmit, core: {SERVER_CORE}}}]
""")
    ring.write_text(f"""
core: {RING_CORE}
chains: [{{name: c, timeout_ms: 0}}]
supplies: [{{supplies: c, initial: 1.5}}]
""")
    return config, ring


def test_each_instrument_arrives_at_its_port_and_the_supplies_answer_at_theirs(
    root: Path,
) -> None:
    name = unique_name("ports")
    config, ring = write_files(root, name)
    assert "3 ports" in ringmaster("virtual", config, ring, "--check").stdout
    with server(config) as running, attach_to(name, running) as ws:
        left, right, kernel = (ws.counters(f"port/{port}") for port in ("left", "right", "kernel"))
        with Program("ringmaster-instruments", "run", config, ring, "--turns", str(TURNS)) as sender:
            readback = ws.parameters["ps01/readback"]
            wait_for(
                lambda: abs(float(np.asarray(readback.value)) - 1.5) < 1e-3,
                lambda: f"1.5 A: {nonzero(right)}",
            )
            assert sender.wait(TIMEOUT_S) == 0
        wait_for(
            lambda: left["records"] == 2 * TURNS,
            lambda: f"{2 * TURNS} records: {nonzero(left)}",
        )
        wait_for(
            lambda: kernel["records"] == TURNS // PERIOD,
            lambda: f"{TURNS // PERIOD}: {nonzero(kernel)}",
        )
        stream = ws.counters("stream/blm")
        wait_for(
            lambda: stream["accepted"] == TURNS,
            lambda: f"{TURNS} of blm: {nonzero(stream)}",
        )
        assert right["records"] > TURNS  # the answers of the chain came beside
        assert_sums_hold(ws)
    shutil.rmtree(DPDK / f"rm-{name}", ignore_errors=True)
