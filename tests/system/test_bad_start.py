# SPDX-License-Identifier: Apache-2.0
"""Starts that cannot be: one line that says what, where and what to do, an exit status, and nothing left behind."""

import socket
import subprocess
from pathlib import Path

import pytest
from harness import SERVER_CORE, TIMEOUT_S, free_udp_port, kill_at_once, ringmaster, server, terminate, unique_name

from ringmaster.fabric import layout
from ringmaster.places import find_program
from ringmaster.programs.program import attach_to

BUFFERS = "buffers: {turn_records: 16384, fast_records: 1024}\n"
BPM = "{name: bpm01, kind: bpm, id: 1, port: door, source: 127.0.0.1}"


def configuration(
    name: str = "never",
    port: str = '{name: door, kind: udp, address: "127.0.0.1:4660"}',
    roles: str = f"[{{role: receive, core: {SERVER_CORE}, ports: [door]}}]",
    more: str = BUFFERS,
) -> str:
    """Line 2 is the port's, 3 the instrument's, 4 the roles'."""
    return f"workspace: {name}\nports: [{port}]\ninstruments: [{BPM}]\nroles: {roles}\n{more}"


def on_loopback(name: str, udp_port: int, keep: bool = False) -> str:
    more = BUFFERS + ("keep_after_stop: true\n" if keep else "")
    return configuration(name, f'{{name: door, kind: udp, address: "127.0.0.1:{udp_port}"}}', more=more)


HALL = "{name: door, kind: af_packet, interface: veth0, queues: 2}"
TWO_ROLES = "[" + ", ".join(f"{{role: receive, core: {SERVER_CORE}, ports: [door/{i}]}}" for i in (0, 1)) + "]"

MALFORMED = {
    "a syntax error": ("workspace: [\n", ":2:1: ", []),
    "an unknown key": (configuration(more="bufers: {}\n"), ":5:1: ", ["bufers", "did you mean"]),
    "a missing key": ("workspace: demo\n", ":1:1: ", ["ports"]),
    "a word that is none": (configuration(port="{name: door, kind: ucp}"), ":2:28: ", ["ucp", "udp"]),
    "a number that is none": (configuration(more="turn_rate_hz: fast\n"), ":5:15: ", ["fast"]),
    "a name that is no text": (configuration(name="[a]"), ":1:12: ", ["workspace"]),
    "a port that is not there": (
        configuration(roles=f"[{{role: receive, core: {SERVER_CORE}, ports: [window]}}]"),
        ":4:42: ",
        ["window", "expected the name of a port"],
    ),
    "an impossible core": (
        configuration(roles="[{role: receive, core: 99999, ports: [door]}]"),
        ":4:31: ",
        ["core 99999", "expected one of"],
    ),
    "two queues for one identity": (configuration(port=HALL, roles=TWO_ROLES), ":4:", ["two queues for one identity"]),
}


def only_line(text: str) -> str:
    """An error is one line."""
    lines = text.splitlines()
    assert len(lines) == 1, text
    return lines[0]


def nothing_in(root: Path) -> bool:
    """Whether a server left no shared memory there."""
    return not list(root.glob("*/*.segment"))


@pytest.mark.parametrize("command", ["check", "run"])
@pytest.mark.parametrize("what", MALFORMED)
def test_a_malformed_configuration_names_its_place(root: Path, tmp_path: Path, what: str, command: str) -> None:
    text, place, words = MALFORMED[what]
    config = tmp_path / "wrong.yaml"
    config.write_text(text)
    said = ringmaster(command, config, expect=1).stderr.splitlines()[0]
    assert f"{config}{place}" in said
    for word in words:
        assert word in said
    assert nothing_in(root)


@pytest.mark.parametrize("command", ["check", "run"])
def test_all_that_is_wrong_is_reported_at_once(root: Path, tmp_path: Path, command: str) -> None:
    config = tmp_path / "wrong.yaml"
    config.write_text(configuration(name="[a]", more="bufers: {}\nturn_rate_hz: fast\n"))
    said = ringmaster(command, config, expect=1).stderr.splitlines()
    assert [line.split(f"{config}:")[1].split(": ")[0] for line in said] == ["1:12", "5:1", "6:15"]
    config.write_text(configuration(name="De", more="turn_rate_hz: 0\n" + "bufers: {}\n" * 30))
    assert ringmaster(command, config, expect=1).stderr.splitlines()[-1].endswith(": and 10 more")
    assert nothing_in(root)


