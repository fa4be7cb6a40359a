# SPDX-License-Identifier: Apache-2.0
"""`ringmaster qualify`: which benches run, for how long, and where the report goes. Nothing is measured here."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from report_sections import section

from ringmaster.bench import suite
from ringmaster.bench.benches import BENCHES, Bench
from ringmaster.bench.suite import Outcome, Watch
from ringmaster.cli.qualify import QUICK, qualify
from ringmaster.report import findings

FOUND = {"what": "huge pages", "verdict": "wrong", "is": "0", "should be": "2", "why": "the server's memory"}


class Measured:
    """The suite's place: notes what it is asked for, and gives an outcome."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.seconds = 0.0
        self.outcome = Outcome([section("rtt")], ["jitter: not measured: one core"])

    def __call__(self, benches: Sequence[Bench], seconds: float, _watch: Watch) -> Outcome:
        """As run_suite is called."""
        self.names, self.seconds = [bench.name for bench in benches], seconds
        return self.outcome


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Measured:
    """In the place of benches and the doctor; the working directory is new."""
    made = Measured()
    monkeypatch.setattr(suite, "run_suite", made)
    monkeypatch.setattr(findings, "of_this_host", lambda: [FOUND])
    monkeypatch.chdir(tmp_path)
    return made


def qualified(*words: str) -> Result:
    return CliRunner().invoke(qualify, list(words))


def test_all_benches_and_the_doctor_are_in_one_report(measured: Measured, tmp_path: Path) -> None:
    done = qualified("out", "--minutes", "60")
    assert done.exit_code == 0, done.output
    assert (measured.names, measured.seconds) == ([bench.name for bench in BENCHES], 3600.0)
    report = json.loads((tmp_path / "out/report.json").read_text())
    assert "huge pages" in json.dumps(report)
    assert "jitter: not measured: one core" in done.output
    assert "huge pages" in (tmp_path / "out/report.html").read_text()


def test_quick_runs_one_short_bench(measured: Measured) -> None:
    assert qualified("--quick").exit_code == 0
    assert tuple(measured.names) == QUICK
    assert set(QUICK) <= {bench.name for bench in BENCHES}
    assert measured.seconds < 60.0


def test_a_report_without_a_place_lies_below_reports_under_its_time(measured: Measured, tmp_path: Path) -> None:
    assert qualified().exit_code == 0
    (report,) = (tmp_path / "reports").glob("20*T*Z/report.html")
    assert report.exists()


def test_a_bench_that_fails_or_is_interrupted_is_told_and_the_report_is_there(
    measured: Measured, tmp_path: Path
) -> None:
    measured.outcome.failed.append("rtt")
    done = qualified("out")
    assert done.exit_code == 1
    assert "rtt failed" in done.output
    measured.outcome = Outcome([section("rtt")], interrupted=True)
    assert qualified("out").exit_code == 130
    assert (tmp_path / "out/report.html").exists()


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_measured(
    measured: Measured, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    for place in ("file", "file/below"):
        done = qualified(place)
        assert done.exit_code == 2, done.output
        assert "file" in done.output
    assert measured.names == []
