# SPDX-License-Identifier: Apache-2.0
"""Setpoints from end to end: a server, virtual supplies behind a memif, an application, people, and kill -9 of each.

Turns are few, so that a machine which is busy with other things keeps up.
"""

import os
import shutil
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from harness import RING_CORE, SERVER_CORE, kill_at_once, server, unique_name, wait_for

from ringmaster import Workspace
from ringmaster.errors import RequestRefused
from ringmaster.fabric._abi import ApplicationState
from ringmaster.programs.program import Program, attach_to

TURN_RATE_HZ = 10000
SLEW = 20.0
DPDK = Path("/var/run/dpdk")
LOST_OR_JOINING = 8 | 16
OWNED, FREE = "sr/ps/ch_s01_03", "sr/ps/ch_s02_03"
"""Supplies of the application, and of the operator."""


@dataclass
class Facility:
    """A server and its supplies, which can be killed and started again."""

    name: str
    config: Path
    running: Program

    def application(self) -> Program:
        """Starts the application."""
        return Program("ringmaster-application", self.config, "ramp")


@pytest.fixture
def facility(root: Path) -> Iterator[Facility]:
    name = unique_name("setpoints")
    link = f"kind: memif, socket: {root}/{name}.sock"
    config, overlay = root / f"{name}.yaml", root / f"{name}-ring.yaml"
    config.write_text(f"""
workspace: {name}
turn_rate_hz: {TURN_RATE_HZ}
polling: {{naps: true}}
ports: [{{name: supplies, {link}, role: server, answer: 10.30.0.254}}]
buffers: {{turn_records: 65536, fast_records: 16384}}
instruments: [{{name: bpm01, kind: bpm, id: 1, port: supplies, source: 10.20.0.1}}]
setpoints: {{period_turns: 10, phase_turns: 5, lead: ramp, lost_cycles: 2000}}
chains:
  - name: c
    count: 3
    id: 1
    port: supplies
    address: 10.30.0.1
    supplies: [{{name: "sr/ps/ch_s{{chain}}_", count: 13, unit: A, limits: [-10, 10], slew: {SLEW}}}]
applications:
  - {{name: ramp, code: ramp, supplies: ["sr/ps/ch_s01_*"], watchdog_cycles: 200, freshness_turns: 20000}}
roles: [{{role: receive, core: {SERVER_CORE}, ports: [supplies]}}, {{role: transmit, core: {SERVER_CORE}}}]
""")
    overlay.write_text(f"""
core: {RING_CORE}
chains: [{{name: c, timeout_ms: 60000}}]
supplies: [{{supplies: c, slew: 5000, range: [-12, 12], initial: 1.25}}]
""")
    with server(config) as running:
        attach_to(name, running).close()
        with Program("ringmaster-instruments", "run", config, overlay):
            yield Facility(name, config, running)
    shutil.rmtree(root / name, ignore_errors=True)
    shutil.rmtree(DPDK / f"rm-{name}", ignore_errors=True)


def value(ws: Workspace, name: str) -> float:
    return float(np.asarray(ws.parameters[name].value, np.float64))


def sent(ws: Workspace) -> npt.NDArray[np.float64]:
    row = ws.setpoints["sent"].read()
    return np.full(39, np.nan) if row is None else row.values


def wait_until_joined(ws: Workspace) -> None:
    def joined() -> bool:
        states = np.asarray(ws.parameters["supply/state"].value, np.uint32)
        return bool(np.isfinite(sent(ws)).all()) and not (states & LOST_OR_JOINING).any()

    wait_for(joined, "the chains to join")


def test_supplies_begin_where_they_stand_and_go_where_the_operator_says(facility: Facility) -> None:
    with attach_to(facility.name, facility.running) as ws:
        wait_until_joined(ws)
        np.testing.assert_allclose(sent(ws), 1.25, atol=0.01)
        ws.put(f"{FREE}/setpoint", 2.5)
        wait_for(lambda: abs(value(ws, f"{FREE}/readback") - 2.5) < 0.01, "the supply to get there")
        for name, wanted, why in (
            (FREE, 25.0, "above its upper limit"),
            (FREE, float("nan"), "no number"),
            (OWNED, 2.5, "belongs to application ramp, which does not run"),
        ):
            with pytest.raises(RequestRefused, match=why):
                ws.put(f"{name}/setpoint", wanted)
        chain = ws.counters("chain/c01")
        assert chain["wrong_answer"] == 0
        assert chain["lost"] == 0


def test_an_application_that_is_killed_leaves_its_supplies_and_its_successor_goes_on(facility: Facility) -> None:
    with attach_to(facility.name, facility.running) as ws:
        wait_until_joined(ws)
        grant = ws.grants["ramp"]
        with facility.application() as application:
            wait_for(lambda: grant.read().state == ApplicationState.RUNNING, "the application to run")
            with attach_to(facility.name, facility.running, ("server", "ramp")) as whole:
                whole.put("ramp/target", 3.0)
                whole.put("ramp/enable", 1)
            wait_for(lambda: value(ws, f"{OWNED}/readback") > 1.5, "the ramp to begin")
            kill_at_once(application.pid)
            wait_for(lambda: grant.read().state == ApplicationState.DEAD, "the death to be seen")
            held = sent(ws)
            assert held[2] > 1.4
        with facility.application() as application:
            wait_for(lambda: grant.read().state == ApplicationState.RUNNING, "the successor to run")
            assert grant.read().restarts == 1
            assert abs(sent(ws)[2] - held[2]) < 2.0
            os.kill(application.pid, signal.SIGTERM)
            wait_for(lambda: grant.read().state == ApplicationState.ABSENT, "its end in good order to be seen")


def test_a_server_that_is_killed_goes_on_where_it_was(facility: Facility) -> None:
    with attach_to(facility.name, facility.running) as ws:
        wait_until_joined(ws)
        ws.put(f"{FREE}/setpoint", -2.0)
        wait_for(lambda: abs(value(ws, f"{FREE}/readback") + 2.0) < 0.01, "the supply to get there")
        before = sent(ws)
        kill_at_once(facility.running.pid)
    with server(facility.config) as running, attach_to(facility.name, running) as ws:
        wait_for(lambda: ws.counters("chain/c02")["answered"] > 100, "the chains to answer")
        wait_until_joined(ws)
        np.testing.assert_array_equal(sent(ws), before)
        assert ws.counters("chain/c02")["queries"] > 0
