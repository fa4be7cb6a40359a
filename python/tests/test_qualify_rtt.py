# SPDX-License-Identifier: Apache-2.0
"""Round trips that are known before, and what the round trip test makes of them."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

from ringmaster.bench import rtt
from ringmaster.bench.distribution import Distribution, beyond, histogram, probes_needed
from ringmaster.bench.log import NotMeasured
from ringmaster.bench.options import command
from ringmaster.bench.placements import Placement, Placements
from ringmaster.bench.rtt import Options, RoundTrips
from ringmaster.bench.rtt_run import Round, Variant, round_trips
from ringmaster.cli.bench import bench
from ringmaster.programs.program import ProgramFailed
from ringmaster.report.conditions import StallFloor
from ringmaster.report.headlines import of_all
from ringmaster.report.plain import as_json, of_json
from ringmaster.report.section import Section

TSC_HZ = 2.5e9
BEGIN = 10**15
ORDINARY = Placement("ordinary cores", (0, 1))
HERE = Placements((ORDINARY,), ("isolated cores: none",))


def stamps(
    period_us: float, rtt_us: NDArray[np.float64], stall: tuple[float, float] = (0.0, 0.0)
) -> NDArray[np.uint64]:
    """Due, sent and received of probes whose sender does nothing from `stall[0]` to `stall[1]`, µs."""
    due = np.arange(len(rtt_us)) * period_us
    sent = np.where((due >= stall[0]) & (due < stall[1]), stall[1], due)
    ticks = np.stack([due, sent, sent + rtt_us], axis=1) * TSC_HZ / 1e6
    return (BEGIN + np.rint(ticks)).astype(np.uint64)


def test_quantiles_of_known_times_are_found() -> None:
    times = np.random.default_rng(1).permutation(np.arange(1.0, 1_000_001.0))
    found = Distribution.of(times, 0)
    assert found is not None
    assert (found.least, found.most, found.mean, found.one_way) == (1.0, 1e6, 500_000.5, 250_000.25)
    assert found.quantiles == {
        "median": 500_000.0,
        "p90": 900_000.0,
        "p99": 990_000.0,
        "p99.9": 999_000.0,
        "p99.99": 999_900.0,
        "p99.999": 999_990.0,
    }


def test_a_quantile_that_there_are_too_few_probes_for_is_not_reported() -> None:
    assert probes_needed("p99") == 1000
    enough, too_few = Distribution.of(np.ones(1000), 0), Distribution.of(np.ones(999), 0)
    assert enough is not None
    assert too_few is not None
    assert "p99" in enough.quantiles
    assert list(too_few.quantiles) == ["median", "p90"]


def test_the_median_is_reported_of_a_single_probe_and_nothing_of_none() -> None:
    one = Distribution.of(np.array([3.0]), 0)
    assert one is not None
    assert one.quantiles == {"median": 3.0}
    assert Distribution.of(np.array([]), 5) is None
    assert beyond(np.array([]), 5) == histogram(np.array([]), 5) == []


def test_a_lost_probe_took_for_ever() -> None:
    found = Distribution.of(np.full(9800, 5.0), 200)
    assert found is not None
    assert (found.probes, found.lost, found.most) == (10_000, 200, 5.0)
    assert found.quantiles["p90"] == 5.0
    assert found.quantiles["p99"] == math.inf


def test_the_chart_goes_from_all_probes_to_the_last_one() -> None:
    points = beyond(np.arange(1.0, 1001.0), 0)
    assert points[0] == (1.0, 1.0)
    assert points[-1] == (1000.0, 0.001)
    assert all(share == pytest.approx((1001 - value) / 1000) for value, share in points)


def test_the_histogram_has_every_probe_once() -> None:
    points = histogram(np.array([1.0, 1.01, 2.0, 1000.0]), 1)
    assert [share for _, share in points] == [0.4, 0.2, 0.2]
    assert points[1][0] / points[0][0] == pytest.approx(2.0)


def test_lost_probes_are_counted_and_the_others_timed() -> None:
    samples = stamps(100.0, np.array([10.0, 20.0, 30.0]))
    samples[1, 2] = 0
    due_us, sent_us, lost = round_trips(samples, TSC_HZ)
    assert due_us == pytest.approx([10.0, 30.0])
    assert sent_us == pytest.approx([10.0, 30.0])
    assert lost == 1


def test_a_stall_of_the_sender_shows_in_what_was_due_meanwhile() -> None:
    """100 ms in 5 s are two of a hundred probes: from when they were sent, not even p99.9 has seen it."""
    samples = stamps(100.0, np.full(50_000, 10.0), stall=(1e6, 1.1e6))
    due_us, sent_us, lost = round_trips(samples, TSC_HZ)
    due, sent = Distribution.of(due_us, lost), Distribution.of(sent_us, lost)
    assert due is not None
    assert sent is not None
    assert sent.most == pytest.approx(10.0)
    assert due.most == pytest.approx(100_010.0)
    assert due.quantiles["p99"] == pytest.approx(50_010.0, abs=200.0)
    assert due.quantiles["median"] == pytest.approx(10.0)


def one_round(way: str, load: str, rtt_us: float, share: float = 1.0, lost: int = 0, late: int = 3) -> Round:
    times = np.full(2000 - lost, rtt_us)
    said = {"probes": 2000, "sent_late": late, "longest_gap_us": 12.5, "gaps_over_10us": 2, "hardware_stamps": "none"}
    return Round(
        Variant(way, ORDINARY, load),
        times,
        times - 0.5,
        lost,
        said,
        distance="near",
        core_to_core_ns=(60.0, 62.0),
        sender_share=share,
    )


def section(rounds: list[Round], options: Options | None = None, interrupted: bool = False) -> Section:
    made = RoundTrips(options or Options(kinds=("memif", "raw")))
    made.places, made.rows, made.loads = HERE, rounds, {"loaded": "stress-ng --cpu 2"}
    made.floors, made.interrupted = [StallFloor(1.0, 500.0, 300.0, 0, TSC_HZ)], interrupted
    return made.section()


def rows(section: Section, title: str) -> dict[str, list[str]]:
    table = next(table for table in section.tables if table.title.startswith(title))
    return {row[0]: list(row[1:]) for row in table.rows}


def test_mean_and_one_way_stand_beside_the_published_ones() -> None:
    made = section([one_round("memif", "idle", 4.0), one_round("memif", "loaded", 8.0), one_round("raw", "idle", 20.0)])
    found = rows(made, "Mean round trip")
    assert found["memif"] == ["4", "2", "8", "4"]
    assert found["raw"] == ["20", "10", "–", "–"]
    assert any("8.04" in row for row in found.values())


def test_idle_and_loaded_are_side_by_side() -> None:
    made = section([one_round(way, load, 4.0) for load in ("idle", "loaded") for way in ("memif", "raw")])
    assert list(rows(made, "Round trip time")) == ["memif, idle", "memif, loaded", "raw, idle", "raw, loaded"]
    assert [chart.title for chart in made.charts] == [
        "Round trip time",
        "Histogram of the round trip time, idle",
        "Histogram of the round trip time, loaded",
    ]


def test_headlines_are_of_rounds_in_which_nobody_took_a_core() -> None:
    made = section([one_round("memif", "idle", us, share) for us, share in ((4.0, 1.0), (900.0, 0.5), (6.0, 1.0))])
    median = next(line for line in made.headlines if line.name == "rtt_us.memif.idle")
    assert median.figure is not None
    assert (median.figure.median, median.figure.count) == (5.0, 2)
    assert rows(made, "Rounds")["memif, idle"][0] == "2 of 3"
    assert any("1 of 3 rounds" in note and "50%" in note for note in made.notes)


def test_all_rounds_count_where_none_was_undisturbed_and_of_those_that_sleep() -> None:
    made = section([one_round("memif", "idle", 9.0, 0.5), one_round("raw", "idle", 7.0, 0.1)])
    figures = {line.name: line.figure for line in made.headlines}
    for name, median in (("rtt_us.memif.idle", 9.0), ("rtt_us.raw.idle", 7.0)):
        figure = figures[name]
        assert figure is not None
        assert figure.median == median
    assert not any(note.startswith("raw") for note in made.notes)


def test_one_that_sleeps_is_disturbed_when_it_sends_late() -> None:
    made = section([one_round("raw", "idle", us, share=0.1, late=late) for us, late in ((7.0, 3), (900.0, 400))])
    assert made.headlines[0].figure is not None
    assert made.headlines[0].figure.median == 7.0
    assert rows(made, "Rounds")["raw, idle"][0] == "1 of 2"
    assert any(note.startswith("raw, idle: 10% of the probes were sent more than a period late") for note in made.notes)


def test_the_second_pair_of_cards_by_a_way_that_sleeps_sleeps_too() -> None:
    made = section([one_round("raw 2", "idle", 7.0, 0.1), one_round("memif", "idle", 4.0, 0.99)])
    assert not any(note.startswith("raw 2") for note in made.notes)
    assert made.conditions is not None
    assert made.conditions.core_share == of_all([0.99, 1.0], "looks")


def test_losses_are_reported_and_a_quantile_among_them_is_lost() -> None:
    made = section([one_round("memif", "idle", 5.0, lost=200)])
    row = rows(made, "Round trip time")["memif, idle"]
    assert row[:2] == ["2,000", "200"]
    assert row[-2] == "lost"
    assert any("200 of 2,000 probes were lost" in note for note in made.notes)


def test_a_round_in_which_nothing_came_back_is_reported() -> None:
    made = section([one_round("memif", "idle", 5.0, lost=2000)])
    assert rows(made, "Round trip time")["memif, idle"][:3] == ["2,000", "2,000", "–"]


def test_the_section_survives_json() -> None:
    made = section([one_round("memif", "idle", 5.0, lost=200)], interrupted=True)
    said = json.loads(json.dumps(as_json(made)))
    assert said["interrupted"] is True
    assert said["rtt_us.memif.idle"] == 5.0
    assert said["data"]["rounds"][0]["lost"] == 200
    assert of_json(said).tables[0].rows == [list(row) for row in made.tables[0].rows]


def test_nothing_measured_makes_a_section_still() -> None:
    made = section([], interrupted=True)
    assert [*made.tables, *made.charts, *made.headlines] == []
    assert "not here: isolated cores: none" in made.notes


def test_what_is_measured_on_cards_has_names_of_its_own() -> None:
    endpoints = (("raw:eth1", "raw:eth2"), ("raw:eth1,wait=spin", "raw:eth2,wait=spin"), ("raw:eth3", "raw:eth4"))
    options = Options(left=tuple(left for left, _ in endpoints), right=tuple(right for _, right in endpoints))
    assert options.ways == ("raw", "raw-spin", "raw 2")
    asked = command("rtt", options)
    assert "--left raw:eth1 --left raw:eth1,wait=spin --left raw:eth3 --right raw:eth2" in asked
    assert "--kinds" not in asked


def measured_with(monkeypatch: pytest.MonkeyPatch, failing: set[str]) -> tuple[Section, list[str]]:
    """A bench whose rounds are made up; some ways fail."""
    ran = []

    def run(variant: Variant, *_: object) -> Round:
        ran.append(variant.way)
        if variant.way in failing:
            raise ProgramFailed(f"{variant.way} has gone away")
        return one_round(variant.way, variant.load, 5.0)

    monkeypatch.setattr(rtt, "run", run)
    monkeypatch.setattr(RoundTrips, "_pair", lambda *_: None)
    monkeypatch.setattr(rtt, "stall_floor", lambda seconds, _: StallFloor(seconds, 1.0, 1.0, 0, TSC_HZ))
    options = Options(kinds=("memif", "raw"), loads=("idle",), rounds=2)
    return RoundTrips(options).run(), ran


def test_ways_alternate_and_one_that_fails_is_given_up_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    made, ran = measured_with(monkeypatch, {"memif"})
    assert ran == ["memif", "raw", "raw"]
    assert "memif, idle: not measured: memif has gone away" in made.notes
    assert list(rows(made, "Round trip time")) == ["raw, idle"]
    _, ran = measured_with(monkeypatch, set())
    assert ran == ["memif", "raw", "memif", "raw"]


def test_a_bench_without_any_figure_fails_with_the_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotMeasured, match="memif has gone away.*raw has gone away"):
        measured_with(monkeypatch, {"memif", "raw"})


def test_without_stress_ng_the_loaded_figures_are_missing_and_say_why(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from ringmaster.bench.stress import loaded

    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotMeasured, match="stress-ng.*not installed"), loaded([0]):
        pytest.fail("a load without stress-ng")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--kinds", "memif,carrier-pigeon"), "found 'memif,carrier-pigeon', expected some of memif,"),
        (("--size", "8973"), "8973 is not in the range 18<=x<=8972"),
        (("--rate", "0"), "0.0 is not in the range"),
        (("--rate", "1e12"), "is not in the range"),
        (("--rate", "1e7", "--seconds", "60"), "600,000,000 probes in a round, expected up to"),
        (("--left", "raw:eth0"), "found 1 --left and 0 --right"),
        (("--seconds", "0"), "is not in the range"),
    ],
)
def test_impossible_requests_are_refused_before_anything_starts(options: tuple[str, ...], words: str) -> None:
    done = CliRunner().invoke(bench, ["rtt", *options])
    assert done.exit_code == 2
    assert words in done.output


def test_a_probe_that_does_not_fit_the_cards_mtu_is_refused_by_the_programs() -> None:
    with pytest.raises(NotMeasured, match="400 bytes do not fit an MTU of 300"):
        RoundTrips(Options(size=400, left=("raw:lo,mtu=300",), right=("raw:lo,mtu=300",), loads=("idle",))).run()
