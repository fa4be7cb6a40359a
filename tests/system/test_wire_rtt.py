# SPDX-License-Identifier: Apache-2.0
"""The round trip over every kind of link that needs no card: what is known to be there is found."""

import os
import signal
from itertools import pairwise
from pathlib import Path
from statistics import median
from time import monotonic

import pytest
from harness import TIMEOUT_S, again_if_starved, wait_for
from wires import (
    KINDS,
    RATE_HZ,
    SECONDS,
    Endpoints,
    last_object,
    loopback,
    measuring,
    memif,
    reflecting,
    rows,
    rtt,
    wait_until_ready,
)

DELAY_MS = 100.0
"""Injected: long against what a busy machine adds to the median."""
TOLERANCE_MS = 40.0


@pytest.mark.parametrize("kind", KINDS)
@again_if_starved
def test_a_known_delay_and_a_known_loss_are_found(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path, root: Path
) -> None:
    endpoints, samples = KINDS[kind](tmp_path, request), tmp_path / "samples"
    with reflecting(endpoints, "--delay-us", str(DELAY_MS * 1e3), "--drop-every", "10") as reflector:
        found = last_object(rtt(endpoints, "--samples", str(samples), "--size", "1472", "--timeout-ms", "500").stdout)
        reflector.stop()
        reflected = last_object(reflector.words)
    times = rows(samples)
    assert len(times) == found["probes"] == RATE_HZ * SECONDS
    assert found["lost"] == found["probes"] / 10
    assert found["received"] == found["probes"] - found["lost"]
    assert found["duplicate"] == found["foreign"] == found["unsent"] == 0
    assert found["size"] == 1472
    assert found["hardware_stamps"] == "none"
    assert reflected["dropped"] == (reflected["reflected"] + reflected["dropped"]) // 10
    ticks_per_ms = found["tsc_hz"] / 1e3
    trips_ms = [(received - sent) / ticks_per_ms for _, sent, received in times if received]
    assert len(trips_ms) == found["received"]
    assert min(trips_ms) >= DELAY_MS
    assert median(trips_ms) == pytest.approx(DELAY_MS, abs=TOLERANCE_MS)
    assert all(sent >= due for due, sent, _ in times)
    periods_ms = [(after[0] - before[0]) / ticks_per_ms for before, after in pairwise(times)]
    assert periods_ms == pytest.approx([1e3 / RATE_HZ] * len(periods_ms), abs=1e-3)


@pytest.mark.parametrize("size", [18, 8972])
def test_a_payload_of_any_size_makes_the_trip(size: int, tmp_path: Path, root: Path) -> None:
    short = memif(tmp_path)
    endpoints = Endpoints(f"{short.near},mtu=9000", f"{short.far},mtu=9000")
    with reflecting(endpoints):
        found = last_object(rtt(endpoints, "--size", str(size), seconds=0.2).stdout)
    assert found["size"] == size
    assert found["lost"] == 0


def test_a_stall_shows_in_every_probe_that_was_due_in_it(tmp_path: Path, root: Path) -> None:
    """No coordinated omission: the near end is stopped for a while, and the probes of that time are sent, late."""
    endpoints, samples, stall_s = loopback("wait=spin"), tmp_path / "samples", 0.5
    with reflecting(endpoints), measuring(endpoints, "--samples", str(samples), seconds=1.5) as near:
        wait_until_ready(near)
        begin = monotonic()
        wait_for(lambda: monotonic() - begin > 0.3, "the warm-up")
        os.kill(near.pid, signal.SIGSTOP)
        begin = monotonic()
        wait_for(lambda: monotonic() - begin > stall_s, "the stall")
        os.kill(near.pid, signal.SIGCONT)
        assert near.wait(TIMEOUT_S) == 0, near.words
        found = last_object(near.words)
    assert found["probes"] == RATE_HZ * 1.5
    assert found["lost"] == 0
    assert found["sent_late"] >= 0.8 * stall_s * RATE_HZ
    assert found["longest_gap_us"] >= 0.9 * stall_s * 1e6
    waits_s = [(received - due) / found["tsc_hz"] for due, _, received in rows(samples)]
    assert max(waits_s) >= 0.9 * stall_s
    assert sum(wait > stall_s / 2 for wait in waits_s) >= 0.4 * stall_s * RATE_HZ


def test_an_interrupt_keeps_what_was_measured(tmp_path: Path, root: Path) -> None:
    endpoints, samples = loopback(), tmp_path / "samples"
    with reflecting(endpoints), measuring(endpoints, "--samples", str(samples), seconds=600.0) as near:
        wait_until_ready(near)
        begin = monotonic()
        wait_for(lambda: monotonic() - begin > 0.5, "some probes")
        assert near.stop() == 0, near.words
        found = last_object(near.words)
    assert found["interrupted"]
    assert 0 < found["probes"] < RATE_HZ * 600
    assert len(rows(samples)) == found["probes"]


def test_an_interrupt_ends_the_waiting_for_answers_that_do_not_come(root: Path) -> None:
    """Half of them are lost, and the near end was told to wait for them for longer than this test has timeout."""
    endpoints = loopback()
    with (
        reflecting(endpoints, "--drop-every", "2"),
        measuring(endpoints, "--timeout-ms", "100000", seconds=0.2) as near,
    ):
        wait_until_ready(near)
        begin = monotonic()
        wait_for(lambda: monotonic() - begin > 2.0, "the last probe")
        assert near.running
        assert near.stop() == 0, near.words
        found = last_object(near.words)
    assert found["interrupted"]
    assert found["lost"] == found["probes"] / 2


def test_what_was_measured_is_reported_though_the_samples_cannot_be_written(root: Path) -> None:
    endpoints = loopback()
    with reflecting(endpoints), measuring(endpoints, "--samples", "/nowhere/samples", seconds=0.2) as near:
        assert near.wait(TIMEOUT_S) == 1
        assert "cannot write the samples to /nowhere/samples" in near.words
        assert '"probes": ' in near.words
