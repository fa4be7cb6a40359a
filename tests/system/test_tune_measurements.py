# SPDX-License-Identifier: Apache-2.0
"""`ringmaster tune` on a living machine in simulated time: what it measures is that of the ring's lattice.

The server, ring and application of configs/tune-lattice.yaml. A stall of the host costs time, and no turn; setpoints go
out every 11520 turns, since without a leader's setpoints each cycle takes 20 ms.
"""

import json
import math
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import Any

import pytest
from harness import RING_CORE, SERVER_CORE, TIMEOUT_S, command_line, ringmaster, server, unique_name, wait_for

from ringmaster import Workspace
from ringmaster.moving import follower
from ringmaster.places import CONFIGS
from ringmaster.programs.program import Program, attach_to
from ringmaster.virtual.ring import FULL_TURN_RATE_HZ, adapted

MAPPING = CONFIGS / "mappings/tune-lattice.yaml"
CYCLE_TURNS = 11520
FAR = 6.0
"""Standard deviations, each of which is known from a few periods only."""
RF = "sr/rf/frequency"
QUADRUPOLES = tuple(f"sr/ps/qf1_{i:02}" for i in range(1, 25))
APART_TURNS = 400_000
"""From kick to kick: some forty damping times."""

pytestmark = pytest.mark.skipif(
    RING_CORE == SERVER_CORE, reason="ONE CORE HERE: the ring needs one, and the server another"
)


PACE_CHAIN = """\
  - name: paced
    id: 203
    port: ring
    address: 10.30.2.3
    supplies: [{name: sr/ps/pace, unit: A, limits: [-1, 1], slew: 1}]

"""
PACE = f"""\
  # The ring waits for its setpoint in each cycle, and that for the tune: so no turn is lost, however busy the host is.
  - name: pace
    code: ramp
    hosted: true
    period_turns: {CYCLE_TURNS}
    inputs: [tune/tune]
    supplies: [sr/ps/pace]
    deadline_turns: 1000000
    freshness_turns: 10000000
    watchdog_cycles: 2000

"""


@dataclass
class Facility:
    """All of it, running."""

    ws: Workspace
    name: str
    ring: Program

    def words(self, command: str, *options: str) -> list[str]:
        """Of the command line."""
        return ["tune", command, "elettra2_like", "--mapping", str(MAPPING), "-w", self.name, *options]

    def measure(self, command: str, *options: str) -> dict[str, Any]:
        """What a command says in JSON."""
        done = ringmaster(*self.words(command, *options, "--json"))
        said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return said

    def stands(self, supply: str) -> float:
        """Its setpoint."""
        return self.ws.parameters[f"{supply}/setpoint"].number


def write_files(folder: Path, name: str) -> tuple[Path, Path]:
    """The shipped files in simulated time."""
    config = adapted("tune-lattice.yaml", folder, FULL_TURN_RATE_HZ, SERVER_CORE)
    text = config.read_text()
    for old, new in (
        ("workspace: tune\n", f"workspace: {name}\nsimulated_time: true\n"),
        (
            "setpoints: {period_turns: 576}",
            f"setpoints: {{period_turns: {CYCLE_TURNS}, lead: pace, lost_cycles: 5000}}",
        ),
        ("applications:\n", f"{PACE_CHAIN}applications:\n"),
        ("turn_records: 262144", "turn_records: 524288"),  # a reader may be kept from its core for some time
        ("    code: tune\n", "    code: tune\n    hosted: true\n"),
        ("    period_turns: 576\n", f"    period_turns: {CYCLE_TURNS}\n"),
        ("deadline_turns: 57600", "deadline_turns: 1000000"),
        ("freshness_turns: 115200", "freshness_turns: 10000000"),
        ("roles:\n", f"{PACE}roles:\n"),
    ):
        assert old in text
        text = text.replace(old, new)
    text += "".join(f"  - {{role: application, core: {SERVER_CORE}, application: {one}}}\n" for one in ("tune", "pace"))
    config.write_text(text)
    shutil.copy(CONFIGS / "tune-lattice-bpms.yaml", folder)
    return config, adapted("tune-lattice-ring.yaml", folder, FULL_TURN_RATE_HZ, RING_CORE)


