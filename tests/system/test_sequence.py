# SPDX-License-Identifier: Apache-2.0
"""A sequence on a server that runs: `ringmaster sequence run`, and a server that is killed midway: nothing moves then,
and its successor says why.
"""

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from harness import RING_CORE, SERVER_CORE, command_line, ringmaster, server, unique_name, wait_for

from ringmaster import Workspace
from ringmaster.cli.main import cli
from ringmaster.programs.program import Program, attach_to

SUPPLY = "sr/ps/ch"
CONFIG = """
workspace: {name}
turn_rate_hz: 10000
keep_after_stop: true
polling: {{naps: true}}
ports: [{{name: ring, kind: memif, socket: {folder}/ring.sock, answer: 10.30.0.250}}]
instruments: [{{name: bpm01, kind: bpm, id: 1, port: ring, source: 10.20.0.1, period_turns: 100}}]
setpoints: {{period_turns: 100, lead: sequence, lost_cycles: 1000}}
chains:
  - {{name: ch, id: 201, port: ring, address: 10.30.2.1,
     supplies: [{{name: sr/ps/ch, unit: A, limits: [-5, 5], slew: 5, safe_slew: 1}}]}}
applications:
  - {{name: sequence, code: sequence, hosted: true, configuration: own.yaml, inputs: [bpm01/raw],
     supplies: [sr/ps/ch], deadline_turns: 10000, watchdog_cycles: 1000, freshness_turns: 100000}}
roles:
  - {{role: receive, core: {core}, ports: [ring]}}
  - {{role: transmit, core: {core}}}
  - {{role: application, core: {core}, application: sequence}}
"""
OWN = """
supplies: [{name: ch, supplies: [sr/ps/ch], low: -4, high: 4}]
follow_steps: 500
missing_steps: 500
sequences:
  - name: quick
    timeout_s: 1000
    abort: back
    states:
      - {name: up, do: [{ramp: ch, to: base + 0.1, in_s: 0.2}], then: [{to: back}]}
      - {name: back, timeout_s: 500, do: [{ramp: ch, to: base, in_s: 0.2}], then: [{to: finished}]}
      - {name: finished, end: done}
  - name: slow
    timeout_s: 10000
    abort: back
    states:
      - {name: up, do: [{ramp: ch, to: base + 2, in_s: 2000}], then: [{to: finished}]}
      - {name: back, timeout_s: 500, do: [{ramp: ch, to: base, in_s: 0.2}], then: [{to: finished}]}
      - {name: finished, end: done}
"""
OVERLAY = """
core: {core}
supplies: [{{supplies: ch, initial: 1}}]
chains: [{{name: ch, timeout_ms: 1000, stop: hold}}]
"""


@contextmanager
def serving(name: str, config: Path) -> Iterator[tuple[Program, Workspace]]:
    with server(config) as running, attach_to(name, running, ("server", "sequence")) as ws:
        wait_for(lambda: ws.streams["sequence/trace"].head is not None, "the first step of the application")
        yield running, ws


def current(ws: Workspace) -> float:
    """What the chain answers."""
    readback = ws.supplies[SUPPLY].readback
    assert readback is not None
    return readback.number


def here(*words: str) -> Result:
    """A command, in this process."""
    return CliRunner().invoke(cli, ["sequence", *words])


def status(name: str) -> dict[str, object]:
    told: dict[str, object] = json.loads(here("status", "-w", name, "--json").stdout)
    return told


@pytest.mark.skipif(RING_CORE == SERVER_CORE, reason="ONE CORE HERE: the ring needs one, and the server another")
def test_a_server_that_is_killed_midway_moves_nothing(root: Path) -> None:
    name = unique_name("sequence")
    folder = root / name
    folder.mkdir()
    config, overlay = folder / "server.yaml", folder / "overlay.yaml"
    config.write_text(CONFIG.format(name=name, folder=folder, core=SERVER_CORE))
    (folder / "own.yaml").write_text(OWN)
    overlay.write_text(OVERLAY.format(core=RING_CORE))
    with Program("ringmaster-instruments", "run", config, overlay):
        with serving(name, config) as (running, ws):
            done = ringmaster("sequence", "run", "quick", "-w", name)
            assert done.stdout.splitlines()[-1] == "quick is done"
            assert [line.split()[2] for line in done.stdout.splitlines()[1:-1]] == ["up", "back"]
            slow = subprocess.Popen(
                command_line("sequence", "run", "slow", "-w", name), stderr=subprocess.PIPE, text=True
            )
            wait_for(lambda: ws.parameters["sequence/state"].number == 4, "slow to begin")
            assert status(name)["state"] == "up"
            assert "runs slow, in its state up" in str(here("run", "quick", "-w", name).exception)
            before = ws.parameters["sequence/transitions"].number
            running.kill()
            stood = current(ws)
            slow.communicate()
            assert slow.returncode == 6, "the command did not say that the server has ended"
            assert before == 1
        with serving(name, config) as (_, ws):
            head = ws.streams["sequence/trace"].head or 0
            wait_for(lambda: (ws.streams["sequence/trace"].head or 0) > head + 20 * 100, "20 steps")
            assert current(ws) == pytest.approx(stood, abs=0.05), "it went on without a permission"
            now = status(name)
            assert (now["running"], now["withdrawn"]) == (None, 1)
            assert "its permission was withdrawn" in here("status", "-w", name).stdout
            assert "nothing to abort" in here("abort", "-w", name).stdout
            aborted = subprocess.Popen(
                command_line("sequence", "run", "slow", "-w", name), stdout=subprocess.PIPE, text=True
            )
            wait_for(lambda: ws.parameters["sequence/state"].number == 4, "slow to begin")
            assert "failed: aborted by a person" in here("abort", "-w", name).stdout
            told, _ = aborted.communicate()
            assert aborted.returncode == 1
            assert "slow is failed: aborted by a person" in told
    shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(Path("/var/run/dpdk") / f"rm-{name}", ignore_errors=True)
