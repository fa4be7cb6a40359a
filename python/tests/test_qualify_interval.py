# SPDX-License-Identifier: Apache-2.0
"""What is made of inter-packet times that nobody measured: averages, quantiles, bins; and of streams' stamps."""

from typing import Any

import numpy as np
import pytest
from conftest import MakeOwner
from fabric import clock, parameter, stream

from ringmaster.bench import interval
from ringmaster.bench.account import Traffic, generator_words, receiver_words
from ringmaster.bench.carried import Carried, Cores, place
from ringmaster.bench.groups import ROW
from ringmaster.bench.interval import Interval, Measured, Options, rounded
from ringmaster.bench.interval_tables import BINS, Observed, bins, by_instrument
from ringmaster.bench.intervals import Instrument, of_caught, of_histogram, of_lengths, of_stamps, together
from ringmaster.bench.links import Pair, mtu_of
from ringmaster.bench.log import NotMeasured
from ringmaster.fabric.layout import ElementType
from ringmaster.report.plain import as_json
from ringmaster.report.text import print_section

TSC_HZ = 2e9


def test_quantiles_are_by_count() -> None:
    counted = of_lengths(np.array([500.0] * 900 + [900.0] * 99 + [7000.0]))
    assert (counted.total, counted.quantile_ns(0.5), counted.quantile_ns(0.99), counted.quantile_ns(1.0)) == (
        1000, 500.0, 900.0, 7000.0,
    )  # fmt: skip
    assert of_lengths(np.empty(0)).quantile_ns(0.5) is None


def test_a_bucket_stands_for_its_end_and_the_last_for_the_longest() -> None:
    # 1024 … 1087 ticks is one bucket; 2048 … 2175 another.
    counted = of_histogram([[512.0, 3], [1024.0, 1]], 1050.0, TSC_HZ)
    assert counted.length_ns.tolist() == [1087 / 2, 1050.0]
    assert counted.quantile_ns(0.5) == 1087 / 2
    assert of_histogram([[3.5, 1]], 3.5, TSC_HZ).length_ns.tolist() == [3.5]


def test_parts_are_counted_together() -> None:
    whole = together([of_lengths(np.array([1.0, 2.0])), of_lengths(np.array([2.0, 3.0])), of_lengths(np.empty(0))])
    assert (whole.length_ns.tolist(), whole.count.tolist()) == ([1.0, 2.0, 3.0], [1, 2, 1])
    assert together([]).total == 0
    values, larger = zip(*whole.tail(), strict=True)
    assert values == (1.0, 2.0, 3.0)
    assert larger == pytest.approx((0.75, 0.25, 0.25))


def test_stamps_give_averages_per_turn_and_intervals_of_neighbours() -> None:
    turn = np.array([10, 11, 12, 14, 15], np.uint64)
    tsc = np.array([1000, 1000, 5000, 9000, 11_000], np.uint64)
    one = of_stamps("bpm", [(turn, tsc), (turn[:1], tsc[:1])], TSC_HZ)
    assert one is not None
    assert one.mean_ns == pytest.approx(10_000 / 5 / 2)
    assert (one.least_ns, one.most_ns, one.lost) == (0.0, 2000.0, 1)
    assert one.single.length_ns.tolist() == [0.0, 1000.0, 2000.0]
    assert of_stamps("bpm", [(turn[::2][:2], tsc[:2])], TSC_HZ) is None, "no two follow each other"


