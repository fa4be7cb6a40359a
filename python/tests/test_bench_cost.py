# SPDX-License-Identifier: Apache-2.0
"""The parts of the bench that read another program's figures, or argue without one."""

import json
from pathlib import Path

import numpy as np
import pytest

from ringmaster.bench import added, instructions, polling
from ringmaster.bench.ingest import Ingest, Options
from ringmaster.bench.log import Log, NotMeasured
from ringmaster.bench.measure import Setup, measure, of_words
from ringmaster.plan import memory
from ringmaster.plan.memory import frame_bytes

SPREAD = {"median": 2.0, "low": 1.0, "high": 3.0, "p99": 4.0, "max": 4.0, "count": 21}


def figure(name: str, added_ns: float) -> dict[str, object]:
    return {
        "name": name,
        "datagrams": 1024,
        "touched_bytes": 262144,
        "poll_ns": SPREAD,
        "full_ns": SPREAD,
        "added_ns": SPREAD | {"median": added_ns},
    }


def said(instruments: int = 96, simd: str = "AVX-512", **more: object) -> str:
    """What `ringmaster-measure` prints."""
    whole = {
        "instruments": instruments,
        "frame_bytes": 106,
        "rates": ["low_latency"],
        "order": "random",
        "simd": simd,
        "huge_pages": False,
        "ring_bytes": 1 << 29,
        "rounds": 21,
        "figures": [figure("hot", 5.0), figure("cold", 9.0)],
    }
    return json.dumps(whole | more)


@pytest.fixture
def log() -> Log:
    said: list[str] = []
    return Log(said.append)


