# SPDX-License-Identifier: Apache-2.0
"""What commissioning stands on: the true machine that is scored is the ring's own; and a change of supplies, some the
operator's, some of `excite`, goes through a running server, corrects the orbit, and is undone.
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from harness import RING_CORE, SERVER_CORE, ringmaster, ringmaster_json, server, unique_name, wait_for
from living import joined

from ringmaster import Workspace
from ringmaster.commissioning.results import wiring_of
from ringmaster.commissioning.truth import load, true_twin
from ringmaster.fabric.layout import SupplyState
from ringmaster.moving.place import where_to_put
from ringmaster.places import CONFIGS
from ringmaster.programs.program import Program, attach_to
from ringmaster.simulation import Simulation
from ringmaster.twin import orbit_response

QUIET = {"noise_um: 2.2": "noise_um: 0.01", "betatron_um: 0.1": "betatron_um: 0"}


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of configs/optics.yaml without disturbances, and its truth."""
    folder = tmp_path_factory.mktemp("truth")
    for name in ("optics.yaml", "feedback-optics.yaml"):
        shutil.copy(CONFIGS / name, folder)
    overlay = (CONFIGS / "optics-ring.yaml").read_text().partition("  disturbances:")[0]
    for before, after in QUIET.items():
        assert before in overlay
        overlay = overlay.replace(before, after)
    (folder / "ring.yaml").write_text(overlay)
    whole = ("simulate", folder / "optics.yaml", folder / "ring.yaml", "excite", "--seconds", "0.2")
    moved = ("--at", "0:excite/position[10]=0.5", "--at", "0:excite/position[384]=30")
    ringmaster(*whole, *moved, "--truth", folder / "truth.json", "--out", folder / "run")
    return folder


def test_the_true_twin_is_the_ring_s_machine(simulated: Path) -> None:
    truth = load(simulated / "truth.json")
    wiring = wiring_of(simulated / "optics.yaml", CONFIGS / "mappings/optics.yaml")
    run = Simulation.load(simulated / "run")
    values = dict(zip(run.actuators, np.asarray(run.currents[-1]), strict=True))
    twin = true_twin(truth, wiring, values)
    reads = 1e9 * truth.readings_m(twin.find_orbit(truth.bpms)[1][:, [0, 2]])
    for plane, column in (("x", 0), ("y", 1)):
        measured = run.orbit(plane)[-20:].mean(axis=0)
        assert np.std(measured) > 1e5  # 0.1 mm of offsets
        np.testing.assert_allclose(measured, reads[:, column], atol=20)
    rows = json.loads((simulated / "run/simulation.json").read_text())["response"]["rows"]
    response = np.fromfile(simulated / "run/response.f64").reshape(len(rows), -1)
    at = {wiring.supply(entry): entry for entry in truth.drawn["correctors"]}
    names = [name for name in run.actuators if name in at]
    steerers = [(int(at[name]["element"]), plane) for name in names for plane in "xy"]
    per_unit = np.array([[at[name]["x_rad_per_unit"], at[name]["y_rad_per_unit"]] for name in names])
    found = orbit_response(twin, truth.bpms, steerers)[:, :, :-1].reshape(2, len(truth.bpms), len(names), 2)
    expected = 1e9 * truth.reading_matrices() @ (found * per_unit).sum(axis=-1).transpose(1, 0, 2)
    columns = [run.actuators.index(name) for name in names]
    planes = response[:, columns].reshape(2, len(truth.bpms), len(names)).transpose(1, 0, 2)
    assert np.linalg.norm(planes - expected) < 1e-4 * np.linalg.norm(expected)


LATTICE = """
qf: quadrupole, l = 0.4, k1 := 1.6;  qd: quadrupole, l = 0.4, k1 := -1.4;
d1: drift, l = 0.5;  b: sbend, l = 1.0, angle = pi/16;
bpm: monitor;  ca: kicker;  cav: rfcavity, volt = 2, harmon = 64;
cell: line = (qf, d1, b, d1, qd, d1, b, d1);
part: line = (bpm, cell, ca, cell);
ring: line = (8*part, cav);
beam, particle = electron, energy = 1.0;
use, sequence = ring;
"""
MAPPING = """
bpms: bpm
rows: "bpm[1-4]/{x1,y1,x2,y2}"
correctors:
  - {elements: ca, plane: x, actuators: "ps/h[1-8]", urad_per_unit: 10}
  - {elements: ca, plane: y, actuators: "ps/v[1-8]", urad_per_unit: 10}
"""
TURN_RATE_HZ, PERIOD_TURNS = 100_000, 100


def names(plane: str) -> str:
    return ", ".join(f"{{name: ps/{plane}{i}, unit: A, limits: [-3, 3], slew: 100}}" for i in range(1, 9))


