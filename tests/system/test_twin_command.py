# SPDX-License-Identifier: Apache-2.0
"""`ringmaster twin` and `ringmaster bench twin`, run as a person runs them, on a lattice that pyAT brings along."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from importlib.util import find_spec
from pathlib import Path

import pytest
from harness import ROOT, TIMEOUT_S, command_line, ringmaster, ringmaster_json

MACHINE_DATA = find_spec("machine_data")
assert MACHINE_DATA is not None
HMBA = Path(str(MACHINE_DATA.origin)).parent / "hmba.mat"
PNG = b"\x89PNG\r\n\x1a\n"


def refused(*arguments: str | Path) -> str:
    """The line on stderr of a command that fails."""
    done = subprocess.run(command_line(*arguments), capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    assert done.returncode == 1, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("ringmaster: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_the_table_has_both_ways_to_the_parameters() -> None:
    shown = ringmaster("twin", HMBA).stdout
    for words in ("S28d", "121 elements, 10 BPMs", "BY INTEGRALS", "BY ENVELOPE", "emittances x, y", "843.97"):
        assert words in shown


def test_json_has_the_parameters_and_the_optics_at_named_elements() -> None:
    said = ringmaster_json("twin", HMBA, "--json", "--at", "BPM*", "--at", "RF*")
    assert (said["lattice"]["name"], said["lattice"]["periodicity"], said["is_6d"]) == ("S28d", 32, True)
    assert said["lattice"]["circumference_m"] == pytest.approx(843.977, abs=1e-3)
    assert said["integrals"]["tunes"][:2] == pytest.approx([0.21, 0.34], abs=0.01)
    assert said["envelope"]["emittances"][0] == pytest.approx(130e-12, rel=0.05)
    assert len(said["at"]) == said["lattice"]["kinds"]["monitor"] + said["lattice"]["kinds"]["cavity"]
    point = said["at"][1]
    assert point["name"].startswith("BPM")
    assert all(value > 0 for value in point["beta_m"])
    assert point["size_m"][0] > 0


def test_in_4d_there_is_no_beam() -> None:
    said = ringmaster_json("twin", HMBA, "--json", "--4d")
    assert (said["is_6d"], said["envelope"], said["at"]) == (False, None, [])
    shown = ringmaster("twin", HMBA, "--4d", "--at", "BPM*").stdout
    assert "BY ENVELOPE" not in shown
    assert "4D: no cavity is on" in shown


def test_plots(tmp_path: Path) -> None:
    ringmaster("twin", HMBA, "--plot", tmp_path / "optics.png")
    assert (tmp_path / "optics.png").read_bytes().startswith(PNG)
    ringmaster("twin", HMBA, "--4d", "--plot", tmp_path / "optics.svg")
    assert ElementTree.parse(tmp_path / "optics.svg").getroot().tag.endswith("svg")


def test_what_cannot_be_done_is_reported_in_a_line(tmp_path: Path) -> None:
    text = tmp_path / "words.mat"
    text.write_text("this is no lattice\n" * 20)
    assert "words.mat" in refused("twin", text)
    assert "nowhere.mat" in refused("twin", tmp_path / "nowhere.mat")
    assert "expected .png, .svg, .pdf" in refused("twin", HMBA, "--plot", "optics.gif")
    assert "no element of S28d is named NOBODY" in refused("twin", HMBA, "--at", "NOBODY")


def test_names_of_elements_are_completed() -> None:
    asked = {
        "_RINGMASTER_COMPLETE": "bash_complete",
        "COMP_WORDS": f"ringmaster twin {HMBA} --at BPM_0",
        "COMP_CWORD": "4",
    }
    done = subprocess.run(
        [sys.executable, "-m", "ringmaster"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | asked,
        cwd=ROOT,
    )
    assert "plain,BPM_01" in done.stdout.splitlines()


def test_the_bench_has_a_row_for_each_function() -> None:
    functions = "linopt6,ohmi_envelope,tracking"
    few = {"ringmaster.bench.twin.PARTICLES": 20}
    said = ringmaster_json("bench", "twin", "--json", "--functions", functions, "--rounds", "1", shorter=few)
    rows = said["data"]["lattices"]["hmba"]
    assert set(rows) == set(functions.split(","))
    for row in rows.values():
        assert row["ours_s"] > 0
        assert row["ratio"] > 0
        assert row["max_relative_difference"] < 1e-4
