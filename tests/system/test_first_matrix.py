# SPDX-License-Identifier: Apache-2.0
"""The first response matrix of a ring that nobody has seen: measured without feedback and without a matrix, compared
with that of its lattice, and then a feedback runs with it.

Turns are few, so that a busy machine keeps up.
"""

import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from harness import RING_CORE, SERVER_CORE, TIMEOUT_S, command_line, ringmaster, server, unique_name, wait_for
from living import joined

from ringmaster import Workspace
from ringmaster.errors import RequestRefused, RequestUnanswered
from ringmaster.feedback.compare import difference
from ringmaster.feedback.loop import Feedback
from ringmaster.feedback.matrix import Matrix, load_csv
from ringmaster.feedback.names import State
from ringmaster.programs.program import Program, attach_to

TURN_RATE_HZ = 100_000
PERIOD_TURNS = 100
LATTICE = """
qf: quadrupole, l = 0.4, k1 := 1.6;  qd: quadrupole, l = 0.4, k1 := -1.4;
d1: drift, l = 0.5;  b: sbend, l = 1.0, angle = pi/16;
bpm: monitor;  ca: kicker;  cb: kicker;  cav: rfcavity, volt = 2, harmon = 64;
cell: line = (qf, d1, b, d1, qd, d1, b, d1);
part: line = (bpm, 2*cell);
ring: line = (part, ca, 3*part, cb, 4*part, cav);
beam, particle = electron, energy = 1.0;
use, sequence = ring;
"""
MAPPING = """
bpms: bpm
rows: "bpm[1-4]/{x1,y1,x2,y2}"
correctors:
  - {elements: "c[ab]", plane: x, actuators: "ps/h[1-2]", urad_per_unit: 10}
  - {elements: "c[ab]", plane: y, actuators: "ps/v[1-2]", urad_per_unit: 10}
rf: {actuator: ps/rf, hz_per_unit: 1}
"""
SUPPLIES = (*(f"ps/{plane}{i}" for plane in "hv" for i in (1, 2)), "ps/rf")
LIMIT_A = 3.0
SLEW_A_PER_S = 100.0
"""One unit takes 10 cycles: a reading before the supply is there would show, and a starved core manages it."""
SLOW_FEEDBACK = """
families:
  - {name: all, actuators: ["ps/h*", "ps/v*"], plant: {bandwidth_hz: 100, delay_us: 1000}, integral_hz: 1}
rf: {actuator: ps/rf}
enable_conditions: {missing: 1, bpms: 0, actuators: 0}
watch: {missing_cycles: 100000, return_s: 0.01}
"""
"""Of a host that takes cores away: what is late is waited for, and nothing that is missing opens the loop."""
APPLICATION = """
applications:
  - {name: feedback, code: feedback, hosted: true, configuration: feedback.yaml, inputs: ["bpm*/raw"],
     supplies: ["ps/*"], watchdog_cycles: 100000, freshness_turns: 1000000, deadline_turns: 100000}
"""
ROLE = f"  - {{role: application, core: {SERVER_CORE}, application: feedback}}\n"
AMPLITUDES = ("--amplitude", "2", "--amplitude", "ps/rf=100", "--seconds", "0.1")

pytestmark = pytest.mark.skipif(
    RING_CORE == SERVER_CORE, reason="ONE CORE HERE: the ring needs one, the server another"
)


