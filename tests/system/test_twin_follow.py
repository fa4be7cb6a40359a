# SPDX-License-Identifier: Apache-2.0
"""Two models in step with a small live ring, started from one file: a setpoint moves, and both answer within two of
their periods, which are counted in turns. Ctrl-C ends both.
"""

import json
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from harness import RING_CORE, SERVER_CORE, again_if_starved, command_line, server, unique_name, wait_for

from ringmaster import Workspace, attach
from ringmaster.programs.program import Program, attach_to
from ringmaster.twin import Twin, load_lattice

TURN_RATE_HZ = 100_000
UPDATES_HZ = 2.0
NAMES = ("design", "weaker")
SUPPLY = "ps/qf01"
MAPPING = """\
bpms: "BPM_S01_0[1-8]"
rows: "bpm[01-04]/{x1,y1,x2,y2}"
strengths:
  - {elements: "QF1_*", change: gradient, supplies: "ps/qf[01-24]", per_unit: 0.001}
"""
TWINS = f"""\
twins:
  - {{name: design, lattice: elettra2_like, mapping: mapping.yaml, hz: {UPDATES_HZ}}}
  - {{name: weaker, lattice: elettra2_like, mapping: mapping.yaml, hz: {UPDATES_HZ},
     changes: ["QF2_*=-0.0005"]}}
"""
CONFIG = """\
workspace: {name}
turn_rate_hz: {rate}
polling: {{naps: true}}
buffers: {{turn_records: 65536, fast_records: 4096}}
ports:
  - {{name: ring, kind: memif, socket: {folder}/ring.sock, role: server, answer: 10.30.255.1}}
instruments:
  - {{name: bpm, kind: bpm, id: 1, count: 4, port: ring, source: 10.20.0.1, period_turns: 100}}
setpoints: {{period_turns: 1000, lost_cycles: 5000}}
chains:
  - {{name: qf, id: 1, port: ring, address: 10.30.0.1,
     supplies: [{{name: ps/qf, count: 24, unit: A, limits: [-10, 10], slew: 1000, safe_slew: 2}}]}}
roles:
  - {{role: receive, core: {core}, ports: [ring]}}
  - {{role: transmit, core: {core}}}
"""
RING = """\
core: {core}
beam: {{betatron_um: 0, synchrotron_um: 0, noise_um: 0.1}}
chains: [{{name: qf, timeout_ms: 20000, stop: hold}}]
supplies: [{{supplies: qf, range: [-11, 11]}}]
machine:
  lattice: elettra2_like
  bpms: "BPM_S01_0[1-8]"
  step_turns: 1000
  refresh_ms: 200
  strengths: [{{elements: "QF1_*", supplies: qf, per_unit: 0.001}}]
"""


@dataclass
class Ring:
    """A server with its ring."""

    name: str
    ws: Workspace
    folder: Path


@pytest.fixture(scope="module")
def ring(root: Path) -> Iterator[Ring]:
    name = unique_name("follow")
    folder = root / "files"
    folder.mkdir()
    config, overlay = folder / "server.yaml", folder / "ring.yaml"
    config.write_text(CONFIG.format(name=name, rate=TURN_RATE_HZ, folder=folder, core=SERVER_CORE))
    overlay.write_text(RING.format(core=RING_CORE))
    (folder / "mapping.yaml").write_text(MAPPING)
    (folder / "twins.yaml").write_text(TWINS)
    with server(config) as running:
        attach_to(name, running).close()
        with (
            Program("ringmaster-instruments", "run", config, overlay) as instruments,
            attach_to(name, running, ("server", "ring")) as ws,
        ):
            wait_for(
                lambda: not np.any(np.atleast_1d(np.asarray(ws.parameters["supply/state"].value)) & (8 | 16)),
                lambda: f"the supplies to join: {running.words} {instruments.words}",
            )
            yield Ring(name, ws, folder)
    shutil.rmtree(Path("/var/run/dpdk") / f"rm-{name}", ignore_errors=True)


