# SPDX-License-Identifier: Apache-2.0
"""The demonstration of two servers: its files are those of one server, twice, and its report says what is wrong."""

import json
import stat
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from ringmaster.cli import demo_pair
from ringmaster.cli.demo_pair import Killer
from ringmaster.demo.pair import PairReport
from ringmaster.machine.server_file import chains, instruments, read_yaml
from ringmaster.places import CONFIGS
from ringmaster.standby.file import read_pair
from ringmaster.standby.switch import Switched
from ringmaster.virtual.pair_file import KEY, KEY_BYTES, Links, Timing, write_pair
from ringmaster.virtual.pair_loop import TIMING, TURN_RATE_HZ, PairLoop, write_files

GOOD = PairReport(
    killed="a",
    took_over="b",
    swap_cycles=42,
    missed_cycles=40,
    feedback="on",
    orbit_rms_um_before={"x": 1.0, "y": 1.5},
    orbit_rms_um_largest_before={"x": 3.0, "y": 4.0},
    orbit_rms_um_largest_after={"x": 4.0, "y": 5.0},
    joined=True,
    join_s=2.0,
    switched=Switched(turn=120, server="a", cycles=64, missing_cycles=0, duplicate_cycles=0),
    trouble="",
    chains={"swaps": 2, "two_masters": 0, "over_limit": 0, "over_slew": 0},
)


def test_an_orbit_that_stays_is_well() -> None:
    assert GOOD.faults == []
    told = json.loads(json.dumps(GOOD.as_json()))
    assert told["switched"]["missing_cycles"] == 0


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (replace(GOOD, feedback="hold"), "the loop is hold after the take-over"),
        (replace(GOOD, orbit_rms_um_largest_after={"x": 12.0, "y": 5.0}), "the orbit moved in x: from 3 µm to 12 µm"),
        (replace(GOOD, orbit_rms_um_largest_after={"x": float("nan"), "y": 5.0}), "the orbit moved in x"),
        (replace(GOOD, joined=False, trouble="no key"), "server a did not join again: no key"),
        (replace(GOOD, switched=None, trouble="b is JOINING"), "the planned switch did not come: b is JOINING"),
        (replace(GOOD, switched=Switched(120, "a", 64, 2, 0)), "missed 2 cycles and doubled 0"),
        (replace(GOOD, chains={"two_masters": 3}), "3 two masters"),
    ],
)
def test_what_is_wrong_is_said(wrong: PairReport, words: str) -> None:
    assert words in "\n".join(wrong.faults)


def test_the_demos_files_are_two_servers_with_their_own_places(tmp_path: Path) -> None:
    config, overlay = write_files(tmp_path)
    made = read_yaml(config)
    a, b = read_pair(config)
    assert a.workspace != b.workspace
    assert made["turn_rate_hz"] == TURN_RATE_HZ
    assert {instrument["name"] for instrument in made["instruments"]} == {"bpm", "mps"}
    assert len(instruments(made, "bpm")) == 84
    assert all("{server}" in port["socket"] for port in made["ports"])
    cycle_s = made["setpoints"]["period_turns"] / made["turn_rate_hz"]
    shortest = min(chain["timeout_us"] for chain in made["chains"]) * 1e-6
    assert shortest > (TIMING.missed_cycles + 2) * cycle_s
    assert len(chains(made)) == 20
    assert read_yaml(overlay)["machine"]["bpms"] == "BPM_*"


def test_the_shipped_pair_becomes_one_of_this_host(tmp_path: Path) -> None:
    links = Links(("127.0.0.1:5001",), ("127.0.0.1:5002",))
    server, ring = (read_yaml(CONFIGS / name) for name in ("standby.yaml", "standby-ring.yaml"))
    config, _ = write_pair(tmp_path, server, ring, links, Timing(3, 1e-3))
    assert [one.workspace for one in read_pair(config)] == ["ring-a", "ring-b"]
    key = tmp_path / KEY
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert len(bytes.fromhex(key.read_text())) == KEY_BYTES


class FakeServer:
    """Notes what is done to it."""

    name = "a"

    def __init__(self) -> None:
        self.server = SimpleNamespace(pid=4711)
        self.done: list[str] = []
        self.refuses = ""

    def kill(self) -> None:
        """As the real one."""
        self.done.append("kill")

    def start(self) -> None:
        """As the real one."""
        self.done.append("start")
        if self.refuses:
            raise RuntimeError(self.refuses)


def test_the_key_kills_the_active_server_and_starts_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_pair, "AWAY_S", 0.0)
    server = FakeServer()
    loop = cast(PairLoop, SimpleNamespace(pair=SimpleNamespace(active=server)))
    killer = Killer(loop)
    assert "kill -9 4711: server a" in killer()
    killer.end()
    assert server.done == ["kill", "start"]
    server.refuses = "no core"
    killer()
    killer.end()
    assert killer() == "server a did not start again: no core"
    assert server.done == ["kill", "start"] * 2


def test_nobody_is_killed_while_nobody_sends() -> None:
    loop = cast(PairLoop, SimpleNamespace(pair=SimpleNamespace(active=None)))
    assert "wait until it has joined" in Killer(loop)()
