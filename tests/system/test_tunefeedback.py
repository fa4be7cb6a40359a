# SPDX-License-Identifier: Apache-2.0
"""The tune feedback closed on the virtual ring, in lock-step: a server, both applications in it, and a living machine.

The ring waits for the setpoints of each cycle, so times are those of turns, and a busy host costs none of them.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from harness import RING_CORE, SERVER_CORE, ringmaster, server, unique_name, wait_for

from ringmaster import Workspace
from ringmaster.places import CONFIGS
from ringmaster.programs.program import Program, attach_to
from ringmaster.tunefeedback.names import Condition, State

Floats = npt.NDArray[np.float64]

TURN_RATE_HZ = 100_000
PERIOD_TURNS = 100
INTEGRAL_HZ = 2.0
TAU_TURNS = TURN_RATE_HZ / (2 * np.pi * INTEGRAL_HZ)
SPEED_PER_S = 0.002
STEP_A, EXCURSION_A, RETURN_S, HOLD_S, LIMIT_S = 0.05, 4.0, 0.05, 1.0, 0.2
ROUNDING_A = 20 * 2.0**-23
"""A setpoint on the wire is an f32."""
NEAR = 3e-4
"""A beam that noise drives has a tune that scatters: of 1024 turns by 8.5e-5, and by far more where it fades. What is
compared with this is a mean; the loop's offsets are means, too."""
QUADRUPOLE = "machine/QF2_S03_01"
CONFIG = """
workspace: {name}
turn_rate_hz: 100000
simulated_time: true
polling: {{naps: true}}
ports: [{{name: ring, kind: memif, socket: {folder}/ring.sock, answer: 10.30.0.250}}]
instruments: [{{name: bpm01, kind: bpm, id: 1, port: ring, source: 10.20.0.1}}]
setpoints: {{period_turns: 100, lead: tunefeedback, lost_cycles: 5000}}
buffers: {{turn_records: 65536}}
chains:
  - {{name: qf1, id: 201, port: ring, address: 10.30.2.1,
     supplies: [{{name: sr/ps/qf1_, count: 24, unit: A, limits: [-10, 10], slew: 100}}]}}
  - {{name: qd2, id: 202, port: ring, address: 10.30.2.2,
     supplies: [{{name: sr/ps/qd2_, count: 24, unit: A, limits: [-10, 10], slew: 100}}]}}
applications:
  - {{name: tune, code: tune, hosted: true, configuration: bpms.yaml, inputs: [bpm01/turn], supplies: [],
     deadline_turns: 1000000, watchdog_cycles: 1000, freshness_turns: 1000000}}
  - {{name: tunefeedback, code: tunefeedback, hosted: true, configuration: families.yaml, inputs: [tune/tune],
     supplies: ["sr/ps/q*"], deadline_turns: 1000000, watchdog_cycles: 1000, freshness_turns: 1000000}}
roles:
  - {{role: receive, core: {core}, ports: [ring]}}
  - {{role: transmit, core: {core}}}
  - {{role: application, core: {core}, application: tune}}
  - {{role: application, core: {core}, application: tunefeedback}}
"""
BPMS = """
window_turns: 1024
low_x: 0.25
high_x: 0.35
low_y: 0.13
high_y: 0.23
beam: bpm01/sum1
least_beam: 1.0e+5
bpms: [{x: bpm01/x1, y: bpm01/y1}]
"""
FAMILIES = f"""
window_turns: 1024
matrix: matrix.csv
integral_hz: {INTEGRAL_HZ}
target_speed_per_s: {SPEED_PER_S}
plant: {{bandwidth_hz: 200, delay_us: 20}}
families:
  - {{name: qf1, supplies: ["sr/ps/qf1_*"], excursion_a: {EXCURSION_A}, step_a: {STEP_A}}}
  - {{name: qd2, supplies: ["sr/ps/qd2_*"], excursion_a: {EXCURSION_A}, step_a: {STEP_A}}}
enable_conditions: {{sigma: 1.0e-3, return_s: {RETURN_S}, hold_s: {HOLD_S}, limit_s: {LIMIT_S}}}
"""
OVERLAY = """
core: {core}
seed: 1
answer_turns: 20
beam: {{betatron_um: 20, synchrotron_um: 0, noise_um: 0.5}}
supplies: [{{supplies: "q*", delay_us: 20, bandwidth_hz: 200}}]
machine:
  lattice: elettra2_like
  seed: 7
  bpms: "BPM_S01_0[12]"
  step_turns: 100
  refresh_ms: 500
  current_ma: 400
  errors: {{beta_beat: 0.05}}
  strengths:
    - {{elements: "QF1_*", supplies: qf1, per_unit: 0.0001}}
    - {{elements: "QD2_*", supplies: qd2, per_unit: 0.0001}}
"""


