# SPDX-License-Identifier: Apache-2.0
"""`ringmaster archive ls`, `get` and `plot`."""

import json
from pathlib import Path

import numpy as np
import pytest
from archive_writer import ArchiveWriter, Description
from archives import BEGIN_NS, LANES, TURN_NS, add, simple
from command import ringmaster


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(simple(tmp_path / "archive"))


def time(turn: int) -> str:
    return f"{np.datetime64(BEGIN_NS - 37 * 10**9 + turn * TURN_NS, 'ns')}Z"


def test_ls_shows_streams_and_reductions(path: str) -> None:
    said = ringmaster("archive", "ls", path, "--marks", "--files").stdout
    assert "bpm01/turn (reduced)" in said.replace("\n", "")
    assert "disk failed, turns 1500–1599" in said
    assert "TAI − UTC = 37 s" in said
    whole = json.loads(ringmaster("archive", "ls", path, "--json").stdout)
    stream, reduction = whole["objects"]
    assert (stream["name"], stream["period_turns"], reduction["period_turns"]) == ("bpm01/turn", 1, 100)
    assert stream["runs"][0]["first_turn"] == 1000
    assert json.loads(ringmaster("archive", "ls", path, "nothing*", "--json").stdout)["objects"] == []


def test_ls_tells_streams_that_speak_on_change_alone(tmp_path: Path) -> None:
    file = ArchiveWriter(tmp_path / "archive").file("decisions")
    add(file, file.describe(Description("feedback/sent0", lanes=LANES, filter="on-change")), 1000, 10)
    file.save()
    assert " 1, on change " in ringmaster("archive", "ls", str(tmp_path / "archive")).stdout
    (stream,) = json.loads(ringmaster("archive", "ls", str(tmp_path / "archive"), "--json").stdout)["objects"]
    assert stream["filter"] == "on-change"


def test_get_prints_records_with_their_times(path: str) -> None:
    lines = ringmaster("archive", "get", path, "bpm01/turn", "--from", "1002", "--until", "1005").stdout.splitlines()
    assert lines == [
        "utc,epoch,turn,ok,why,status,x1,sum",
        f"{time(1002)},0,1002,1,,5,7014,501",
        f"{time(1003)},0,1003,0,missing,0,,",
        f"{time(1004)},0,1004,1,,5,7028,502",
    ]
    by_time = ringmaster("archive", "get", path, "bpm01/turn", "--from", time(1002), "--until", time(1005)).stdout
    assert by_time.splitlines() == lines


def test_get_around_a_time(path: str) -> None:
    said = ringmaster(
        *("archive", "get", path, "bpm01/turn", "--around", time(1250), "--records", "10", "--json"),
    )
    assert json.loads(said.stdout)["turn"] == list(range(1245, 1255))


def test_get_takes_a_reduction_for_few_points(path: str) -> None:
    read = json.loads(ringmaster("archive", "get", path, "bpm01/turn", "--points", "5", "--json").stdout)
    assert read["turn"] == list(range(1000, 2000, 100))
    assert read["x1_min"][0] == 7000


def test_get_says_what_is_wrong(path: str) -> None:
    for words, code, arguments in (
        ("did you mean 'bpm01/turn'", 7, ["bpm1/turn"]),
        ("`ringmaster archive ls` shows them", 7, ["zzz"]),
        ("nothing was recorded", 1, ["bpm01/turn", "--from", "5000"]),
        ("is no time", 2, ["bpm01/turn", "--from", "noon"]),
        ("one end is a turn", 1, ["bpm01/turn", "--from", "5", "--until", "2026-01-01"]),
        ("--until 5 comes before --from 7", 2, ["bpm01/turn", "--from", "7", "--until", "5"]),
        ("comes before --from", 2, ["bpm01/turn", "--from", "2026-01-02", "--until", "2026-01-01T12:00"]),
        ("--around takes a time", 2, ["bpm01/turn", "--around", "5"]),
    ):
        assert words in ringmaster("archive", "get", path, *arguments, expect=code).stderr
    assert "cannot be opened" in ringmaster("archive", "ls", f"{path}/nowhere", expect=1).stderr


@pytest.mark.parametrize("points", ["5", "2000"])
def test_plot_draws_records_or_a_reduction(path: str, tmp_path: Path, points: str) -> None:
    out = tmp_path / "out.png"
    said = ringmaster("archive", "plot", path, "bpm01/*", "--points", points, "--lane", "x1", "-o", str(out)).stdout
    assert ("10 steps of 100 turns" if points == "5" else "1000 records") in said
    assert out.read_bytes().startswith(b"\x89PNG")


def test_plot_says_what_is_wrong(path: str, tmp_path: Path) -> None:
    out = str(tmp_path / "out.png")
    for words, code, arguments in (
        ("expected .png, .svg, .pdf", 1, ["-o", str(tmp_path / "out.gif")]),
        ("no lane 'z'", 7, ["--lane", "z", "-o", out]),
        ("nothing was recorded", 1, ["--from", "5000", "-o", out]),
    ):
        assert words in ringmaster("archive", "plot", path, "bpm01/turn", *arguments, expect=code).stderr
