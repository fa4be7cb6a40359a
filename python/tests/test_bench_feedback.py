# SPDX-License-Identifier: Apache-2.0
"""What is made of windows of the feedback's arithmetic that nobody measured."""

import json
from pathlib import Path

import pytest

from ringmaster.bench.feedback import (
    ANSWER,
    FLOOR,
    LATENCY,
    SGEMV,
    TARGETS,
    Options,
    OrbitFeedback,
    Window,
    host_times_of,
    window_of,
)
from ringmaster.bench.log import NotMeasured
from ringmaster.bench.printed import Times
from ringmaster.report.compare import compare, read_both
from ringmaster.report.plain import as_json

WHATS = (ANSWER, FLOOR, SGEMV, "whole_product_ns", "errors_ns", "controllers_ns", "ahead_ns")


def times(median: float, p99: float, worst: float) -> Times:
    return Times(median, median, p99, p99, worst, 100)


def window(median: float, worst: float) -> Window:
    alone = {what: times(median, 2 * median, worst) for what in WHATS}
    host = {LATENCY: times(median + 100, 2 * median, worst), FLOOR: times(0, 1, worst / 2)}
    return Window("AVX-512", dict.fromkeys(TARGETS, alone), dict.fromkeys(TARGETS, host))


def measured(*windows: Window) -> OrbitFeedback:
    made = OrbitFeedback(Options(windows=len(windows)))
    made.rows = list(windows)
    return made


def data(*windows: Window) -> dict[str, object]:
    return dict(as_json(measured(*windows).section())["data"])


def test_the_median_is_the_windows_and_the_worst_is_of_all_cycles() -> None:
    said = data(window(100, 900), window(300, 5000), window(200, 700))
    assert said[LATENCY] == {size: {"median": 300, "p99": 400, "max": 5000} for size in TARGETS}
    assert said[ANSWER] == {size: {"median": 200, "p99": 400, "max": 5000} for size in TARGETS}
    assert said[FLOOR] == 2500
    assert said[SGEMV] == dict.fromkeys(TARGETS, 200)
    assert said["cycles"] == dict.fromkeys(TARGETS, 300)


def test_each_size_has_a_target_of_its_own() -> None:
    verdicts = {row.name: row.verdict for row in measured(window(300, 900)).headlines() if row.target}
    assert verdicts == {"latency_264x168_ns": "missed", "latency_528x336_ns": "held"}


def test_a_run_without_windows_says_so() -> None:
    said = data()
    assert said[FLOOR] is None
    assert {row.verdict for row in measured().headlines()} == {"not measured"}


def test_what_the_host_did_not_show_is_not_measured_and_the_arithmetic_is() -> None:
    alone = Window("AVX2", window(100, 900).sizes)
    said = data(alone)
    assert said[LATENCY] == {size: {"median": None, "p99": None, "max": None} for size in TARGETS}
    assert said[SGEMV] == dict.fromkeys(TARGETS, 100)


def test_two_runs_can_be_compared(tmp_path: Path) -> None:
    for name, median in (("first", 100.0), ("second", 150.0)):
        (tmp_path / name).write_text(json.dumps(as_json(measured(window(median, 900)).section())))
    assert any(row.name == "latency_264x168_ns" for row in compare(*read_both(tmp_path / "first", tmp_path / "second")))


@pytest.mark.parametrize("words", ["", "{}", '{"simd": "AVX2", "sizes": {"1x1": {"controllers_ns": {"median": 1}}}}'])
def test_what_is_no_report_is_not_measured(words: str) -> None:
    with pytest.raises(NotMeasured):
        window_of(words)
    with pytest.raises(NotMeasured):
        host_times_of(words)
