# SPDX-License-Identifier: Apache-2.0
"""Headline figures with their spreads, and two runs of them side by side."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from ringmaster.cli.bench import bench
from ringmaster.report.compare import compare, read_both
from ringmaster.report.headlines import Compared, Figure, NotAReport, exact, of_values


def figure(median: float, low: float, high: float) -> Figure:
    return Figure(median, low, high, (0.25, 0.75), 21, "rounds")


def write(path: Path, **figures: Figure | None) -> Path:
    path.write_text(json.dumps({"spreads": {name: value and asdict(value) for name, value in figures.items()}}))
    return path


def test_a_spread_is_all_but_the_outermost_tenths() -> None:
    values = [10.0, 0.0, *map(float, range(1, 10))]
    assert of_values(values, "probes") == Figure(5.0, 1.0, 9.0, (0.1, 0.9), 11, "probes")
    assert of_values([7.0], "probes") == Figure(7.0, 7.0, 7.0, (0.1, 0.9), 1, "probes")
    assert of_values([], "probes") is None


@given(st.lists(st.floats(0.1, 1e6), min_size=1, max_size=3), st.integers(1, 9))
def test_a_median_is_within_its_own_spread(values: list[float], times: int) -> None:
    figure = of_values(values * times, "windows")
    assert figure is not None
    assert figure.low <= figure.median <= figure.high
    assert exact(260.0, "count") == Figure(260.0, 259.5, 260.5, None, 1, "count")
    assert exact(None, "count") is None


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        (figure(30, 29, 31), figure(30.5, 29.5, 32), "within"),
        (figure(30, 29, 31), figure(32, 30.5, 33), "overlap"),
        (figure(30, 29, 31), figure(30.5, 30.4, 30.6), "overlap"),  # the second would not say so of the first
        (figure(30, 29, 31), figure(38, 37, 40), "apart"),
        (figure(38, 37, 40), figure(30, 29, 31), "apart"),
        (figure(30, 29, 31), None, "not measured"),
    ],
)
def test_two_figures_agree_or_not(first: Figure, second: Figure | None, verdict: str) -> None:
    assert Compared("x", first, second).verdict == verdict


def test_every_figure_of_either_run_is_shown(tmp_path: Path) -> None:
    one = write(tmp_path / "one.json", added=figure(30, 29, 31), ratio=figure(0.7, 0.6, 0.8), gone=None)
    other = write(tmp_path / "other.json", added=figure(38, 37, 40), ratio=None, new=exact(82.0, "layout"))
    compared = compare(*read_both(one, other))
    assert [(row.name, row.verdict) for row in compared] == [
        *(("added", "apart"), ("ratio", "not measured"), ("gone", "not measured"), ("new", "not measured"))
    ]
    assert compared[0].first == figure(30, 29, 31)
    done = CliRunner().invoke(bench, ["compare", str(one), str(other)])
    assert done.exit_code == 0, done.output
    (added, *_) = done.output.splitlines()
    assert added.split()[0] == "added"
    assert "30 (29–31, 21 rounds)" in added
    assert "38 (37–40, 21 rounds)" in added
    assert added.endswith("apart")
    said = json.loads(CliRunner().invoke(bench, ["compare", str(one), str(other), "--json"]).output)
    assert (said["added"]["verdict"], said["added"]["first"]["median"]) == ("apart", 30.0)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"spreads": {"added": {"median": 1}}}', '{"spreads": [1]}'])
def test_what_is_no_report_is_reported(text: str, tmp_path: Path) -> None:
    wrong, right = tmp_path / "wrong.json", write(tmp_path / "right.json", added=figure(1, 0, 2))
    wrong.write_text(text)
    with pytest.raises(NotAReport, match=r"wrong.json: .*; expected what --json or --report of a bench wrote"):
        compare(*read_both(right, wrong))
    assert CliRunner().invoke(bench, ["compare", str(wrong), str(right)]).exit_code != 0
