# SPDX-License-Identifier: Apache-2.0
"""The benches of jitter and intervals as a person runs them: what was injected is found, and nothing is left behind."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from harness import PATIENCE_S, ringmaster, ringmaster_json, wait_for
from marked import marked, started, wait_until_gone

from ringmaster.demo import cores
from ringmaster.qualify import bare_clock

pytestmark = [
    pytest.mark.usefixtures("root"),
    pytest.mark.skipif(cores()[0] == cores()[1], reason="needs two cores, one for the sender, one for the receiver"),
]

RATE_HZ, SECONDS, GROUP, LINKS = 50, 2, 6, 2
JITTER_US = 5000.0
DROP_EVERY = 60
"""Of each link: one datagram in ten cycles."""
STALL_US = 60_000.0


@pytest.fixture(scope="module")
def jitter(root: Path) -> Any:
    """Cycles that are displaced by up to 5 ms either way, and lose a datagram in every tenth."""
    traffic = ("--instruments", str(GROUP * LINKS), "--links", str(LINKS), "--rate", str(RATE_HZ))
    faults = ("--inject-jitter-us", str(JITTER_US), "--inject-drop-every", str(DROP_EVERY))
    times = ("--seconds", str(SECONDS), "--rounds", "1")
    return ringmaster_json("bench", "jitter", "--kinds", "memif", *traffic, *times, *faults, "--json")


@pytest.fixture
def figures(jitter: Any) -> Any:
    return jitter["data"]["jitter"]["memif"]


def test_an_injected_jitter_is_found(jitter: Any, figures: Any) -> None:
    """The difference of two displacements, each uniform in ±5 ms: half of them are below 10 ms · (1 - √½), 2.93 ms."""
    assert 1500 < figures["median_us"] < 9000
    assert figures["worst_us"] < 2 * JITTER_US + STALL_US
    assert figures["shares"][-1] > 0.7, "but for one in a hundred, they differ by more than 40 µs"
    table = jitter["tables"][0]
    assert table["rows"][-1][1] == f"{100 * figures['shares'][-1]:.2f}%", "the poster's table says so too"


def test_the_bare_clock_stands_beside_it(jitter: Any) -> None:
    for clock in ("clock r", "clock s+r"):
        assert sum(jitter["data"]["jitter"][clock]["shares"]) == pytest.approx(1.0)


def test_an_injected_loss_is_counted_and_its_cycles_are_counted_apart(figures: Any) -> None:
    cycles = RATE_HZ * SECONDS
    lost = LINKS * cycles * GROUP // DROP_EVERY
    assert figures["cycles"] == LINKS * cycles
    assert figures["lost"] == pytest.approx(lost, abs=figures["not_sent"])
    if figures["not_sent"] == 0:
        assert 2 * lost - LINKS <= figures["apart"] <= 2 * lost, "such a cycle, and the next"


def test_the_rate_is_found(figures: Any) -> None:
    assert figures["rate_hz"] == pytest.approx(RATE_HZ, rel=0.1)


def test_conditions_and_command_stand_with_the_figures(jitter: Any) -> None:
    assert len(jitter["conditions"]["stall_floors"]) == 1
    assert "--inject-jitter-us 5000 --inject-drop-every 60" in jitter["command"]
    assert jitter["memif.estimated_mpps"] > 0


def test_intervals_are_those_that_were_sent() -> None:
    traffic = ("--kinds", "memif", "--instruments", "4", "--rate", "100", "--inject-jitter-us", "3000")
    times = ("--seconds", "1", "--rounds", "1")
    said = ringmaster_json("bench", "interval", *traffic, *times, "--json")
    assert said["memif.average_ns"] == pytest.approx(10e6, rel=0.1)
    assert said["memif.rate_hz"] == pytest.approx(100, rel=0.1)
    (singles,) = (table for table in said["tables"] if table["title"].startswith("Single intervals"))
    least_ns, median_ns = (float(cell.replace(",", "")) for cell in singles["rows"][0][3:5])
    assert least_ns < 8e6, "an interval is shorter by up to 6 ms"
    assert 5e6 < median_ns < 20e6


def test_gaps_are_written_as_they_were_counted() -> None:
    look = bare_clock.look(0.3, cores())
    assert set(look.watches) == set(cores())
    for watch in look.watches.values():
        lengths = watch.gaps[:, 1] - watch.gaps[:, 0]
        assert 0.3 * look.floor.tsc_hz <= watch.end - watch.begin
        assert (lengths > 0.19e-6 * look.floor.tsc_hz).all()
        assert (watch.gaps[1:, 0] >= watch.gaps[:-1, 1]).all()
    longest = max((watch.gaps[:, 1] - watch.gaps[:, 0]).max(initial=0) for watch in look.watches.values())
    assert look.floor.longest_us in (0.0, pytest.approx(longest / look.floor.tsc_hz * 1e6, abs=0.1))


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (("jitter", "--instruments", "0"), 2, "0 is not in the range"),
        (("jitter", "--rate", "0"), 2, "0.0 is not in the range"),
        (("jitter", "--rate", "1e9"), 2, "not in the range"),
        (("jitter", "--links", "5"), 2, "5 is not in the range 1<=x<=4"),
        (("jitter", "--instruments", "97"), 2, "found 97, expected a multiple of the 4 links"),
        (("jitter", "--rate", "1e6", "--seconds", "60"), 2, "more --rounds make more"),
        (("jitter", "--size", "9000"), 2, "18<=x<=8972"),
        (("jitter", "--kinds", "pigeon"), 2, "found 'pigeon', expected some of memif"),
        (("jitter", "--cores", "0"), 2, "expected two or more"),
        (("jitter", "--cores", "0,4000"), 1, "cores 4000 are not this process's to use"),
        (("interval", "--instruments", "7", "--links", "2"), 2, "expected a multiple of the 2 links"),
        (("interval", "--rate", "-1"), 2, "not in the range"),
        (("interval", "--workspace", "nowhere"), 1, "nowhere"),
    ],
)
def test_bad_options_are_said(words: tuple[str, ...], status: int, says: str) -> None:
    done = ringmaster("bench", *words, expect=status)
    assert says in " ".join(done.stderr.split()), done.stderr
    assert "Traceback" not in done.stderr


def test_what_no_sender_can_do_ends_with_its_reason() -> None:
    known = ("--inject-jitter-us", "30000", "--rate", "50", "--kinds", "memif", "--links", "1", "--rounds", "1")
    done = ringmaster("bench", "jitter", *known, "--instruments", "1", "--seconds", "0.2", expect=1)
    assert "expected less than half a period" in done.stderr


@pytest.mark.parametrize(("name", "first"), [("jitter", "memif: 99.95 %"), ("interval", "memif: nominal")])
def test_ctrl_c_gives_what_was_measured_until_then(name: str, first: str) -> None:
    traffic = ("--kinds", "memif", "--links", "1", "--instruments", "2", "--rate", "500")
    with started("bench", name, *traffic, "--seconds", "0.3", "--rounds", "1000", "--json") as (bench, mark):
        assert bench.stderr is not None
        while first not in bench.stderr.readline():
            assert bench.poll() is None
        wait_for(lambda: marked(mark, "ringmaster-"), "a program of the next round")
        bench.send_signal(signal.SIGINT)
        said, words = bench.communicate(timeout=PATIENCE_S)
        assert bench.returncode == 0, words
        wait_until_gone(mark)
    section = json.loads(said.splitlines()[-1])
    assert section["interrupted"] is True
    assert section["tables"][0]["rows"]
