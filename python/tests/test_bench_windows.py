# SPDX-License-Identifier: Apache-2.0
"""What is made of windows: their classes, pairs of them, ratios, and what load they allow."""

import json

import pytest
from bench_windows import window

from ringmaster.bench import ingest
from ringmaster.bench.ingest import LONG, SHORT, Ingest, Options
from ringmaster.bench.load import held_of, turn_rate_for
from ringmaster.bench.loads import elettra
from ringmaster.bench.receivers import Observed, core_gone, faults_of, parse_sent
from ringmaster.bench.setups import TURN_RATE_HZ
from ringmaster.bench.windows import (
    SUB_WINDOW_S,
    Comparison,
    Window,
    compare,
    is_disturbed,
    pairs_of,
    ratios_of,
    sub_rates,
)
from ringmaster.report.conditions import StallFloor, class_of
from ringmaster.report.headlines import Figure


@pytest.mark.parametrize(
    ("before", "after", "distance"), [(65, 70, "near"), (250, 400, "far"), (65, 250, "mixed"), (250, 65, "mixed")]
)
def test_a_class_is_that_of_both_probes(before: float, after: float, distance: str) -> None:
    assert class_of(before, after) == distance


def test_pairs_are_adjacent_windows_in_either_order() -> None:
    windows = [window(rate_pps=12e6), window("testpmd", 10e6), window("testpmd", 10e6), window(rate_pps=9e6)]
    assert [pair.ratio for pair in pairs_of(windows)] == pytest.approx([1.2, 0.9])
    assert ratios_of(windows, "106-byte frames of 8") == pytest.approx([1.2, 0.9])
    assert ratios_of(windows, "62-byte frames of 8") == []


def test_the_ratio_is_that_of_one_class() -> None:
    far = [window(rate_pps=12e6, distance="far"), window("testpmd", 6e6, distance="far")]
    near = [window(rate_pps=9e6), window("testpmd", 10e6)]
    assert ratios_of(far + near, "106-byte frames of 8") == pytest.approx([0.9])
    assert ratios_of(far, "106-byte frames of 8") == pytest.approx([2.0])


@pytest.mark.parametrize(
    "spoilt",
    [
        window(distance="far"),
        window(sender_share=0.94),
        window(receiver_share=0.5),
        window(lost=1),
        window(load="62-byte frames of 8"),
        window("testpmd"),
        window(sub_rates_pps=(10e6,) * 8 + (4e6,) * 2),
    ],
)
def test_windows_that_cannot_be_compared_are_no_pair(spoilt: Window) -> None:
    assert pairs_of([spoilt, window("testpmd")]) == []
    assert pairs_of([window("testpmd"), spoilt]) == []


def test_a_machine_that_changed_within_a_window_gives_no_pair() -> None:
    assert pairs_of([window(distance="mixed"), window("testpmd", distance="mixed")]) == []


def test_a_window_without_its_partner_is_no_pair() -> None:
    assert pairs_of([window()]) == []


RATE = ("rate_pps",)


def known(row: Comparison, peer: str, name: str) -> Figure:
    """A figure that there is."""
    found = row.figure(peer, name)
    assert found is not None
    return found


def test_windows_are_compared_within_their_class_and_all_together() -> None:
    near = [window(rate_pps=13e6), window("testpmd", 14e6)]
    far = [window(rate_pps=5e6, distance="far"), window("testpmd", 4e6, distance="far")]
    lossy = [window(rate_pps=20e6, lost=3), window("testpmd", 14e6)]
    rows = {row.distance: row for row in compare([*near, *far, *lossy], RATE)}
    assert list(rows) == ["near", "far", "all"]
    assert (known(rows["near"], "ringmaster", "rate_pps").median, rows["near"].lossy) == (13e6, 1)
    assert known(rows["near"], "testpmd", "rate_pps").count == 2
    assert known(rows["far"], "ringmaster", "ratio").median == pytest.approx(1.25)
    assert known(rows["all"], "ringmaster", "ratio").count == 2


@pytest.mark.parametrize(
    ("rates", "disturbed"),
    [
        ((), False),
        ((10.0,) * 10, False),
        ((10.0,) * 9 + (1.0,), False),  # a stall is a stall
        ((10.0,) * 8 + (4.9,) * 2, True),
        ((10.0,) * 8 + (5.0,) * 2, False),
        ((4.0,) * 6 + (10.0,) * 4, True),  # most of the time it was far
        ((0.0,) * 10, False),
        ((10.0,) * 7 + (14.0, 7.0, 6.0), False),
    ],
)
def test_a_window_whose_rate_falls_and_rises_is_disturbed(rates: tuple[float, ...], disturbed: bool) -> None:
    assert is_disturbed(rates) == disturbed
    assert window(sub_rates_pps=rates).counts != disturbed


class Scripted:
    """A sender whose counter goes on with a made-up clock."""

    def __init__(self, rates: list[float], late_s: float = 0.0) -> None:
        self.rates, self.late_s, self.now, self.count = rates, late_s, 5.0, 1000.0

    def sent(self) -> int:
        """Whole datagrams."""
        return round(self.count)

    def rest(self, seconds: float) -> None:
        """Lets time pass at the next rate."""
        seconds += self.late_s
        self.count += seconds * self.rates.pop(0)
        self.now += seconds