@pytest.fixture(scope="module")
def facility(root: Path) -> Iterator[Facility]:
    name = unique_name("tunes")
    folder = root / "files"
    folder.mkdir()
    config, overlay = write_files(folder, name)
    with server(config) as running:
        attach_to(name, running).close()
        with (
            Program("ringmaster-instruments", "run", config, overlay) as ring,
            attach_to(name, running, ("server", "ring", "tune")) as ws,
        ):
            wait_for(lambda: len(ws.streams["tune/tune"].latest(100)) == 100, "tunes")
            yield Facility(ws, name, ring)
    shutil.rmtree(Path("/var/run/dpdk") / f"rm-{name}", ignore_errors=True)


def test_chromaticity_is_the_lattice_s(facility: Facility) -> None:
    stood = facility.stands(RF)
    found = facility.measure("chromaticity", "--delta", "5e-4", "--hz", "2.5", "--seconds", "4")
    for plane in "xy":
        one = found[plane]
        assert 0 < one["sigma"] < 0.04, found
        assert abs(one["chromaticity"] - one["lattice"]) < FAR * one["sigma"], found
    assert found["delta"] == pytest.approx(5e-4, rel=0.1)  # as moved: on a busy host some points of the sine come late
    assert found["delta_orbit"] == pytest.approx(found["delta"], rel=0.03)
    assert found["dispersive_bpms"] == 6
    assert facility.stands(RF) == pytest.approx(stood, abs=1e-6)


def test_ctrl_c_puts_the_rf_back(facility: Facility) -> None:
    stood = facility.stands(RF)
    command = command_line(*facility.words("chromaticity", "--delta", "1e-3", "--seconds", "10000"))
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_for(lambda: abs(facility.stands(RF) - stood) > 20, "the RF to be away")
            process.send_signal(signal.SIGINT)
            process.send_signal(signal.SIGINT)  # a person may press it twice
            _, said = process.communicate(timeout=TIMEOUT_S)
        finally:
            process.kill()
    assert process.returncode == 130
    assert "the RF is back where it stood" in said
    assert facility.stands(RF) == pytest.approx(stood, abs=1e-6)


def test_the_synchrotron_tune_is_the_lattice_s(facility: Facility) -> None:
    """In the energy at dispersive BPMs, and in the bunch's phase, which are of one oscillation."""
    streams = [stream for name, stream in facility.ws.streams.items() if name.endswith("/turn")]
    wait_for(lambda: all((one.head or 0) - (one.oldest() or 0) > 0.21 * FULL_TURN_RATE_HZ for one in streams), "turns")
    os.kill(facility.ring.pid, signal.SIGSTOP)  # what is read then cannot be overwritten, however slow the host is
    try:
        found = facility.measure("synchrotron", "--seconds", "0.2")
    finally:
        os.kill(facility.ring.pid, signal.SIGCONT)
    lines = {one["name"]: one for one in found["lines"]}
    assert {"6 dispersive BPMs", "llrf01/turn/beam_phase"} <= set(lines), (found["missing"], found["lines"])
    for name in ("6 dispersive BPMs", "llrf01/turn/beam_phase"):
        one = lines[name]
        assert 0 < one["sigma"] < 0.01 * found["lattice"]["tune"], one
        assert abs(one["tune"] - found["lattice"]["tune"]) < 5 * one["sigma"], one
        ratio = one["damping_turns"] / found["lattice"]["damping_turns"]
        assert abs(math.log(ratio)) < 5 * one["damping_sigma"] / one["damping_turns"], one
    assert found["voltage_v"] == pytest.approx(found["lattice"]["voltage_v"], rel=0.03)


