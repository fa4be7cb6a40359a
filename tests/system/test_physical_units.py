# SPDX-License-Identifier: Apache-2.0
"""A ring whose BPMs are calibrated, in reading and in the stream, and whose instruments count turns differently."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from harness import (
    RING_CORE,
    SERVER_CORE,
    TIMEOUT_S,
    nonzero,
    ringmaster,
    server,
    unique_name,
    wait_for,
)

from ringmaster import Workspace
from ringmaster.fabric.layout import Calibrated, LaneType
from ringmaster.programs.program import Program, attach_to

TURN_RATE_HZ = 20000
FIRST_TURN = 1_000_000
TURNS = 24_000
KICK = FIRST_TURN + 12_000  # a multiple of what the ring kicks by
TURN_OFFSET = {"bpm01": 0, "bpm02": 3, "bpm03": 0, "bpm04": 0, "blm01": -5}
TABLE = (
    "instrument,bpm,x.gain [mm/nm],y.gain [mm/nm],x.k30 [1/mm^2],roll [mrad],y.mechanical_offset [mm]\n"
    "bpm01,1,1.01e-6,0.99e-6,0.02,5,0.1\n"
    "bpm01,2,1e-6,1e-6,,,\n"
)


def write_configurations(root: Path, name: str, apply: str) -> tuple[Path, Path]:
    """Of the server, and the overlay of the ring, whose counters are right; instrument i has the address 10.20.0.i."""
    link = f"kind: memif, socket: {root}/{name}.sock"
    server_config, overlay = root / f"{name}-server.yaml", root / f"{name}-ring.yaml"
    listed = [(n, n[:3], i + 1) for i, n in enumerate(TURN_OFFSET)]
    (root / "table.csv").write_text(TABLE)
    server_config.write_text(
        f"workspace: {name} # of a test\n"
        f"turn_rate_hz: {TURN_RATE_HZ}\npolling: {{naps: true}}\n"
        f"ports:\n  - {{name: ring, {link}, role: server}}\n"
        f"calibration: {{file: table.csv, apply: {apply}}}\n"
        f"buffers: {{turn_records: 65536, fast_records: 8192}}\n"
        f"roles:\n  - {{role: receive, core: {SERVER_CORE}, ports: [ring]}}\n"
        "instruments:\n"
        + "".join(
            f"  - {{name: {n}, kind: {kind}, id: {i}, port: ring, source: 10.20.0.{i}, "
            f"turn_offset: {TURN_OFFSET[n]}}}\n"
            for n, kind, i in listed
        )
    )
    true_turns = ", ".join(f"{{name: {n}, turn_error: 0}}" for n in TURN_OFFSET)
    overlay.write_text(
        f"first_turn: {FIRST_TURN}\n"
        f"core: {RING_CORE}\n"
        f"beam: {{kick_um: 50, kick_every_turns: {KICK}, damping_turns: 2000}}\n"
        f"instruments: [{true_turns}]\n"
    )
    return server_config, overlay


@contextmanager
def run_ring(root: Path, apply: str) -> Iterator[tuple[Workspace, Path]]:
    """Lets the ring send all its turns; the workspace with what is left, and the server's configuration."""
    name = unique_name(f"physical-{apply}")
    server_config, overlay = write_configurations(root, name, apply)
    with server(server_config) as running:
        attach_to(name, running).close()
        with Program("ringmaster-instruments", "run", server_config, overlay, "--turns", str(TURNS)) as ring:
            assert ring.wait(TIMEOUT_S) == 0, ring.words
        with attach_to(name, running) as ws:
            sent = TURNS * len(TURN_OFFSET)
            port = ws.counters("port/ring")
            wait_for(lambda: port["received"] >= sent, f"{sent} datagrams: {nonzero(port)}")
            yield ws, server_config


@pytest.fixture(scope="module")
def reading(root: Path) -> Iterator[tuple[Workspace, Path]]:
    with run_ring(root, "reading") as run:
        yield run


