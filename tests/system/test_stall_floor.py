# SPDX-License-Identifier: Apache-2.0
"""The bare loop on the clock finds a stall that is known, and refuses what is no CPU and no time."""

import json
import os
import signal
import struct
import subprocess
from pathlib import Path
from time import sleep

import pytest
from harness import TIMEOUT_S, again_if_starved

from ringmaster.places import find_program
from ringmaster.programs.cores import cores

STALL_S = 0.4


@again_if_starved
def test_a_known_stall_is_the_longest(tmp_path: Path) -> None:
    core, path = cores()[0], tmp_path / "gaps"
    command = [find_program("ringmaster-stall-floor"), "--gaps", str(path), "2", str(core)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        sleep(0.5)
        os.kill(program.pid, signal.SIGSTOP)
        sleep(STALL_S)
        os.kill(program.pid, signal.SIGCONT)
        said = json.loads(program.communicate(timeout=TIMEOUT_S)[0])
    seen = said["cores"][0]
    assert seen["cpu"] == core
    assert seen["longest_us"] >= 0.9e6 * STALL_S
    assert seen["over_10us"] >= seen["over_1ms"] >= 1
    rows = list(struct.iter_unpack("<QQQ", path.read_bytes()))
    assert {cpu for cpu, _, _ in rows} == {core}
    (_, begin, end), *gaps = rows
    assert (end - begin) / said["tsc_hz"] >= 2
    lengths_us = [(after - before) / said["tsc_hz"] * 1e6 for _, before, after in gaps]
    assert max(lengths_us) == pytest.approx(seen["longest_us"], abs=0.2)
    assert all(begin <= before < after <= end for _, before, after in gaps)


@pytest.mark.parametrize(
    "words", ["1", "0 0", "nan 0", "1e6 0", "1x 0", "1 x", "1 -1", "1 1024", "--gaps /tmp/no 1", "1 " + "0 " * 65]
)
def test_what_is_no_time_or_no_cpu_is_wrong_usage(words: str) -> None:
    command = [find_program("ringmaster-stall-floor"), *words.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    assert done.returncode == 2, done.stderr
    assert "expected" in done.stderr or "is missing" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(("name", "words"), [("stall-floor", "0.01 0 1000"), ("core-to-core", "0 1000")])
def test_a_core_that_is_not_there_is_reported(name: str, words: str) -> None:
    command = [find_program(f"ringmaster-{name}"), *words.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    assert done.returncode == 1
    assert "cannot run on core 1000" in done.stderr
    assert done.stdout == ""