def test_the_closest_approach_is_that_of_the_ring(facility: Facility) -> None:
    """The ring says its tunes where the quadrupoles stand in the middle of the scan, and all of them go back."""
    ws = facility.ws
    before = {name: facility.stands(name) for name in QUADRUPOLES}
    options = ("--quadrupoles", "sr/ps/qf1_*", "--most", "4", "--points", "7", "--settle", "0.3")
    found = facility.measure("coupling", *options)
    assert [facility.stands(name) for name in QUADRUPOLES] == pytest.approx(list(before.values()), abs=1e-6)
    assert found["end"] == pytest.approx(found["start"], abs=2e-4)

    def apart() -> float:
        return abs(ws.parameters["machine/tune_x"].number - ws.parameters["machine/tune_y"].number)

    def stand(offset: float) -> bool:
        wanted = {name: stood + offset for name, stood in before.items()}
        ws.put_together({f"{name}/setpoint": value for name, value in wanted.items()})
        readings = [follower.readback_of(ws.supplies[name]) for name in QUADRUPOLES]
        return readings == pytest.approx(list(wanted.values()), abs=2e-3)

    try:
        wait_for(lambda: stand(found["centre"]), "the quadrupoles to be in the middle")
        wait_for(lambda: apart() < 1.2 * found["closest_approach"], lambda: f"a look: {apart()} apart of {found}")
        there = apart()
    finally:  # the tests after this one measure the lattice
        wait_for(lambda: stand(0.0), "the quadrupoles to be back")
    assert found["closest_approach"] == pytest.approx(there, abs=max(6 * found["sigma"], 0.02 * there)), found


@contextmanager
def kicks(facility: Facility) -> Iterator[None]:
    """One after the other, so far apart that each finds a beam at rest."""
    over, stream = Event(), facility.ws.streams["bpm01/turn"]

    def kick() -> None:
        while not over.is_set():
            ringmaster("put", "-w", facility.name, "ring/event", "event: kick, x_um: 200")
            begin = stream.head or 0
            while (stream.head or 0) < begin + APART_TURNS and not over.wait(0.02):
                pass

    thread = Thread(target=kick)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def measured_damping(facility: Facility) -> dict[str, Any]:
    """Of the first kick whose turns could be read: on a starved host the ring has overwritten those of some before."""
    give_up = monotonic() + TIMEOUT_S
    while True:
        words = command_line(*facility.words("damping", "--timeout", str(TIMEOUT_S), "--json"))
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=4 * TIMEOUT_S)
        if done.returncode == 0:
            said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
            return said
        assert re.search("no kick stands out|no BPM shows a line", done.stderr), done.stderr
        assert monotonic() < give_up, done.stderr


def test_damping_times_are_those_of_the_lattice(facility: Facility) -> None:
    with kicks(facility):
        found = measured_damping(facility)
    assert found["missing"] == {}
    for plane in "xy":
        one = found[plane]
        assert 0 < one["sigma_turns"] < 0.12 * one["lattice_turns"], found
        assert abs(one["damping_turns"] - one["lattice_turns"]) < 5 * one["sigma_turns"], found
        assert abs(one["bend"]) < 5 * one["bend_sigma"], found
    said = ringmaster(*facility.words("damping", "--timeout", "0.1"), expect=1).stderr
    assert "no kick within 0.1 s" in said


def test_what_cannot_be_measured_is_refused(facility: Facility) -> None:
    """Before anything moves."""
    said = ringmaster(*facility.words("chromaticity", "--application", "tone"), expect=7).stderr
    assert "no stream 'tone/tune': start the application" in said
    said = ringmaster(*facility.words("chromaticity", "--hz", "15"), expect=1).stderr
    assert "a period takes 10 tunes, so at most 10 Hz" in said
    said = ringmaster(*facility.words("chromaticity", "--hz", "1", "--seconds", "2"), expect=1).stderr
    assert "an error takes 3 periods, 3 s" in said
    ringmaster("put", "-w", facility.name, "machine/beam", "0")
    tunes = facility.ws.streams["tune/tune"]
    wait_for(lambda: (tunes.latest(60)["quality_x"] != 0).all(), "tunes that are not to be trusted")
    said = ringmaster(*facility.words("chromaticity"), expect=1).stderr
    ringmaster("put", "-w", facility.name, "machine/beam", "1")
    assert "tune/tune is not to be trusted now: no beam" in said
    wait_for(lambda: (tunes.latest(60)["quality_x"] == 0).mean() > 0.9, "beam again")
