# SPDX-License-Identifier: Apache-2.0
"""A generator's ports beside described traffic: instruments for a server, pings, captures that others read, replays."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from captures import read_without_warning
from harness import SERVER_CORE, again_if_starved, nonzero, server, unique_name, wait_for, wait_for_all

from ringmaster import Workspace
from ringmaster.fabric.commands import CommandRefused, Commands
from ringmaster.programs.program import attach_to, commands_of

TURN_RATE_HZ = 5_000
TURNS = 4_000
"""Of a run: 0.8 s."""
FRAMES = 400
LANE_STEP, LANE_RANGE = 1_000, 10_000
"""As src/traffic/instrument_groups.h has them."""

pytestmark = pytest.mark.usefixtures("root")

LAYOUT = """
formats:
  - name: pairs
    udp_port: 4800
    layout:
      byte_order: big
      instruments: {count: 2, stride: 28, at: 4}
      turns: {count: 3, stride: 8, at: 4}
      id: {at: 0, type: u16, in: instrument}
      counter: {at: 0, type: u32, in: datagram}
      lanes:
        - {name: x, unit: nm, at: 0, type: i32}
        - {name: y, unit: nm, at: 4, type: f32}
instruments:
  - {name: bpm, kind: bpm, port: in, source: 10.20.0.1, id: 1, count: 3}
  - {name: slow, kind: bpm, port: in, source: 10.20.1.1, id: 9, period_turns: 10}
  - {name: off, kind: bpm, port: in, source: 10.20.1.2, id: 10, turn_offset: 25}
  - {name: left, kind: bpm, port: in, source: 10.20.2.1, id: 5, format: pairs}
  - {name: right, kind: bpm, port: in, source: 10.20.2.1, id: 6, format: pairs}
"""
"""Native datagrams and described ones, of several instruments and turns."""


def machine(name: str, socket: Path) -> str:
    """The server that the instruments send to."""
    return (
        f"workspace: {name}\nturn_rate_hz: {TURN_RATE_HZ}\npolling: {{naps: true}}\n"
        f"ports: [{{name: in, kind: memif, socket: {socket}, udp_port: 4700}}]\n"
        f"roles: [{{role: receive, core: {SERVER_CORE}, ports: [in]}}]\n"
        f"buffers: {{turn_records: {1 << 16}, fast_records: 1024}}\n"
        f"turn_window: {{late_turns: 16384, ahead_turns: 4096, silence_turns: {1 << 21}}}\n{LAYOUT}"
    )


def generator(name: str, ports: str, names: str) -> str:
    """A server that only generates."""
    return (
        f"workspace: {name}\nturn_rate_hz: {TURN_RATE_HZ}\npolling: {{naps: true}}\n"
        f"ports: [{ports}]\nroles: [{{role: generate, core: {SERVER_CORE}, ports: [{names}]}}]\n"
    )


@contextmanager
def running(folder: Path, name: str, words: str) -> Iterator[tuple[Workspace, Commands | None]]:
    """Such a server; a generator's commands, too."""
    config = folder / f"{name}.yaml"
    config.write_text(words)
    with ExitStack() as stack:
        program = stack.enter_context(server(config))
        ws = stack.enter_context(attach_to(name, program))
        generates = "generate" in words
        yield ws, stack.enter_context(commands_of(ws, program)) if generates else None


INSTRUMENTS = ("bpm01", "bpm02", "bpm03", "slow", "off", "left", "right")
ERRORS = ("duplicate", "turn_ahead", "turn_behind", "turn_out_of_range", "out_of_order", "unanchored")
"""Counters of a stream that right turns do not move."""


def check_instruments(ws: Workspace) -> None:
    """Every datagram was decoded, every turn is in its place, and each lane says its turn."""
    port = ws.counters("port/in")
    assert port["received"] == port["decoded"] > 0, nonzero(port)
    for name in INSTRUMENTS:
        counters = ws.counters(f"stream/{name}")
        assert not {error: counters[error] for error in ERRORS if counters[error]}, (name, nonzero(counters))
        window = ws.streams[f"{name}/{'raw' if name == 'slow' else 'turn'}"].latest(300)
        assert window.ok.any()
        for number, lane in enumerate(window.lanes[:2]):
            expected = (window.turn.astype(np.int64) + number * LANE_STEP) % LANE_RANGE
            np.testing.assert_array_equal(window[lane][window.ok], expected[window.ok], f"{name}, {lane}")


def send_instruments(commands: Commands | None, words: str) -> Commands:
    """Has port 0 send them."""
    assert commands is not None
    for line in ("set 0 late_max 200000", f"instruments 0 {words}", "start 0"):
        commands.run(line)
    return commands


