# SPDX-License-Identifier: Apache-2.0
"""Sequences in simulated time: the same to the bit again, in whatever order records come, and from what was recorded.
And a supply that trips midway.
"""

from pathlib import Path

import numpy as np
import pytest

from ringmaster.simulation import Simulation, replay, simulate

SERVER = """
workspace: sequence-simulated
turn_rate_hz: 1157000
ports: [{name: ring, kind: memif, socket: /run/ringmaster/unused.sock, answer: 10.30.0.250}]
instruments: [{name: bpm, kind: bpm, id: 1, count: 3, port: ring, source: 10.20.0.1, period_turns: 120}]
setpoints: {period_turns: 120, phase_turns: 100, lead: sequence}
chains:
  - {name: ch, id: 201, port: ring, address: 10.30.0.1,
     supplies: [{name: ch_, count: 4, unit: A, limits: [-10, 10], slew: 500, safe_slew: 20}]}
applications:
  - {name: sequence, code: sequence, configuration: sequence.yaml, inputs: ["bpm*/raw"], supplies: ["ch*"]}
roles:
  - {role: receive, core: 0, ports: [ring]}
  - {role: transmit, core: 0}
  - {role: housekeeping, core: 0}
"""
RING = "seed: 3\nbeam: {noise_um: 1}\n"
SEQUENCE = """
inputs: [{name: x1, lane: bpm02/raw.x1}, {name: first, supply: ch_01}]
variables: [{name: amplitude, value: 2, low: 0, high: 4, unit: A}]
counters: [{name: shot, value: 0, low: 0, high: 5}]
supplies: [{name: all, supplies: ["ch*"]}, {name: odd, supplies: ["ch_0[13]"]}, {name: even, supplies: ["ch_0[24]"]}]
sequences:
  - name: shots
    timeout_s: 1
    abort: home
    states:
      - name: go
        do:
          - {let: shot, value: shot + 1}
          - {ramp: odd, to: base + amplitude * shot / 2, in_s: 0.01}
          - {excite: even, amplitude: 0.2, hz: 200, in_s: 0.01, ramp_s: 0.002}
        then: [{when: done and shot < 3, to: rest}, {to: home}]
      - {name: rest, timeout_s: 0.1, then: [{when: "abs(x1) < 1e9 and first > 0 and seconds > 0.001", to: go}]}
      - {name: home, do: [{ramp: all, to: base, in_s: 0.02}], then: [{to: end}]}
      - {name: end, end: done}
"""
DONE, FAILED, SUPPLY = 2, 3, 7


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sequence")
    for name, text in (("server", SERVER), ("ring", RING), ("sequence", SEQUENCE)):
        (folder / f"{name}.yaml").write_text(text)
    return folder / "server.yaml"


def run(config: Path, name: str, *at: str, shuffle: int | None = None) -> Simulation:
    return simulate(
        *(config, config.with_name("ring.yaml"), "sequence", config.with_name(name)),
        seconds=0.15,
        at=("0.01:sequence/run=1", *at),
        record="all,decisions",
        shuffle=shuffle,
    )


@pytest.fixture(scope="module")
def shots(config: Path) -> Simulation:
    return run(config, "shots", "0.03:sequence/variable=3")


def reported(run: Simulation, name: str) -> np.ndarray:
    return np.asarray(run.reported(name))


def test_it_runs_to_its_end(shots: Simulation) -> None:
    assert reported(shots, "result")[-1] == DONE
    assert shots.final("counter")[0] == 3
    assert np.max(shots.setpoints[:, 0]) == pytest.approx(4.5, abs=1e-6)  # the third shot, with the new amplitude
    assert np.all(shots.setpoints[-1] == shots.setpoints[0])
    assert np.max(np.abs(np.diff(shots.setpoints, axis=0))) <= 500 / (1157000 / 120) * (1 + 1e-9)


def test_it_is_the_same_again_in_whatever_order_records_come(config: Path, shots: Simulation) -> None:
    again = run(config, "again", "0.03:sequence/variable=3", shuffle=5)
    assert np.array_equal(shots.setpoints, again.setpoints)
    assert np.array_equal(shots.sent, again.sent, equal_nan=True)


def test_every_step_is_the_same_from_what_was_recorded(config: Path, shots: Simulation) -> None:
    told = replay(config, "sequence", shots.recorded)
    assert told.differs is None
    assert told.steps_same == len(shots.setpoints)


def test_a_supply_that_trips_midway_takes_it_home(config: Path) -> None:
    tripped = run(config, "tripped", "0.022:trip=ch_03")
    assert reported(tripped, "result")[-1] == FAILED
    assert reported(tripped, "cause")[-1] == SUPPLY
    assert reported(tripped, "cause_of")[-1] == 2
    assert np.all(tripped.setpoints[-1, :2] == tripped.setpoints[0, :2])
    assert replay(config, "sequence", tripped.recorded).differs is None
