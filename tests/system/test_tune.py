# SPDX-License-Identifier: Apache-2.0
"""The tune as a person has it: a server, a ring, and the application that measures."""

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from harness import RING_CORE, SERVER_CORE, ringmaster, server, unique_name, wait_for

from ringmaster import Workspace
from ringmaster.programs.program import Program, attach_to
from ringmaster.recordings.streams import StreamRecorder
from ringmaster.simulation import replay

TUNES = {"x": 0.2994, "y": 0.1612}
PERIOD_TURNS = 100
WINDOW_TURNS = 1024
NO_BEAM, NO_PEAK, LOST_TURNS = 1, 2, 128
"""Bits of the quality."""
TRIES = 20
RECORDED = ("tune/decision", "tune/settings_adopted", "tune/missing0", "tune/unfinished0", "bpm01/turn")
"""All that a replay needs; what speaks of others first."""
RUN_STEPS_MAX = 64
"""Steps whose turns one step can be given."""
CONFIG = """
workspace: {name}
turn_rate_hz: 10000
polling: {{naps: true}}
ports:
  - {{name: ring, kind: memif, socket: {folder}/tune.sock, answer: 10.20.255.1}}
instruments:
  - {{name: bpm01, kind: bpm, id: 1, port: ring, source: 10.20.1.1}}
setpoints: {{period_turns: 100, lost_cycles: 5000}}
buffers: {{turn_records: 65536}}
chains:
  - name: q
    id: 1
    port: ring
    address: 10.30.0.1
    supplies: [{{name: sr/ps/q_01, unit: A, limits: [-10, 10], slew: 100}}]
applications:
  - name: tune
    code: tune
    configuration: bpms.yaml
    inputs: [bpm01/turn]
    supplies: []
    deadline_turns: 100000
    watchdog_cycles: 1000
    freshness_turns: 90000
roles:
  - {{role: receive, core: {core}, ports: [ring]}}
  - {{role: transmit, core: {core}}}
"""
BPMS = """
window_turns: 1024
low_x: 0.25
high_x: 0.35
low_y: 0.1
high_y: 0.2
beam: bpm01/sum1
least_beam: 1.0e+5
sliding: {low_x: 0.28, high_x: 0.32}
bpms: [{x: bpm01/x1, y: bpm01/y1}]
"""
OVERLAY = """
core: {core}
seed: 1
beam: {{tune_x: 0.2994, tune_y: 0.1612, betatron_um: 20, betatron_modulation: 0, noise_um: 2}}
faults: [{{instrument: bpm01, fault: drop, probability: 2.0e-3}}]
"""


@contextmanager
def measuring(root: Path) -> Iterator[tuple[Workspace, Program]]:
    """The workspace while all run, and the application."""
    name = unique_name("tune")
    (root / "bpms.yaml").write_text(BPMS)
    config, overlay = root / "server.yaml", root / "overlay.yaml"
    config.write_text(CONFIG.format(name=name, folder=root, core=SERVER_CORE))
    overlay.write_text(OVERLAY.format(core=RING_CORE))
    with server(config) as running:
        attach_to(name, running).close()
        with (
            Program("ringmaster-instruments", "run", config, overlay),
            Program("ringmaster-application", config, "tune") as application,
            attach_to(name, running, ("server", "ring", "tune")) as ws,
        ):
            yield ws, application
    shutil.rmtree(root / name, ignore_errors=True)
    shutil.rmtree(Path("/var/run/dpdk") / f"rm-{name}", ignore_errors=True)


def quality(ws: Workspace) -> tuple[int, int]:
    """Of both planes, in the newest record."""
    newest = ws.streams["tune/tune"].latest(1)
    if not newest.ok.all() or len(newest.ok) == 0:
        return NO_PEAK, NO_PEAK
    return int(newest["quality_x"][0]), int(newest["quality_y"][0])


def trusted(ws: Workspace) -> dict[str, npt.NDArray[np.float64]]:
    """All records so far in which both planes are to be trusted."""
    window = ws.streams["tune/tune"].latest(10_000)
    good = window.ok & (window["quality_x"] == 0) & (window["quality_y"] == 0)
    names = [f"{what}_{plane}" for what in ("tune", "sigma", "snr") for plane in TUNES] + ["lost_turns", "bpms"]
    return {name: window[name][good].astype(float) for name in names} | {"turn": window.turn[good].astype(float)}


def recording(root: Path, ws: Workspace) -> StreamRecorder:
    return StreamRecorder(root / "recorded", [ws.streams[name] for name in RECORDED])


def recorded_and_trusted(ws: Workspace, recorder: StreamRecorder) -> dict[str, npt.NDArray[np.float64]]:
    recorder.follow()
    return trusted(ws)


