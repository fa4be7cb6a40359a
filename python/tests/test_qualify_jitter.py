# SPDX-License-Identifier: Apache-2.0
"""What is made of groups that nobody received, and of stalls that nobody had: shares, quantiles, loss, floors."""

from pathlib import Path

import numpy as np
import pytest

from ringmaster.bench.account import Traffic
from ringmaster.bench.bare_clock import READING_US, Bare, Watch, read_watches
from ringmaster.bench.bins import counts, quantile, share_words, shares
from ringmaster.bench.carried import Carried, Cores
from ringmaster.bench.distribution import beyond
from ringmaster.bench.groups import ROW, Floats, Rows, groups_of, not_sent, read_rows, took_us
from ringmaster.bench.jitter import Jitter, Options
from ringmaster.bench.jitter_tables import Measured, Turn
from ringmaster.bench.links import Pair
from ringmaster.report.conditions import StallFloor
from ringmaster.report.headlines import of_all
from ringmaster.report.plain import as_json
from ringmaster.report.published import JITTER_ROWS
from ringmaster.report.text import print_section

TSC_HZ, RATE_HZ = 2e9, 10_000.0
PERIOD = 200_000
"""Ticks."""


def rows(lasts: dict[int, int], link: int = 0, datagrams: int = 24) -> Rows:
    """Groups by cycle, the last stamp of each."""
    made = np.zeros(len(lasts), ROW)
    made["link"], made["datagrams"] = link, datagrams
    made["cycle"], made["last"] = list(lasts), list(lasts.values())
    made["first"] = made["last"] - 1000
    return made


def displaced(jitters_us: list[float]) -> Rows:
    """Groups whose distances differ from nominal by these."""
    steps = [PERIOD + round(us * TSC_HZ / 1e6) for us in jitters_us]
    lasts = np.cumsum([10**12, *steps])
    return rows(dict(enumerate(map(int, lasts))))


def test_every_jitter_is_in_the_row_of_the_poster_that_it_belongs_to() -> None:
    known = [0.0, 0.5, -1.5, 2.5, 3.5, -4.5, 5.0, 9.5, -19.0, 25.0, 39.0, 45.0, 1000.0]
    found = groups_of(displaced(known), 0, 24, RATE_HZ, TSC_HZ)
    np.testing.assert_allclose(found.jitter_us, np.abs(known), atol=1e-6)
    assert dict(zip(JITTER_ROWS, counts(found.jitter_us), strict=True)) == {
        "< 1 µs": 2, "< 2 µs": 1, "< 3 µs": 1, "< 4 µs": 1, "< 5 µs": 1, "< 10 µs": 2,
        "< 20 µs": 1, "< 30 µs": 1, "< 40 µs": 1, "> 40 µs": 2,
    }  # fmt: skip
    assert sum(shares(found.jitter_us)) == pytest.approx(1.0)
    assert (found.cycles, found.apart) == (len(known) + 1, 0)


def test_cycles_that_lost_something_are_counted_apart() -> None:
    lasts = {cycle: cycle * PERIOD for cycle in range(20) if cycle not in (7, 8)}
    made = rows(lasts)
    made["datagrams"][made["cycle"] == 12] = 23
    found = groups_of(made, 0, 24, RATE_HZ, TSC_HZ)
    # 7, 8, 9 and 12, 13 have no jitter, and neither has the first.
    assert (found.cycles, found.apart, len(found.jitter_us)) == (20, 5, 14)
    assert np.all(found.jitter_us == 0)


def test_links_are_reported_apart_and_order_does_not_matter() -> None:
    one, other = rows({c: c * PERIOD for c in range(6)}), rows({c: c * (PERIOD + 2000) for c in range(6)}, link=1)
    mixed = np.concatenate([other, one])[::-1]
    assert groups_of(mixed, 0, 24, RATE_HZ, TSC_HZ).jitter_us.max() == 0
    np.testing.assert_allclose(groups_of(mixed, 1, 24, RATE_HZ, TSC_HZ).jitter_us, 1.0)


