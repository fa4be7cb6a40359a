# SPDX-License-Identifier: Apache-2.0
"""Groups over every kind of link that needs no card: a known loss, rate, displacement and distance are found again."""

from pathlib import Path

import numpy as np
import pytest
from harness import again_if_starved
from wire_groups import assert_sums_hold, ended, generator, receiving, rows_of
from wires import KINDS, Endpoints, loopback, memif

INSTRUMENTS = 4
RATE_HZ = 200.0
SLOW_HZ = 10.0
JITTER_US = 45_000.0
"""Large against what a busy machine adds to most cycles."""

pytestmark = pytest.mark.usefixtures("root")


@pytest.fixture
def endpoints(request: pytest.FixtureRequest, tmp_path: Path) -> Endpoints:
    """Both ends of a link of the kind that the test is asked for."""
    return KINDS[request.param](tmp_path, request)


def displacements_us(seed: int, cycles: int) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """What bench/wire/schedule.h promises: splitmix64 of (splitmix64 of the seed) + cycle, uniform within ±jitter."""
    mask = (1 << 64) - 1

    def mixed(key: int) -> int:
        key = (key + 0x9E3779B97F4A7C15) & mask
        key = ((key ^ key >> 30) * 0xBF58476D1CE4E5B9) & mask
        key = ((key ^ key >> 27) * 0x94D049BB133111EB) & mask
        return key ^ key >> 31

    uniform = [(mixed((mixed(seed) + cycle) & mask) >> 11) * 2.0**-53 for cycle in range(cycles)]
    return (2 * np.array(uniform) - 1) * JITTER_US


@pytest.mark.parametrize("endpoints", KINDS, indirect=True)
def test_a_known_loss_is_found_exactly(endpoints: Endpoints) -> None:
    every = 9
    with receiving([endpoints], INSTRUMENTS, RATE_HZ) as receiver:
        sent = generator([endpoints], INSTRUMENTS, RATE_HZ, 0.5, "--drop-every", str(every))
        received = ended(receiver)
    assert (sent["ended"], received["ended"]) == ("done", "done")
    assert_sums_hold(sent, received, INSTRUMENTS)
    assert sent["cycles"] == RATE_HZ // 2
    if sent["behind_cycles"] == 0:
        assert sent["links"][0]["dropped"] == INSTRUMENTS * RATE_HZ // 2 // every
    assert 0 < sent["share"] <= 1.01
    link = received["links"][0]
    assert link["received"] == sent["links"][0]["sent"]
    assert (link["duplicate"], link["foreign"], link["missed"]) == (0, 0, 0)
    for one in link["instruments"]:
        left_out = sum((cycle * INSTRUMENTS + one["flow"] + 1) % every == 0 for cycle in range(sent["cycles"]))
        assert one["lost"] == left_out or sent["behind_cycles"] != 0


@pytest.mark.parametrize(
    ("endpoints", "rate_hz"), [("memif", 100.0), ("raw", 200.0), ("udp", 400.0)], indirect=["endpoints"]
)
def test_a_known_rate_is_the_mean_interval(rate_hz: float, endpoints: Endpoints) -> None:
    with receiving([endpoints], INSTRUMENTS, rate_hz, "--warm-up", "0.1") as receiver:
        generator([endpoints], INSTRUMENTS, rate_hz, 1.1)
        received = ended(receiver)
    link = received["links"][0]
    assert link["first_cycle"] == round(0.1 * rate_hz)
    for one in link["instruments"]:
        assert one["mean_ns"] == pytest.approx(1e9 / rate_hz, rel=0.08)  # a stall of 50 ms at one end is 5 %
        assert one["min_ns"] <= one["mean_ns"] <= one["max_ns"]
        floors = [floor for floor, _ in one["histogram"]]
        assert floors == sorted(floors)
        assert floors[0] <= one["min_ns"] * 1.001
        assert one["max_ns"] < floors[-1] * (1 + 1 / 16) + 2


def ranks(values: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """The place of each value among all: a stall is then no more than the last place."""
    return np.argsort(np.argsort(values)).astype(float)


def middle_half(values: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> float:
    """How far the middle half of the values reaches."""
    quarter, three_quarters = np.percentile(values, [25, 75])
    return float(three_quarters - quarter)


@pytest.mark.parametrize("kind", ["memif", "udp"])
@again_if_starved
def test_a_known_displacement_is_found_in_every_cycle(kind: str, tmp_path: Path) -> None:
    endpoints = memif(tmp_path) if kind == "memif" else loopback()
    path = tmp_path / "cycles"
    with receiving([endpoints], INSTRUMENTS, SLOW_HZ, "--cycles", str(path), seconds=2) as receiver:
        generator([endpoints], INSTRUMENTS, SLOW_HZ, 2, "--jitter-us", str(JITTER_US), "--seed", "7")
        received = ended(receiver)
    rows = rows_of(path)
    assert rows["cycle"].tolist() == list(range(20))
    rows = rows[rows["datagrams"] == INSTRUMENTS]
    assert len(rows) > 16
    assert (rows["first"] <= rows["last"]).all()
    cycles = rows["cycle"].astype(np.int64)
    at_us = (rows["first"] - rows["first"][0]).astype(float) / received["tsc_hz"] * 1e6
    away_us = at_us - cycles * 1e6 / SLOW_HZ
    known_us, other_us = (displacements_us(seed, 20)[cycles] for seed in (7, 8))
    assert np.corrcoef(ranks(away_us), ranks(known_us))[0, 1] > 0.7
    assert abs(np.corrcoef(ranks(away_us), ranks(other_us))[0, 1]) < 0.5  # another one would be seen
    assert middle_half(away_us) == pytest.approx(middle_half(known_us), rel=0.4)