def write_files(folder: Path, name: str) -> tuple[Path, Path]:
    """Of a small ring: x belongs to `excite`, y is the operator's."""
    period = f"period_turns: {PERIOD_TURNS}"
    bpms = "".join(
        f"  - {{name: bpm{i}, kind: bpm, id: {i}, port: ring, source: 10.20.0.1, {period}}}\n" for i in (1, 2, 3, 4)
    )
    config, overlay = folder / "server.yaml", folder / "ring.yaml"
    config.write_text(
        f"workspace: {name}\nturn_rate_hz: {TURN_RATE_HZ}\nsimulated_time: true\npolling: {{naps: true}}\n"
        f"ports: [{{name: ring, kind: memif, socket: {folder}/link, role: server, answer: 10.30.255.1}}]\n"
        f"instruments:\n{bpms}"
        f"setpoints: {{{period}, phase_turns: 50, lead: kick, lost_cycles: 5000}}\nchains:\n"
        f"  - {{name: h, id: 1, port: ring, address: 10.30.0.1, supplies: [{names('h')}]}}\n"
        f"  - {{name: v, id: 2, port: ring, address: 10.30.0.2, supplies: [{names('v')}]}}\n"
        "applications:\n"
        f'  - {{name: kick, code: excite, hosted: true, {period}, deadline_turns: 1000000, inputs: ["bpm1/raw"],\n'
        '     supplies: ["ps/h*"], watchdog_cycles: 100000, freshness_turns: 1000000}\n'
        f"roles:\n  - {{role: receive, core: {SERVER_CORE}, ports: [ring]}}\n"
        f"  - {{role: transmit, core: {SERVER_CORE}}}\n"
        f"  - {{role: application, core: {SERVER_CORE}, application: kick}}\n"
    )
    (folder / "small.madx").write_text(LATTICE)
    (folder / "mapping.yaml").write_text(MAPPING)
    overlay.write_text(
        f"core: {RING_CORE}\nbeam: {{noise_um: 1}}\nanswer_turns: 50\n"
        'supplies: [{supplies: "[hv]", bandwidth_hz: 100, noise: 1.0e-4}]\n'
        f"machine:\n  lattice: small.madx\n  bpms: bpm\n  step_turns: {PERIOD_TURNS}\n"
        "  correctors:\n"
        "    - {elements: ca, plane: x, supplies: h, urad_per_unit: 10}\n"
        "    - {elements: ca, plane: y, supplies: v, urad_per_unit: 10}\n"
    )
    return config, overlay


@pytest.fixture(scope="module")
def folder(root: Path) -> Path:
    made = root / "commissioning"
    made.mkdir()
    return made


@pytest.fixture(scope="module")
def ws(folder: Path) -> Iterator[Workspace]:
    if RING_CORE == SERVER_CORE:
        pytest.skip("ONE CORE HERE: the ring needs one, the server another")
    name = unique_name("change")
    config, overlay = write_files(folder, name)
    with (
        server(config) as running,
        Program("ringmaster-instruments", "run", config, overlay),
        attach_to(name, running, ("server", "kick")) as found,
    ):
        wait_for(lambda: joined(found) and found.streams["bpm4/raw"].head, "supplies and BPMs")
        yield found
    shutil.rmtree(Path("/var/run/dpdk") / f"rm-{name}", ignore_errors=True)


def standing(ws: Workspace) -> list[float]:
    return [ws.supplies[f"ps/{plane}{i}"].setpoint.number for plane in "hv" for i in range(1, 9)]


def test_a_change_steers_the_orbit_away_and_its_correction_back(ws: Workspace, folder: Path) -> None:
    assert str(where_to_put(ws, "ps/h3")) == "kick/position[2]"
    assert SupplyState.JOINING not in ws.supplies["ps/h3"].state
    kick = folder / "kick.yaml"
    lines = [f"  - {{name: ps/{plane}3, before: 0, after: 1.5, unit: A}}\n" for plane in "hv"]
    kick.write_text(f"change: 1\ntitle: a kick\nmoves:\n{''.join(lines)}")
    here = ("-w", ws.name)
    ringmaster("change", "apply", kick, "--steps", "2", *here)
    assert standing(ws) == pytest.approx(
        [1.5 if i in (2, 10) else 0 for i in range(16)], abs=1e-3
    )  # they stood where they were read back
    away = ringmaster_json("orbit", "show", "--seconds", "0.2", *here, "--json")
    assert min(away["rms_x_nm"], away["rms_y_nm"]) > 10_000
    model = ("--lattice", folder / "small.madx", "--mapping", folder / "mapping.yaml", "--seconds", "0.2")
    output = ("-o", folder / "orbit.yaml", "--apply", "--plot", folder / "orbit.png", "--json")
    done = ringmaster_json("orbit", "correct", *model, *here, *output)
    assert done["supplies"] == 16
    for plane in "xy":
        assert done[f"after_rms_{plane}_nm"] < 0.05 * away[f"rms_{plane}_nm"]
    assert (folder / "orbit.png").stat().st_size > 10_000
    for number in (2, 1):
        assert f"undone {number}" in ringmaster("change", "undo", "--journal", folder / "change-journal", *here).stdout
    assert standing(ws) == pytest.approx([0.0] * 16, abs=1e-3)  # they stood where they were read back
