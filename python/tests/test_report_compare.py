# SPDX-License-Identifier: Apache-2.0
"""Two reports side by side."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from report_sections import section
from test_report_page import Page

from ringmaster.cli.bench import bench
from ringmaster.report.compare import compare, overlaid, read_both, write_comparison
from ringmaster.report.headlines import NotAReport
from ringmaster.report.page import write_report
from ringmaster.report.section import Bars, Chart, Lines, Quantiles


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Reports: of rtt, alike; of jitter, apart; of power, in one of them alone."""
    folder = tmp_path_factory.mktemp("reports")
    one, other = folder / "monday", folder / "tuesday"
    write_report(one, [section(), section("jitter", 1.0), section("power")], facts={"CPU": "one CPU"})
    write_report(other, [section(median=8.1), section("jitter", 9.0)], facts={"CPU": "another"})
    return one, other


def test_whole_reports_are_compared_bench_by_bench(two: tuple[Path, Path]) -> None:
    compared = {row.name: row.verdict for row in compare(*read_both(*two))}
    assert compared == {
        "rtt/rtt_us": "within",
        "rtt/rtt_lost": "not measured",
        "jitter/jitter_us": "apart",
        "jitter/jitter_lost": "not measured",
        "power/power_us": "not measured",
        "power/power_lost": "not measured",
    }
    done = CliRunner().invoke(bench, ["compare", *map(str, two)])
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[0].split()[:2] == ["rtt/rtt_us", "8.04"]
    by_file = CliRunner().invoke(bench, ["compare", *(str(path / "report.json") for path in two)])
    assert by_file.output == done.output


def test_the_json_of_one_bench_is_compared_as_ever(two: tuple[Path, Path]) -> None:
    runs = read_both(two[0] / "jitter.json", two[1] / "jitter.json")
    assert [(row.name, row.verdict) for row in compare(*runs)] == [
        ("jitter_us", "apart"),
        ("jitter_lost", "not measured"),
    ]


def test_the_page_has_both(two: tuple[Path, Path], tmp_path: Path) -> None:
    done = CliRunner().invoke(bench, ["compare", *map(str, two), "--report", str(tmp_path / "both"), "--json"])
    assert done.exit_code == 0, done.output
    page = Page((tmp_path / "both" / "compare.html").read_text())
    assert page.loaded == []
    for words in (
        "monday",
        "tuesday",
        "9 (8.1–9.9, 5 repeats)",
        "apart",
        "monday: By variant",
        "another",
        "memif, tuesday",
    ):
        assert words in page.text, words
    assert page.seen.count("svg") == 6
    assert json.loads((tmp_path / "both" / "compare.json").read_text())["jitter/jitter_us"]["verdict"] == "apart"


def test_files_of_figures_alone_have_a_page_too(tmp_path: Path) -> None:
    for name in ("one", "other"):
        figure = {"median": 1.0, "low": 0.5, "high": 2.0, "quantiles": None, "count": 1, "of": "count"}
        (tmp_path / name).write_text(json.dumps({"spreads": {"added": figure}}))
    page = write_comparison(tmp_path / "page", *read_both(tmp_path / "one", tmp_path / "other"))
    assert "added" in Page(page.read_text()).text


def test_runs_of_one_name_are_reported_apart(two: tuple[Path, Path]) -> None:
    assert [run.label for run in read_both(two[0], two[0])] == ["first", "second"]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("empty", None, "empty: found no report.json, expected a directory that --report wrote"),
        ("list.json", "[1]", "list.json: found no spreads"),
        ("broken.json", "{", "broken.json"),
        ("odd.json", '{"sections": [1]}', "odd.json: found no section"),
        ("none.json", '{"sections": 1}', "none.json: found no sections"),
    ],
)
def test_what_is_no_report_is_reported(
    two: tuple[Path, Path], tmp_path: Path, name: str, text: str | None, says: str
) -> None:
    path = tmp_path / name
    path.mkdir() if text is None else path.write_text(text)
    with pytest.raises(NotAReport, match=says):
        read_both(two[0], path)
    done = CliRunner().invoke(bench, ["compare", str(path), str(two[0])])
    assert done.exit_code == 1
    assert says in done.output


def test_a_report_and_one_bench_are_not_of_a_kind(two: tuple[Path, Path]) -> None:
    with pytest.raises(NotAReport, match="expected two of a kind"):
        read_both(two[0], two[1] / "rtt.json")


def test_charts_of_both_are_in_one() -> None:
    curves = Lines("l", "x", "y", {"a": [(1.0, 2.0)], "b": [(1.0, 3.0)]})
    bars = Bars("b", "y", ["k", "m"], {"s": [1.0, 2.0]})
    alone = Quantiles("q", "µs", {"a": [(1.0, 0.5)]})
    one: list[Chart] = [curves, bars, alone]
    other: list[Chart] = [
        replace(curves, series={"a": [(1.0, 9.0)]}),
        Bars("b", "y", ["m"], {"s": [7.0], "t": [8.0]}),
        Lines("q", "", "", {}),
    ]
    both = overlaid(one, other, "A", "B")
    assert [chart.title for chart in both] == ["l", "b"]
    assert dict(both[0].series) == {"a, A": [(1.0, 2.0)], "a, B": [(1.0, 9.0)], "b, A": [(1.0, 3.0)], "b, B": []}
    assert isinstance(both[1], Bars)
    assert both[1].categories == ["k, A", "k, B", "m, A", "m, B"]
    assert both[1].series["s"][0] == 1.0
    assert both[1].series["s"][2:] == [2.0, 7.0]
    assert both[1].series["t"][3] == 8.0