@dataclass
class Facility:
    """A ring that runs on, and servers one after the other."""

    name: str
    folder: Path

    def write_server(self, applications: str = "", role: str = "") -> Path:
        """The machine's file, and what its server does there."""
        chains = "".join(
            f"  - {{name: {name}, id: {i}, port: ring, address: 10.30.0.{i}, supplies: [{supplies}]}}\n"
            for i, name, supplies in (
                (1, "h", supplies_text("ps/h", "A", LIMIT_A, SLEW_A_PER_S)),
                (2, "v", supplies_text("ps/v", "A", LIMIT_A, SLEW_A_PER_S)),
                (3, "rf", "{name: ps/rf, unit: Hz, limits: [-1000, 1000], slew: 20000}"),
            )
        )
        config = self.folder / "server.yaml"
        config.write_text(
            f"workspace: {self.name}\nturn_rate_hz: {TURN_RATE_HZ}\npolling: {{naps: true}}\n"
            f"ports: [{{name: ring, kind: memif, socket: {self.folder}/link, role: server, answer: 10.30.255.1}}]\n"
            f"instruments:\n{bpms_text()}"
            f"setpoints: {{period_turns: {PERIOD_TURNS}, phase_turns: 50, lost_cycles: 5000}}\n"
            f"chains:\n{chains}{applications}"
            f"roles:\n  - {{role: receive, core: {SERVER_CORE}, ports: [ring]}}\n"
            f"  - {{role: transmit, core: {SERVER_CORE}}}\n{role}"
        )
        return config

    def server(self, applications: str = "", role: str = "") -> Program:
        """Begins another one."""
        return server(self.write_server(applications, role))

    def ring(self) -> Program:
        """The machine behind it, which is the design."""
        (self.folder / "small.madx").write_text(LATTICE)
        overlay = self.folder / "ring.yaml"
        overlay.write_text(
            f"core: {RING_CORE}\nbeam: {{noise_um: 1}}\nchains: [{{name: all, timeout_ms: 600000}}]\n"
            'supplies: [{supplies: "[hv]", bandwidth_hz: 100, noise: 1.0e-4}]\n'
            f"machine:\n  lattice: small.madx\n  bpms: bpm\n  step_turns: {PERIOD_TURNS}\n"
            "  correctors:\n"
            '    - {elements: "c[ab]", plane: x, supplies: h, urad_per_unit: 10}\n'
            '    - {elements: "c[ab]", plane: y, supplies: v, urad_per_unit: 10}\n'
            "  rf: {supply: rf/1, hz_per_unit: 1}\n"
        )
        return Program("ringmaster-instruments", "run", self.write_server(), overlay)

    def measure(self, *options: str) -> list[str]:
        """The command."""
        return ["feedback", "matrix", "measure", "-w", self.name, *AMPLITUDES, *options]


def supplies_text(name: str, unit: str, limit: float, slew: float) -> str:
    """Two of them."""
    entry = f"unit: {unit}, limits: [{-limit}, {limit}], slew: {slew}"
    return ", ".join(f"{{name: {name}{i}, {entry}}}" for i in (1, 2))


def bpms_text() -> str:
    """Four electronics of two BPMs each."""
    period = f"period_turns: {PERIOD_TURNS}"
    return "".join(
        f"  - {{name: bpm{i}, kind: bpm, id: {i}, port: ring, source: 10.20.0.1, {period}}}\n" for i in (1, 2, 3, 4)
    )


@pytest.fixture(scope="module")
def facility(root: Path) -> Iterator[Facility]:
    name = unique_name("first")
    folder = root / "files"
    folder.mkdir()
    made = Facility(name, folder)
    with made.ring():
        yield made
    shutil.rmtree(Path("/var/run/dpdk") / f"rm-{name}", ignore_errors=True)


@contextmanager
def standing(facility: Facility) -> Iterator[Workspace]:
    """A server with BPMs and supplies, and no application; the supplies stand somewhere."""
    with facility.server() as running, attach_to(facility.name, running) as found:
        wait_for(lambda: joined(found) and found.streams["bpm4/raw"].head, "supplies and BPMs")
        for i, name in enumerate(SUPPLIES):
            put(found, name, 0.25 * i)
        yield found


@pytest.fixture
def ws(facility: Facility) -> Iterator[Workspace]:
    with standing(facility) as found:
        yield found


def ask(ws: Workspace, name: str, value: float) -> bool:
    """False where it is refused: a chain that is lost for a moment, a step that the host holds up."""
    with suppress(RequestRefused, RequestUnanswered):
        ws.put(name, value)
        return True
    return False


def put(ws: Workspace, name: str, value: float) -> None:
    def is_there() -> bool:
        if stands(ws, name) == pytest.approx(value, abs=1e-6):
            return True
        ask(ws, f"{name}/setpoint", value)
        return False

    wait_for(is_there, f"{name} to be at {value}")


def stands(ws: Workspace, name: str) -> float:
    return ws.parameters[f"{name}/setpoint"].number


def assert_back(ws: Workspace) -> None:
    np.testing.assert_allclose([stands(ws, name) for name in SUPPLIES], 0.25 * np.arange(len(SUPPLIES)), atol=1e-6)


