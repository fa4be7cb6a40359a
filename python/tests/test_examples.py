# SPDX-License-Identifier: Apache-2.0
"""The examples do what they say."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

import fabric
import numpy as np
import pytest
from conftest import MakeOwner

import ringmaster
from ringmaster.fabric.layout import ElementType

ROOT = Path(__file__).parents[2]


def test_orbit_rms_prints_until_the_server_ends(make_owner: MakeOwner) -> None:
    owner = make_owner([fabric.clock(), *(fabric.stream(f"bpm0{i}/turn", capacity=2048) for i in (1, 2))])
    for i in (1, 2):
        owner.fill(f"bpm0{i}/turn", 0, 1999)
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    command = [sys.executable, str(ROOT / "examples/orbit_rms.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as running:
        assert running.stdout is not None
        line = running.stdout.readline()
        owner.die()
        running.stdout.read()
    assert line == "turn 1999: 1499.5 nm RMS\n"
    assert running.returncode == 0


PROGRAMS = [[sys.executable, str(path.relative_to(ROOT))] for path in sorted((ROOT / "examples").glob("*.py"))] + [
    [f"build/examples/{path.stem}"] for path in sorted((ROOT / "examples").glob("*.c"))
]


def run(*command: str) -> "subprocess.CompletedProcess[str]":
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment, timeout=300)


@pytest.mark.parametrize("command", PROGRAMS, ids=lambda command: Path(command[-1]).name)
def test_every_example_says_what_it_takes(command: list[str]) -> None:
    done = run(*command, "--help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage: ")
    assert run(*command, "--no-such-option").returncode == 2


def test_a_lane_that_is_missing_is_named_with_those_that_there_are(make_owner: MakeOwner) -> None:
    owner = make_owner([fabric.clock(), *(fabric.stream(f"bpm01/{rate}", capacity=2048) for rate in ("turn", "fast"))])
    owner.fill("bpm01/turn", 0, 1999)
    for command in (
        [sys.executable, "examples/orbit_rms.py", "--lane", "x9"],
        ["build/examples/orbit_rms", "demo", "1", "fast", "x9"],
    ):
        done = run(*command)
        assert done.returncode == 1
        assert re.fullmatch(r"bpm01/\w+ has no lane x9; it has: x1,? .*\n", done.stderr), done.stderr
    done = run(sys.executable, "examples/orbit_rms.py", "--streams", "blm*")
    assert done.stderr == "no stream matches blm*; there are: bpm01/turn, bpm01/fast\n"
    with ringmaster.attach("demo") as ws, pytest.raises(ringmaster.ObjectNotFound, match="no lane 'x9' .* has: x1"):
        ws.streams["bpm01/turn"].latest(10).values("x9")


def test_what_an_example_lacks_is_named(tmp_path: Path) -> None:
    floor = run(sys.executable, "examples/orbit_floor.py", "--bpms", "MONITOR*")
    assert floor.returncode == 1
    assert "no element of the lattice matches MONITOR*; there are " in floor.stderr
    assert "BPM_" in floor.stderr
    spectrum = run(sys.executable, "examples/loop_spectrum.py", str(tmp_path), "0.5")
    assert spectrum.returncode == 1
    assert "no simulation.json in there; `ringmaster simulate` makes one" in spectrum.stderr


@pytest.mark.parametrize("command", [[sys.executable, "examples/bump.py"], ["build/examples/bump"]])
def test_the_bump_goes_where_it_is_asked_to(make_owner: MakeOwner, command: list[str]) -> None:
    make_owner([])
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    with subprocess.Popen([*command, "demo"], cwd=ROOT, env=environment) as running:
        try:
            ws = _attach_to_bump(running)
            actual = ws.parameters["bump/actual"]
            _wait(lambda: actual.value == 2.0)
            assert ws.put("bump/rate", 0.001, timeout=60).value == 0.001
            assert ws.put("bump/current", -25, "urad", timeout=60).value == -25
            with pytest.raises(ringmaster.RequestRefused, match="bump/rate: not while the bump moves"):
                ws.put("bump/rate", 1.0, timeout=60)
            with pytest.raises(ringmaster.RequestRefused, match="above the control limit"):
                ws.put("bump/current", 11.0, timeout=60)
            assert ws.parameters["bump/current"].value == -2.0
            _wait(lambda: isinstance(actual.value, float) and actual.value < 2.0)
            ws.close()
        finally:
            running.kill()


def _attach_to_bump(running: "subprocess.Popen[bytes]") -> ringmaster.Workspace:
    while True:
        assert running.poll() is None
        ws = ringmaster.attach("demo")
        if "bump/actual" in ws.parameters and ws.parameters["bump/rate"].value:
            return ws
        ws.close()
        sleep(0.02)


def _wait(there: Callable[[], bool]) -> None:
    give_up = monotonic() + 60
    while not there():
        assert monotonic() < give_up
        sleep(0.02)


def test_a_program_without_our_library_reads_the_same(make_owner: MakeOwner) -> None:
    owner = make_owner(
        [fabric.clock(), fabric.stream("bpm01/turn"), fabric.parameter("rate", np.array([2.5]), "Hz", ElementType.F64)]
    )
    owner.fill("bpm01/turn", 0, 150)

    def read(*name: str) -> str:
        done = run(sys.executable, "examples/read_segment.py", str(owner.directory / f"{owner.name}.segment"), *name)
        assert done.returncode == 0, done.stderr
        return done.stdout

    with ringmaster.attach("demo") as ws:
        newest = ws.streams["bpm01/turn"].latest(1)
        lanes = {name: newest[name].item() for name in newest.lanes}
        listed = [line.split()[0] for line in read().splitlines()]
        assert sorted(listed) == sorted([ws.clock.name, "rate", "stream/bpm01/turn"])
    assert read("rate") == "[2.5]\n"
    record = ast.literal_eval(read("stream/bpm01/turn"))
    assert record.pop("turn") == 150
    assert record == pytest.approx(lanes)