def step_after_skipped(ws: Workspace, application: Program) -> int | None:
    """Keeps the application off its core for ten steps. The turn of the step that came after some, but no more than it
    can be given; None where the computer kept it away for longer.
    """
    turns, decisions = ws.streams["bpm01/turn"], ws.streams["tune/decision"]
    begin = turns.head
    assert begin is not None
    os.kill(application.pid, signal.SIGSTOP)
    try:
        wait_for(lambda: (turns.head or 0) >= begin + 10 * PERIOD_TURNS, "turns")
    finally:
        os.kill(application.pid, signal.SIGCONT)
    wait_for(lambda: (decisions.head or 0) >= begin + 12 * PERIOD_TURNS, lambda: f"steps: {application.words}")
    newest = decisions.latest(200)
    fits = newest.ok & (newest.turn > begin) & (newest["skipped"] >= 5) & (newest["skipped"] < RUN_STEPS_MAX)
    return int(newest.turn[fits][0]) if fits.any() else None


def assert_line(ws: Workspace, name: str, plane: str) -> None:
    """The newest trusted row has its greatest value at the ring's tune, and it is the amplitude that is measured."""
    rows = ws.rows[name]
    window = rows.latest(20)
    row = window.values[np.flatnonzero(window.good)[-1]]
    step = rows.axis[1] - rows.axis[0]
    assert rows.unit == "nm"
    assert np.isclose(step, 1 / WINDOW_TURNS)
    assert abs(rows.axis[row.argmax()] - TUNES[plane]) < 0.6 * step
    amplitude = float(np.asarray(ws.parameters[f"tune/amplitude_{plane}"].value))
    assert 0.84 * amplitude < row.max() < 1.03 * amplitude, f"{name}: {row.max()} nm of {amplitude} nm"
    assert np.median(row) < 0.02 * amplitude


@pytest.mark.skipif(RING_CORE == SERVER_CORE, reason="ONE CORE HERE: the ring needs one, and the server another")
def test_the_ring_s_tune_is_in_the_stream(root: Path) -> None:
    """Within its own sigma, though turns are lost and steps are skipped; not to be trusted where there is no beam.

    And all of that again, to the bit, from the recorded turns: unless the computer was too slow to record them.
    """
    with measuring(root) as (ws, application), recording(root, ws) as recorder:
        wait_for(
            lambda: len(recorded_and_trusted(ws, recorder)["turn"]) >= 20,
            lambda: f"tunes: {quality(ws)} {application.words}",
        )
        tunes = trusted(ws)
        for plane, tune in TUNES.items():
            off = np.abs(tunes[f"tune_{plane}"] - tune)
            assert (off < 6 * tunes[f"sigma_{plane}"] + 1e-7).all(), f"{plane}: {off / tunes[f'sigma_{plane}']} sigma"
            assert (tunes[f"sigma_{plane}"] < 0.02 / WINDOW_TURNS).all()
        assert (tunes["turn"] % PERIOD_TURNS == 0).all()
        assert (tunes["bpms"] == 1).all()
        assert 0 < tunes["lost_turns"].max() <= WINDOW_TURNS // 100
        assert float(np.asarray(ws.parameters["tune/delay"].value)) == (WINDOW_TURNS - 1) / 2
        assert ws.streams["tune/tune"].delay_turns == (WINDOW_TURNS - 1) / 2
        turn = next(found for _ in range(TRIES) if (found := step_after_skipped(ws, application)) is not None)
        after = ws.streams["tune/tune"].read(turn, 1)
        assert after.ok.all()
        assert after["lost_turns"][0] <= WINDOW_TURNS // 100, "turns of skipped steps are lost"
        assert (after["quality_x"][0], after["quality_y"][0]) == (0, 0)
        rows = {"tune/spectrum_x": "x", "tune/spectrum_y": "y", "tune/sliding_x": "x"}
        wait_for(
            lambda: all(ws.rows[name].latest(20).good.any() for name in rows), lambda: f"rows: {application.words}"
        )
        for name, plane in rows.items():
            assert_line(ws, name, plane)
        assert ws.rows["tune/spectrum_x"].capacity > 10 * 25
        assert ws.rows["tune/sliding_x"].period == PERIOD_TURNS
        recorder.follow()
        ringmaster("put", "-w", ws.name, "ring/event", "event: dead, instrument: bpm01")
        wait_for(lambda: all(one & NO_BEAM and one & NO_PEAK for one in quality(ws)), lambda: f"{quality(ws)}")
        ringmaster("put", "-w", ws.name, "ring/event", "event: good, instrument: bpm01")
        wait_for(lambda: quality(ws) == (0, 0), lambda: f"beam again: {quality(ws)}")
        steps = int(ws.streams["tune/decision"].latest(1)["step"][0])
        recorder.follow()
        lost = recorder.lost
    again = replay(root / "server.yaml", "tune", root / "recorded")
    assert lost > 0 or (again.differs is None and again.steps_same > steps), again
