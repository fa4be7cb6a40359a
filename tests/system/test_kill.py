# SPDX-License-Identifier: Apache-2.0
"""kill -9: of a reader it disturbs nothing, of the server it leaves what came, and a new server goes on with it."""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from harness import (
    OUTCOMES,
    RING_CORE,
    ROOT,
    SERVER_CORE,
    TIMEOUT_S,
    assert_sums_hold,
    kill_at_once,
    port_sum,
    ringmaster,
    ringmaster_json,
    server,
    terminate,
    unique_name,
    wait_for,
    wait_until_still,
)

from ringmaster import Window, Workspace, WorkspaceDead, attach
from ringmaster.fabric.counters import lost
from ringmaster.programs.program import Program, attach_to

INSTRUMENTS = ("bpm01", "bpm02", "bpm03")
TURN_RATE_HZ = 4000
"""So slow that the ring holds more than anything here takes."""
TURN_RECORDS = 262144
BURST = 64
"""Datagrams that the server takes at once, at most."""
DPDK = Path("/var/run/dpdk")
"""Where DPDK keeps a directory for each process; of a killed one it stays."""

READER = """
import sys, ringmaster
with ringmaster.attach(sys.argv[1]) as ws:
    stream = ws.streams["bpm01/turn"]
    while True:
        print(stream.latest(1000).ok.all(), flush=True)
"""


@dataclass
class Facility:
    """A ring that sends to a server, which can be killed and started again."""

    name: str
    config: Path
    overlay: Path
    running: Program
    ring: Program

    def stream_moves_on(self, ws: Workspace, turns: int = 500) -> None:
        """Waits until all instruments have gone on for some turns."""
        for instrument in INSTRUMENTS:
            stream = ws.streams[f"{instrument}/turn"]
            begin = stream.head or 0
            wait_for(lambda: (stream.head or 0) >= begin + turns, f"{stream} to go on from {begin}")  # noqa: B023


@pytest.fixture
def facility(root: Path) -> Iterator[Facility]:
    name = unique_name("kill")
    link = f"kind: memif, socket: {root}/{name}.sock"
    config, overlay = root / f"{name}.yaml", root / f"{name}-ring.yaml"
    config.write_text(
        f"workspace: {name}\nkeep_after_stop: true\nturn_rate_hz: {TURN_RATE_HZ}\npolling: {{naps: true}}\n"
        f"ports: [{{name: ring, {link}, role: server}}]\n"
        f"buffers: {{turn_records: {TURN_RECORDS}, fast_records: 16384}}\n"
        f"roles: [{{role: receive, core: {SERVER_CORE}, ports: [ring]}}]\ninstruments:\n"
        + "".join(f"  - {{name: {n}, kind: bpm, id: {i}, port: ring, source: 10.20.0.1}}\n" for i, n in numbered())
    )
    overlay.write_text(f"core: {RING_CORE}\n")
    with server(config) as running:
        attach_to(name, running).close()
        with Program("ringmaster-instruments", "run", config, overlay) as ring:
            facility = Facility(name, config, overlay, running, ring)
            with attach_to(name, running, ("server", "ring")) as ws:
                facility.stream_moves_on(ws)
            yield facility
    shutil.rmtree(root / name, ignore_errors=True)
    shutil.rmtree(DPDK / f"rm-{name}", ignore_errors=True)


def numbered() -> Iterator[tuple[int, str]]:
    return enumerate(INSTRUMENTS, 1)


def sent(ws: Workspace) -> int:
    return sum(ws.counters(f"sender/{instrument}")["sent"] for instrument in INSTRUMENTS)


def assert_nothing_was_lost(ws: Workspace) -> None:
    for instrument in INSTRUMENTS:
        counted = ws.counters(f"stream/{instrument}")
        assert (lost(counted), counted["out_of_order"], counted["duplicate"]) == (0, 0, 0), dict(counted)


def test_a_killed_reader_disturbs_nothing(facility: Facility) -> None:
    for _ in range(3):
        command = [sys.executable, "-c", READER, facility.name]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as reader:
            assert reader.stdout is not None
            assert reader.stdout.readline() == "True\n"
            kill_at_once(reader.pid)
            assert reader.wait(TIMEOUT_S) == -9
    with attach(facility.name) as ws:
        facility.stream_moves_on(ws)
        assert facility.ring.stop() == 0
        wait_for(lambda: ws.counters("port/ring")["received"] >= sent(ws), "what the ring sent last")
        assert ws.counters("port/ring")["received"] == sent(ws)
        assert_nothing_was_lost(ws)
        assert_sums_hold(ws)


def test_an_interrupted_ring_prints_what_it_sent(facility: Facility) -> None:
    with attach(facility.name) as ws:
        assert facility.ring.stop() == 0
        assert f"sent {sent(ws)} datagrams of 3 instruments" in facility.ring.words


def test_the_next_ring_removes_the_folder_of_one_that_was_killed(facility: Facility) -> None:
    left = DPDK / f"ringmaster-ring-{facility.ring.pid}"
    assert left.is_dir()
    killed(facility.ring)
    assert left.is_dir()
    with (
        Program("ringmaster-instruments", "run", facility.config, facility.overlay) as ring,
        attach(facility.name) as ws,
    ):
        facility.stream_moves_on(ws)
        assert not left.exists()
        assert (DPDK / f"ringmaster-ring-{ring.pid}").is_dir()
        assert ring.stop() == 0


