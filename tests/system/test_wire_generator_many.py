# SPDX-License-Identifier: Apache-2.0
"""Groups on several links, by several threads, and as fast as it goes: what was sent is received or lost."""

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import numpy as np
import pytest
from harness import TIMEOUT_S, VethPair, again_if_starved, wait_for
from wire_groups import assert_sums_hold, ended, generator, generator_words, receiving, rows_of
from wires import FAR_CORE, KINDS, Endpoints, before_others, interface, last_object, loopback, memif, wait_until_ready

from ringmaster.programs.program import Program

INSTRUMENTS = 4
SLOW_HZ = 20.0
GAP_US = 20_000.0
"""Large against what a busy machine adds to most groups."""

pytestmark = pytest.mark.usefixtures("root")


@pytest.fixture
def endpoints(request: pytest.FixtureRequest, tmp_path: Path) -> Endpoints:
    """Both ends of a link of the kind that the test is asked for."""
    return KINDS[request.param](tmp_path, request)


@again_if_starved
def test_links_have_rows_of_their_own_and_groups_their_distance(tmp_path: Path) -> None:
    endpoints = [before_others(memif(tmp_path / name)) for name in ("one", "two")]
    path = tmp_path / "cycles"
    with receiving(endpoints, 24, SLOW_HZ, "--cycles", str(path), seconds=1) as receiver:
        sent = generator(endpoints, 24, SLOW_HZ, 1, "--group-gap-us", str(GAP_US))
        received = ended(receiver)
    assert_sums_hold(sent, received, 24)
    rows = rows_of(path)
    assert rows["link"].tolist() == [0] * 20 + [1] * 20
    first, second = rows[:20], rows[20:]
    if sent["behind_cycles"] == 0:
        assert (rows["datagrams"] == 24).all()
    apart_us = (second["first"].astype(np.int64) - first["first"].astype(np.int64)) / received["tsc_hz"] * 1e6
    assert median(apart_us) == pytest.approx(GAP_US, rel=0.25)


def of_each_thread(endpoints: Sequence[Endpoints], *options: str) -> list[str]:
    """More words for a receiver: the other links have threads of their own."""
    return [word for end in endpoints for word in ("--core", str(FAR_CORE), "--link", end.far)] + list(options)


@pytest.mark.parametrize("kind", ["memif", "udp"])
def test_threads_have_links_of_their_own(kind: str, tmp_path: Path) -> None:
    endpoints = [memif(tmp_path / str(i)) if kind == "memif" else loopback() for i in range(3)]
    with receiving(endpoints[:1], INSTRUMENTS, 100, *of_each_thread(endpoints[1:])) as receiver:
        sent = generator(endpoints, INSTRUMENTS, 100, 0.4)
        received = ended(receiver)
    assert_sums_hold(sent, received, INSTRUMENTS)
    assert [link["lost"] for link in received["links"]] == [INSTRUMENTS * sent["behind_cycles"]] * 3
    assert len(received["cores"]) == 3


def test_one_thread_may_sleep_on_several_sockets() -> None:
    endpoints = [loopback(), loopback()]
    with receiving(endpoints, INSTRUMENTS, 100) as receiver:
        sent = generator(endpoints, INSTRUMENTS, 100, 0.5)
        received = ended(receiver)
    assert_sums_hold(sent, received, INSTRUMENTS)
    assert received["cores"][0]["share"] < 0.5  # it sleeps, but for a few wakings


@pytest.mark.parametrize("endpoints", KINDS, indirect=True)
def test_as_fast_as_it_goes_all_sums_hold(endpoints: Endpoints) -> None:
    instruments = 1 if "memif" in endpoints.near else 24
    with receiving([endpoints], instruments, 0) as receiver:
        sent = generator([endpoints], instruments, 0, 0.3)
        received = ended(receiver)
    assert_sums_hold(sent, received, instruments)
    assert sent["behind_cycles"] == 0
    assert sent["cycles"] > 1
    link = received["links"][0]
    assert link["received"] + link["lost"] == sent["links"][0]["sent"] + sent["links"][0]["unsent"]
    if endpoints.near.startswith("memif"):  # it waits for room
        assert link["lost"] == 0


BURST = 64
FILLS_S = 0.05
"""A sender that sends as fast as it can has filled its link after a hundredth of that time on its core."""


def cpu_s(program: Program) -> float:
    """Time that a program had a core, seconds."""
    user, system = Path(f"/proc/{program.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def test_a_receiver_that_stands_still_is_waited_for_where_the_link_has_room(tmp_path: Path) -> None:
    endpoints = memif(tmp_path)
    words = generator_words([endpoints], 1, 0, TIMEOUT_S)
    with receiving([endpoints], 1, 0, seconds=TIMEOUT_S) as receiver, Program("ringmaster-generator", *words) as sender:
        wait_until_ready(sender)
        os.kill(receiver.pid, signal.SIGSTOP)
        begun_s = cpu_s(sender)
        wait_for(lambda: cpu_s(sender) > begun_s + FILLS_S, "the sender to fill the link")
        os.kill(receiver.pid, signal.SIGCONT)
        assert sender.stop() == 0, sender.words
        sent, received = last_object(sender.words), ended(receiver)
    assert_sums_hold(sent, received, 1)
    assert received["links"][0]["lost"] == sent["links"][0]["unsent"] <= BURST  # of that in which it was ended
    assert sent["links"][0]["waits"] > 0


def test_a_pace_that_cannot_be_held_is_reported(tmp_path: Path) -> None:
    endpoints, rate_hz, instruments = memif(tmp_path), 1e7, 24  # 240 million datagrams a second
    with receiving([endpoints], instruments, rate_hz) as receiver:
        sent = generator([endpoints], instruments, rate_hz, 0.3)
        received = ended(receiver)
    assert_sums_hold(sent, received, instruments)
    assert sent["cycles"] == 3_000_000
    assert sent["behind_cycles"] > 0
    assert sent["longest_behind_us"] > 100_000
    assert received["links"][0]["lost"] == instruments * sent["behind_cycles"]


def test_two_senders_may_share_a_link(link: VethPair) -> None:
    endpoints = interface("raw", link)
    words = generator_words([endpoints], INSTRUMENTS, 100, 0.8)
    with (
        receiving([endpoints], 2 * INSTRUMENTS, 100) as receiver,
        Program("ringmaster-generator", *words, prefix=endpoints.enter_near) as one,
        Program("ringmaster-generator", *words, "--first-flow", str(INSTRUMENTS), prefix=endpoints.enter_near) as other,
    ):
        received = ended(receiver)["links"][0]
        assert one.wait(TIMEOUT_S) == other.wait(TIMEOUT_S) == 0
        sent = [last_object(program.words) for program in (one, other)]
    for number, sender in enumerate(sent):
        flows = received["instruments"][number * INSTRUMENTS :][:INSTRUMENTS]
        assert sum(flow["received"] for flow in flows) == sender["links"][0]["sent"] > 0
        assert sum(flow["lost"] for flow in flows) == INSTRUMENTS * sender["behind_cycles"]
    assert received["duplicate"] == 0
