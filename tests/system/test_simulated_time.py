# SPDX-License-Identifier: Apache-2.0
"""The demonstration's loop in simulated time: whatever the host does, it costs time, and no cycle."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest
from harness import ringmaster, wait_for

from ringmaster.console.watch import Watch
from ringmaster.demo.closed import measure
from ringmaster.fabric.simulated_time import is_simulated, machine_turn_rate_hz, stands_still
from ringmaster.places import CONFIGS, find_program
from ringmaster.virtual import loop as virtual_loop
from ringmaster.virtual.ring import FULL_TURN_RATE_HZ, adapted

STALL_S, BETWEEN_S = 0.05, 0.1
SHORTER = {
    "ringmaster.demo.closed.SETTLES_S": 1.0,
    "ringmaster.virtual.loop.GOLDEN_S": 0.4,
    "ringmaster.virtual.loop.RECORDS": 4096,
}
"""A loop that is closed has its full gain by then, and 0.4 s are whole periods of the mains; the demo takes more."""
SHORT_TRIAL = {"ringmaster.virtual.rate.TRIAL_WARMS_S": 0.3, "ringmaster.virtual.rate.TRIAL_S": 0.3}
"""Whatever the trial in real time finds, the loop closes."""


@contextmanager
def stalled(*pids: int) -> Iterator[None]:
    """One after the other loses its core for a while, again and again: longer than any leader is waited for."""
    over = Event()

    def stall() -> None:
        while not over.is_set():
            for pid in pids:
                os.kill(pid, signal.SIGSTOP)
                over.wait(STALL_S)
                os.kill(pid, signal.SIGCONT)
                over.wait(BETWEEN_S)

    thread = Thread(target=stall)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.mark.usefixtures("root")
def test_stalls_cost_time_and_no_cycle(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SHORTER.items():
        monkeypatch.setattr(name, value)
    with (
        virtual_loop.prepare() as directory,
        virtual_loop.start(directory, FULL_TURN_RATE_HZ, simulated=True) as loop,
    ):
        loop.figures()
        loop.take_golden()
        skipped = loop.ws.counter_blocks["transmit"]["skipped"]  # the ring waits from its first setpoints on
        with stalled(loop.server.pid, loop.ring.pid):
            closed = measure(loop, 0.0, 0.0)
        assert is_simulated(loop.ws)
        assert machine_turn_rate_hz(loop.ws) == FULL_TURN_RATE_HZ
        wait_for(lambda: not stands_still(loop.ws), "simulated time to go on")
        ratio = Watch(loop.attach()).look().snapshot.real_time_ratio
    assert closed.faults == []
    assert closed.state == "on"
    assert closed.simulated_time
    assert (closed.skipped, closed.late, closed.lost, closed.skipped_turns) == (0, 0, 0, 0)
    assert closed.cycles_skipped == skipped
    assert closed.whole_share == pytest.approx(1.0, abs=0.1)  # ring time goes on between the two readings of it
    assert min(closed.attenuation_50_hz_db.values()) > 20
    assert ratio is not None
    assert 0 < ratio < 1.5
    tune = closed.tune
    assert tune is not None
    assert tune.doubts == []  # `faults` has what is off by more than 5 %
    assert [(one.plane, one.hz) for one in tune.ripple] == [("x", 50), ("y", 50), ("x", 100), ("y", 100)]


@pytest.mark.usefixtures("root")
def test_a_ring_whose_server_is_gone_says_so() -> None:
    """It has waited for setpoints, and none will come."""
    with (
        virtual_loop.prepare() as directory,
        virtual_loop.start(directory, FULL_TURN_RATE_HZ, simulated=True) as loop,
    ):
        loop.figures()
        os.kill(loop.server.pid, signal.SIGSTOP)
        try:
            assert loop.ring.wait(timeout_s=300) != 0
            assert stands_still(loop.ws)
        finally:
            os.kill(loop.server.pid, signal.SIGCONT)
        assert re.search(r"no setpoints for 10 s at turn \d+, expected some in each cycle", loop.ring.words)


@pytest.mark.parametrize("shipped", [virtual_loop.ELETTRA2, virtual_loop.ELETTRA])
def test_the_shipped_loops_can_be_simulated(shipped: virtual_loop.Shipped, tmp_path: Path) -> None:
    virtual_loop.make_matrix(tmp_path, shipped)
    for own in shipped.own_files:
        (tmp_path / own).write_text((CONFIGS / own).read_text())
    server = adapted(shipped.server, tmp_path, FULL_TURN_RATE_HZ, 0)
    overlay = adapted(shipped.overlay, tmp_path, FULL_TURN_RATE_HZ, 0)
    virtual_loop.simulate_time(server, overlay)
    for program, paths in (("ringmaster-server", [server]), ("ringmaster-instruments", [server, overlay])):
        checked = subprocess.run([find_program(program), "check", *paths], capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stderr


@pytest.mark.usefixtures("root")
def test_the_demo_says_that_it_is_simulated_or_that_it_is_not() -> None:
    """Where the host is busy the loop closes all the same, and the exit status is good."""
    ended = ringmaster("demo", "--ring", "loop", "--seconds", "1", shorter=SHORTER | SHORT_TRIAL)
    closed = json.loads(ended.stdout.splitlines()[-1])["feedback"]
    assert closed["state"] == "on"
    assert ("SIMULATED TIME" in ended.stderr) == closed["simulated_time"]
    assert min(closed["attenuation_50_hz_db"].values()) > 20
