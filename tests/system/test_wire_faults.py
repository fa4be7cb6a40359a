# SPDX-License-Identifier: Apache-2.0
"""What goes wrong with a round trip: one line that says what, an exit status, and nothing left running."""

import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest
from harness import NOBODY, TIMEOUT_S, veth_pair
from wire_groups import generator_words
from wires import (
    FAR_CORE,
    KINDS,
    NEAR_CORE,
    Endpoints,
    interface,
    last_object,
    loopback,
    measuring,
    memif,
    reflecting,
    rtt,
    wait_until_ready,
)

from ringmaster.places import find_program
from ringmaster.programs.program import Program


def test_a_peer_that_never_comes_is_named(request: pytest.FixtureRequest, tmp_path: Path, root: Path) -> None:
    """All at once, for each waits five seconds: round trips without a reflector, and groups without a receiver."""
    with ExitStack() as stack:
        words = generator_words([memif(tmp_path / "groups")], 4, 100, 1)
        generator = stack.enter_context(Program("ringmaster-generator", *words))
        near = {}
        for kind in ("memif", "udp", "raw"):
            endpoints = KINDS[kind](tmp_path, request)
            near[endpoints.near] = stack.enter_context(measuring(endpoints))
        for text, program in near.items():
            assert program.wait(TIMEOUT_S) == 1
            assert f"no answer from {text} within 5 s: is the reflector running?" in program.words
            assert len(program.words.splitlines()) == 1
        assert generator.wait(TIMEOUT_S) == 1
        assert "has no peer" in generator.words


@pytest.mark.parametrize("kind", ["memif", "udp", "raw"])
def test_a_reflector_killed_in_midst_is_an_error_or_loss(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path, root: Path
) -> None:
    endpoints = KINDS[kind](tmp_path, request)
    with reflecting(endpoints) as reflector, measuring(endpoints, "--timeout-ms", "100", seconds=1.0) as near:
        wait_until_ready(near)
        reflector.kill()
        status = near.wait(TIMEOUT_S)
        if kind == "memif":  # shared memory ends with its owner, and the link says so; a wire cannot
            assert status == 1
            assert "has no peer" in near.words
        else:
            assert status == 0
            assert last_object(near.words)["lost"] > 0


@pytest.mark.parametrize("kind", ["memif", "udp", "af_packet"])
def test_a_reflector_outlives_a_near_end_that_is_killed(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path, root: Path
) -> None:
    endpoints = KINDS[kind](tmp_path, request)
    with reflecting(endpoints) as reflector:
        with measuring(endpoints, rate_hz=20e3, seconds=600.0) as near:
            wait_until_ready(near)
            near.kill()
        assert last_object(rtt(endpoints, seconds=0.2).stdout)["lost"] == 0
        assert reflector.stop() == 0


def test_an_interface_that_vanishes_ends_both_ends(root: Path) -> None:
    with veth_pair() as pair, ExitStack() as stack:
        every = (
            interface("raw", pair),
            interface("af_packet", pair, "udp_port=4661"),
            Endpoints(
                "udp:10.99.0.1:4662,peer=10.99.0.2:4662",
                "udp:10.99.0.2:4662,peer=10.99.0.1:4662",
                *map(pair.enter, (0, 1)),
            ),
        )
        programs = []
        for endpoints in every:
            programs.append(stack.enter_context(reflecting(endpoints)))
            programs.append(stack.enter_context(measuring(endpoints, seconds=600.0)))
            wait_until_ready(programs[-1])
        subprocess.run([*pair.enter(1), "ip", "link", "delete", "veth1"], check=True, timeout=TIMEOUT_S)
        for program in programs:
            assert program.wait(TIMEOUT_S) == 1, program.words
            assert f"{program.name}: link " in program.words
            assert "the interface is gone" in program.words or "no interface has our address" in program.words


@pytest.mark.parametrize("kind", ["raw", "af_packet", "af_xdp"])
def test_no_privilege_is_reported(kind: str) -> None:
    for program, more in (("ringmaster-reflect", ()), ("ringmaster-rtt", ("--rate", "10", "--seconds", "1"))):
        command = [*NOBODY, find_program(program), f"{kind}:lo", "--core", str(NEAR_CORE), *more]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
        assert done.returncode == 1, done.stdout + done.stderr
        assert "CAP_NET_RAW" in done.stderr
        assert "root" in done.stderr


@pytest.mark.parametrize(
    ("words", "status", "expected"),
    [
        ("", 2, "LINK is missing"),
        ("udp:127.0.0.1:1,peer=127.0.0.1:2 --core 0 --seconds 1", 2, "--rate is missing"),
        ("udp:127.0.0.1:1,peer=127.0.0.1:2 --core 0 --seconds 1 --rate 1e9", 2, "--rate: found"),
        ("udp:127.0.0.1:1,peer=127.0.0.1:2 --core 0 --seconds 1 --rate 9 --size 17", 2, "18 to 65535"),
        ("udp:127.0.0.1:1,peer=127.0.0.1:2 --core 0 --seconds 1 --rate 9 --size 1473", 2, "an MTU of 1500"),
        ("udp:127.0.0.1:1,peer=127.0.0.1:2 --core 1000 --seconds 1 --rate 9", 1, "cannot run on core 1000"),
        ("udp:127.0.0.1:1,peer=127.0.0.1:2 --core 0 --seconds 1e6 --rate 1e6", 1, "lower the rate"),
        ("smoke:signals --core 0 --seconds 1 --rate 9", 2, "memif, af_packet"),
        ("raw:nowhere0 --core 0 --seconds 1 --rate 9", 1, "there is no interface 'nowhere0'"),
        ("udp:192.0.2.1:4660,peer=127.0.0.1:2 --core 0 --seconds 1 --rate 9", 1, "no interface has our address"),
    ],
)
def test_bad_input_is_refused_in_one_line(words: str, status: int, expected: str) -> None:
    command = [find_program("ringmaster-rtt"), *words.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    assert done.returncode == status, done.stderr
    assert expected in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


def test_a_reflector_ends_with_its_parent_and_with_its_input(root: Path) -> None:
    endpoints = loopback()
    command = [find_program("ringmaster-reflect"), endpoints.far, "--core", str(FAR_CORE)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        assert "ready" in program.stdout.readline()
        program.stdin.close()
        assert program.wait(TIMEOUT_S) == 0
    parent = ["sh", "-c", '"$@" & read line; exit 0', "sh", *command]
    with subprocess.Popen(parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as shell:
        assert shell.stdin is not None
        assert shell.stdout is not None
        assert "ready" in shell.stdout.readline()
        shell.stdin.write("\n")
        shell.stdin.flush()
        assert "reflected" in shell.stdout.readline()  # it hears of the shell's end, says its sums, and ends
        assert shell.stdout.readline() == ""
