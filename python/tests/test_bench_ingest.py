# SPDX-License-Identifier: Apache-2.0
"""The whole of `ringmaster bench ingest`, with parts that measure nothing."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from bench_windows import window

from ringmaster.bench import added, ingest, measurement
from ringmaster.bench.added import Row as AddedRow
from ringmaster.bench.ingest import PARTS, Ingest, Options, Queues
from ringmaster.bench.instructions import Row as InstructionsRow
from ringmaster.bench.load import held_of
from ringmaster.bench.loads import elettra
from ringmaster.bench.measurement import Turn
from ringmaster.bench.polling import Row as PollingRow
from ringmaster.bench.scale import Scaled
from ringmaster.programs.program import ProgramFailed
from ringmaster.report.conditions import StallFloor
from ringmaster.report.headlines import Figure
from ringmaster.report.plain import as_json
from ringmaster.report.section import Section
from ringmaster.report.text import print_section

FLOOR = StallFloor(1.0, 4000.0, 350.0, 3, 2.6e9)
BETWEEN = {"p1": 0.0, "p10": 0.0, "p50": 864.0, "p90": 900.0, "p99": 2000.0, "p99.9": 9000.0, "p100": 1e6}
ROWS: dict[str, list[Any]] = {
    "added": [
        AddedRow(96, chain, "AVX-512", "cold", 1 << 26, 20.0, 30.0, ns, ns - 1, ns + 1, 10.0, "4 KiB", 1.0, 21)
        for chain, ns in (("low_latency", 9.0), ("both", 14.0))
    ],
    "instructions": [InstructionsRow(96, "both", "AVX2", 300.0, 40.0, 260.0, 4096)],
    "windows": [window(rate_pps=13e6), window("testpmd", 14e6)],
    "load": [held_of(elettra(), 1e6, window(turn_rate_hz=1e6), [14e6], FLOOR)],
    "polling": [PollingRow("one", True, 1e6, 0.3, 0.5, 2.0, 2.0, 500, BETWEEN, BETWEEN, 0.5, 864.0, 864.0, {}, True)],
    "scale": [Scaled(2, 30, 34.7e6, 34.7e6, True, 0, {}, (0.5, 0.6), 30.0, None, 12.0)],
    "sizes": [Queues(4, 96, 384, "4 KiB", 50.0, 1.0)],
}


Parts = dict[str, list[Turn]]


def turns(rows: list[Any], end: BaseException | None = None) -> list[Turn]:
    """A part that has these rows, and then ends so."""

    def fail() -> Any:
        assert end is not None
        raise end

    return [*(Turn("", lambda row=row: row) for row in rows), *([Turn("", fail)] if end else [])]  # type: ignore[misc]


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> Parts:
    """All parts replaced, and the machine."""
    made = {name: turns(rows) for name, rows in ROWS.items()}
    monkeypatch.setattr(Ingest, "turns_of", lambda _, part: made[part])
    monkeypatch.setattr(added, "visits", lambda *_: turns(made.get("visits", [])))
    monkeypatch.setattr(added, "simds", lambda: ["scalar", "avx512"])
    monkeypatch.setattr(ingest, "has_testpmd", lambda: True)
    monkeypatch.setattr(measurement, "stall_floor", lambda *_: FLOOR)
    monkeypatch.setattr(measurement, "core_to_core_ns", lambda *_: 65.0)
    return made


@pytest.fixture
def said() -> list[str]:
    return []


def measured(said: list[str], options: Options | None = None) -> Section:
    return Ingest(options or Options(), said.append).run()


def in_numbers(said: list[str]) -> dict[str, Any]:
    return json.loads(json.dumps(as_json(measured(said))))  # type: ignore[no-any-return]


def cost(section: Section) -> Figure:
    """Of the chain for loops alone."""
    found = next(row.figure for row in section.headlines if row.name == "added_ns_per_packet.low_latency")
    assert found is not None
    return found


@pytest.mark.usefixtures("parts")
def test_the_headlines_stand_before_the_tables(said: list[str]) -> None:
    report = in_numbers(said)
    assert [report[f"added_ns_per_packet.{chain}"] for chain in ("low_latency", "both")] == [9.0, 14.0]
    assert report["ratio_to_testpmd"] == pytest.approx(13 / 14)
    assert report["instructions_per_packet"] == 260.0
    assert report["core_to_core_ns"] == 65.0
    assert 64 < report["bytes_per_packet"] < 200
    assert set(report["data"]["tables"]) == {*PARTS, "memory", "comparisons"}
    assert all(report["data"]["tables"][part] for part in PARTS)


@pytest.mark.usefixtures("parts")
def test_the_added_cost_is_looked_at_between_the_parts(monkeypatch: pytest.MonkeyPatch, said: list[str]) -> None:
    nanoseconds = iter((10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0))
    visits: Iterator[list[Any]] = ([replace(ROWS["added"][0], added_ns=ns)] for ns in nanoseconds)
    monkeypatch.setattr(added, "visits", lambda *_: turns(next(visits)))
    spread = cost(measured(said))
    assert (spread.median, spread.low, spread.high) == pytest.approx((35.0, 9.7, 63.0))  # of 9, 10, 20, … 70
    assert (spread.count, spread.of) == (8, "visits")


@pytest.mark.usefixtures("parts")
def test_one_part_alone_is_measured_once(monkeypatch: pytest.MonkeyPatch, said: list[str]) -> None:
    monkeypatch.setattr(added, "visits", lambda *_: pytest.fail("visited"))
    spread = cost(measured(said, Options(parts=("added",))))
    assert (spread.count, spread.of) == (21, "rounds")


@pytest.mark.usefixtures("parts")
def test_every_headline_has_its_spread(said: list[str]) -> None:
    report = in_numbers(said)
    spreads = report["spreads"]
    assert set(spreads) > {"ratio_to_testpmd", "bytes_per_packet", "instructions_per_packet", "core_to_core_ns"}
    for name, figure in spreads.items():
        value = report[name]
        assert (figure is None) == (value is None), name
        assert figure is None or figure["low"] <= figure["median"] <= figure["high"], name
        assert figure is None or figure["median"] == pytest.approx(value), name
    assert spreads["added_ns_per_packet.both"] == {
        "median": 14.0,
        "low": 13.0,
        "high": 15.0,
        "quantiles": [0.25, 0.75],
        "count": 21,
        "of": "rounds",
    }
    assert (spreads["ratio_to_testpmd"]["count"], spreads["ratio_to_testpmd"]["of"]) == (1, "pairs of windows")
    assert spreads["ratio_to_testpmd_96"] is None
    assert spreads["core_to_core_ns"]["count"] == len(PARTS) + 4  # before and after, parts, windows


@pytest.mark.usefixtures("parts")
def test_only_the_parts_that_were_asked_for_are_measured(said: list[str]) -> None:
    report = measured(said, Options(parts=("load",)))
    assert set(report.data["tables"]) == {"load", "memory", "comparisons"}  # type: ignore[call-overload]
    assert [row.name for row in report.headlines if row.figure] == ["bytes_per_packet", "core_to_core_ns"]


def test_an_interrupt_keeps_what_was_measured(parts: Parts, said: list[str]) -> None:
    parts["windows"] = turns(ROWS["windows"][:1], KeyboardInterrupt())
    report = Ingest(Options(), said.append)
    report.run()
    assert report.interrupted
    assert [len(rows) for rows in report.parts.values()] == [2, 1, 1]
    assert "interrupted" in said[-1]


def test_a_program_that_ends_early_ends_its_turn_alone(parts: Parts, said: list[str]) -> None:
    parts["windows"] = turns([], ProgramFailed("dpdk-testpmd ended with status 1"))
    report = Ingest(Options(), said.append)
    report.run()
    assert (report.parts["windows"], len(report.parts["load"])) == ([], 1)
    assert any("windows: not measured: dpdk-testpmd" in note for note in report.notes)


@pytest.mark.usefixtures("parts")
def test_the_tables_show_every_part(said: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    print_section(measured(said))
    shown = capsys.readouterr().out
    for title in ("Added cost", "Instructions", "End to end", "Elettra", "Adaptive polling", "Cost against", "Memory"):
        assert title in shown
    assert "core to core 65 ns" in shown
    assert shown.count("stall floor: ") == 2
    assert "share of the core: programs that poll had 100.0%" in shown


def test_what_the_server_lost_is_reported_by_place(parts: Parts, said: list[str]) -> None:
    lossy = [
        window(lost=7, faults={"missing": 5, "out_of_order": 2}),
        window("testpmd"),
        window(lost=1, faults={"missing": 1}),
    ]
    parts["windows"] = turns(lossy)
    tables = measured(said).tables
    (table,) = (table for table in tables if table.title.startswith("Lost by our server"))
    assert list(table.head)[1:6] == ["windows", "missing", "refused", "duplicate", "out of order"]
    assert [list(row)[1:6] for row in table.rows] == [["2", "6", "0", "0", "2"]]
