# SPDX-License-Identifier: Apache-2.0
"""Pre-mortem with a server, a receiver of its permit and a loop that it holds: silence means dump."""

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from harness import RING_CORE, SERVER_CORE, kill_at_once, ringmaster, server, unique_name, wait_for

from ringmaster import Workspace
from ringmaster.fabric.layout import Severity
from ringmaster.programs.program import Program, attach_to

PERIOD_TURNS = 10
"""A record is of the turns that begin with its own."""
CONFIG = """
workspace: {name}
turn_rate_hz: 10000
polling: {{naps: true}}
ports:
  - {{name: ring, kind: memif, socket: {folder}/premortem.sock, answer: 10.20.255.1}}
instruments:
  - {{name: blm01, kind: blm, id: 1, port: ring, source: 10.20.1.1}}
  - {{name: llrf01, kind: llrf, id: 1, port: ring, source: 10.20.2.1}}
rates:
  - {{name: cycle, from: turn, filter: low_latency, decimation: 10, records: 65536}}
setpoints: {{period_turns: 10, lost_cycles: 5000}}
chains:
  - name: mps
    id: 1
    port: ring
    address: 10.30.0.1
    supplies: [{{name: sr/mps/permit, unit: "", limits: [0, 1], slew: 1.0e+6, safe: 0}}]
  - name: c
    id: 2
    port: ring
    address: 10.30.0.2
    supplies: [{{name: sr/ps/ch_01, unit: A, limits: [-10, 10], slew: 100}}]
applications:
  - name: premortem
    code: premortem
    configuration: detectors.yaml
    inputs: [blm01/cycle, llrf01/cycle]
    supplies: [sr/mps/permit]
    deadline_turns: 100000
    stop: ramp
    watchdog_cycles: 1000
    freshness_turns: 9000
  - name: loop
    code: ramp
    hosted: true
    period_turns: 100
    watchdog_cycles: 1000
    freshness_turns: 90000
    supplies: [sr/ps/ch_01]
roles:
  - {{role: receive, core: {core}, ports: [ring]}}
  - {{role: transmit, core: {core}}}
  - {{role: application, core: {core}, application: loop}}
"""
DETECTORS = """
actions:
  - {name: dump, permit: sr/mps/permit}
  - {name: hold, parameter: loop/enable, value: 0}
detectors:
  - {name: losses, kind: rise, signals: ["blm01/loss*"], steps: 4, slow_steps: 100, frozen_steps: 0, threshold: 1000,
     acts: [dump, hold]}
  - {name: rf, kind: excursion, signals: [llrf01/beam_phase], steps: 4, slow_steps: 100, threshold: 1.0e+9}
"""
OVERLAY = """
core: {core}
chains: [{{name: mps, timeout_ms: 5000, stop: ramp}}]
"""
"""The receiver's own timeout is long: a starved host shall not be what withdraws."""


def value(ws: Workspace, name: str, element: int = 0) -> float:
    return float(np.atleast_1d(np.asarray(ws.parameters[name].value))[element])


def permit(ws: Workspace) -> float:
    """What the receiver truly has, as the ring says: the first supply of its first chain."""
    return value(ws, "supply/current")


def put(ws: Workspace, name: str, value: object) -> None:
    ringmaster("put", "-w", ws.name, name, str(value))


@contextmanager
def machine(root: Path) -> Iterator[tuple[str, Program, Path]]:
    """Name of the workspace, server, and the configuration: all but the application."""
    name = unique_name("premortem")
    (root / "detectors.yaml").write_text(DETECTORS)
    config, overlay = root / "server.yaml", root / "overlay.yaml"
    config.write_text(CONFIG.format(name=name, folder=root, core=SERVER_CORE))
    overlay.write_text(OVERLAY.format(core=RING_CORE))
    with server(config) as running:
        attach_to(name, running).close()
        with Program("ringmaster-instruments", "run", config, overlay):
            yield name, running, config
    shutil.rmtree(root / name, ignore_errors=True)
    shutil.rmtree(Path("/var/run/dpdk") / f"rm-{name}", ignore_errors=True)


@contextmanager
def detecting(name: str, running: Program, config: Path, number: float) -> Iterator[tuple[Workspace, Program]]:
    """The application, when its detectors watch and a person has given the permit."""
    with (
        Program("ringmaster-application", config, "premortem") as application,
        attach_to(name, running, ("server", "ring", "loop", "premortem")) as ws,
    ):
        give_permit(ws, application, number)
        yield ws, application


