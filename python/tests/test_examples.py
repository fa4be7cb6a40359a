# SPDX-License-Identifier: Apache-2.0
"""The examples do what they say."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

import fabric
import pytest
from conftest import MakeOwner

import ringmaster

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
