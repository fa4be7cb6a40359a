# SPDX-License-Identifier: Apache-2.0
"""The link between two servers, `ringmaster-standby`, between real ones: what it brings, what it outlives, and what it
refuses. The ring sends to both servers, whose link is over loopback.
"""

import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import LIBEXEC, RING_CORE, SERVER_CORE, TIMEOUT_S, terminate, unique_name, wait_for

from ringmaster.fabric.layout import StandbyRole
from ringmaster.machine.server_file import read_yaml
from ringmaster.places import CONFIGS
from ringmaster.programs.program import Program
from ringmaster.standby import names
from ringmaster.virtual import pair as virtual_pair
from ringmaster.virtual.pair import Pair, PairServer
from ringmaster.virtual.pair_file import Timing, write_shipped_pair

pytestmark = pytest.mark.skipif(
    RING_CORE == SERVER_CORE, reason="ONE CORE HERE: the ring needs one, and the servers another"
)

PROGRAM = LIBEXEC / "ringmaster-standby"
CYCLE_S = 1.2e-3
TIMING = Timing(missed_cycles=60, timeout_s=0.15, begin_s=2.0)
"""Of 1.2 ms: as long a stall as may be."""
APPLICATION = "ramp"
STEPS = 50
"""That are compared."""
HOSTILE = 200


@pytest.fixture(scope="module")
def pair(root: Path) -> Iterator[Pair]:
    """Both servers, the processes of their link, and their ring."""
    folder = root / "link"
    folder.mkdir()
    files = write_shipped_pair(folder, unique_name("link"), CYCLE_S, TIMING, networks=2)
    with virtual_pair.start(*files) as running:
        yield running


def settled(pair: Pair) -> tuple[PairServer, PairServer]:
    """The active server and the ready one; what was ended is started first."""
    for server in pair.servers:
        server.start()
    active = pair.wait_whole()
    return active, pair.other(active)


def counter(server: PairServer, name: str) -> int:
    """Of the set "link"."""
    ws = server.attached()
    assert ws is not None, server.words
    return int(ws.counters("link")[name])


def why(server: PairServer) -> str:
    """What its link says."""
    figures = server.figures()
    return "" if figures is None else figures.link.why


def kill_link(server: PairServer) -> None:
    """The process of its link alone, by `kill -9`."""
    assert server.link is not None
    server.link.kill()
    server.link.__exit__(None, None, None)
    server.link = None


def end_link(server: PairServer) -> int:
    """Ends the process of its link alone in good order; returns its exit status."""
    assert server.link is not None
    status = terminate(server.link)
    server.link.__exit__(None, None, None)
    server.link = None
    return status


def standby(*arguments: str | Path, expect: int) -> "subprocess.CompletedProcess[str]":
    """Runs the program to its end."""
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    assert done.returncode == expect, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def test_records_come_over_as_they_are(pair: Pair) -> None:
    active, ready = settled(pair)
    theirs, ours = active.attached(), ready.attached()
    assert theirs is not None
    assert ours is not None
    written, brought = theirs.streams[f"{APPLICATION}/decision"], ours.streams[f"peer/{APPLICATION}/decision"]
    begin = brought.head
    assert begin is not None
    end = begin + STEPS * written.period
    wait_for(lambda: (brought.head or 0) >= end, lambda: f"{STEPS} steps, at {brought.head} of {end}")
    sent, came = written.read(begin, STEPS), brought.read(begin, STEPS)
    assert sent.ok.any()
    assert [*came.ok] == [*sent.ok], "a step that a busy host left out is nowhere"
    for lane in sent.lanes:
        assert [*came[lane]] == [*sent[lane]]
    wait_for(lambda: counter(ready, "records") >= STEPS, "the counters to show them")


def test_vectors_come_over_as_they_are(pair: Pair) -> None:
    active, ready = settled(pair)
    theirs, ours = active.attached(), ready.attached()
    assert theirs is not None
    assert ours is not None
    sent, came = theirs.setpoints["sent"], ours.setpoints["peer/setpoints/sent"]

    def same() -> bool:
        one, other = sent.read(), came.read()
        if one is None or other is None or one.input_turn != other.input_turn:
            return False
        return [*one.values] == [*other.values]

    wait_for(same, lambda: f"the same vector: {sent.read()}, {came.read()}")


