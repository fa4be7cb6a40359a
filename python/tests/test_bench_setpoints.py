# SPDX-License-Identifier: Apache-2.0
"""What is made of windows of parameters and setpoints that nobody measured: pairs, ratios, bounds, verdicts."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ringmaster.bench import measurement, parameters, setpoints, transmit_latency
from ringmaster.bench.log import NotMeasured
from ringmaster.bench.parameters import ranges_of
from ringmaster.bench.printed import Times
from ringmaster.bench.pvaccess import times_of
from ringmaster.bench.transmit_rate import Sent, frame_bytes, load_of
from ringmaster.bench.windows import compare as compare_windows
from ringmaster.bench.windows import pairs_of, ratios_of
from ringmaster.report.compare import compare, read_both
from ringmaster.report.conditions import StallFloor
from ringmaster.report.headlines import of_values
from ringmaster.report.plain import as_json
from ringmaster.report.text import print_section
from ringmaster.report.verdicts import Headline, number
from ringmaster.report.verdicts import as_json as headlines_as_json


def rate(peer: str, mpps: float, **more: object) -> Sent:
    """One that counts, near, of 114-byte frames, unless told otherwise."""
    fields: dict[str, object] = {
        "peer": peer,
        "load": "114-byte frames",
        "supplies": 10,
        "frame_bytes": 114,
        "rate_pps": mpps * 1e6,
        "core_to_core_ns": 60.0,
        "distance": "near",
        "sender_share": 1.0,
        "receiver_share": 1.0,
        "sub_rates_pps": (),
    }
    return Sent(**(fields | more))  # type: ignore[arg-type]


def latency(p50: float, probe_ns: float = 60.0, distance: str = "near", chains: int = 1) -> transmit_latency.Window:
    back = Times(2 * p50, p50, 3 * p50, 9 * p50, 9 * p50, 100)
    return transmit_latency.Window(chains, chains, 1000, {"p50": p50, "p99": 9 * p50}, back, probe_ns, distance)


def parameter_window(read: float, ratio: float, distance: str = "near") -> parameters.Window:
    def one(median: float) -> Times:
        return Times(median, median, median, median, median, 100)

    names = ("read_f64", "write_f64", "write_stamped")
    return parameters.Window(
        core_to_core_ns=60.0,
        distance=distance,
        cost={name: one(read) for name in names},
        visible={"plain": one(30.0), "parameter": one(30.0 * ratio), "ratio": one(ratio)},
        request={"put_polled": one(1000.0), "put_asleep": one(2000.0)},
        pva_get=Times(200_000.0, 200_000.0, 200_000.0, 300_000.0, 300_000.0, 100),
        pva_put=None,
    )


def of_parameters(*windows: parameters.Window) -> parameters.Parameters:
    made = parameters.Parameters(parameters.Options())
    made.rows = list(windows)
    return made


def test_frames_are_as_long_as_the_wire_format_says() -> None:
    assert [frame_bytes(count) for count in (1, 10)] == [78, 114]


def test_each_window_of_ours_meets_the_nearest_of_the_peer() -> None:
    windows = [rate("ringmaster", 18), rate("testpmd", 20), rate("rows", 10), rate("rows", 11), rate("testpmd", 22)]
    assert ratios_of(windows, load_of(10)) == pytest.approx([0.9])
    assert ratios_of(windows, load_of(10), "rows") == pytest.approx([0.5, 0.5])
    assert ratios_of(windows, load_of(1), "rows") == []


@pytest.mark.parametrize(
    "spoilt",
    [
        rate("ringmaster", 18, distance="far"),
        rate("ringmaster", 18, distance="mixed"),
        rate("ringmaster", 18, sender_share=0.9),
        rate("ringmaster", 18, receiver_share=0.9),
        rate("ringmaster", 18, load=load_of(1)),
        rate("ringmaster", 18, sub_rates_pps=(18e6,) * 8 + (5e6,) * 2),
    ],
)
def test_windows_that_cannot_be_compared_make_no_ratio(spoilt: Sent) -> None:
    assert pairs_of([spoilt, rate("testpmd", 20)]) == []
    assert pairs_of([rate("testpmd", 20, distance="mixed"), spoilt]) == []


def test_ratios_are_of_near_windows_where_there_are_any() -> None:
    far = [rate("ringmaster", 12, distance="far"), rate("testpmd", 10, distance="far")]
    near = [rate("ringmaster", 18), rate("testpmd", 20)]
    assert ratios_of([*far, *near], load_of(10)) == pytest.approx([0.9])
    assert ratios_of(far, load_of(10)) == pytest.approx([1.2])


def test_what_was_left_out_is_counted() -> None:
    windows = [rate("ringmaster", 18), rate("testpmd", 20), rate("rows", 9, sender_share=0.5)]
    row, _ = compare_windows(windows, ("rate_pps",))
    assert (row.distance, row.starved, list(row.figures)) == ("near", 1, ["ringmaster", "testpmd"])
    ratio = row.figure("ringmaster", "ratio")
    assert ratio is not None
    assert ratio.median == pytest.approx(0.9)


def test_a_latency_is_held_against_its_own_window() -> None:
    assert transmit_latency.bound_ns(60.0) == pytest.approx(145.0)
    assert latency(145.0).over_bound == pytest.approx(1.0)
    assert latency(400.0, probe_ns=400.0, distance="far").over_bound == pytest.approx(1.0)
    starved = replace(latency(290.0), server_share=0.9)
    made = setpoints.Setpoints(setpoints.Options())
    made.parts["latency"] = [latency(145.0), latency(290.0, distance="mixed"), latency(290.0, chains=18), starved]
    over = {row.name: row.figure for row in made.headlines()}["commit_to_sent_over_bound.1"]
    assert over is not None
    assert over.count == 1
    assert over.median == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("values", "target", "at_most", "verdict", "factor"),
    [
        ([9.0], 10.0, True, "held", 0.9),
        ([11.0], 10.0, True, "missed", 1.1),
        ([0.9], 0.9, False, "held", 1.0),
        ([0.45], 0.9, False, "missed", 2.0),
        ([1.0], None, True, "", None),
        ([], 10.0, True, "not measured", None),
    ],
)
def test_verdicts(values: list[float], target: float | None, at_most: bool, verdict: str, factor: float | None) -> None:
    row = Headline("x", of_values(values, "windows"), "ns", target, at_most)
    assert row.verdict == verdict
    assert row.factor == (None if factor is None else pytest.approx(factor))


def test_numbers_have_no_exponent() -> None:
    assert [number(value) for value in (0.4567, 3.14159, 99.94, 123456.7)] == ["0.457", "3.14", "99.9", "123,457"]


def test_reports_can_be_compared(tmp_path: Path) -> None:
    said = as_json(of_parameters(parameter_window(3.0, 1.2), parameter_window(5.0, 1.4, "mixed")).section())
    assert said["read_ns"] == 4.0
    assert said["visible_ratio"] == 1.2  # the mixed window says nothing
    assert said["pva_get_over_read"] == pytest.approx((200_000 / 3 + 200_000 / 5) / 2)
    assert said["pva_put_ns"] is None
    path = tmp_path / "parameters.json"
    path.write_text(json.dumps(said))
    verdicts = {row.name: row.verdict for row in compare(*read_both(path, path))}
    assert (verdicts["read_ns"], verdicts["pva_put_ns"]) == ("within", "not measured")
    rates = setpoints.Setpoints(setpoints.Options())
    rates.parts["rate"] = [rate("ringmaster", 18), rate("testpmd", 20)]
    said = as_json(rates.section())
    assert said["rate_ratio.ringmaster.114"] == pytest.approx(0.9)
    assert said["targets"]["rate_ratio.ringmaster.114"]["verdict"] == "held"
    assert said["targets"]["rate_ratio.rows.78"]["verdict"] == "not measured"
    json.dumps(said)


def test_visibility_is_of_one_class() -> None:
    windows = [parameter_window(3.0, 1.5), parameter_window(3.0, 1.0, "far"), parameter_window(3.0, 1.2, "mixed")]
    assert [of_parameters(*windows[first:]).ratios() for first in range(3)] == [[1.5], [1.0], []]


def test_reports_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    one, other = of_parameters(parameter_window(3.0, 1.2)), setpoints.Setpoints(setpoints.Options())
    one.note("something")
    other.parts = {"rate": [rate("testpmd", 20)], "latency": [latency(145.0)]}
    print_section(one.section())
    print_section(other.section())
    shown = capsys.readouterr().out
    assert "visible_ratio" in shown
    assert "note: something" in shown
    assert "commit_to_sent_over_bound.1" in shown
    assert "held" in shown


def test_an_interrupted_run_keeps_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    visits = iter([setpoints.Guard(1248, 96, 300.0, 170.0, 180.0, 7.5)])

    def guard() -> setpoints.Guard:
        for visit in visits:
            return visit
        raise KeyboardInterrupt

    monkeypatch.setattr(setpoints, "_guard", guard)
    monkeypatch.setattr(measurement, "stall_floor", lambda *_: StallFloor(0.5, 812.0, 350.0, 2, 2.5e9))
    said = as_json(setpoints.Setpoints(setpoints.Options(("guard",))).run())
    assert said["interrupted"]
    assert said["guard.vector_ns"] == 300.0


def test_percentiles_of_a_peer() -> None:
    assert times_of(list(range(1000, 0, -1))) == Times(501, 1, 1000, 991, 1000, 1000)
    assert times_of([7]) == Times(7, 7, 7, 7, 7, 1)


@pytest.mark.parametrize("words", ["", "[]", '{"a": 1}', '{"a": {"median": 1}}'])
def test_what_is_no_figure_is_reported(words: str) -> None:
    with pytest.raises(NotMeasured):
        ranges_of(words)
    with pytest.raises(NotMeasured):
        setpoints.guard_of(words)


def test_figures_of_verdicts_stand_by_name() -> None:
    said = headlines_as_json(
        [Headline("a", of_values([1.0, 2.0, 3.0], "windows"), "ns", 2.5), Headline("b", None, "ns")]
    )
    assert (said["a"], said["b"]) == (2.0, None)
    assert list(said["targets"]) == ["a"]
