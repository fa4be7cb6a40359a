# SPDX-License-Identifier: Apache-2.0
"""`measure`: the shipped server's receive role against the clock, with nobody else."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from harness import SERVER_CORE, TIMEOUT_S, ringmaster, ringmaster_json, unique_name

from ringmaster.places import find_program

HOT, COLD = 1024, 262144
RATES = """\
rates:
  - {name: quick, from: turn, filter: low_latency, decimation: 4}
  - {name: steady, from: quick, filter: sharp, decimation: 5}
"""
ENTRY = "{name: bpm, kind: bpm, id: 7, count: 5, port: self, source: 10.1.2.3, turn_offset: -5%s}"


def configuration(folder: Path, port: str = "kind: ring, vlan: 7", entry: str = ENTRY % "") -> Path:
    """Line 2 is the port's, 3 the instruments'."""
    config = folder / "measure.yaml"
    config.write_text(
        f"workspace: {unique_name('m')}\n"
        f"ports: [{{name: self, {port}}}]\n"
        f"instruments: [{entry}]\n"
        f"roles: [{{role: receive, core: {SERVER_CORE}, ports: [self]}}]\n"
        "buffers: {turn_records: 16384, fast_records: 1024}\n" + RATES
    )
    return config


def server(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    command = [find_program("ringmaster-measure"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)


def nothing_in(root: Path) -> bool:
    return not list(root.glob("*/*.segment"))


def assert_sensible(figure: dict[str, Any]) -> None:
    for key in ("poll_ns", "full_ns", "added_ns"):
        assert figure[key]["low"] <= figure[key]["median"] <= figure[key]["high"]
    assert 0 < figure["poll_ns"]["median"] < figure["full_ns"]["median"]


def test_a_given_number_of_datagrams_is_measured(root: Path, tmp_path: Path) -> None:
    done = server(configuration(tmp_path), "--datagrams", "256", "--rounds", "2")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    (figure,) = report.pop("figures")
    assert report.pop("ring_bytes") == 5 * 64 * (16384 + 1024 + 1024)
    assert report.pop("simd") in ("scalar", "AVX2", "AVX-512")
    assert report.pop("huge_pages") in (True, False)
    frame_bytes = 14 + 4 + 20 + 8 + 16 + 8 * 4
    expected = {
        "instruments": 5,
        "frame_bytes": frame_bytes,
        "rates": ["quick", "steady"],
        "order": "random",
        "rounds": 2,
    }
    assert report == expected
    assert (figure["name"], figure["datagrams"], figure["touched_bytes"]) == ("given", 256, 256 * 4 * 64)
    assert_sensible(figure)
    assert nothing_in(root)


@pytest.mark.parametrize("more", [["--order", "turn", "--lanes", "12"], ["--simd", "scalar"]])
def test_options_reach_what_is_measured(root: Path, tmp_path: Path, more: list[str]) -> None:
    report = ringmaster_json("measure", configuration(tmp_path), "--datagrams", "100", "--rounds", "1", *more, "--json")
    lanes = 12 if "--lanes" in more else 8
    assert report["frame_bytes"] == 62 + 4 * lanes
    assert report["order"] == ("turn" if "turn" in more else "random")
    if "scalar" in more:
        assert report["simd"] == "scalar"
    assert_sensible(report["figures"][0])


def test_without_a_number_it_is_measured_hot_and_cold(root: Path, tmp_path: Path) -> None:
    shown = ringmaster("measure", configuration(tmp_path), "--rounds", "1").stdout
    assert "5 instruments in random order" in shown
    assert "quick, steady" in shown
    lines = [line.split() for line in shown.splitlines()]
    assert [line[:2] for line in lines if line and line[0] in ("hot", "cold")] == [
        ["hot", str(HOT)],
        ["cold", str(COLD)],
    ]
    assert nothing_in(root)


WRONG = {
    "another kind of port": ({"port": "kind: 'null'"}, ":2:", "expected ring"),
    "two queues": ({"port": "kind: ring, queues: 2"}, ":4:", "one port of one queue"),
    "another period": ({"entry": ENTRY % ", period_turns: 10"}, ":3:", "every turn"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_cannot_be_measured_is_refused_with_its_place(root: Path, tmp_path: Path, what: str) -> None:
    given, place, words = WRONG[what]
    config = configuration(tmp_path, **given)
    said = ringmaster("measure", config, expect=1).stderr
    assert f"{config}{place}" in said
    assert words in said
    assert nothing_in(root)


@pytest.mark.parametrize(
    ("option", "value"),
    [("datagrams", "0"), ("datagrams", "524289"), ("rounds", "x"), ("lanes", "13"), ("simd", "sse"), ("order", "up")],
)
def test_wrong_options_are_refused(root: Path, tmp_path: Path, option: str, value: str) -> None:
    done = server(configuration(tmp_path), f"--{option}", value)
    assert done.returncode == 2
    assert f'--{option}: found "{value}", expected' in done.stderr
    assert done.stdout == ""


def test_an_interruption_leaves_nothing(root: Path, tmp_path: Path) -> None:
    command = [find_program("ringmaster-measure"), str(configuration(tmp_path)), "--rounds", "10000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        running.stderr.readline()  # about progress
        os.kill(running.pid, signal.SIGTERM)
        shown, said = running.communicate(timeout=TIMEOUT_S)
    assert (running.returncode, shown) == (1, "")
    assert "interrupted" in said
    assert nothing_in(root)