def test_a_window_is_looked_at_in_parts() -> None:
    sender = Scripted([20e6, 20e6, 5e6, 20e6])
    assert sub_rates(sender, 4 * SUB_WINDOW_S - 1e-9, lambda: sender.now, sender.rest) == pytest.approx(
        (20e6, 20e6, 5e6, 20e6), rel=1e-3
    )


def test_a_look_that_comes_late_ends_a_longer_part() -> None:
    sender = Scripted([20e6, 20e6], late_s=SUB_WINDOW_S)
    assert sub_rates(sender, 4 * SUB_WINDOW_S - 1e-9, lambda: sender.now, sender.rest) == pytest.approx(
        (20e6, 20e6), rel=1e-3
    )


def test_disturbed_windows_are_left_out_and_counted() -> None:
    disturbed = (20e6,) * 5 + (4e6,) * 5
    windows = [
        *(window(rate_pps=13e6), window("testpmd", 14e6)),
        *(window(rate_pps=15e6), window("testpmd", 5e6, sub_rates_pps=disturbed)),
        *(window(rate_pps=5e6, sub_rates_pps=disturbed), window("testpmd", 14e6)),
    ]
    (near, every) = compare(windows, RATE)
    assert [pair.ratio for pair in pairs_of(windows)] == pytest.approx([13 / 14, 15 / 14])  # beside the same of testpmd
    assert near.disturbed == every.disturbed == {"ringmaster": 1, "testpmd": 1}
    assert known(near, "ringmaster", "rate_pps").count == 2
    (alone, _) = compare([window(sub_rates_pps=disturbed)], RATE)
    assert (alone.figure("ringmaster", "rate_pps"), alone.disturbed) == (None, {"ringmaster": 1})


def test_no_receiver_always_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "has_testpmd", lambda: True)
    names = [turn.name for turn in Ingest(Options(("windows",), windows=4)).turns_of("windows")][:8]
    assert sorted(names[::2]) == ["ringmaster"] * 2 + ["testpmd"] * 2
    assert all(set(pair) == {"ringmaster", "testpmd"} for pair in zip(names[::2], names[1::2], strict=True))


def test_frames_are_of_the_sizes_that_their_names_tell() -> None:
    assert (LONG.name, SHORT.name) == ("106-byte frames of 8", "62-byte frames of 8")


def test_the_sender_sums_itself_up_on_its_last_line() -> None:
    said = {"sent": 900, "seconds": 2.0, "turn_rate_hz": 100.0, "waits": 3, "longest_wait_us": 7.5}
    sent = parse_sent("EAL: something\n" + json.dumps(said))
    assert (sent.rate_pps, sent.longest_wait_us, sent.waits) == (450.0, 7.5, 3)


def test_everything_out_of_its_place_is_wrong() -> None:
    stream = {
        "skipped": 5,
        "out_of_order": 2,
        "duplicate": 1,
        "turn_ahead": 1,
        "turn_behind": 0,
        "turn_out_of_range": 0,
        "unanchored": 0,
    }
    port = {"received": 10, "decoded": 8, "fragment": 0, "punted": 1}
    faults = faults_of({"stream/bpm01": stream, "port/ring": port, "core/1": {}}, 4)
    assert faults == {"lost": 3, "duplicate": 1, "out_of_order": 2, "turn_ahead": 1, "refused": 1, "missing": 4}
    assert faults_of({"stream/bpm01": dict.fromkeys(stream, 0), "port/ring": dict.fromkeys(port, 0)}, 0) == {}


def test_a_window_sees_only_what_its_core_did_meanwhile() -> None:
    seen = Observed((1.0, 1.0), {"core/1": {"packets": 10}}, {"core/1": {"packets": 25}, "port/ring": {}}, None)
    assert core_gone(seen) == {"packets": 15}


def test_the_elettra_load_is_ten_million_a_second() -> None:
    load = elettra()
    assert load.packets_per_turn == pytest.approx(8 + 96 / 116)
    assert load.packets_per_turn * TURN_RATE_HZ == pytest.approx(10.21e6, rel=1e-3)


def test_the_load_is_lowered_to_what_testpmd_exceeds() -> None:
    packets = elettra().packets_per_turn
    assert turn_rate_for(None, packets) == TURN_RATE_HZ
    assert turn_rate_for(1.31 * TURN_RATE_HZ * packets, packets) == TURN_RATE_HZ
    lowered = turn_rate_for(6e6, packets)
    assert lowered < TURN_RATE_HZ
    assert 6e6 >= 1.3 * lowered * packets > 0.99 * 6e6


FLOOR = StallFloor(60.0, 4000.0, 350.0, 3, 2.6e9)


@pytest.mark.parametrize(
    ("sent_turns", "lost", "in_time", "held"), [(1.0, 0, True, True), (1.0, 1, True, False), (0.9, 0, False, False)]
)
def test_a_load_is_held_in_time_and_without_loss(sent_turns: float, lost: int, in_time: bool, held: bool) -> None:
    done = held_of(elettra(), 1e6, window(turn_rate_hz=sent_turns * 1e6, lost=lost), [15e6, 12e6], FLOOR)
    assert (done.in_time, done.held, done.scaled, done.lost) == (in_time, held, True, lost)
    assert done.headroom == pytest.approx(12e6 / done.load_pps)


def test_without_testpmd_nothing_is_reported_of_headroom() -> None:
    done = held_of(elettra(), TURN_RATE_HZ, window(turn_rate_hz=TURN_RATE_HZ), [], FLOOR)
    assert (done.headroom, done.scaled, done.held) == (None, False, True)
