# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench suite`, run as a person runs it: a page of what there is, also when it is interrupted."""

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from harness import TIMEOUT_S, command_line, ringmaster

pytestmark = pytest.mark.usefixtures("root")


def suite(out: Path) -> Any:
    """What a suite of one bench says. It stops what takes longer than its time, as anything does on a busy host."""
    for minutes in ("0.15", "0.6", "2.4"):
        done = ringmaster("bench", "suite", "--benches", "parameters", "--minutes", minutes, "--report", out)
        assert "Parameters" in done.stdout
        said = json.loads((out / "report.json").read_text())
        if said["sections"][0]["read_ns"] is not None:
            break
        assert any("stopped after its" in note for note in said["notes"]), "nothing stopped it, and it has no figure"
    return said


def test_a_suite_makes_a_page_with_the_doctor_and_can_be_compared(tmp_path: Path) -> None:
    out = tmp_path / "out"
    said = suite(out)
    (parameters,) = said["sections"]
    assert parameters["read_ns"] > 0
    assert parameters["command"].startswith("ringmaster bench parameters --windows ")
    assert any(finding["name"] == "hugepages" for finding in said["findings"])
    assert "read_ns" in (out / "report.html").read_text()
    same = ringmaster("bench", "compare", out, out / "report.json").stdout
    assert any(line.startswith("parameters/read_ns") and line.endswith("within") for line in same.splitlines())


def test_an_interrupt_leaves_the_page_of_what_there_is(tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = command_line("bench", "suite", "--benches", "parameters", "--minutes", "5", "--report", out)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as suite:
        assert suite.stderr is not None
        first = suite.stderr.readline()
        assert first.startswith("parameters: ")
        suite.send_signal(signal.SIGINT)
        _, errors = suite.communicate(timeout=TIMEOUT_S)
    assert suite.returncode == 130, errors
    said = json.loads((out / "report.json").read_text())
    assert [one["interrupted"] for one in said["sections"]] == [True]
    assert said["notes"] == ["interrupted in parameters: what follows is what was measured until then"]