def test_a_cycle_of_which_nothing_came_is_lost() -> None:
    made = rows({c: c * PERIOD for c in range(10)})
    made[4] = (0, 0, 4, 0, 0)
    found = groups_of(made, 0, 24, RATE_HZ, TSC_HZ)
    assert (found.cycles, found.apart, found.jitter_us.max()) == (10, 2, 0)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_groups_have_few_distances(count: int) -> None:
    found = groups_of(rows({c: c * PERIOD for c in range(count)}), 0, 24, RATE_HZ, TSC_HZ)
    assert (found.cycles, found.apart, len(found.jitter_us)) == (count, 0, max(0, count - 1))


def test_what_link_and_receiver_took_is_from_the_first_sent_to_the_last_that_came() -> None:
    sent = rows({1: 1000, 2: 2000, 3: 3000, 5: 5000})
    received = rows({2: 2200, 3: 3100, 4: 4400, 5: 5600})
    received["datagrams"][-1] = 3
    np.testing.assert_allclose(took_us(sent, received, 0, 24, TSC_HZ), [0.6, 0.55])


def test_rows_are_read_as_they_were_written(tmp_path: Path) -> None:
    made = displaced([1.0, 2.0])
    made.tofile(tmp_path / "cycles")
    assert (tmp_path / "cycles").stat().st_size == 32 * len(made)
    assert np.array_equal(read_rows(tmp_path / "cycles"), made)


def test_shares_are_written_as_the_poster_writes_them() -> None:
    said = {0.0: "0%", 0.9991: "99.91%", 0.00049: "0.049%", 0.0005: "0.05%", 0.000018: "0.0018%", 1.0: "100.00%"}
    assert {share: share_words(share) for share in said} == said
    assert share_words(4e-8) == "4e-06%"


def test_quantiles_are_values_that_were_there() -> None:
    values = np.arange(1.0, 10_001.0)[::-1]
    assert [quantile(values, share) for share in (0.5, 0.9995, 1.0)] == [5000.0, 9995.0, 10_000.0]
    assert quantile(np.array([3.0]), 0.9995) == 3.0
    assert quantile(np.empty(0), 0.5) is None


def test_the_tail_falls_to_the_largest_value() -> None:
    points = beyond(np.arange(1000.0), 0)
    assert points == sorted(points)
    assert (points[0][1], points[-1]) == (1.0, (999.0, 0.001))
    assert beyond(np.empty(0), 0) == []


def watch(*gaps: tuple[int, int], end: int = 10 * PERIOD) -> Watch:
    return Watch(0, end, np.array(gaps, dtype=np.int64).reshape(-1, 2))


def test_what_is_due_in_a_gap_happens_at_its_end() -> None:
    due = np.array([0, 10, 15, 20, 30], dtype=np.int64)
    assert list(watch((10, 20), (25, 31)).happens(due)) == [0, 20, 20, 20, 31]
    assert list(watch().happens(due)) == list(due)


def bare(*watches: Watch) -> Bare:
    return Bare(StallFloor(1.0, 0.0, 0.0, 0, TSC_HZ), dict(enumerate(watches)))


def expect(jitter_us: Floats, exactly: list[float]) -> None:
    """But for what no loop can tell."""
    np.testing.assert_allclose(jitter_us, np.maximum(exactly, READING_US), rtol=1e-9)


def test_a_gap_moves_one_arrival_and_with_it_two_distances() -> None:
    found = bare(watch((3 * PERIOD - 100, 3 * PERIOD + 10_000))).jitter_us(RATE_HZ, [0])
    expect(found, [0, 0, 5, 5, 0, 0, 0, 0, 0])


def test_a_long_gap_brings_arrivals_together() -> None:
    """The first of them is three periods late, the next two, one, none."""
    found = bare(watch((2 * PERIOD, 5 * PERIOD))).jitter_us(RATE_HZ, [0])
    expect(found, [0, 300, 100, 100, 100, 0, 0, 0, 0])


def test_a_late_sender_may_meet_a_receiver_that_stalls() -> None:
    sender, receiver = watch((4 * PERIOD, 4 * PERIOD + 2000)), watch((4 * PERIOD + 1000, 4 * PERIOD + 6000))
    found = bare(sender, receiver)
    expect(found.jitter_us(RATE_HZ, [0]), [0, 0, 0, 1, 1, 0, 0, 0, 0])
    expect(found.jitter_us(RATE_HZ, [1]), [0] * 9)
    expect(found.jitter_us(RATE_HZ, [0, 1]), [0, 0, 0, 3, 3, 0, 0, 0, 0])