def of_the_design(facility: Facility) -> Matrix:
    mapping, output = facility.folder / "mapping.yaml", facility.folder / "design.csv"
    mapping.write_text(MAPPING)
    ringmaster("feedback", "matrix", "twin", facility.folder / "small.madx", "--mapping", mapping, "-o", output)
    return load_csv(output)


@pytest.fixture(scope="module")
def measured(facility: Facility) -> Path:
    """The matrix of all supplies, which are back where they stood."""
    output = facility.folder / "response.csv"
    with standing(facility) as ws:
        said = ringmaster(*facility.measure("--rf", "ps/rf", "-o", str(output)))
        assert "5 supplies measured, 16 readings" in said.stdout
        assert re.search(r"5 supplies, 16 readings \(raw\); \d+ s at least", said.stderr), said.stderr
        assert_back(ws)
    return output


def test_it_is_that_of_the_lattice(facility: Facility, measured: Path) -> None:
    found, design = load_csv(measured), of_the_design(facility)
    assert (found.rows, found.columns, found.rf) == (design.rows, SUPPLIES, "ps/rf")
    off = difference(design, found)
    assert off.relative_rms < 0.02
    assert max(map(abs, off.column_gain.values())) < 0.02, off.column_gain


def test_a_supply_at_its_limit_is_named_and_the_others_are_measured(facility: Facility, ws: Workspace) -> None:
    output = facility.folder / "some.csv"
    put(ws, "ps/h2", 1.5)  # 2 A more are beyond its limit, which the guard has published
    options = ("--supplies", "ps/h*", "--readings", "bpm[12]", "--averages", "1", "-o", str(output))
    said = ringmaster(*facility.measure(*options), expect=1).stderr
    assert "not measured: ps/h2: 3.5 A is above its upper limit of 3 A" in said
    assert f"not in {output}: ps/h2" in said
    found = load_csv(output)
    assert (found.columns, len(found.rows)) == (("ps/h1",), 8)
    assert stands(ws, "ps/h2") == pytest.approx(1.5)
    put(ws, "ps/h2", 0.25)
    assert_back(ws)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_ends_it_early_puts_all_back(facility: Facility, ws: Workspace, number: signal.Signals) -> None:
    output = facility.folder / "never.csv"
    command = command_line(*facility.measure("--averages", "1000", "-o", str(output)))
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_for(lambda: abs(stands(ws, "ps/h1")) > 1, "the first supply to be away")
            process.send_signal(number)
            process.send_signal(number)  # a person may press it twice
            _, said = process.communicate(timeout=TIMEOUT_S)
        finally:
            process.kill()
    assert process.returncode == 130
    assert "all supplies are back where they stood" in said
    assert_back(ws)
    assert not output.exists()


def test_the_feedback_runs_with_it_and_measures_it_anew(facility: Facility, measured: Path) -> None:
    again = facility.folder / "again.csv"
    (facility.folder / "feedback.yaml").write_text(f"matrix: {measured.name}\n{SLOW_FEEDBACK}")
    owners = ("server", "feedback")
    with facility.server(APPLICATION, ROLE) as running, attach_to(facility.name, running, owners) as ws:
        wait_for(lambda: joined(ws), "the supplies to join")
        feedback = Feedback(ws, timeout_s=TIMEOUT_S)
        wait_for(lambda: feedback.state == State.READY, lambda: f"ready: {feedback.state}")
        ringmaster(*facility.measure("--supplies", "ps/h1", "--supplies", "ps/rf", "-o", str(again)))
        before, after = load_csv(measured), load_csv(again)
        assert difference(before, after).relative_rms < 0.02
        changed = (before.values != after.values).any(axis=0)
        assert changed.tolist() == [True, False, False, False, False]  # an excitation does not reach the RF
        wait_for(lambda: ask(ws, "feedback/loop", 1), "the command to be taken")

        def is_on() -> bool:
            if feedback.state == State.FAULT:  # a host that was away for long: a person would do just that
                ask(ws, "feedback/reset", feedback.number("reset") + 1)
            return feedback.state == State.ON

        wait_for(is_on, lambda: f"the loop to close: {ringmaster('feedback', 'why', '-w', facility.name).stdout}")