@pytest.mark.parametrize("command", ["check", "run"])
def test_a_wrong_table_of_calibrations_names_its_place(root: Path, tmp_path: Path, command: str) -> None:
    config, table = tmp_path / "server.yaml", tmp_path / "table.csv"
    config.write_text(configuration(unique_name("table"), more=BUFFERS + "calibration: {file: table.csv}\n"))
    said = only_line(ringmaster(command, config, expect=1).stderr)
    assert str(table) in said
    lines = ringmaster("calibration", "template", config).stdout.replace("bpm01", "bpm99", 1)
    table.write_text(lines)
    said = only_line(ringmaster(command, config, expect=1).stderr)
    assert f"{table}:" in said
    assert "bpm99" in said
    table.write_text(lines.replace("bpm99", "bpm01"))
    if command == "check":
        ringmaster("check", config)
    assert nothing_in(root)


WITH_FEEDBACK = (
    BUFFERS
    + """setpoints: {period_turns: 12}
chains:
  - {name: c, id: 1, port: door, address: 127.0.0.2,
     supplies: [{name: ps/q, count: 2, unit: A, limits: [-1, 1], slew: 1}]}
applications:
  - {name: loop, code: feedback, configuration: loop.yaml, period_turns: 12, inputs: [bpm01/fast], supplies: ["ps/*"]}
"""
)
FEEDBACK = """matrix: response.csv
families: [{name: all, actuators: ["ps/q01"], integral_hz: 1}]
rf: {actuator: ps/q02}
"""


def with_feedback() -> str:
    port = "{name: door, kind: memif, socket: /nonexistent/door.sock, answer: 127.0.0.1}"
    roles = f"[{{role: receive, core: {SERVER_CORE}, ports: [door]}}, {{role: transmit, core: {SERVER_CORE}}}]"
    return configuration(port=port, roles=roles, more=WITH_FEEDBACK)


def test_check_reads_the_files_of_the_applications(root: Path, tmp_path: Path) -> None:
    config, own, matrix = (tmp_path / name for name in ("server.yaml", "loop.yaml", "response.csv"))
    config.write_text(with_feedback())
    matrix.write_text(",ps/q01,ps/q02\nbpm01/x1,1,2\nbpm01/y1,3,4\n")

    own.write_text(FEEDBACK)
    assert "loop" in ringmaster("check", config).stdout
    own.write_text(FEEDBACK.replace("{actuator: ps/q02}", "{actuator: ps/q02, slew: 0}"))
    said = only_line(ringmaster("check", config, expect=1).stderr)
    assert f"{own}:3:30: rf.slew: found 0" in said

    own.write_text(FEEDBACK)
    matrix.write_text(",ps/q01,ps/q02\nbpm01/x1,1,2\nbpm02/x1,3,4\n")
    said = only_line(ringmaster("check", config, expect=1).stderr)
    assert "bpm02/x1 of the response matrix is nowhere among the application's inputs" in said
    assert nothing_in(root)


def test_check_names_the_line_of_a_wrong_setting(root: Path, tmp_path: Path) -> None:
    config = tmp_path / "server.yaml"
    (tmp_path / "loop.yaml").write_text(FEEDBACK)
    (tmp_path / "response.csv").write_text(",ps/q01,ps/q02\nbpm01/x1,1,2\nbpm01/y1,3,4\n")
    for setting, words in (
        ("{name: sched_x, value: 0}", "it has no setting"),
        ("{name: loop, value: 1}", "a permission to act"),
    ):
        config.write_text(with_feedback().rstrip()[:-1] + f",\n     settings: [{setting}]}}\n")
        said = only_line(ringmaster("check", config, expect=1).stderr)
        assert f"{config}:12:24: applications[0].settings[0].name: " in said
        assert words in said
    assert nothing_in(root)


def test_check_says_that_the_code_of_an_application_is_missing(root: Path, tmp_path: Path) -> None:
    config = tmp_path / "server.yaml"
    (tmp_path / "loop.yaml").touch()
    config.write_text(with_feedback().replace("code: feedback", "code: ./nowhere.so"))
    assert "nowhere.so" in only_line(ringmaster("check", config, expect=1).stderr)
    assert nothing_in(root)


def test_a_configuration_that_is_not_there(root: Path) -> None:
    said = only_line(ringmaster("run", "/nonexistent/server.yaml", expect=1).stderr)
    assert "/nonexistent/server.yaml" in said


def test_an_interface_that_does_not_exist(root: Path, tmp_path: Path) -> None:
    config = tmp_path / "server.yaml"
    config.write_text(configuration(unique_name("nowhere"), "{name: door, kind: af_packet, interface: nosuch0}"))
    said = only_line(ringmaster("run", config, expect=1).stderr)
    assert f"{config}:2:" in said
    assert "there is no interface 'nosuch0'" in said
    assert nothing_in(root)


def test_an_address_that_is_taken(root: Path, tmp_path: Path) -> None:
    config = tmp_path / "server.yaml"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        config.write_text(on_loopback(unique_name("taken"), taken.getsockname()[1]))
        said = only_line(ringmaster("run", config, expect=1).stderr)
    assert f"{config}:2:" in said
    assert "another socket has it" in said
    assert nothing_in(root)