def test_only_the_time_in_which_both_were_watched_counts() -> None:
    later = Watch(4 * PERIOD, 20 * PERIOD, np.empty((0, 2), np.int64))
    assert len(bare(watch(), later).jitter_us(RATE_HZ, [0, 1])) == 5
    assert len(bare(watch(), Watch(11 * PERIOD, 12 * PERIOD, later.gaps)).jitter_us(RATE_HZ, [0, 1])) == 0


def test_gaps_are_read_by_core(tmp_path: Path) -> None:
    written = np.array([[3, 100, 900], [3, 200, 250], [3, 300, 400], [5, 110, 910]], "<u8")
    written.tofile(tmp_path / "gaps")
    found = read_watches(tmp_path / "gaps")
    assert {core: (one.begin, one.end, one.gaps.tolist()) for core, one in found.items()} == {
        3: (100, 900, [[200, 250], [300, 400]]),
        5: (110, 910, []),
    }


def test_cycles_that_the_sender_left_out_are_not_lost() -> None:
    sent, received = rows({c: c * PERIOD for c in range(10)}), rows({c: c * PERIOD for c in range(2, 8)})
    sent["datagrams"][[0, 3, 4]] = 0
    assert not_sent(sent, received, 0) == 2, "cycle 0 is before the window"
    assert not_sent(sent, received, 1) == 0


def turn(lasts: Rows, lost: int) -> Turn:
    """One of the memif kind, one link."""
    groups = (groups_of(lasts, 0, 24, RATE_HZ, TSC_HZ),)
    link = {"link": "memif:x", "core": 1, "received": 9600, "lost": lost, "instruments": []}
    core = {"core": 1, "busy_share": 0.03, "share": 1.0}
    said = {"tsc_hz": TSC_HZ, "seconds": 0.04, "cores": [core], "links": [link]}
    pair = Pair("memif", "memif", ("a",), ("b",))
    run = Carried(
        pair, Cores(0, (1,)), Traffic(24, RATE_HZ, 64), {"behind_cycles": 0, "share": 0.9}, said, lasts, lasts
    )
    return Turn(groups, groups, (np.array([2.0, 3.0]),), 1, run)


def test_a_section_tells_the_poster_s_table_and_what_stands_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    one = turn(displaced([0.5] * 9 + [50.0] + [1.5] * 90), lost=24 + 5)
    kind = Measured("memif", 1, one.run, [one])
    look = bare(watch((3 * PERIOD - 100, 3 * PERIOD + 10_000)), watch())
    measured = Jitter(Options(instruments=24, links=1))
    measured.cores, measured.kinds, measured.bare, measured.probes_ns = Cores(0, (1,)), [kind], [look], [100.0]
    made = measured.section()
    table, figures, throughput, stated = made.tables
    assert ("POSIX socket, packets received in less than 10 µs", "88 %") in [row[:2] for row in stated.rows]
    assert made.conditions is not None
    assert made.conditions.core_share == of_all([0.9, 1.0], "looks")
    assert table.head == ("jitter", "memif", "left, memif", "clock r", "clock s+r", "poster, DPDK")
    assert table.rows[1] == ("< 2 µs", "90.00%", "90.00%", "0%", "0%", "99.88–99.98%")
    assert table.rows[0][1:5] == ("9%", "9%", "100.00%", "77.78%")
    assert figures.rows[0] == ("memif", "1.5", "1.5", "50", "50", "2", "3", "101", "0", "5", "1")
    # 9600 in 0.04 s are 0.24 Mpps, which took 3 % of the core.
    assert throughput.rows[0][1:] == ("1", "0.24", "3", "8", "0.24", "29")
    said = as_json(made)
    assert (said["memif.p99_95_us"], said["bare_clock.p99_95_us"]) == pytest.approx((50.0, 5.0))
    assert said["memif.estimated_mpps"] == pytest.approx(8.0)
    print_section(made)
    shown = capsys.readouterr().out
    assert max(len(line) for line in shown.splitlines() if "│" in line) <= 120, "fits a terminal"
    assert "poster, socket" in shown


def test_a_section_of_nothing_is_one_too() -> None:
    measured = Jitter(Options())
    measured.cores, measured.interrupted = Cores(0, (1,)), True
    made = measured.section()
    assert as_json(made)["interrupted"]
    assert made.tables[0].rows[0][1] == "–"