def check_two_starts(ws: Workspace, sender: Workspace, commands: Commands) -> int:
    """Lets them go on, stops and starts them once, and checks what came; the first turn."""
    wait_for_all(ws.counters("stream/bpm01"), "accepted", TURNS // 2)
    commands.run("stop 0")  # the machine goes on meanwhile
    commands.run("start 0")
    wait_for_all(ws.counters("stream/bpm01"), "accepted", TURNS)
    commands.run("stop 0")
    wait_for_all(ws.counters("port/in"), "received", sender.counters("generator/out")["sent"])
    check_instruments(ws)
    first = ws.streams["bpm02/turn"].first
    assert first is not None
    return first


@again_if_starved
def test_a_server_decodes_instruments_from_a_number_on(tmp_path: Path) -> None:
    """Native and described, one and many to a datagram: no counter of errors moves."""
    socket, names = tmp_path / "link.sock", (unique_name("machine"), unique_name("sender"))
    out = f"{{name: out, kind: memif, socket: {socket}, role: client}}"
    with (
        running(tmp_path, names[0], machine(names[0], socket)) as (ws, _),
        running(tmp_path, names[1], generator(names[1], out, "out")) as (sender, commands),
    ):
        told = send_instruments(commands, f"{tmp_path / names[0]}.yaml * 7000")
        assert 0 <= check_two_starts(ws, sender, told) - 7000 < 10  # the server has its clock from the first of them


@again_if_starved
def test_a_server_that_comes_late_gets_the_turns_of_tai(tmp_path: Path) -> None:
    """The same, from a sender whose link was down: what waited there is too old, and is not sent."""
    socket, names = tmp_path / "link.sock", (unique_name("machine"), unique_name("sender"))
    out = f"{{name: out, kind: memif, socket: {socket}, role: client}}"
    (tmp_path / f"{names[0]}.yaml").write_text(machine(names[0], socket))
    with running(tmp_path, names[1], generator(names[1], out, "out")) as (sender, commands):
        told = send_instruments(commands, f"{tmp_path / names[0]}.yaml *")
        port = sender.counters("generator/out")
        wait_for_all(port, "skipped", TURNS)
        assert port["refused"] > 0
        with running(tmp_path, names[0], machine(names[0], socket)) as (ws, _):
            first = check_two_starts(ws, sender, told)
            assert first > 1.7e9 * TURN_RATE_HZ  # so many seconds have gone since 1970


@dataclass(frozen=True)
class Sides:
    """Two generators with a link between them: one sends and asks, the other one answers."""

    left: Commands
    right: Commands
    sent: Mapping[str, int]
    """Counters of the left one's port."""
    came: Mapping[str, int]
    """And of the right one's."""


@pytest.fixture
def sides(tmp_path: Path) -> Iterator[Sides]:
    """Both, running."""
    socket, names = tmp_path / "link.sock", [unique_name(side) for side in ("left", "right")]
    ports = [f"{{name: port, kind: memif, socket: {socket}, role: {role}}}" for role in ("server", "client")]
    with (
        running(tmp_path, names[0], generator(names[0], ports[0], "port")) as (left, left_commands),
        running(tmp_path, names[1], generator(names[1], ports[1], "port")) as (right, right_commands),
    ):
        assert left_commands is not None
        assert right_commands is not None
        for line in ("set 0 src ip 192.168.1.1", "set 0 src mac 02:00:00:00:01:01", "enable 0 process"):
            right_commands.run(line)
        counters = (ws.counters("generator/port") for ws in (left, right))
        yield Sides(left_commands, right_commands, *counters)


def asked(commands: Commands) -> str:
    """What came of the last question of port 0."""
    return next((line for line in commands.run("show 0") if "asked" in line), "")


def ping(commands: Commands) -> str:
    """Three pings of port 0; again where the host let their answers come too late."""

    def pinged() -> bool:
        commands.run("ping4 0 3")
        wait_for(lambda: "3 pings answered" in asked(commands) or "nobody" in asked(commands), "the pings' end")
        return "3 of 3" in asked(commands)

    wait_for(pinged, "three answers")
    return asked(commands)


def test_tshark_reads_a_capture_without_a_warning(sides: Sides, tmp_path: Path) -> None:
    """What a port received, and what it answered."""
    file = tmp_path / "right.pcap"
    sides.right.run(f"capture 0 {file}")
    for line in ("set 0 size 200", "set 0 rate max", f"set 0 count {FRAMES}", "start 0"):
        sides.left.run(line)
    wait_for_all(sides.came, "received", FRAMES)
    assert "192.168.1.1 is at 02:00:00:00:01:01: 3 of 3" in ping(sides.left)
    sides.right.run("capture 0 off")
    frames = read_without_warning(file)
    assert len(frames) == sides.came["received"] + sides.came["answered"]
    assert sides.came["capture_lost"] == 0
    assert sum(frame["frame.len"] == "196" for frame in frames) == FRAMES
    assert sum("icmp" in frame["frame.protocols"] for frame in frames) >= 6


def test_a_capture_is_replayed(sides: Sides, tmp_path: Path) -> None:
    """Twice, as fast as it goes; and what is no capture is refused."""
    file, wrong = tmp_path / "left.pcap", tmp_path / "wrong.pcap"
    wrong.write_text("no capture")
    for line in ("set 0 size 300", "set 0 rate max", f"set 0 count {FRAMES}", f"capture 0 {file}", "start 0"):
        sides.left.run(line)
    wait_for_all(sides.came, "received", FRAMES)
    sides.left.run("capture 0 off")
    sides.left.run("set 0 count 0")
    with pytest.raises(CommandRefused, match="no capture in pcap or pcapng"):
        sides.left.run(f"pcap 0 {wrong}")
    sides.left.run(f"pcap 0 {file} 0 2")
    assert f"{FRAMES} frames of {file}; refused: 0 longer" in "\n".join(sides.left.run("show 0"))
    sides.left.run("set 0 size 1000")  # of described frames, which are not sent now
    sides.left.run("start 0")
    wait_for_all(sides.came, "received", 3 * FRAMES)
    wait_for(lambda: sides.sent["sent"] == 3 * FRAMES, "the end of the replay")
    assert sides.came["size_511"] == 3 * FRAMES