@dataclass
class Loop:
    """The workspace while all run."""

    ws: Workspace

    def put(self, name: str, *values: str) -> None:
        """`ringmaster put`."""
        ringmaster("put", "-w", self.ws.name, name, *values)

    def command(self, *words: str) -> str:
        """`ringmaster tunefeedback`; what it printed."""
        return ringmaster("tunefeedback", words[0], "-w", self.ws.name, *words[1:]).stdout

    @property
    def state(self) -> State:
        """Now."""
        return State(int(self.ws.parameters["tunefeedback/state"].number))

    @property
    def missing(self) -> Condition:
        """Now."""
        return Condition(int(self.ws.parameters["tunefeedback/missing"].number))

    @property
    def turn(self) -> int:
        """Of the newest record."""
        return self.ws.streams["tunefeedback/loop"].head or 0

    def wait_turns(self, turns: float) -> None:
        """Of the ring's time."""
        end = self.turn + turns
        wait_for(lambda: self.turn >= end, lambda: f"turn {end}, at {self.turn}")

    def wait_state(self, *states: State) -> None:
        """Until it is one of these."""
        wait_for(lambda: self.state in states, lambda: f"{states}: {self.state.name} {self.missing!r}")

    def since(self, turn: int, stream: str = "tunefeedback/loop") -> dict[str, Floats]:
        """All records from that turn on, none of which is lost."""
        read = self.ws.streams[stream]
        first = -(-turn // PERIOD_TURNS) * PERIOD_TURNS
        window = read.read(first, ((read.head or first) - first) // PERIOD_TURNS + 1)
        assert window.ok.all()
        lanes = {lane.name: window[lane.name].astype(float) for lane in read.lanes}
        return lanes | {"turn": window.turn.astype(float)}


@contextmanager
def closing(root: Path) -> Iterator[Loop]:
    """The loop, ready to be closed."""
    name = unique_name("tunefeedback")
    folder = root / name
    folder.mkdir()
    shutil.copy(CONFIGS / "tunefeedback-matrix.csv", folder / "matrix.csv")
    (folder / "bpms.yaml").write_text(BPMS)
    (folder / "families.yaml").write_text(FAMILIES)
    config, overlay = folder / "server.yaml", folder / "overlay.yaml"
    config.write_text(CONFIG.format(name=name, folder=folder, core=SERVER_CORE))
    overlay.write_text(OVERLAY.format(core=RING_CORE))
    with server(config) as running:
        attach_to(name, running).close()
        with (
            Program("ringmaster-instruments", "run", config, overlay),
            attach_to(name, running, ("server", "ring", "tune", "tunefeedback")) as ws,
        ):
            loop = Loop(ws)
            loop.wait_state(State.READY)
            yield loop
    shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(Path("/var/run/dpdk") / f"rm-{name}", ignore_errors=True)


def a_step_is_taken_back(loop: Loop) -> None:
    """By another quadrupole: x by 0.0021, y by -0.0027."""
    assert "tunefeedback is ON" in loop.command("on")
    first = loop.turn
    loop.put(QUADRUPOLE, "0.003")
    loop.wait_turns(18 * TAU_TURNS)
    loop.wait_state(State.ON)
    records = loop.since(first)
    moved = np.minimum(np.abs(records["error_x"]), np.abs(records["error_y"])) > 1.3e-3  # a fade is of one plane
    begun = records["turn"][moved][0]
    settled = records["turn"] > records["turn"][-1] - 5 * TAU_TURNS
    for plane in "xy":
        assert abs(records[f"error_{plane}"][settled].mean()) < NEAR
    offset = records["offset_2"]
    aim = offset[settled].mean()
    away = records["turn"][(np.abs(offset - aim) > 0.15 * abs(aim)) & (records["turn"] > begun)]
    assert away[-1] - begun < 5 * TAU_TURNS + RETURN_S * TURN_RATE_HZ, "it took too long to take a step back"
    offsets = [records[f"offset_{family}"] for family in (1, 2)]
    assert abs(offsets[1][-1]) > 1.0, "the second family did not move"
    assert max(np.abs(np.diff(offset)).max() for offset in offsets) <= STEP_A + ROUNDING_A


def a_target_is_approached_at_its_speed(loop: Loop) -> None:
    first = loop.turn
    begin = loop.since(first - PERIOD_TURNS)
    target = np.array([begin["wanted_x"][-1] + 6e-4, begin["wanted_y"][-1] - 4e-4])
    loop.command("target", *(f"{tune:.7f}" for tune in target))
    loop.wait_turns(6e-4 / SPEED_PER_S * TURN_RATE_HZ + 8 * TAU_TURNS)
    records = loop.since(first)
    for plane, aim in zip("xy", target, strict=True):
        wanted = records[f"wanted_{plane}"]
        assert abs(wanted[-1] - aim) < 1e-6
        assert np.abs(np.diff(wanted)).max() <= SPEED_PER_S * PERIOD_TURNS / TURN_RATE_HZ + 6e-8
        assert abs(records[f"error_{plane}"][-200:].mean()) < NEAR


def lost_beam_holds(loop: Loop) -> None:
    """Nothing moves until it is back; then it goes on by itself, unless the host took longer than `hold_s`."""
    first = loop.turn
    loop.ws.put("machine/beam", 0.0)
    wait_for(lambda: Condition.NO_BEAM in loop.missing, lambda: f"no beam: {loop.missing!r}")
    loop.ws.put("machine/beam", 1.0)
    loop.wait_state(State.ON, State.FAULT)
    records = loop.since(first)
    held = records["state"] == State.HOLD
    assert held.sum() >= RETURN_S * TURN_RATE_HZ / PERIOD_TURNS
    for family in (1, 2):
        assert not np.diff(records[f"offset_{family}"])[held[1:] & held[:-1]].any(), "it moved in HOLD"
    if loop.state is State.FAULT:
        loop.command("off")
        loop.wait_state(State.READY)
        loop.command("on")
    loop.wait_state(State.ON)


def a_noisy_bpm_holds_and_opens(loop: Loop) -> None:
    """No peak above the noise: it holds, and is a person's after `hold_s`."""
    loop.put("ring/event", "event: noisy, instrument: bpm01, x_um: 3000, y_um: 3000")
    loop.wait_state(State.FAULT)
    assert Condition.QUALITY in Condition(int(loop.ws.parameters["tunefeedback/cause"].number))
    assert "tunefeedback is FAULT" in loop.command("status")
    loop.put("ring/event", "event: good, instrument: bpm01")
    wait_for(lambda: loop.missing == 0, lambda: f"good tunes: {loop.missing!r}")
    assert loop.state is State.FAULT
    loop.command("off")
    loop.wait_state(State.READY)


def excursions_hold(loop: Loop) -> None:
    """What two families of so much cannot take away ends at the excursion, and then with a reason."""
    loop.command("target", "now")
    loop.command("on")
    loop.wait_state(State.ON)
    first = loop.turn
    loop.put(QUADRUPOLE, "0.0105")
    loop.wait_state(State.FAULT)
    assert Condition(int(loop.ws.parameters["tunefeedback/cause"].number)) == Condition.LIMIT
    records = loop.since(first)
    assert max(np.abs(records[f"offset_{family}"]).max() for family in (1, 2)) <= EXCURSION_A + ROUNDING_A
    currents = loop.ws.streams["qd2_a/raw"].latest(1000)
    lanes = [lane.name for lane in loop.ws.streams["qd2_a/raw"].lanes[2:]]
    steps = max(np.abs(np.diff(currents[lane][currents.ok])).max() for lane in lanes)
    assert steps <= STEP_A * 1.01, "a supply went further in a cycle than a step"
    status = loop.command("status")
    assert "a family is at its excursion" in status


@pytest.mark.skipif(RING_CORE == SERVER_CORE, reason="ONE CORE HERE: the ring needs one, and the server another")
def test_the_loop_is_closed_on_the_virtual_ring(root: Path) -> None:
    with closing(root) as loop:
        a_step_is_taken_back(loop)
        a_target_is_approached_at_its_speed(loop)
        lost_beam_holds(loop)
        a_noisy_bpm_holds_and_opens(loop)
        excursions_hold(loop)
        assert loop.ws.counters("application/tunefeedback")["missing"] == 0


def test_check_knows_the_streams_of_other_applications(root: Path) -> None:
    """By their code; a simulation, which has one application, says so."""
    for name in ("tune-bpms.yaml", "tunefeedback-elettra2.yaml", "tunefeedback-matrix.csv"):
        shutil.copy(CONFIGS / name, root)
    text = (CONFIGS / "tunefeedback.yaml").read_text()
    config = root / "server.yaml"
    config.write_text(text)
    assert "from tune/tune" in ringmaster("check", config).stdout
    simulated = ("simulate", config, CONFIGS / "tunefeedback-ring.yaml", "tunefeedback", "--seconds", "0.01")
    refused = ringmaster(*simulated, "--out", root / "out", expect=1)
    assert 'input "tune/tune" is a stream of another application, and a simulation has one' in refused.stderr
    config.write_text(text.replace("inputs: [tune/tune]", "inputs: [tune/tine]"))
    refused = ringmaster("check", config, expect=1)
    assert 'the application tune has no stream "tune/tine", expected one of: tune/tune' in refused.stderr
