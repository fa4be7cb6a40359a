# SPDX-License-Identifier: Apache-2.0
"""The bench of jitter as a person runs it: what was injected is found, and nothing is left behind."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from bench_runs import interrupted, marked, started
from harness import TIMEOUT_S, ringmaster, ringmaster_json, veth_pair, wait_for

from ringmaster.bench import bare_clock
from ringmaster.places import find_program
from ringmaster.programs.cores import cores

pytestmark = [
    pytest.mark.usefixtures("root"),
    pytest.mark.skipif(cores()[0] == cores()[1], reason="needs two cores, one for the sender, one for the receiver"),
]

RATE_HZ, SECONDS, GROUP, LINKS = 50, 2, 6, 2
JITTER_US = 5000.0
DROP_EVERY = 60
"""Of each link: one datagram in ten cycles."""
STALL_US = 60_000.0
"""For so long a host that is not busy takes a core away."""
RUNS = 4


def measure() -> Any:
    """Cycles that are displaced by up to 5 ms either way, and lose a datagram in every tenth."""
    traffic = ("--instruments", str(GROUP * LINKS), "--links", str(LINKS), "--rate", str(RATE_HZ))
    faults = ("--inject-jitter-us", str(JITTER_US), "--inject-drop-every", str(DROP_EVERY))
    times = ("--seconds", str(SECONDS), "--rounds", "1")
    return ringmaster_json("bench", "jitter", "--kinds", "memif", *traffic, *times, *faults, "--json")


@pytest.fixture(scope="module")
def jitter(root: Path) -> Any:
    """One such measurement, for all tests that judge it."""
    return measure()


@pytest.fixture
def figures(jitter: Any) -> Any:
    return jitter["data"]["jitter"]["memif"]


def test_an_injected_jitter_is_found(jitter: Any, figures: Any) -> None:
    """The difference of two displacements, each uniform in ±5 ms: half of them are below 10 ms · (1 - √½), 2.93 ms."""
    assert 1500 < figures["median_us"] < 9000
    assert figures["shares"][-1] > 0.7, "but for one in a hundred, they differ by more than 40 µs"
    table = jitter["tables"][0]
    assert table["rows"][-1][1] == f"{100 * figures['shares'][-1]:.2f}%", "the poster's table says so too"
    assert table["head"][2] == "left, memif"
    assert float(table["rows"][-1][2].rstrip("%")) > 70, "that is how the groups left"


def stays_within(jitter: Any) -> bool:
    """Whether no cycle is displaced by more than was injected, and by what the host took before and after."""
    stall_us: float = max(floor["longest_us"] for floor in jitter["conditions"]["stall_floors"])
    worst_us: float = jitter["data"]["jitter"]["memif"]["worst_us"]
    return worst_us < 2 * JITTER_US + max(STALL_US, 2 * stall_us)


def test_no_cycle_is_displaced_further_than_was_injected(jitter: Any) -> None:
    """A host takes a core away now and then. A sender that displaces too far does so in every run."""
    assert stays_within(jitter) or any(stays_within(measure()) for _ in range(RUNS))


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


def has_the_rate(jitter: Any) -> bool:
    """Where the host took the sender's core away fewer cycles arrived a second."""
    return bool(jitter["data"]["jitter"]["memif"]["rate_hz"] == pytest.approx(RATE_HZ, rel=0.1))


def test_the_rate_is_found(jitter: Any) -> None:
    assert has_the_rate(jitter) or any(has_the_rate(measure()) for _ in range(RUNS))


def test_conditions_and_command_stand_with_the_figures(jitter: Any) -> None:
    assert len(jitter["conditions"]["stall_floors"]) == 3, "before, beside the only round, and after"
    assert "--inject-jitter-us 5000 --inject-drop-every 60" in jitter["command"]
    assert jitter["memif.estimated_mpps"] > 0


def test_gaps_are_written_as_they_were_counted() -> None:
    look = bare_clock.look(0.3, cores())
    assert set(look.watches) == set(cores())
    for watch in look.watches.values():
        lengths = watch.gaps[:, 1] - watch.gaps[:, 0]
        assert int(0.3 * look.floor.tsc_hz) <= watch.end - watch.begin
        assert (lengths > 0.19e-6 * look.floor.tsc_hz).all()
        assert (watch.gaps[1:, 0] >= watch.gaps[:-1, 1]).all()
    longest = max((watch.gaps[:, 1] - watch.gaps[:, 0]).max(initial=0) for watch in look.watches.values())
    assert look.floor.longest_us in (0.0, pytest.approx(longest / look.floor.tsc_hz * 1e6, abs=0.1))


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (("jitter", "--instruments", "0"), 2, "0 is not in the range"),
        (("jitter", "--cores", "0,4000"), 1, "cores 4000 are not this process's to use"),
    ],
)
def test_bad_options_are_reported(words: tuple[str, ...], status: int, says: str) -> None:
    done = ringmaster("bench", *words, expect=status)
    assert says in " ".join(done.stderr.split()), done.stderr
    assert "Traceback" not in done.stderr


def test_a_sender_without_a_rate_has_no_cycles_to_write_down(tmp_path: Path) -> None:
    words = ("--core", "0", "--link", "raw:lo", "--instruments", "1", "--rate", "0", "--seconds", "1")
    command = [find_program("ringmaster-generator"), *words, "--cycles", str(tmp_path / "cycles")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    assert done.returncode == 2
    assert "--cycles: needs a --rate" in done.stderr


def test_what_no_sender_can_do_ends_with_its_reason() -> None:
    known = ("--inject-jitter-us", "30000", "--rate", "50", "--kinds", "memif", "--links", "1", "--rounds", "1")
    done = ringmaster("bench", "jitter", *known, "--instruments", "1", "--seconds", "0.2", expect=1)
    assert "expected less than half a period" in done.stderr


def test_a_link_that_vanishes_ends_the_bench_with_its_name() -> None:
    with veth_pair():
        pass  # or a reason to skip
    traffic = ("--kinds", "raw", "--links", "1", "--instruments", "4", "--rate", "500")
    with started("bench", "jitter", *traffic, "--seconds", "5", "--rounds", "1") as (bench, mark):
        wait_for(lambda: marked(mark, "ringmaster-generator"), "the sender")
        take_away = ["nsenter", f"--net=/proc/{marked(mark, 'ringmaster-generator')[0]}/ns/net", "ip", "link", "delete"]
        subprocess.run([*take_away, "veth0"], check=True)
        _, words = bench.communicate(timeout=TIMEOUT_S)
        assert bench.returncode == 1
    assert "raw:veth" in words
    assert "Traceback" not in words


def test_ctrl_c_gives_what_was_measured_until_then() -> None:
    traffic = ("--kinds", "memif", "--links", "1", "--instruments", "2", "--rate", "500")
    section = interrupted("jitter", *traffic, "--seconds", "0.3", "--rounds", "1000", after="memif: 99.95 %")
    assert section["tables"][0]["rows"][0][1] != "–"
