# SPDX-License-Identifier: Apache-2.0
"""Response of a living machine in simulated time: BPMs, correctors and the RF of one cell of the shipped lattice, with
errors that nothing tells of. What is measured is what the ring truly answers, within errors that are true.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from ringmaster.cli.main import cli
from ringmaster.machine.server_file import read_yaml
from ringmaster.response.analysis import Analysis, analyse
from ringmaster.response.expected import Expected, expect, supplies_of_application
from ringmaster.response.measured import load
from ringmaster.response.plan import make_plan
from ringmaster.response.simulated import run, true_response

CONFIG = """
workspace: response
turn_rate_hz: 1157000
simulated_time: true
ports: [{name: ring, kind: memif, socket: /tmp/not-opened.sock, answer: 10.30.0.250}]
instruments: [{name: bpm, kind: bpm, id: 1, count: 7, port: ring, source: 10.20.0.1, period_turns: 120}]
setpoints: {period_turns: 120, phase_turns: 25, lead: excite, lost_cycles: 1000}
chains:
  - {name: csx, id: 101, port: ring, address: 10.30.1.1,
     supplies: [{name: csx_, count: 14, unit: A, limits: [-10, 10], slew: 500, safe_slew: 2}]}
  - {name: csy, id: 102, port: ring, address: 10.30.1.2,
     supplies: [{name: csy_, count: 14, unit: A, limits: [-10, 10], slew: 500, safe_slew: 2}]}
  - {name: rf, id: 103, port: ring, address: 10.30.1.3,
     supplies: [{name: rf, unit: Hz, limits: [-2000, 2000], slew: 5000, safe_slew: 10}]}
applications:
  - {name: excite, code: excite, hosted: true, period_turns: 120, deadline_turns: 1000000, freshness_turns: 1000000,
     inputs: ["bpm*/raw"], supplies: ["csx_*", "csy_*", rf]}
roles:
  - {role: receive, core: 1, ports: [ring]}
  - {role: transmit, core: 1}
  - {role: application, core: 1, application: excite}
"""
RING = """
first_turn: 1000080
answer_turns: 25
beam: {betatron_um: 0.1, synchrotron_um: 0, noise_um: 2.2}
supplies: [{supplies: "cs[xy]", delay_us: 20, bandwidth_hz: 2000}]
machine:
  lattice: elettra2_like
  seed: 7
  bpms: "BPM_S01_*"
  step_turns: 120
  refresh_ms: 500
  errors: {beta_beat: 0.05, skew_per_m: 0.0005, bpm_gain: 0.03, bpm_roll_mrad: 5, corrector_gain: 0.03}
  correctors:
    - {elements: "CS_S01_*", plane: x, supplies: csx, urad_per_unit: 20, eddy_hz: 300}
    - {elements: "CS_S01_*", plane: y, supplies: csy, urad_per_unit: 20, eddy_hz: 300}
  rf: {supply: rf/1, hz_per_unit: 1}
  disturbances: {mains: [{hz: 50, orbit_um: 10}, {hz: 100, orbit_um: 4}], mains_wander: 0.001}
"""
MAPPING = """
bpms: "BPM_S01_*"
rows: "bpm[01-07]/{x1,y1,x2,y2}"
correctors:
  - {elements: "CS_S01_*", plane: x, actuators: "csx_[01-14]", urad_per_unit: 20}
  - {elements: "CS_S01_*", plane: y, actuators: "csy_[01-14]", urad_per_unit: 20}
rf: {actuator: rf, hz_per_unit: 1}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The three files."""
    made = tmp_path_factory.mktemp("response")
    (made / "server.yaml").write_text(CONFIG)
    (made / "ring.yaml").write_text(RING)
    (made / "mapping.yaml").write_text(MAPPING)
    return made


@pytest.fixture(scope="module")
def machine(folder: Path) -> Expected:
    """As the lattice has it."""
    return expect("elettra2_like", folder / "mapping.yaml", read_yaml(folder / "server.yaml"))


def measure(folder: Path, machine: Expected, mode: str, groups: int) -> tuple[Analysis, float]:
    """And RMS of the pulls of correctors and dispersion."""
    made = make_plan(machine, mode, 2.0, (60, 260), groups=groups)
    order = supplies_of_application(read_yaml(folder / "server.yaml"), "excite")
    ran, simulation = run(
        folder / "server.yaml", folder / "ring.yaml", made, machine.rows, folder / f"{mode}{groups}", supplies=order
    )
    found = analyse(machine.rows, made, ran.taken, machine.families, rf=machine.rf)
    truth = true_response(simulation, machine.rows, [*found.response.columns, "rf"])
    values = np.column_stack([found.response.values, found.response.dispersion])
    sigma = np.column_stack([found.response.sigma, found.response.dispersion_sigma])
    return found, float(np.sqrt(np.mean(((values - truth) / sigma) ** 2)))


def test_the_true_response_is_found_within_true_errors(folder: Path, machine: Expected) -> None:
    found, pull = measure(folder, machine, "users", groups=2)
    assert 0.85 < pull < 1.15
    assert found.imaginary_pull == pytest.approx(1.0, abs=0.15)
    assert found.mains_hz == pytest.approx(50, rel=2e-3)
    plants = {family.name: family.plant for family in found.families}
    assert abs(plants["csx"].response(150.0) / plants["csy"].response(150.0)) == pytest.approx(1, abs=0.05)
    moved = found.excursion_nm / machine.size_nm
    assert moved.max() < 0.1


def test_the_command_measures_writes_and_compares_with_the_truth(folder: Path) -> None:
    files = [str(folder / name) for name in ("server.yaml", "ring.yaml")]
    common = ["elettra2_like", "--mapping", str(folder / "mapping.yaml"), "--server", files[0]]
    common += ["--mode", "machine", "--seconds", "1", "--band", "60", "260", "--supplies", "csx_*", "--supplies", "rf"]
    written = folder / "measured.h5"
    line = ["response", "measure", *common, "--simulated", *files, "-o", str(written), "--json"]
    done = CliRunner().invoke(cli, line, catch_exceptions=False)
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["planes"]["x"]["relative_error"] < 0.01
    assert told["planes"]["x"]["orbit_rms_um"] == pytest.approx(30, rel=0.15)
    assert told["pull_of_truth"] < 5  # the orbit that moves by 30 µm is not quite linear in sextupoles
    read = load(written)
    assert read.about["mode"] == "machine"
    assert read.values.shape == (28, 14)
    shown = CliRunner().invoke(cli, ["response", "show", str(written)], catch_exceptions=False)
    assert "csx" in shown.output
    compared = ["response", "compare", str(written), "--lattice", "elettra2_like", "--mapping"]
    other = CliRunner().invoke(cli, [*compared, str(folder / "mapping.yaml")], catch_exceptions=False)
    assert "28 readings and 14 supplies are in both" in other.output
