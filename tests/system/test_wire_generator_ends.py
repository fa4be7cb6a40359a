# SPDX-License-Identifier: Apache-2.0
"""What a sender and a receiver of groups cannot do, and how they end: told, at once, and with what there was."""

import os
import signal
import socket
import struct
import subprocess
from pathlib import Path

import pytest
from harness import TIMEOUT_S, free_udp_port, veth_pair
from wire_groups import assert_sums_hold, ended, generating, generator, receiving, rows_of, run
from wires import Endpoints, interface, last_object, loopback, memif

from ringmaster.places import find_program

pytestmark = pytest.mark.usefixtures("root")

UDP = "udp:127.0.0.1:4660,peer=127.0.0.1:4661"
GENERATOR = {"--core": "0", "--link": UDP, "--instruments": "4", "--rate": "100", "--seconds": "1"}
"""A good sender's words; the tests below spoil one of them."""
RECEIVER = dict(GENERATOR)


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--instruments", "0", "expected a whole number from 1 to 65536"),
        ("--rate", "1.1e8", "expected a number from 0 to 1e+08"),
        ("--rate", "-1", "expected a number from 0"),
        ("--rate", "nan", "expected a number"),
        ("--rate", "0.5", "shorter than one cycle"),
        ("--size", "17", "from 18 to 8972"),
        ("--size", "1473", "over the MTU of link udp:127.0.0.1:4660,peer=127.0.0.1:4661, which has room for 1472"),
        ("--drop-every", "1", "from 2"),
        ("--jitter-us", "5000", "less than half a period, 5000"),
        ("--first-flow", "65533", "numbers below 65536"),
        ("--link", "carrier-pigeon:1", "carrier-pigeon"),
        ("--core", "4000", "from 0 to 1023"),
        ("--colour", "red", "unknown option"),
    ],
)
def test_a_sender_does_not_do_the_impossible(option: str, value: str, said: str) -> None:
    words = [word for pair in (GENERATOR | {option: value}).items() for word in pair]
    done = run([find_program("ringmaster-generator"), *words], expect=2)
    assert said in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--instruments", "0", "expected a whole number from 1 to 65536"),
        ("--rate", "1e9", "expected a number from 0 to 1e+08"),
        ("--seconds", "0", "expected a number"),
        ("--idle-s", "0", "expected a number"),
        ("--cycles", "/tmp/no", "needs a --rate"),
        ("--link", "memif:/tmp/x.sock,role=king", "king"),
    ],
)
def test_a_receiver_does_not_do_the_impossible(option: str, value: str, said: str) -> None:
    spoilt = RECEIVER | ({"--rate": "0"} if option == "--cycles" else {}) | {option: value}
    done = run([find_program("ringmaster-receiver"), *(word for pair in spoilt.items() for word in pair)], expect=2)
    assert said in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--link", UDP, "--core", "0"], "before the --core"),
        (["--core", "0", "--link", UDP, "--core", "1"], "--core 1 has no --link"),
    ],
)
def test_a_link_belongs_to_the_core_before_it(words: list[str], said: str) -> None:
    rest = ["--instruments", "1", "--rate", "10", "--seconds", "1"]
    assert said in run([find_program("ringmaster-receiver"), *words, *rest], expect=2).stderr


@pytest.mark.parametrize("program", ["ringmaster-generator", "ringmaster-receiver"])
def test_no_more_rows_are_kept_than_there_is_room_for(program: str) -> None:
    words = GENERATOR | {"--rate": "1e8", "--seconds": "3600", "--cycles": "/tmp/no"}
    done = run([find_program(program), *(word for pair in words.items() for word in pair)], expect=2)
    assert "for a shorter time" in done.stderr


@pytest.mark.parametrize("program", ["ringmaster-generator", "ringmaster-receiver"])
def test_a_core_that_is_not_there_is_reported(program: str) -> None:
    words = GENERATOR | {"--core": "1000", "--link": loopback().near}
    done = run([find_program(program), *(word for pair in words.items() for word in pair)], expect=1)
    assert "core 1000" in done.stderr


def test_a_file_that_cannot_be_written_is_reported_before_anything_is_opened() -> None:
    words = RECEIVER | {"--cycles": "/nowhere/rows"}
    done = run([find_program("ringmaster-receiver"), *(word for pair in words.items() for word in pair)], expect=1)
    assert "--cycles /nowhere/rows" in done.stderr
    assert "ready" not in done.stdout


def test_a_sender_that_never_comes_is_not_waited_for_for_ever() -> None:
    with receiving([loopback()], 4, 100, "--idle-s", "0.3") as receiver:
        received = ended(receiver)
        assert "nothing came for 0.3 s" in receiver.words
    assert received["ended"] == "idle"
    assert received["links"][0]["received"] == received["links"][0]["lost"] == received["links"][0]["cycles"] == 0


