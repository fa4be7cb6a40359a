# SPDX-License-Identifier: Apache-2.0
"""Which tests run again, and what the last lines say of them."""

import json
from collections import Counter
from pathlib import Path

import pytest
import run_tests
from run_tests import LONGEST_FIRST, MOST_AGAIN, Results, meson_results, pytest_results, run_again, verdict, with_status


def failed_tests(*names: str) -> Results:
    return Results(Counter(passed=10, failed=len(names)), list(names))


def test_one_that_passes_alone_is_unstable_and_named() -> None:
    results = run_again(failed_tests("net / udp", "net / memif"), lambda names: names != ["net / udp"])
    text, status = verdict([results])
    assert text.splitlines() == [
        "FAILED net / memif",
        "unstable: net / udp failed, and passed when it ran again, alone",
        "11 passed, 1 failed, 0 skipped",
    ]
    assert status == 1
    assert verdict([run_again(failed_tests("net / udp"), lambda _names: 0)])[1] == 0


@pytest.mark.parametrize(
    "name",
    [
        "ringmaster / guard_pass",
        "ringmaster / transmit_chains",
        "ringmaster / host-permissions",
        "ringmaster / feedback-closing",
        "tests/system/test_guard.py::test_a_rogue",
        "tests/system/test_setpoints.py::test_supplies_begin_where_they_stand",
        "tests/system/test_chain_faults.py::test_a_supply_that_trips",
        "tests/feedback/test_loop.py::test_it_holds",
        "tests/system/test_applications.py::test_a_crash",
    ],
)
def test_safety_never_runs_again(name: str) -> None:
    def never(_names: list[str]) -> int:
        raise AssertionError("it ran again")

    assert verdict([run_again(failed_tests(name), never)])[1] == 1


def test_many_failures_are_no_unlucky_moment() -> None:
    names = [f"net / {number}" for number in range(MOST_AGAIN + 1)]
    assert verdict([run_again(failed_tests(*names), lambda _names: 0)])[1] == 1


def test_failures_without_a_name_stay_failures() -> None:
    assert verdict([run_again(with_status(Results(Counter(passed=3)), 1), lambda _names: 0)])[1] == 1


def test_results_are_read_from_the_runners_files(tmp_path: Path) -> None:
    meson = tmp_path / "testlog.json"
    lines = [{"name": "ringmaster / a", "result": "OK"}, {"name": "ringmaster / b", "result": "TIMEOUT"}]
    meson.write_text("\n".join(map(json.dumps, lines)))
    assert meson_results(meson) == Results(Counter(passed=1, failed=1), ["ringmaster / b"])
    junit, names = tmp_path / "pytest.xml", tmp_path / "lastfailed"
    junit.write_text('<testsuites><testsuite tests="5" failures="1" errors="0" skipped="1"/></testsuites>')
    names.write_text('{"tests/test_x.py::test_y": true}')
    assert pytest_results(junit, names) == Results(Counter(passed=3, failed=1, skipped=1), ["tests/test_x.py::test_y"])


def test_every_folder_runs_and_the_longest_first() -> None:
    folders = run_tests.pytest_folders()
    assert "python/tests" in folders
    assert set(folders[: len(LONGEST_FIRST)]) == set(LONGEST_FIRST)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two tests, of which one fails."""
    for name, value in {"PYTEST_LOG": "log.xml", "CACHE": "cache", "FAILURES": "cache/v/cache/lastfailed"}.items():
        monkeypatch.setattr(run_tests, name, tmp_path / value)
    (tmp_path / "test_it.py").write_text("def test_here(): pass\ndef test_there(): assert False\n")
    return tmp_path


def test_failures_of_the_workers_are_kept(folder: Path) -> None:
    results = run_tests.run_folders([str(folder)])
    assert results.counts == Counter(passed=1, failed=1)
    assert [name.rpartition("::")[2] for name in results.failed] == ["test_there"]


def test_a_run_that_hangs_has_failed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_tests, "PYTEST_S", 0.0)
    assert run_tests.run_folders([str(folder)]).counts["failed"] == 1


def test_a_runner_that_wrote_nothing_has_failed(tmp_path: Path) -> None:
    results = with_status(pytest_results(tmp_path / "none.xml", tmp_path / "none"), 3)
    assert results.counts["failed"] == 1
    assert run_tests.with_status(meson_results(tmp_path / "none"), 1).counts["failed"] == 1