def test_averages_fall_into_equal_bins() -> None:
    labels, counts = bins([864.0] * 5 + [865.5] * 2 + [864.75])
    assert (len(labels), counts[0], counts[-1], counts[BINS // 2], sum(counts)) == (BINS, 5, 2, 1, 8)
    assert labels[BINS // 2] == "864.75"
    assert sum(bins([864.0, 864.0])[1]) == 2


def received(means_ns: list[float], lost: int = 0) -> dict[str, Any]:
    """As ringmaster-receiver says it."""
    instruments = [
        {"flow": flow, "received": 1001, "lost": lost, "mean_ns": mean, "min_ns": 70.0, "max_ns": 9000.0,
         "histogram": [[864.0, 990], [8192.0, 10]]}
        for flow, mean in enumerate(means_ns)
    ]  # fmt: skip
    link = {"link": "memif:x", "core": 1, "received": 1001 * len(means_ns), "lost": lost * len(means_ns)}
    core = {"core": 1, "busy_share": 0.5, "share": 1.0}
    return {"tsc_hz": TSC_HZ, "seconds": 0.001, "cores": [core], "links": [link | {"instruments": instruments}]}


def carried(said: dict[str, Any]) -> Carried:
    none = np.empty(0, ROW)
    pair = Pair("memif", "memif", ("a",), ("b",))
    return Carried(pair, Cores(0, (1,)), Traffic(7, 1e6, 64), {"behind_cycles": 0, "share": 0.9}, said, none, none)


def test_what_the_receiver_says_is_read() -> None:
    said = received([864.1, 864.2])
    said["links"][0]["instruments"].append({"flow": 2, "received": 1, "lost": 4, "histogram": []})
    one, other = of_caught(said)
    assert (one.name, one.mean_ns, other.mean_ns, one.single.total) == ("0", 864.1, 864.2, 1000)
    assert one.single.quantile_ns(0.99) == pytest.approx(864 + 32, abs=1)


def test_a_section_tells_nominal_beside_measured(capsys: pytest.CaptureFixture[str]) -> None:
    options = Options(instruments=7, rate_hz=1e9 / 864)
    runs = [carried(received([864.0 + 0.001 * i for i in range(7)], lost=3)) for _ in range(2)]
    measured = Interval(options)
    measured.cores, measured.kinds = Cores(0, (1,)), [Measured("memif", options.rate_hz, runs[0], runs)]
    said = as_json(measured.section())
    assert said["memif.average_ns"] == pytest.approx(864.003)
    assert said["memif.off_ppm"] == pytest.approx(1e6 * 0.003 / 864, rel=1e-3)
    assert said["memif.rate_hz"] == pytest.approx(1001 * 7 / 0.001 / 7)
    (averages, *_) = said["tables"]
    assert averages["rows"][0][:4] == ["memif", "7", "2", "864.000"]
    assert averages["rows"][0][-1] == "42"
    print_section(measured.section())
    assert "864.003" in capsys.readouterr().out


def test_of_many_instruments_the_first_are_shown() -> None:
    single = of_lengths(np.array([864.0]))
    many = [Instrument(str(i), 864.0, 1.0, 2.0, 0, single) for i in range(40)]
    table = by_instrument(Observed("memif", 864.0, [many]))
    assert len(table.rows) == 16
    assert "The first 16 of 40" in table.about


@pytest.mark.parametrize(("rate", "down"), [(1_157_407.0, 1_100_000.0), (99.0, 99.0), (7.5, 7.5), (0.2, 1.0)])
def test_a_rate_that_can_be_held_has_two_digits(rate: float, down: float) -> None:
    assert rounded(rate) == down


def test_links_get_cores_of_their_own_where_there_are_so_many() -> None:
    assert place((), 4, [0, 1]) == Cores(0, (1, 1, 1, 1))
    assert place((), 4, [0, 1, 2, 3, 4, 5]) == Cores(0, (1, 2, 3, 4))
    assert place((0, 2, 4), 4, range(8)) == Cores(0, (2, 2, 4, 4))
    assert place((0, 2, 4), 1, range(8)) == Cores(0, (2,))
    assert place((), 4, [0, 1]).first(2) == Cores(0, (1, 1))


@pytest.mark.parametrize(
    ("chosen", "allowed", "says"), [((), [3], "two cores"), ((0, 0), [0, 1], "two cores"), ((0, 9), [0, 1], "9")]
)
def test_cores_that_cannot_be_had_are_reported(chosen: tuple[int, ...], allowed: list[int], says: str) -> None:
    with pytest.raises(NotMeasured, match=says):
        place(chosen, 1, allowed)


def test_each_receiving_core_is_reported_its_links() -> None:
    pair = Pair("memif", "memif", ("a", "b", "c"), ("d", "e", "f"))
    traffic = Traffic(24, 10_000.0, 64, 2.5, 7)
    receiver = " ".join(receiver_words((2, 2, 4), pair.right, traffic, 3.0, 0.5))
    assert receiver.startswith("--core 2 --link d --link e --core 4 --link f --instruments 24 --rate 10000 --seconds 3")
    generator = " ".join(generator_words(0, pair.left, traffic, 3.5))
    assert generator.startswith(
        "--core 0 --link a --link b --link c --instruments 24 --rate 10000 --seconds 3.5 --size 64"
    )
    assert generator.endswith("--jitter-us 2.5 --drop-every 7")


def test_large_payloads_have_jumbo_links() -> None:
    assert [mtu_of(size) for size in (18, 1472, 1473, 8972)] == [1500, 1500, 9000, 9000]


TURN_RATE = parameter("server/turn_rate_hz", np.array([1e6]), "Hz", ElementType.F64)


def test_a_running_server_is_looked_at(make_owner: MakeOwner, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = make_owner(
        [
            *(
                stream(name, capacity=256, period=period)
                for name, period in (("bpm01/turn", 1), ("bpm01/low_latency", 12))
            ),
            TURN_RATE,
            clock(tsc_hz_bits=TSC_HZ),
        ]
    )
    for turn in range(100):
        owner.store("bpm01/turn", turn, tag=10_000 + turn // 4 * 8000)
    owner.publish("bpm01/turn", 99, 0)
    monkeypatch.setattr(interval, "LOOKS", 2)
    found = Interval(Options(workspace="demo", seconds=0.02)).run()
    said = as_json(found)
    averages, singles, by_name = found.tables
    assert averages.rows[0][:4] == ("demo", "1", "2", "1,000.000")
    # The newest 64 records, four in a burst: 15 steps of 4 µs over 63 turns.
    assert said["demo.average_ns"] == pytest.approx(15 * 4000 / 63)
    assert singles.rows[0][3:] == ("0", "0", "4,000", "4,000", "4,000")
    assert by_name.rows[0][0] == "bpm01"


def test_a_server_to_which_nothing_comes_is_reported(make_owner: MakeOwner) -> None:
    make_owner([stream("bpm01/turn"), TURN_RATE, clock(tsc_hz_bits=TSC_HZ)])
    with pytest.raises(NotMeasured, match="nothing comes in the 1 full-rate streams of workspace 'demo'"):
        Interval(Options(workspace="demo", seconds=0.0)).run()
