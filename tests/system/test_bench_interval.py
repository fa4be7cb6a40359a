# SPDX-License-Identifier: Apache-2.0
"""The bench of inter-packet times as a person runs it: on links that it makes, and on a running server."""

import signal
from pathlib import Path

import pytest
from bench_runs import interrupted
from harness import ringmaster, ringmaster_json

from ringmaster.programs.cores import cores
from ringmaster.virtual import ring

pytestmark = [
    pytest.mark.usefixtures("root"),
    pytest.mark.skipif(cores()[0] == cores()[1], reason="needs two cores, one for each end"),
]

TURN_RATE_HZ = 20_000


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


def test_an_injected_loss_is_counted() -> None:
    traffic = ("--kinds", "memif", "--instruments", "4", "--rate", "100", "--inject-drop-every", "10")
    said = ringmaster_json("bench", "interval", *traffic, "--seconds", "1", "--rounds", "1", "--json")
    (kind,) = said["data"]["kinds"]
    (run,) = kind["runs"]
    (link,) = run["received"]["links"]
    not_sent = 4 * run["sent"]["behind_cycles"]
    assert 40 - 4 <= link["lost"] <= 40 + 4 + not_sent
    assert said["tables"][0]["rows"][0][-1] == str(sum(one["lost"] for one in link["instruments"]))


def test_links_of_one_s_own_are_measured(tmp_path: Path) -> None:
    endpoints = [f"memif:{tmp_path}/link.sock,role={role}" for role in ("server", "client")]
    words = ("--left", endpoints[0], "--right", endpoints[1], "--instruments", "2", "--rate", "200", "--seconds", "0.3")
    said = ringmaster_json("bench", "interval", *words, "--rounds", "1", "--json")
    assert said["memif.average_ns"] == pytest.approx(5e6, rel=0.2)
    assert f"--left {endpoints[0]} --right {endpoints[1]}" in said["command"]
    assert said["conditions"]["core_share"]["count"] == 2, "the sender's and the receiver's"


def test_a_running_server_s_instruments_are_looked_at(root: Path) -> None:
    with ring.start(TURN_RATE_HZ, naps=True):
        said = ringmaster_json("bench", "interval", "--workspace", ring.WORKSPACE, "--seconds", "1", "--json")
    averages, _singles, by_instrument = said["tables"]
    assert averages["rows"][0][:2] == [ring.WORKSPACE, "9"]
    assert averages["rows"][0][3] == "50,000.0"
    assert said["demo.average_ns"] == pytest.approx(50_000, rel=0.1)
    assert {row[0] for row in by_instrument["rows"]} >= {"bpm01", "blm01", "llrf01"}


def test_a_server_that_does_not_run_is_reported() -> None:
    done = ringmaster("bench", "interval", "--workspace", "nowhere", expect=3)
    assert "nowhere" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_terminal_that_is_closed_ends_it_with_what_was_measured_until_then() -> None:
    traffic = ("--kinds", "memif", "--instruments", "2", "--rate", "500", "--seconds", "0.3", "--rounds", "1000")
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup, if it runs the tests, has it ignored
    try:
        section = interrupted("interval", *traffic, after="memif: nominal", number=signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert section["memif.average_ns"] > 0
