# SPDX-License-Identifier: Apache-2.0
"""The round trip test as a person runs it: a known delay and loss come back, and nothing is left behind."""

import json
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from bench_runs import marked, started, wait_for_line
from harness import TIMEOUT_S, ringmaster, ringmaster_json, veth_pair, wait_for

DELAY_US = 100_000.0
LEAST_STALL_US = 30_000.0
"""The luckiest of 450 probes may be late by that much on a busy machine; none may be early."""
MEDIAN_STALL_US = 150_000.0


@pytest.fixture(autouse=True)
def _programs(root: Path) -> None:
    """Of this checkout."""


def rtt(*options: str) -> list[str]:
    return ["bench", "rtt", "--loads", "idle", *options]


@pytest.fixture(scope="module")
def delayed(root: Path) -> Any:
    """A reflector that waits and keeps every tenth for itself, over shared memory and over a veth pair."""
    with veth_pair():
        pass  # or a reason to skip
    faults = ("--delay-us", f"{DELAY_US:g}", "--drop-every", "10")
    return ringmaster_json(
        *rtt("--kinds", "memif,raw", "--rounds", "1", "--seconds", "1", "--rate", "500", *faults, "--json")
    )


@pytest.mark.parametrize("kind", ["memif", "raw"])
def test_an_injected_delay_is_measured(delayed: Any, kind: str) -> None:
    (one,) = (done for done in delayed["data"]["rounds"] if done["way"] == kind)
    assert DELAY_US <= one["due_us"]["least"] <= DELAY_US + LEAST_STALL_US
    assert DELAY_US <= one["due_us"]["quantiles"]["median"] <= DELAY_US + MEDIAN_STALL_US
    assert delayed[f"rtt_us.{kind}.idle"] == one["due_us"]["quantiles"]["median"]


@pytest.mark.parametrize("kind", ["memif", "raw"])
def test_an_injected_loss_is_counted(delayed: Any, kind: str) -> None:
    (one,) = (done for done in delayed["data"]["rounds"] if done["way"] == kind)
    assert one["said"]["probes"] == 500
    assert one["lost"] == pytest.approx(50, abs=2)
    assert any(note.startswith(f"{kind}, idle: {one['lost']} of 500 probes were lost") for note in delayed["notes"])


def test_the_conditions_stand_with_the_figures(delayed: Any) -> None:
    assert len(delayed["conditions"]["stall_floors"]) == 2
    assert delayed["conditions"]["core_to_core_ns"]["count"] == 4
    for done in delayed["data"]["rounds"]:
        assert done["distance"] in ("near", "far", "mixed")
        assert 0.0 < done["sender_share"] <= 1.5
    assert "--kinds memif,raw" in delayed["command"]


def test_links_that_are_none_and_peers_that_never_answer_are_named(tmp_path: Path) -> None:
    pairs = [
        ("raw:no-such-0", "raw:no-such-1"),
        ("pigeon:loft", "pigeon:tower"),
        (f"memif:{tmp_path}/left.sock,role=server", f"memif:{tmp_path}/right.sock,role=server"),
    ]
    ends = (word for left, right in pairs for word in ("--left", left, "--right", right))
    done = ringmaster(*rtt("--rounds", "1", "--seconds", "0.2", *ends), expect=1)
    notes = done.stderr.splitlines()
    for way, words in (("raw", "no-such-1"), ("pigeon", "pigeon:tower"), ("memif", "no answer")):
        assert any(note.startswith(f"{way}, idle: not measured:") and words in note for note in notes), done.stderr
    assert "is the reflector running?" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(shutil.which("stress-ng") is None, reason="NO STRESS-NG: no load is tested")
def test_ctrl_c_under_load_gives_what_was_measured_until_then() -> None:
    options = ("--kinds", "memif", "--loads", "idle,loaded", "--rounds", "1000", "--seconds", "0.3", "--json")
    with started(*rtt(*options)) as (bench, mark):
        wait_for_line(bench, "memif, idle: median")
        wait_for_line(bench, "memif, loaded: median")
        assert marked(mark, "stress-ng")
        bench.send_signal(signal.SIGINT)
        said, words = bench.communicate(timeout=TIMEOUT_S)
        assert bench.returncode == 0, words
    section = json.loads(said.splitlines()[-1])
    assert section["interrupted"] is True
    assert {done["load"] for done in section["data"]["rounds"]} == {"idle", "loaded"}
    assert section["data"]["loads"]["loaded"].startswith("stress-ng")
    assert section["rtt_us.memif.idle"] > 0


def test_a_bench_that_is_killed_leaves_neither_programs_nor_namespaces() -> None:
    with veth_pair():
        pass
    with started(*rtt("--kinds", "raw", "--rounds", "1", "--seconds", "60")) as (bench, mark):
        wait_for(lambda: marked(mark, "ringmaster-rtt"), "the sender")
        assert marked(mark, "ringmaster-veth-pair")
        bench.kill()


def test_a_link_that_vanishes_ends_the_round_with_a_reason() -> None:
    with veth_pair():
        pass
    with started(*rtt("--kinds", "raw,memif", "--rounds", "1", "--seconds", "2", "--json")) as (bench, mark):
        wait_for(lambda: marked(mark, "ringmaster-rtt"), "the sender")
        (sender,) = marked(mark, "ringmaster-rtt")
        take_away = ["nsenter", f"--net=/proc/{sender}/ns/net", "ip", "link", "delete", "veth0"]
        wait_for(lambda: subprocess.run(take_away, capture_output=True).returncode == 0, "veth0, to delete it")
        said, words = bench.communicate(timeout=TIMEOUT_S)
        assert bench.returncode == 0, words
    section = json.loads(said.splitlines()[-1])
    assert [done["way"] for done in section["data"]["rounds"]] == ["memif"]
    assert any(note.startswith("raw, idle: not measured:") for note in section["notes"])