def test_a_second_server_names_the_first(root: Path, tmp_path: Path) -> None:
    config, name = tmp_path / "server.yaml", unique_name("twice")
    config.write_text(on_loopback(name, free_udp_port()))
    with server(config) as first, attach_to(name, first) as ws:
        said = only_line(ringmaster("run", config, expect=1).stderr)
        assert f"process {first.pid} owns" in said
        assert ws.alive
        first.check()


def test_each_unusable_workspace_has_its_own_words_and_exit_code(root: Path, tmp_path: Path) -> None:
    config, name = tmp_path / "server.yaml", unique_name("states")
    config.write_text(on_loopback(name, free_udp_port(), keep=True))
    assert "no server has made a workspace" in only_line(ringmaster("ls", "-w", name, expect=3).stderr)
    with server(config) as running:
        attach_to(name, running).close()
        ringmaster("ls", "-w", name)
        assert terminate(running) == 0
    assert "has ended" in only_line(ringmaster("ls", "-w", name, expect=6).stderr)
    ringmaster("ls", "-w", name, "--dead")
    segment = root / name / "server.segment"
    whole = segment.read_bytes()
    assert layout.SEGMENT_HEADER.fields is not None
    version = layout.SEGMENT_HEADER.fields["abi_version"][1]
    segment.write_bytes(whole[:version] + bytes([whole[version] + 1]) + whole[version + 1 :])
    assert "another version" in only_line(ringmaster("ls", "-w", name, "--dead", expect=5).stderr)
    segment.write_bytes(bytes(8) + whole[8:])
    assert "never finished" in only_line(ringmaster("ls", "-w", name, expect=4).stderr)
    with server(config) as running, attach_to(name, running) as ws:  # which makes all of that good
        assert ws.alive


def test_a_stop_in_good_order_leaves_nothing(root: Path, tmp_path: Path) -> None:
    """Not even where the server before was killed; who has read it until then can read on."""
    config, name = tmp_path / "server.yaml", unique_name("clean")
    config.write_text(on_loopback(name, free_udp_port()))
    with server(config) as running:
        attach_to(name, running).close()
        kill_at_once(running.pid)
        running.wait(TIMEOUT_S)
    assert (root / name / "server.segment").exists()
    with server(config) as running, attach_to(name, running) as ws:
        assert terminate(running) == 0
        assert not ws.alive
        assert ws.parameters["server/turn_rate_hz"].number > 0
    assert not (root / name).exists()
    assert "no server has made a workspace" in only_line(ringmaster("ls", "-w", name, expect=3).stderr)
    with server(config) as running, attach_to(name, running) as ws:
        assert ws.alive


def huge_pages_free() -> bool:
    words = Path("/proc/meminfo").read_text().split("HugePages_Free:")[-1].split()
    return int(words[0]) > 0


def mount_namespaces() -> bool:
    """Not without root, and not in a chroot, whose root is no mount point."""
    return subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not mount_namespaces(), reason="NO MOUNT NAMESPACES: a small file system cannot be mounted here")
@pytest.mark.skipif(huge_pages_free(), reason="HUGE PAGES ARE FREE HERE: a full /dev/shm would not be noticed")
def test_a_full_file_system_of_shared_memory(root: Path, tmp_path: Path) -> None:
    """In a mount namespace of its own, with 1 MiB for workspaces that need 3."""
    config = tmp_path / "server.yaml"
    config.write_text(on_loopback(unique_name("full"), free_udp_port()))
    small = 'mount -t tmpfs -o size=1m small "$0" && { "$@"; status=$?; find "$0" -name "*.segment"; exit $status; }'
    command = [
        "unshare",
        "--mount",
        "sh",
        "-c",
        small,
        str(root),
        find_program("ringmaster-server"),
        "run",
        str(config),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    assert done.returncode == 1, done.stderr
    said = only_line(done.stderr)
    assert "MiB of shared memory" in said
    assert "make the buffers smaller or the file system larger" in said
    assert done.stdout == "", "a segment was left behind"


def test_a_start_that_fails_keeps_what_the_last_server_left(root: Path, tmp_path: Path) -> None:
    config, name, udp_port = tmp_path / "server.yaml", unique_name("kept"), free_udp_port()
    config.write_text(on_loopback(name, udp_port, keep=True))
    with server(config) as running:
        attach_to(name, running).close()
        assert terminate(running) == 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", udp_port))
        ringmaster("run", config, expect=1)
    assert "has ended" in only_line(ringmaster("ls", "-w", name, expect=6).stderr)
    assert "bpm01/turn" in ringmaster("ls", "-w", name, "--dead").stdout
