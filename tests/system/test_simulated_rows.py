# SPDX-License-Identifier: Apache-2.0
"""Rows of an application in simulated time, and in the replay that compares them."""

from pathlib import Path

import numpy as np
from harness import ROOT

from ringmaster.places import CONFIGS
from ringmaster.simulation import replay, simulate

CODE = ROOT / "build/src/host/test_latency_critical.so"
PERIOD_TURNS, CYCLES, WIDTH = 12, 40, 7
CONFIG = """
workspace: rows
turn_rate_hz: 10000
ports: [{{name: ring, kind: memif, socket: {folder}/rows.sock, answer: 10.20.255.1}}]
instruments: [{{name: bpm01, kind: bpm, id: 1, port: ring, source: 10.20.1.1}}]
setpoints: {{period_turns: 12}}
chains:
  - {{name: q, id: 1, port: ring, address: 10.30.0.1,
     supplies: [{{name: sr/ps/q_01, unit: A, limits: [-1.0e+6, 1.0e+6], slew: 1.0e+9}}]}}
applications:
  - {{name: app, code: {code}, configuration: own, period_turns: 12, inputs: [bpm01/fast], supplies: ["sr/ps/*"]}}
roles: [{{role: receive, core: 0, ports: [ring]}}, {{role: transmit, core: 0}}]
"""


def test_rows_are_recorded_and_a_replay_compares_them(tmp_path: Path) -> None:
    """The test's application tells the sum of its inputs in every second step, and steps from it."""
    config = tmp_path / "server.yaml"
    config.write_text(CONFIG.format(folder=tmp_path, code=CODE))
    (tmp_path / "own").write_text("2\n")
    run = simulate(config, None, "app", tmp_path / "out", cycles=CYCLES, record="all,decisions")
    rows = run.spectra("profile")
    turns = run.summary["first_turn"] + PERIOD_TURNS * np.arange(CYCLES)
    due = turns % (2 * PERIOD_TURNS) == 0
    assert rows["turn"].tolist() == turns[due].tolist()
    sums = run.stream("total")["sum"][due]
    assert len(np.unique(sums)) > CYCLES // 4
    assert rows["values"].shape == (due.sum(), WIDTH)
    np.testing.assert_array_equal(rows["values"][:, 0], sums)
    np.testing.assert_allclose(rows["values"], sums[:, None] + np.arange(WIDTH), rtol=1e-6)
    assert (rows["quality"] == 0).all()
    np.testing.assert_allclose(run.axis("profile"), 0.5 + 0.25 * np.arange(WIDTH))
    assert [item["name"] for item in run.summary["rows"]] == ["profile"]
    assert replay(config, "app", run.recorded).differs is None


def test_the_shipped_tune_s_rows_have_the_ring_s_line(tmp_path: Path) -> None:
    """At its tune, with the amplitude that is measured; and a replay gives the same rows."""
    tunes = {"x": 0.2994, "y": 0.1612}
    config = CONFIGS / "tune.yaml"
    run = simulate(config, CONFIGS / "tune-ring.yaml", "tune", tmp_path, seconds=0.1, record="all,decisions")
    for name, plane in (("spectrum_x", "x"), ("spectrum_y", "y"), ("sliding_x", "x")):
        rows, axis = run.spectra(name), run.axis(name)
        row = rows["values"][rows["quality"] == 0][-1]
        assert abs(axis[row.argmax()] - tunes[plane]) < 0.6 * (axis[1] - axis[0])
        assert 0.84 < row.max() / run.reported(f"amplitude_{plane}")[-1] < 1.03
        assert np.median(row) < 0.02 * row.max()
        assert np.isnan(rows["values"][0]).all() == (name == "sliding_x")  # its first window is not whole yet
        assert rows["quality"][0] == (128 if name == "sliding_x" else 0)
    assert replay(config, "tune", run.recorded).differs is None