def fake_program(directory: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Puts a program of ours in place of it."""
    program = directory / "ringmaster-measure"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("RINGMASTER_LIBEXEC", str(directory))


def test_the_figures_are_read_from_among_the_words() -> None:
    measured = of_words(f"EAL: no huge pages\n{said()}\nringmaster-measure: done", 0)
    assert (measured.simd, measured.costs[1].name, measured.costs[1].added_ns.median) == ("AVX-512", "cold", 9.0)


@pytest.mark.parametrize("words", ["", "nothing", "{}", said(figures=[]), said(figures=None)])
def test_words_without_figures_are_no_measurement(words: str) -> None:
    with pytest.raises(NotMeasured, match="printed no figures"):
        of_words(words, 0)


def test_a_failure_tells_the_last_words() -> None:
    with pytest.raises(NotMeasured, match="status 1: ringmaster-measure: no memory"):
        of_words("first\nringmaster-measure: no memory", 1)


def test_a_run_hands_over_a_configuration_and_its_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "kept.json"
    fake_program(tmp_path, monkeypatch, f"cp $1 {kept}; test $2 = --rounds && echo '{said()}'")
    measured = measure(Setup(8, "low_latency", 1 << 14), ["--rounds", "5"])
    assert 0 <= measured.core_share <= 1.1
    config = json.loads(kept.read_text())
    assert len(config["instruments"]) == len({entry["source"] for entry in config["instruments"]}) == 8
    assert [rate["filter"] for rate in config["rates"]] == ["low_latency"] * 3
    assert config["buffers"]["turn_records"] == 1 << 14
    assert {len(entry["lanes"]) for entry in config["instruments"]} == {12}


def test_both_chains_are_the_servers_default() -> None:
    assert "rates" not in json.loads(Setup(8, "both", 1 << 14).configuration())


def test_a_program_that_fails_leaves_a_note_and_no_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_program(tmp_path, monkeypatch, "echo it is broken; exit 1")
    made = Ingest(Options(("added",), rounds=3))
    for turn in made.turns_of("added"):
        made.do(turn)
    assert made.rows == []
    assert made.notes
    assert all("it is broken" in note for note in made.notes)


def test_cases_cover_every_size_and_all_instructions_beside_each_other() -> None:
    cases = added.cases(["scalar", "avx2", "avx512"])
    assert {case.simd for case in cases if case.instruments == 96} == {"scalar", "avx2", "avx512"}
    assert {(case.instruments, case.chain) for case in cases} == set(added.TARGET_NS)


def test_instruction_sets_are_those_of_the_cpu(tmp_path: Path) -> None:
    info = tmp_path / "cpuinfo"
    info.write_text("flags\t: fpu sse2 avx2 bmi2\n")
    assert added.simds(info) == ["scalar", "avx2"]


@pytest.mark.parametrize(("instruments", "records"), [(1, 1 << 20), (8, 1 << 20), (96, 1 << 16), (100_000, 1 << 14)])
def test_rings_are_powers_of_two_within_the_bounds(instruments: int, records: int) -> None:
    assert added.turn_records(instruments) == records


def row(chain: str, simd: str, name: str, ns: float) -> added.Row:
    measured = of_words(said(simd=simd, figures=[figure(name, ns)]), 0)
    return added.rows_of(added.Case(96, chain, simd), measured)[0]


def test_the_headline_is_cold_and_of_the_best_instructions() -> None:
    rows = [
        row("low_latency", "scalar", "cold", 50.0),
        row("low_latency", "AVX-512", "hot", 5.0),
        row("low_latency", "AVX-512", "cold", 9.0),
        row("both", "AVX2", "cold", 14.0),
    ]

    def headline(available: list[str]) -> dict[str, list[float]]:
        found = added.headline_rows(rows, available)
        return {chain: [one.added_ns for one in visits] for chain, visits in found.items()}

    assert headline(["scalar", "avx2", "avx512"]) == {"low_latency": [9.0], "both": []}
    assert headline(["scalar", "avx2"]) == {"low_latency": [], "both": [14.0]}


ANNOTATED = """
--------------------------------------------------------------------------------
Ir
--------------------------------------------------------------------------------

 1,100 ( 1.00%)  < measure.c:fill (7x) [/usr/bin/ringmaster-measure]
 1,100 ( 1.00%)  *  feed.c:write_frame [/usr/bin/ringmaster-measure]

 400,000 (40.00%)  < measure.c:hot (3x) [/usr/bin/ringmaster-measure]
 409,600 (41.00%)  < measure.c:cold (1x) [/usr/bin/ringmaster-measure]
 819,200 (81.00%)  *  measure.c:drain_whole [/usr/bin/ringmaster-measure]

 81,920 ( 8.00%)  < measure.c:drain_times (2x) [/usr/bin/ringmaster-measure]
 81,920 ( 8.00%)  *  measure.c:drain_unseen [/usr/bin/ringmaster-measure]
"""


def test_instructions_are_those_of_a_function_and_all_it_calls() -> None:
    assert instructions.inclusive(ANNOTATED, "drain_whole") == (819_200, 4)
    with pytest.raises(NotMeasured, match="no function drain_nothing"):
        instructions.inclusive(ANNOTATED, "drain_nothing")
    counted = instructions.row_of(ANNOTATED, Setup(96, "both", 1 << 14), 1024, "AVX2")
    assert (counted.full, counted.poll, counted.added, counted.packets) == (200.0, 40.0, 160.0, 4096)


def test_without_valgrind_there_is_no_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(NotMeasured, match="valgrind is not installed"):
        instructions.count("both")


CACHE_BYTES = 32 << 20


def test_a_streamed_record_is_all_that_a_cached_packet_costs_but_its_decimated_share() -> None:
    traffic = memory.traffic(96, 12, "low_latency", True, CACHE_BYTES)
    assert traffic.frame_bytes == frame_bytes(12) == 106
    assert traffic.cpu_bytes == pytest.approx(64 + 128 * (1 / 12 + 1 / 120 + 1 / 120_000))
    assert traffic.dma_bytes == 0


def test_without_cache_injection_every_line_of_a_frame_is_fetched() -> None:
    with_it, without = (memory.traffic(96, 12, "both", injection, CACHE_BYTES) for injection in (True, False))
    assert without.cpu_bytes - with_it.cpu_bytes == pytest.approx(2 * 64)
    assert without.dma_bytes == 2 * 64 + 16


def test_a_pool_larger_than_the_cache_spoils_cache_injection() -> None:
    large = memory.Costs(pool_buffers=1 << 20)
    assert memory.traffic(96, 12, "both", True, CACHE_BYTES, large).cpu_bytes > 300


def test_filters_that_do_not_fit_the_cache_cost_their_lines() -> None:
    small, large = (memory.traffic(count, 12, "both", True, CACHE_BYTES).cpu_bytes for count in (96, 5000))
    assert large > small + 1000


def test_the_largest_cache_is_the_last_level(tmp_path: Path) -> None:
    for index, size in enumerate(("32K", "1024K", "64M")):
        (tmp_path / f"index{index}").mkdir()
        (tmp_path / f"index{index}" / "size").write_text(size + "\n")
    assert memory.last_level_cache_bytes(tmp_path) == 64 << 20
    assert memory.last_level_cache_bytes(tmp_path / "none") == CACHE_BYTES


def test_bursts_are_reported_by_equal_arrivals() -> None:
    tsc = np.array([1, 1, 5, 9, 9, 9, 12, 12], np.uint64)
    assert polling.burst_sizes(tsc).tolist() == [1, 3]
    assert polling.between_ns(tsc, 1e9).tolist() == [0, 4, 4, 0, 0, 3, 0]
    assert len(polling.burst_sizes(np.array([], np.uint64))) == 0


def test_percentiles_of_nothing_are_no_numbers() -> None:
    assert all(np.isnan(value) for value in polling.percentiles(np.array([])).values())
    assert polling.percentiles(np.arange(101.0))["p50"] == 50.0


def test_the_curves_reach_from_one_source_to_512_and_over_gigabytes() -> None:
    cases = added.curves()
    assert [case.instruments for case in cases if case.curve == "sources"] == [1, 8, 32, 96, 168, 512]
    rings = [case.rings_bytes for case in cases if case.curve == "rings"]
    assert (min(rings), max(rings)) == (1 << 20, 4 << 30)


def test_a_point_of_a_curve_is_cold_and_says_its_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: Log
) -> None:
    fake_program(tmp_path, monkeypatch, f"echo '{said(huge_pages=True)}'")
    (point,) = added.Case(1, "both", curve="sources", turn_records=1 << 14).take(3, log)
    assert (point.figure, point.pages, point.rings_mib) == ("cold", "2 MiB", 1)


def test_memory_is_read_from_the_kernels_figures(tmp_path: Path) -> None:
    info = tmp_path / "meminfo"
    info.write_text("MemAvailable:   1024 kB\nHugePages_Free:        3\n")
    assert added.memory_bytes("MemAvailable", info) == 1 << 20
    assert added.memory_bytes("HugePages_Free", info) == 6 << 20
    assert added.memory_bytes("Nothing", info) == 0