class Error(ctypes.Structure):
    """struct rm_error"""

    _fields_ = (("code", ctypes.c_int), ("text", ctypes.c_char * 512))


RM_E_DEAD = 4


def attach_in_c(name: str) -> tuple[int, str]:
    """What the C library says to the workspace: the code and the text."""
    library = ctypes.CDLL(str(ROOT / "build/src/fabric/libringmaster.so"))
    workspace, error = ctypes.c_void_p(), Error()
    code = library.rm_workspace_attach(name.encode(), 0, ctypes.byref(workspace), ctypes.byref(error))
    if code == 0:
        library.rm_workspace_detach(workspace)
    return code, error.text.decode()


def killed(program: Program) -> None:
    kill_at_once(program.pid)
    assert program.wait(TIMEOUT_S) == -9


def stopped(program: Program) -> None:
    assert terminate(program) == 0


def latest(ws: Workspace) -> dict[str, Window]:
    return {instrument: ws.streams[f"{instrument}/turn"].latest(400) for instrument in INSTRUMENTS}


def assert_still_there(ws: Workspace, before: dict[str, Window]) -> None:
    """The records of an earlier look are there, bit by bit."""
    for instrument, window in before.items():
        again = ws.streams[f"{instrument}/turn"].read(int(window.turn[0]), len(window))
        assert again.ok.all()
        np.testing.assert_array_equal(again.records, window.records)


def assert_sums_hold_but_for_a_burst(ws: Workspace) -> None:
    """The counts of the burst that it was at when it was killed may be halfway."""
    port = ws.counters("port/ring")
    records = sum(ws.counters(f"stream/{instrument}")[name] for instrument in INSTRUMENTS for name in OUTCOMES)
    assert abs(port["received"] - port_sum(port)) <= BURST
    assert abs(port["records"] - records) <= BURST


@pytest.mark.parametrize("end", [killed, stopped])
def test_what_a_server_left_can_be_read(facility: Facility, end: Callable[[Program], None]) -> None:
    with attach(facility.name) as ws:
        before = latest(ws)
        end(facility.running)
        wait_for(lambda: not ws.alive, "the server's end")
        assert_still_there(ws, before)
        if end is stopped:
            assert_sums_hold(ws)
        else:
            assert_sums_hold_but_for_a_burst(ws)
    with pytest.raises(WorkspaceDead, match="has ended"):
        attach(facility.name)
    with attach(facility.name, dead=True) as left:
        assert not left.alive
        assert_still_there(left, before)
        assert left.streams["bpm01/turn"].latest(1000).ok.all()
        newest = left.streams["bpm01/turn"].head
    assert "bpm01/turn" in ringmaster("get", "-w", facility.name, "--dead", "bpm01/turn").stdout
    got = ringmaster_json("get", "-w", facility.name, "--dead", "--json", "bpm01/turn")
    assert got["stream/bpm01/turn"]["turn"] == newest
    assert "has ended" in ringmaster("get", "-w", facility.name, "bpm01/turn", expect=6).stderr
    code, text = attach_in_c(facility.name)
    assert code == RM_E_DEAD
    assert f"process {facility.running.pid}" in text
    assert ("died" if end is killed else "stopped") in text
    assert "start it again" in text
    facility.ring.check()


@pytest.mark.parametrize("end", [killed, stopped])
def test_a_new_server_goes_on_where_the_last_one_ended(facility: Facility, end: Callable[[Program], None]) -> None:
    with attach(facility.name) as ws:
        before, generation = latest(ws), ws.segments["server"].generation
        end(facility.running)
    with server(facility.config) as again, attach_to(facility.name, again) as ws:
        wait_for(lambda: "the rings of the last run were taken over" in again.words, "the new server to say so")
        assert ws.segments["server"].generation == generation + 1
        assert_still_there(ws, before)
        facility.stream_moves_on(ws, turns=2000)
        facility.ring.check()
        assert_still_there(ws, before)
        assert {ws.streams[f"{instrument}/turn"].turn_epoch for instrument in INSTRUMENTS} == {0}
        assert ws.streams["bpm01/turn"].latest(1000).ok.all()
        assert facility.ring.stop() == 0
        assert terminate(again) == 0
        assert_nothing_was_lost(ws)
        assert_sums_hold(ws)


def test_the_sums_hold_in_both_lives(facility: Facility) -> None:
    """Killed when nothing is under way, so that the first life's counts are whole too; the second begins at zero."""
    with attach(facility.name) as ws:
        os.kill(facility.ring.pid, signal.SIGSTOP)
        wait_until_still(ws, "ring")
        killed(facility.running)
        assert ws.counters("port/ring")["received"] >= sent(ws)
        assert_sums_hold(ws)
    with server(facility.config) as again, attach_to(facility.name, again) as ws:
        os.kill(facility.ring.pid, signal.SIGCONT)
        facility.stream_moves_on(ws)
        assert facility.ring.stop() == 0
        assert terminate(again) == 0
        assert_nothing_was_lost(ws)
        assert_sums_hold(ws)
