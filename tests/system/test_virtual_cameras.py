# SPDX-License-Identifier: Apache-2.0
"""Virtual cameras as people start them, and as Aravis sees them."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from harness import ROOT, TIMEOUT_S, ringmaster

CHECKS = Path(__file__).with_name("aravis_checks.py")
NAMES = re.findall(r"^def (test_\w+)", CHECKS.read_text(), re.MULTILINE)
TRIES = 3
"""Where a process of Aravis does not end in time, and has said nothing."""


def said_by_a_process(name: str) -> str:
    """What pytest says of that check, in a process of its own that is ended when it does not end itself."""
    command = [sys.executable, "-m", "pytest", "-q", "-c", "python/pyproject.toml", "--rootdir", ".", "-p", "no:xdist"]
    with subprocess.Popen(
        [*command, f"{CHECKS}::{name}"],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        text=True,
    ) as process:
        try:
            return process.communicate(timeout=TIMEOUT_S)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return process.communicate()[0]


@pytest.mark.parametrize("name", NAMES)
def test_aravis(name: str) -> None:
    said = ""
    for _ in range(TRIES):
        said = said_by_a_process(name)
        if re.search(r"\d (passed|failed|skipped|error)", said):
            break
    assert not re.search(r"\d (failed|error)", said), said
    if re.search(r"\d skipped", said):
        pytest.skip(said)
    assert re.search(r"\d passed", said), said


def test_the_command_says_what_it_would_send(tmp_path: Path) -> None:
    machine = tmp_path / "machine.yaml"
    machine.write_text(
        "workspace: check\nports: [{name: p, kind: udp, address: '127.0.0.1:20001'}]\n"
        "cameras: [{name: cam01, port: p, address: 127.0.0.11, format: fragments, pixel_format: Mono12p}]\n"
    )
    said = ringmaster("cameras", "virtual", machine, "--check").stdout
    assert said.startswith("cam01: fragments, Mono12p 640 × 480, 10 Hz, 329 packets of 1408 bytes a frame")
    assert "to 127.0.0.1:20001" in said


def test_the_overlay_that_ships_fits_the_machine_that_ships() -> None:
    done = ringmaster(
        "cameras", "virtual", "configs/cameras.yaml", "--cameras", "configs/virtual-cameras.yaml", "--check"
    )
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["cam01", "cam02", "cam03"]
