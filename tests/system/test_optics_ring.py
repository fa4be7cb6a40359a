# SPDX-License-Identifier: Apache-2.0
"""The machine whose magnets have supplies: the virtual ring and a twin do the same with them, in simulated time.

excite brings the supplies to positions; the orbit that its BPMs read is that of a twin which Python's Knobs have set.
"""

from pathlib import Path

import numpy as np
import pytest

from ringmaster.machine.knobs import Knobs
from ringmaster.machine.mapping import resolve
from ringmaster.machine.server_file import read_yaml
from ringmaster.places import CONFIGS
from ringmaster.simulation import replay, simulate
from ringmaster.twin import Twin, load_lattice

CONFIG = """
workspace: optics
turn_rate_hz: 1157000
ports: [{name: ring, kind: memif, socket: /tmp/never-opened.sock, answer: 10.30.0.250}]
instruments: [{name: bpm, kind: bpm, id: 1, count: 84, port: ring, source: 10.20.0.1, period_turns: 120}]
setpoints: {period_turns: 120}
chains:
  - name: m
    id: 101
    port: ring
    address: 10.30.1.1
    supplies:
      - {name: ps/q_, count: 2, unit: A, limits: [-50, 50], slew: 5000}
      - {name: ps/rb_, count: 2, unit: A, limits: [-50, 50], slew: 5000}
      - {name: ps/skew_, count: 2, unit: A, limits: [-50, 50], slew: 5000}
      - {name: ps/s_, count: 2, unit: A, limits: [-50, 50], slew: 5000}
      - {name: ps/cs_, count: 2, unit: A, limits: [-10, 10], slew: 500}
  - name: rf
    id: 102
    port: ring
    address: 10.30.1.2
    supplies: [{name: ps/rf, unit: Hz, limits: [-2000, 2000], slew: 1e5}]
applications:
  - {name: excite, code: excite, period_turns: 120, inputs: ["bpm*/raw"], supplies: ["ps/*"]}
roles:
  - {role: receive, core: 0, ports: [ring]}
  - {role: transmit, core: 0}
  - {role: housekeeping, core: 0}
"""
STRENGTHS = """
  strengths:
    - {elements: "QF1_S02_*", supplies: m/1-2, per_unit: 0.001}
    - {elements: "RB1_S03_*", supplies: m/3-4, per_unit: 0.001}
    - {elements: "SF1_S04_*", change: skew, supplies: m/5-6, per_unit: 0.0005}
    - {elements: "SD1_S05_*", change: sextupole, supplies: m/7-8, per_unit: 0.01}
"""
OVERLAY = f"""
beam: {{betatron_um: 0, synchrotron_um: 0, noise_um: 0}}
machine:
  lattice: elettra2_like
  bpms: "BPM_*"
  step_turns: 120
  refresh_ms: 20
  correctors: [{{elements: "CS_S06_0[12]", plane: x, supplies: m/9-10, urad_per_unit: 20}}]
  rf: {{supply: rf/1, hz_per_unit: 1}}{STRENGTHS}
"""
MAPPING = {
    "bpms": "BPM_*",
    "rows": "bpm[01-84]/{x1,y1,x2,y2}",
    "correctors": [{"elements": "CS_S06_0[12]", "plane": "x", "actuators": "ps/cs_[01-02]", "urad_per_unit": 20}],
    "strengths": [
        {"elements": "QF1_S02_*", "supplies": "ps/q_[01-02]", "per_unit": 0.001},
        {"elements": "RB1_S03_*", "supplies": "ps/rb_[01-02]", "per_unit": 0.001},
        {"elements": "SF1_S04_*", "change": "skew", "supplies": "ps/skew_[01-02]", "per_unit": 0.0005},
        {"elements": "SD1_S05_*", "change": "sextupole", "supplies": "ps/s_[01-02]", "per_unit": 0.01},
    ],
    "rf": {"actuator": "ps/rf", "hz_per_unit": 1},
}
VALUES = {"ps/q_01": 5.0, "ps/rb_02": 3.0, "ps/skew_01": -4.0, "ps/s_01": 6.0, "ps/cs_01": 0.5, "ps/rf": 40.0}


def test_supplies_of_magnets_do_in_the_ring_what_knobs_do_to_a_twin(tmp_path: Path) -> None:
    config, overlay = tmp_path / "server.yaml", tmp_path / "ring.yaml"
    config.write_text(CONFIG)
    overlay.write_text(OVERLAY)
    twin = Twin(load_lattice("elettra2_like"))
    twin.enable_6d()
    mapping = resolve(twin.lattice, MAPPING)
    supplies = [f"ps/{name}_0{i}" for name in ("q", "rb", "skew", "s", "cs") for i in (1, 2)] + ["ps/rf"]
    puts = [f"0.005:excite/position[{supplies.index(name)}]={value}" for name, value in VALUES.items()]
    sines = ["0.01:excite/amplitude[9]=0.02", "0.01:excite/hz[9]=150", "0.01:excite/seconds=0.05", "0.02:excite/run=1"]
    run = simulate(config, overlay, "excite", tmp_path / "out", seconds=0.35, at=puts + sines, record="all,decisions")
    assert [actuator["name"] for actuator in run.summary["actuators"]] == supplies
    assert [run.reported(name)[-1] for name in ("runs", "clipped", "moving")] == [1, 0, 0]

    expected = {}
    for when, values in {"before": {}, "after": VALUES}.items():
        Knobs(twin, mapping).set(values)
        orbit = np.asarray(twin.find_orbit(mapping.bpms)[1])
        expected[when] = orbit[:, [0, 2]] * 1e9
    moved = np.stack([run.orbit("x")[-1], run.orbit("y")[-1]], axis=1)
    first = np.stack([run.orbit("x")[3], run.orbit("y")[3]], axis=1)
    assert np.max(np.abs(first - expected["before"])) < 2  # nm: readings are whole ones, and models of single precision
    assert np.ptp(moved[:, 0] - first[:, 0]) > 20_000
    assert np.max(np.abs(moved - expected["after"])) < 10
    assert replay(config, "excite", run.folder / "recorded").differs is None


@pytest.mark.parametrize("group", ["correctors", "strengths"])
def test_the_shipped_mapping_is_that_of_the_shipped_ring(group: str) -> None:
    """The same elements, changes and sizes, in the same order; supplies by their chains' names."""
    ring = read_yaml(CONFIGS / "optics-ring.yaml")["machine"]
    mapping = read_yaml(CONFIGS / "mappings/optics.yaml")
    assert len(ring[group]) == len(mapping[group])
    for of_ring, of_mapping in zip(ring[group], mapping[group], strict=True):
        assert of_ring["elements"] == of_mapping["elements"]
        assert of_ring.get("change", "gradient") == of_mapping.get("change", "gradient")
        assert of_ring.get("plane") == of_mapping.get("plane")
        for size in ("per_unit", "urad_per_unit"):
            assert of_ring.get(size) == of_mapping.get(size)
        names = of_mapping.get("supplies", of_mapping.get("actuators"))
        assert names.startswith(f"sr/ps/{of_ring['supplies'].rstrip('*')}_[")
    twin = Twin(load_lattice("elettra2_like"))
    assert len(resolve(twin.lattice, mapping).supplies) == 528 + 1 + 192 + 48 + 216