@pytest.mark.parametrize("sequence", [2**63, 2**64 - 1])
def test_what_is_of_no_cycle_is_foreign(sequence: int) -> None:
    near, far = free_udp_port(), free_udp_port()
    text = f"udp:127.0.0.1:{far},peer=127.0.0.1:{near}"
    with (
        receiving([Endpoints("", text)], 4, 100, "--idle-s", "1") as receiver,
        socket.socket(type=socket.SOCK_DGRAM) as file,
    ):
        file.bind(("127.0.0.1", near))
        for _ in range(3):
            file.sendto(struct.pack("<HQQ", 0, sequence, 1), ("127.0.0.1", far))
        link = ended(receiver)["links"][0]
    assert link["foreign"] == 3
    assert link["received"] == link["lost"] == link["cycles"] == 0


def test_a_receiver_that_vanishes_ends_the_sender(tmp_path: Path) -> None:
    endpoints = memif(tmp_path)
    with receiving([endpoints], 4, 100) as receiver, generating(endpoints, 4, 100) as sender:
        receiver.kill()
        assert sender.wait(TIMEOUT_S) == 1
        assert "has no peer" in sender.words
        sent = last_object(sender.words)
    assert sent["ended"] == "link"
    assert sent["links"][0]["sent"] > 0


def test_an_interface_that_vanishes_ends_both() -> None:
    with veth_pair() as pair:
        endpoints = interface("raw", pair)
        with receiving([endpoints], 4, 100, "--idle-s", "2") as receiver, generating(endpoints, 4, 100) as sender:
            subprocess.run([*pair.enter(0), "ip", "link", "delete", "veth0"], check=True, timeout=TIMEOUT_S)
            assert sender.wait(TIMEOUT_S) == 1
            received = ended(receiver)
            assert "link raw:veth0" in sender.words
            assert "link raw:veth1" in receiver.words
            assert "nothing came any more for 2 s" in receiver.words
            sent = last_object(sender.words)
    assert (sent["ended"], received["ended"]) == ("link", "idle")
    assert sent["links"][0]["sent"] > 0
    assert received["links"][0]["received"] > 0


def test_an_interrupted_receiver_tells_what_came(tmp_path: Path) -> None:
    endpoints, path = memif(tmp_path), tmp_path / "cycles"
    options = ("--cycles", str(path))
    with receiving([endpoints], 4, 100, *options) as receiver, generating(endpoints, 4, 100) as sender:
        os.kill(receiver.pid, signal.SIGINT)
        received = ended(receiver)
        assert sender.wait(TIMEOUT_S) == 1
    assert received["ended"] == "interrupted"
    link = received["links"][0]
    assert link["cycles"] > 5
    assert link["received"] + link["lost"] == 4 * link["cycles"]
    assert len(rows_of(path)) == link["cycles"]
    assert rows_of(path)["datagrams"].sum() == link["received"]


def test_an_interrupted_sender_ends_its_receiver(tmp_path: Path) -> None:
    endpoints = memif(tmp_path)
    with receiving([endpoints], 4, 100) as receiver, generating(endpoints, 4, 100) as sender:
        os.kill(sender.pid, signal.SIGTERM)
        assert sender.wait(TIMEOUT_S) == 0
        received = ended(receiver)
        sent = last_object(sender.words)
    assert (sent["ended"], received["ended"]) == ("interrupted", "done")
    assert sent["cycles"] > 5
    assert_sums_hold(sent, received, 4)


def test_a_killed_sender_is_missed(tmp_path: Path) -> None:
    endpoints = memif(tmp_path)
    with receiving([endpoints], 4, 100, "--idle-s", "2") as receiver, generating(endpoints, 4, 100) as sender:
        sender.kill()
        received = ended(receiver)
        assert "has no peer" in receiver.words
    assert received["ended"] == "idle"
    assert received["links"][0]["received"] > 0


def test_a_sender_may_run_on_when_the_window_is_over(tmp_path: Path) -> None:
    endpoints = memif(tmp_path)
    with receiving([endpoints], 4, 100, "--warm-up", "0.2", seconds=0.3) as receiver:
        sent = generator([endpoints], 4, 100, 1)
        received = ended(receiver)
    assert (sent["ended"], received["ended"]) == ("done", "done")
    link = received["links"][0]
    assert (link["first_cycle"], link["cycles"]) == (20, 30)
    assert link["received"] + link["lost"] == 4 * 30
    assert link["lost"] == 0 or sent["behind_cycles"] > 0