@pytest.mark.parametrize("which", ["active", "ready"])
def test_a_killed_link_joins_again(pair: Pair, which: str) -> None:
    active, ready = settled(pair)
    killed, other = (active, ready) if which == "active" else (ready, active)
    kill_link(killed)
    wait_for(
        lambda: f"server {killed.name} is not heard" in why(other), lambda: f"{other.name} to say so: {why(other)}"
    )
    settled(pair)


def test_a_link_ends_in_order(pair: Pair) -> None:
    active, ready = settled(pair)
    assert end_link(ready) == 0
    wait_for(
        lambda: (figures := active.figures()) is not None and figures.link.peer_role is None, "the peer to be gone"
    )
    settled(pair)


def test_a_link_outlives_its_server(pair: Pair) -> None:
    active, ready = settled(pair)
    link = ready.link
    assert link is not None
    ready.kill_server()
    wait_for(lambda: f"server {ready.name} is not running" in why(active), lambda: why(active))
    settled(pair)
    assert ready.link is link
    link.check()


def test_hostile_datagrams_are_counted(pair: Pair) -> None:
    _, ready = settled(pair)
    before = {name: counter(ready, name) for name in ("bad_length", "bad_version", "bad_key")}
    address = read_yaml(pair.a.file.file)["standby"]["servers"][ready.file.number - 1]["links"][0]
    host, _, port = str(address).rpartition(":")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        for number in range(HOSTILE):
            stranger.sendto(b"short", (host, int(port)))
            stranger.sendto(bytes([number]) * 100, (host, int(port)))
            stranger.sendto(b"RMSL\x01\x02" + (52).to_bytes(2, "little") + bytes(92), (host, int(port)))
    for name, count in before.items():
        wait_for(lambda: counter(ready, name) >= count + HOSTILE, lambda: f"{HOSTILE} of {name}")  # noqa: B023
    settled(pair)


def test_another_configuration_is_refused(pair: Pair) -> None:
    active, ready = settled(pair)
    end_link(ready)
    file = Path(pair.a.file.file)
    changed = file.with_name("changed.yaml")
    changed.write_text(file.read_text().replace('"slew": 2000', '"slew": 1999'))
    with Program("ringmaster-standby", f"{changed}@{ready.name}") as link:
        wait_for(lambda: '"2000"' in why(active), lambda: f"the difference: {why(active)}; {link.words}")
        assert f"chains[0].supplies[0].slew: {active.name} has" in why(active)
        wait_for(lambda: ready.role == StandbyRole.FAULT, lambda: f"FAULT of {ready.name}: {ready.figures()}")
        wait_for(lambda: active.role == StandbyRole.ACTIVE, lambda: f"{active.name} to send: {active.figures()}")
        link.check()
    settled(pair)


def test_another_key_is_none(pair: Pair) -> None:
    active, ready = settled(pair)
    end_link(ready)
    file = Path(pair.a.file.file)
    folder = file.parent / "other"
    folder.mkdir()
    other = folder / file.name
    other.write_text(file.read_text())
    key = folder / "standby.key"
    key.touch(mode=0o600)
    key.write_text("5a" * 32 + "\n")
    before = counter(active, "bad_key")
    with Program("ringmaster-standby", f"{other}@{ready.name}") as link:
        wait_for(lambda: counter(active, "bad_key") > before + 3, lambda: f"datagrams of another key: {link.words}")
        assert "with this key" in why(active)
    settled(pair)


def test_a_second_one_in_a_workspace_is_refused(pair: Pair) -> None:
    active, _ = settled(pair)
    second = standby(active.file.config, expect=1)
    assert second.stderr.startswith("ringmaster-standby: ")


def test_a_file_of_one_server_is_refused(tmp_path: Path) -> None:
    alone = standby(CONFIGS / "loopback.yaml", expect=1)
    assert alone.stderr.startswith("ringmaster-standby: ")
    assert names.OWNER in alone.stderr
    assert "Examples:" in standby("--help", expect=0).stdout
    standby(expect=2)
    standby(tmp_path / "nothing.yaml@a", expect=1)
