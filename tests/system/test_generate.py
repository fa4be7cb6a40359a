# SPDX-License-Identifier: Apache-2.0
"""`ringmaster generate`, by scripts and in a terminal, and its capture as others read it."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from harness import (
    SERVER_CORE,
    TIMEOUT_S,
    command_line,
    kill_at_once,
    ringmaster,
    ringmaster_json,
    server,
    unique_name,
    wait_for,
    wait_for_all,
)
from terminals import Terminal, needs_tmux, shown

from ringmaster import Workspace, attach
from ringmaster.errors import WorkspaceError
from ringmaster.fabric.commands import Commands
from ringmaster.programs.program import Program, attach_to, commands_of
from ringmaster.programs.remains import release_workspace
from ringmaster.traffic.server import started

FRAMES = 1500
AT_ONCE = ("--seconds", "0", "--json")
"""Ends after the last command, and prints what was sent."""
LOUDER_THAN_NOTES = "_ws.expert.severity >= 6291456"
"""Warnings and errors of tshark."""
SCRIPT = """
# frames with a stamp, in three flows
set {port} rate max
set {port} count {frames}
set {port} size 128
set {port} dport 4000      # of no protocol that a reader would look into
set {port} flows 3
range {port} sport min 50000
range {port} sport max 50099
enable {port} range
enable {port} latency
capture {port} {capture}
start {port}
wait
delay 20
capture {port} off
show {port} flows
"""


def configuration(folder: Path, word: str, *ports: str) -> tuple[Path, str]:
    """A server that generates on a core that it leaves to others while it has nothing to do."""
    name = unique_name(word)
    path = folder / f"{name}.yaml"
    names = ", ".join(f"p{i}" for i in range(len(ports)))
    lines = "\n".join(f"  - {{name: p{i}, {port}}}" for i, port in enumerate(ports))
    path.write_text(
        f"workspace: {name}\nturn_rate_hz: 1000000\npolling: {{naps: true}}\nports:\n{lines}\n"
        f"roles: [{{role: generate, core: {SERVER_CORE}, ports: [{names}]}}]\n"
    )
    return path, name


def script(folder: Path, port: str, capture: Path) -> Path:
    """What one port is told."""
    path = folder / "traffic.pkt"
    path.write_text(SCRIPT.format(port=port, frames=FRAMES, capture=capture))
    return path


def tshark(capture: Path, *arguments: str) -> list[str]:
    """A line for each frame that fits."""
    command = ["tshark", "-r", str(capture), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=TIMEOUT_S)
    return done.stdout.splitlines()


def test_a_script_is_sent_counted_and_captured(root: Path, tmp_path: Path) -> None:
    config, name = configuration(tmp_path, "script", "kind: ring")
    capture = tmp_path / "all.pcap"
    told = ringmaster_json("generate", "-c", config, "--script", script(tmp_path, "p0", capture), *AT_ONCE)
    port = told["ports"][0]
    counts = port["counts"]
    for counter in ("sent", "received", "stamped", "size_255"):
        assert counts[counter] == FRAMES, counts
    flows = port["settings"]["flows"]
    assert sum(flow["sent"] for flow in flows) == FRAMES
    for flow in flows:
        assert (flow["lost"], flow["duplicate"], flow["reordered"]) == (0, 0, 0)
        assert flow["received"] == flow["sent"]
        assert 0 < flow["latency_ns"]["p50"] <= flow["latency_ns"]["max"]
    fields = tshark(capture, "-T", "fields", "-e", "udp.srcport", "-e", "frame.len")
    assert len(fields) == 2 * FRAMES, "what was sent, and what came"
    assert {line.split()[1] for line in fields} == {"124"}
    assert len({line.split()[0] for line in fields}) == 100, "the range was gone through"
    assert tshark(capture, "-o", "udp.check_checksum:TRUE", "-Y", LOUDER_THAN_NOTES) == []
    release_workspace(name)


@contextmanager
def commanded(config: Path, name: str) -> Iterator[tuple[Workspace, Commands]]:
    """A generator that runs, and what tells it what to do."""
    with started(config, name) as (watch, program), attach_to(name, program) as ws:
        yield ws, watch.commands
    release_workspace(name)


def test_two_generators_send_to_each_other(root: Path, tmp_path: Path) -> None:
    socket = tmp_path / "link.sock"
    left, left_name = configuration(tmp_path, "left", f"kind: memif, socket: {socket}, role: server")
    right, right_name = configuration(tmp_path, "right", f"kind: memif, socket: {socket}, role: client")
    with commanded(left, left_name) as (left_ws, here), commanded(right, right_name) as (right_ws, there):
        wait_for(lambda: '"link_up":true' in here.run("show json")[0], "the link")
        for commands in (here, there):
            commands.run(f"set 0 count {FRAMES}")
            commands.run("set 0 rate max")
            commands.run("start 0")
        for ws in (left_ws, right_ws):
            counts = ws.counters("generator/p0")
            wait_for_all(counts, "received", FRAMES)
            assert counts["sent"] == FRAMES
            assert counts["foreign"] == FRAMES, "flows of another server are not ours"


def test_a_refused_line_ends_it_with_the_line(root: Path, tmp_path: Path) -> None:
    config, name = configuration(tmp_path, "refused", "kind: ring", "kind: ring")
    bad = tmp_path / "bad.pkt"
    bad.write_text("set 0 rate 10\nset 0 rate 101\n")
    done = ringmaster("generate", "-c", config, "--script", bad, "--json", expect=1)
    assert f"{bad}:2: " in done.stderr
    assert "at most 100 percent" in done.stderr
    assert done.stdout == ""
    for words, told in (
        (("--port", "p0=ring", "--attach", "x"), "one of --port, --config and --attach"),
        (("--port", "p0=rings"), "is no port, expected NAME=KIND:WHERE"),
        (("--port", "p0=memif"), "its socket behind a colon"),
        (("--port", "p0=ring", "--port", "p0=ring"), "two ports have one name"),
        (("-c", str(config), "--core", "1"), "--core belongs to --port"),
    ):
        assert told in " ".join(ringmaster("generate", *words, expect=2).stderr.split()), words
    release_workspace(name)


def test_a_role_begins_with_its_script(root: Path, tmp_path: Path) -> None:
    config, name = configuration(tmp_path, "begins", "kind: ring")
    (tmp_path / "begin.pkt").write_text(f"set 0 count {FRAMES}\nset 0 rate max  # as it goes\nstart 0\n")
    config.write_text(config.read_text().replace("role: generate,", "role: generate, script: begin.pkt,"))
    with commanded(config, name) as (ws, commands):
        wait_for_all(ws.counters("generator/p0"), "received", FRAMES)
        assert f'"count":{FRAMES}' in commands.run("show json")[0]
    (tmp_path / "begin.pkt").write_text("start 0\nset 0 colour red\n")
    with server(config) as program:
        assert program.wait(TIMEOUT_S) == 1
        assert "begin.pkt:2: " in program.words
    release_workspace(name)


def test_it_shows_what_a_running_server_generates(root: Path, tmp_path: Path) -> None:
    config, name = configuration(tmp_path, "attach", "kind: ring")
    with commanded(config, name):
        told: Any = ringmaster_json("generate", "--attach", name, "--command", "set 0 size 99", *AT_ONCE)
        assert told["ports"][0]["settings"]["frame"]["size"] == 99
        again = ringmaster_json("generate", "--attach", name, *AT_ONCE)
        assert again["ports"][0]["settings"]["frame"]["size"] == 99


def in_terminal(size: tuple[int, int], *arguments: str | Path) -> list[str]:
    """The command line, and what it ended with."""
    words = " ".join(f"'{word}'" for word in command_line("generate", *arguments))
    return ["sh", "-c", f"{words}; echo ended with $?; sleep {TIMEOUT_S:.0f}"]


@needs_tmux
@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
def test_the_page_shows_ports_and_does_what_is_typed(root: Path, tmp_path: Path, size: tuple[int, int]) -> None:
    config, name = configuration(tmp_path, f"page{size[0]}", *["kind: ring"] * 4)
    with shown(size, in_terminal(size, "-c", config)) as page:
        page.until("0: p0 ring", "Packets/s rx/max", "stopped up", "64/64")
        assert ("3: p3" in page.screen) == (size[0] > 80)
        type_line(page, "set p0 size 77")
        page.until("77/64")
        type_line(page, "set p0 sise 77")
        page.until('"size"?)')
        type_line(page, "page stats")
        page.until("enable 0 latency")
        page.do("send-keys", "F1")
        page.until("Packets/s rx/max")
        rows = page.screen.rstrip("\n").split("\n")
        assert len(rows) == size[1]
        type_line(page, "quit")
        page.until("p3: sent 0, received 0", "ended with 0")
    release_workspace(name)


@needs_tmux
def test_a_signal_leaves_the_terminal_as_it_was(root: Path, tmp_path: Path) -> None:
    config, name = configuration(tmp_path, "signal", "kind: ring")
    with shown((80, 24), in_terminal((80, 24), "-c", config)) as page:
        page.until("0: p0 ring")
        assert flags(page) == ("1", "0"), "another screen, without a cursor"
        shell = page.pid
        children = Path(f"/proc/{shell}/task/{shell}/children").read_text().split()
        os.kill(int(children[0]), signal.SIGTERM)
        page.until("ended with 143")
        assert flags(page) == ("0", "1")
    release_workspace(name)


@needs_tmux
def test_a_server_that_ends_ends_the_page_with_its_words(root: Path, tmp_path: Path) -> None:
    config, name = configuration(tmp_path, "ends", "kind: ring")
    with shown((80, 24), in_terminal((80, 24), "-c", config)) as page:
        page.until("0: p0 ring")
        with attach(name) as ws:
            kill_at_once(ws.segments["server"].owner_pid)
        page.until("ringmaster: ringmaster-server ended with status -9", "ended with 1")
        assert flags(page) == ("0", "1")
    release_workspace(name)


@needs_tmux
def test_the_page_goes_on_with_a_server_that_was_restarted(root: Path, tmp_path: Path) -> None:
    config, name = configuration(tmp_path, "again", "kind: ring")
    with server(config) as first, ExitStack() as stack:
        wait_until_served(name, first)
        page = stack.enter_context(shown((80, 24), in_terminal((80, 24), "--attach", name)))
        page.until("0: p0 ring", "port 0 of 1")
        type_line(page, "set 0 size 99")
        page.until("99/64")
        kill_at_once(first.pid)
        page.until("the server has ended")
        with server(config):
            page.until("64/64", "port 0 of 1")
            type_line(page, "set 0 size 98")
            page.until("98/64")
    release_workspace(name)


def test_without_a_page_the_end_of_the_server_is_an_error(root: Path, tmp_path: Path) -> None:
    config, name = configuration(tmp_path, "gone", "kind: ring")
    with server(config) as program:
        words = command_line("generate", "--attach", name, "--command", "start 0")
        wait_until_served(name, program)
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            with attach(name) as ws:
                wait_for(lambda: ws.counters("generator/p0")["sent"] > 0, "the first frame")
            kill_at_once(program.pid)
            _, said = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 6
    assert "the server has ended" in said
    release_workspace(name)


def test_an_interrupt_keeps_what_was_counted(root: Path, tmp_path: Path) -> None:
    config, name = configuration(tmp_path, "interrupt", "kind: ring")
    words = command_line("generate", "-c", config, "--command", "set 0 rate 1kpps", "--command", "start 0")
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        ws = attach_soon(name)
        wait_for(lambda: ws.counters("generator/p0")["sent"] > 0, "the first frame")
        ws.close()
        process.send_signal(signal.SIGINT)
        out, said = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 0
    assert "interrupted" in said
    sent = re.match(r"p0: sent (\d+), received (\d+)", out)
    assert sent is not None
    assert int(sent[1]) == int(sent[2]) > 0
    release_workspace(name)


def wait_until_served(name: str, program: Program) -> None:
    """Until the server takes commands."""
    with attach_to(name, program) as ws, commands_of(ws, program):
        pass


def attach_soon(name: str) -> Workspace:
    """As soon as its server is there."""
    found: list[Workspace] = []

    def there() -> bool:
        with suppress(WorkspaceError):
            found.append(attach(name))
        return bool(found)

    wait_for(there, "the server")
    return found[0]


def flags(page: Terminal) -> tuple[str, str]:
    """Whether the other screen is shown, and a cursor."""
    alternate, cursor = page.do("list-panes", "-F", "#{alternate_on} #{cursor_flag}").stdout.split()
    return alternate, cursor


def type_line(page: Terminal, text: str) -> None:
    """Types a line, and enter."""
    page.do("send-keys", "-l", text)
    page.press("Enter")