def levels(ws: Workspace, since_turn: float) -> list[float]:
    """As they were after this turn; empty while that is not published: arrays are ten times a second."""
    reading = ws.parameters["premortem/level"].read()
    is_new = reading.turn is not None and reading.turn > since_turn
    return list(np.asarray(reading.value)) if is_new else []


def has_learned(ws: Workspace) -> bool:
    return bool(now := levels(ws, 0)) and bool(np.isfinite(now).all())


def is_quiet(ws: Workspace, since_turn: float) -> bool:
    return bool(now := levels(ws, since_turn)) and now[0] < 0.5


def is_major(ws: Workspace, reading: str) -> bool:
    return ws.parameters[f"premortem/{reading}"].read().severity == Severity.MAJOR


def give_permit(ws: Workspace, application: Program, number: float) -> None:
    """Any other number than that of before."""
    wait_for(lambda: has_learned(ws), lambda: f"its detectors to learn: {application.words}")
    assert permit(ws) == 0, "nothing gives it by itself"
    put(ws, "premortem/reset", number)
    wait_for(lambda: permit(ws) == 1, lambda: f"the permit: {ringmaster('get', '-w', ws.name, 'premortem/*').stdout}")


@pytest.mark.skipif(RING_CORE == SERVER_CORE, reason="ONE CORE HERE: supplies need one, and their server another")
def test_silence_means_dump(root: Path) -> None:
    """Of the application that was stopped, of one that was killed, and of the server."""
    with machine(root) as (name, running, config):
        with detecting(name, running, config, 1) as (ws, application):
            os.kill(application.pid, signal.SIGSTOP)
            wait_for(lambda: permit(ws) == 0, "the permit to go while the application is stopped")
            os.kill(application.pid, signal.SIGCONT)
            wait_for(lambda: value(ws, "premortem/permit_lost") == 1, lambda: application.words)
            assert (value(ws, "premortem/permit"), permit(ws)) == (0, 0), "it does not come back with the process"
            give_permit(ws, application, 2)
            kill_at_once(application.pid)
            wait_for(lambda: permit(ws) == 0, "the permit to go with the process")
        with detecting(name, running, config, 3) as (ws, _):
            assert value(ws, "premortem/arm") == 0
            kill_at_once(running.pid)
            wait_for(lambda: permit(ws) == 0, "the permit to go with the server, by its receiver's own timeout")


@pytest.mark.skipif(RING_CORE == SERVER_CORE, reason="ONE CORE HERE: supplies need one, and their server another")
def test_an_alarm_withdraws_the_permit_and_opens_a_loop(root: Path) -> None:
    """The loop is another application, which is asked by the thread beside."""
    with machine(root) as (name, running, config), detecting(name, running, config, 1) as (ws, _):
        ringmaster("premortem", "mask", "0", "--seconds", "500", "-w", name)
        wait_for(lambda: value(ws, "premortem/state") == 2, "the mask")
        ringmaster("premortem", "mask", "0", "--seconds", "601", "-w", name, expect=1)
        ringmaster("premortem", "mask", "2", "--seconds", "1", "-w", name, expect=1)
        ringmaster("premortem", "mask", "0", "--seconds", "0", "-w", name)
        wait_for(lambda: value(ws, "premortem/state") == 0, "the mask to end")
        put(ws, "loop/enable", 1)
        put(ws, "ring/event", "event: kick, x_um: 2000")
        wait_for(lambda: value(ws, "premortem/shadowed") == 2, "the alarm in shadow")
        assert (permit(ws), value(ws, "loop/enable"), value(ws, "premortem/permit_lost")) == (1, 1, 0)
        wait_for(lambda: is_major(ws, "latched") and is_major(ws, "state"), "an alarm's severity")
        alarm_turn = value(ws, "premortem/alarm_turn")
        wait_for(lambda: is_quiet(ws, alarm_turn), "the kick to be over")
        put(ws, "premortem/reset", 2)
        put(ws, "premortem/arm", 1)
        put(ws, "ring/event", "event: kick, x_um: 2000")
        wait_for(lambda: permit(ws) == 0, "the permit to go with the alarm")
        wait_for(lambda: value(ws, "loop/enable") == 0, "the loop to be opened")
        wait_for(lambda: value(ws, "premortem/asked") == 1, "the answer")
        assert value(ws, "premortem/alarms") == 2
        assert value(ws, "premortem/refused") == 0
        assert value(ws, "premortem/alarm_turn") + PERIOD_TURNS > value(ws, "ring/kick_turn") > 0