@pytest.fixture(scope="module")
def stream(root: Path) -> Iterator[tuple[Workspace, Path]]:
    with run_ring(root, "stream") as run:
        yield run


def test_both_ways_give_the_same_positions(reading: tuple[Workspace, Path], stream: tuple[Workspace, Path]) -> None:
    in_reading, in_stream = (ws.streams["bpm01/turn"] for ws, _ in (reading, stream))
    assert (in_reading.calibrated, in_stream.calibrated) == (Calibrated.IN_READING, Calibrated.IN_STREAM)
    assert in_reading.physical_units == in_stream.physical_units
    assert in_stream.physical_units["x1"] == "mm"
    assert [lane.type for lane in in_stream.lanes[:3]] == [LaneType.F32, LaneType.F32, LaneType.I32]
    raw = in_reading.read(FIRST_TURN + 1000, 8000)
    one = in_reading.physical(raw)
    other = in_stream.read(FIRST_TURN + 1000, 8000, physical=True)
    assert one.ok.all()
    assert other.ok.all()
    for lane in ("x1", "y1", "x2", "y2", "sum1", "q2"):
        assert np.allclose(one[lane], other[lane], rtol=2e-7, atol=2e-7)
    assert one["x2"][0] == pytest.approx(raw["x2"][0] * 1e-6)
    turned = one["y1"] - (raw["y1"] * 0.99e-6 - 0.1)
    assert np.abs(turned).max() < 0.0051 * np.abs(one["x1"]).max() + 1e-5


def test_decimated_streams_are_physical_too(reading: tuple[Workspace, Path], stream: tuple[Workspace, Path]) -> None:
    first = (FIRST_TURN + 1200) // 12 * 12
    one, other = (ws.streams["bpm01/fast"].read(first, 500, physical=True) for ws, _ in (reading, stream))
    assert one.ok.all()
    assert other.ok.all()
    for lane in ("x1", "y1", "x2", "y2"):
        assert np.allclose(one[lane], other[lane], rtol=1e-5, atol=1e-5)


def test_the_ring_is_aligned_by_its_kick(reading: tuple[Workspace, Path]) -> None:
    ws, config = reading
    aligned = config.with_suffix(".aligned.yaml")
    options = ["--range", "512", "--timeout", "0", "--json", "--write", str(config), "--output", str(aligned)]
    found = json.loads(ringmaster("align", "-w", ws.name, *options).stdout)
    assert found["kicks"] == [KICK]
    instruments = {instrument["name"]: instrument for instrument in found["instruments"]}
    assert {name: instruments[name]["offset"] for name in TURN_OFFSET} == TURN_OFFSET
    assert {instrument["new_turn_offset"] for instrument in instruments.values()} == {0}
    assert aligned.read_text() == re.sub(r"turn_offset: -?\d+", "turn_offset: 0", config.read_text())


def test_a_table_that_is_wrong_stops_the_start(root: Path) -> None:
    name = unique_name("physical-wrong")
    config, _ = write_configurations(root, name, "reading")
    (root / "table.csv").write_text("instrument,x1.gain [mm/counts]\nbpm01,1\n")
    with server(config) as running:
        assert running.wait(TIMEOUT_S) == 1
        assert "table.csv:2:7: the column's unit is mm/counts, expected …/nm" in running.words
    said = ringmaster("calibration", "check", root / "table.csv", "--config", config, expect=1).stderr
    assert "table.csv:2:7: " in said


def test_a_template_is_a_table_that_is_right(root: Path) -> None:
    config, _ = write_configurations(root, unique_name("physical-template"), "reading")
    table = root / "template.csv"
    table.write_text(ringmaster("calibration", "template", config).stdout)
    shown = ringmaster("calibration", "check", table, "--config", config).stdout
    assert "bpm01: x1 nm → nm, y1 nm → nm, x2 nm → nm, y2 nm → nm\n" in shown