def tune_of(name: str, current: float) -> float:
    """What the instance shall tell when the supply stands there."""
    twin = Twin(load_lattice("elettra2_like"))
    twin.enable_6d()
    if name == "weaker":
        twin.set_value_refpts("QF2_*", "K", 0.9995 * np.asarray(twin.get_value_refpts("QF2_*", "K")))
    quadrupoles = [i for i in twin.lattice.find("QF1_*") if twin.lattice.names[i] == "QF1_S01_01"]
    twin.set_value_refpts(quadrupoles, "K", (1 + 0.001 * current) * np.asarray(twin.get_value_refpts(quadrupoles, "K")))
    return float(twin.get_tune()[0])


def answered_periods(ws: Workspace, name: str, current: float, moved: int) -> float:
    """From the turn at which the setpoint moved to the first answer with that tune, in periods of the instance."""
    period = ws.parameters[f"{name}/period_turns"].number
    wanted = tune_of(name, current)

    def first() -> int | None:
        window = ws.streams[f"{name}/ring"].latest(200)
        good = window.ok & (np.abs(window["tune_x"] - wanted) < 2e-6)
        turns = window.turn[good]
        later = turns[turns.astype(int) > moved - period]
        return int(later[0]) if len(later) else None

    wait_for(lambda: first() is not None, f"{name} to tell the new tune")
    turn = first()
    assert turn is not None
    return (turn + ws.parameters[f"{name}/lag_turns"].number - moved) / period


def test_two_follow_and_answer_a_setpoint(ring: Ring) -> None:
    command = command_line("twin", "follow", ring.folder / "twins.yaml", "-w", ring.name)
    following = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        wait_for(
            lambda: following.poll() is not None or attach_names(ring.name).issuperset(NAMES), "both to have segments"
        )
        assert following.poll() is None, following.communicate()
        with attach(ring.name) as ws:
            for name in NAMES:
                wait_for(lambda name=name: ws.parameters[f"{name}/looks"].number > 2, f"{name} to follow")  # type: ignore[misc]
            both_answer(ws)
            what_a_change_would_do(ws)
    finally:
        following.send_signal(signal.SIGINT)
        said, _ = following.communicate(timeout=60)
        print(said)
    assert following.returncode == 0, said
    for name in NAMES:
        assert f"{name} follows {ring.name}: 8 BPMs, 24 supplies" in said
    with attach(ring.name) as ws:
        assert not any(ws.segments[name].alive for name in NAMES if name in ws.segments)


@again_if_starved
def both_answer(ws: Workspace) -> None:
    current = 1.5 if ws.parameters[f"{SUPPLY}/setpoint"].number < 1.0 else 0.5
    moved = ws.streams["bpm01/raw"].head
    assert moved is not None
    ws.put(f"{SUPPLY}/setpoint", current)
    answers = {name: answered_periods(ws, name, current, moved) for name in NAMES}
    assert max(answers.values()) <= 2.0 + 0.3, answers  # a slew of 1.5 ms, and the request's way, besides


def what_a_change_would_do(ws: Workspace) -> None:
    """Asked of a running instance, from another folder: from where its supplies stand, and nothing moves."""
    stands = ws.parameters[f"{SUPPLY}/setpoint"].number
    command = command_line("twin", "what-if", "--on", "weaker", "--set", f"{SUPPLY}=+0.5", "--json", "-w", ws.name)
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, cwd="/").stdout)
    assert told["moves"] == {SUPPLY: {"before": stands, "after": stands + 0.5}}
    for end, current in (("before", stands), ("after", stands + 0.5)):
        assert abs(told["ring"]["tune_x"][end] - tune_of("weaker", current)) < 2e-6
    assert ws.parameters[f"{SUPPLY}/setpoint"].number == stands


def attach_names(workspace: str) -> set[str]:
    with attach(workspace) as ws:
        return set(ws.segments)
