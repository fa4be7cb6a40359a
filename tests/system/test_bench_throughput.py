# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench throughput` as a person runs it, with faults that are known."""

import json
import signal
import subprocess

import pytest
from bench_runs import interrupted, marked, started, windows
from harness import TIMEOUT_S, ringmaster, ringmaster_json, wait_for

from ringmaster.bench.links import linked
from ringmaster.bench.log import NotMeasured
from ringmaster.bench.throughput_cases import Case
from ringmaster.bench.throughput_window import Cores, measure_window
from ringmaster.programs.cores import cores

pytestmark = [
    pytest.mark.usefixtures("root", "nothing_left"),
    pytest.mark.skipif(cores()[0] == cores()[1], reason="needs a core to send and one to receive"),
]

SHORT = ("--seconds", "0.2", "--rounds", "1", "--senders", "1", "--mtu", "1500", "--sizes", "64")
DROP_EVERY = 50
GROUP = 32


def has_namespaces() -> bool:
    try:
        with linked("udp"):
            return True
    except NotMeasured:
        return False


def test_a_known_loss_is_found_in_its_place() -> None:
    kinds = "memif,af_packet,raw,udp,udp-32" if has_namespaces() else "memif"
    words = ("--kinds", kinds, "--drop-every", str(DROP_EVERY), *SHORT)
    section = ringmaster_json("bench", "throughput", *words, "--json")
    found = {window["case"]["kind"]: window for window in windows(section)}
    assert ",".join(found) == kinds, section["notes"]
    for kind, window in found.items():
        losses, sent = window["losses"], window["sent"]
        assert losses["sender"] == (sent + losses["sender"]) // DROP_EVERY, kind  # to the datagram
        on_the_way = sum(losses.values()) - losses["sender"]
        assert window["received"] + on_the_way == sent, kind
        assert window["received"] > 0, kind
    assert sum(found["memif"]["losses"].values()) == found["memif"]["losses"]["sender"]  # it pushes back
    assert "--drop-every 50" in section["command"]


def test_all_the_tables_are_there_for_people() -> None:
    words = ("--kinds", "memif", "--zero-loss", "64", "--trial-seconds", "0.1", "--resolution", "0.5", *SHORT)
    said = " ".join(ringmaster("bench", "throughput", *words).stdout.split())
    for title in (
        "Throughput and datagram rate, MTU 1500, one sender",
        "CPU load by kind, %, MTU 1500, one sender",
        "Highest rate without loss",
        "Beside the slides",
    ):
        assert title in said


def test_two_senders_add_up() -> None:
    words = (
        "--kinds",
        "memif",
        "--sizes",
        "64",
        "--senders",
        "2",
        "--mtu",
        "1500",
        "--seconds",
        "0.2",
        "--rounds",
        "1",
    )
    section = ringmaster_json("bench", "throughput", *words, "--json")
    (window,) = windows(section)
    assert window["case"]["senders"] == 2
    assert window["sent"] % GROUP == 0
    assert window["received"] == window["sent"]


def test_a_known_rate_is_measured() -> None:
    sender, receiver = cores()
    with linked("memif") as pair:
        window = measure_window(pair, Case("memif", 64, 1500, 1), Cores((sender,), receiver), 2.0, pps=100.0 * GROUP)
    assert window.pps == pytest.approx(100.0 * GROUP, rel=0.2)
    assert window.received == window.sent == 200 * GROUP - window.behind


def test_a_link_that_vanishes_ends_its_windows_with_a_reason_and_the_others_go_on() -> None:
    if not has_namespaces():
        pytest.skip("NO NAMESPACES HERE: no link can be taken away")
    words = ("--kinds", "raw,memif", "--sizes", "64", "--senders", "1", "--mtu", "1500", "--rounds", "1")
    with started("bench", "throughput", *words, "--seconds", "2", "--json") as (bench, mark):
        senders: list[int] = []

        def sends() -> bool:
            senders.extend(marked(mark, "ringmaster-generator"))  # between two windows there is none
            return bool(senders)

        wait_for(sends, "the sender")
        take_away = ["nsenter", f"--net=/proc/{senders[0]}/ns/net", "ip", "link", "delete", "veth0"]
        subprocess.run(take_away, check=True)
        said, complaints = bench.communicate(timeout=TIMEOUT_S)
        assert bench.returncode == 0, complaints
    section = json.loads(said.splitlines()[-1])
    assert [window["case"]["kind"] for window in windows(section)] == ["memif"]
    assert any("raw" in note and "veth" in note for note in section["notes"]), section["notes"]
    assert "Traceback" not in complaints


def test_links_that_are_none_are_named() -> None:
    words = ("--sizes", "64", "--senders", "1", "--mtu", "1500", "--left", "raw:no-such-0", "--right", "raw:no-such-1")
    done = ringmaster("bench", "throughput", *words, expect=1)
    assert "no-such-1" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_service_manager_gets_what_was_measured_and_nothing_is_left() -> None:
    words = ("--kinds", "memif", "--rounds", "500", "--seconds", "0.2", "--sizes", "64", "--senders", "1")
    section = interrupted("throughput", *words, after="round 2", number=signal.SIGTERM)
    assert 2 <= len(windows(section)) < 500
