# SPDX-License-Identifier: Apache-2.0
"""The examples do what they say."""

import os
import subprocess
import sys
from pathlib import Path

import fabric
from conftest import MakeOwner

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
