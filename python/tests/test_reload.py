# SPDX-License-Identifier: Apache-2.0
"""`ringmaster reload`: what is asked of the server, and what people are told of its answer."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from command import ringmaster
from conftest import MakeOwner
from fabric import parameter

from ringmaster.fabric._abi import ElementType
from ringmaster.fabric.commands import SOCKET, CommandRefused
from ringmaster.fabric.workspace import attach
from ringmaster.programs.reload import Placed, placement, reload

ROLES = "2 housekeeping 0 0 0\n0 receive 1 3 41250\n"


@contextmanager
def server(folder: Path, answer: str) -> Iterator[list[str]]:
    """Answers one line so. Gives the lines that came."""
    came: list[str] = []
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.bind(str(folder / SOCKET))
    listening.listen()

    def serve() -> None:
        try:
            client, _ = listening.accept()
        except OSError:  # shut down: no client has come
            return
        with client, client.makefile("r") as lines:
            for line in lines:
                came.append(line.rstrip("\n"))
                client.sendall(answer.encode())

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield came
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(10)
        listening.close()


@pytest.fixture
def running(make_owner: MakeOwner) -> Path:
    """The folder of a workspace whose server publishes where its roles are."""
    roles = parameter("server/roles", np.frombuffer(ROLES.encode(), "u1"), "utf-8", ElementType.U8)
    return make_owner([roles]).directory


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "a ring.yaml"
    path.write_text("workspace: demo\nroles: []\n")
    return path


MOVED = " 0 receive 0 1 41250\n 3 application 1 0 9000\nok\n"


def test_what_moved_is_told(running: Path, config: Path) -> None:
    with server(running, MOVED) as came:
        said = ringmaster("reload", str(config)).stdout
    assert came == [f'reload "{config}"']
    assert said.splitlines() == [
        "roles[0] receive         core 0 → core 1   stood still for 41.2 µs",
        "roles[3] application     core 1 → core 0   stood still for 9.0 µs",
    ]


def test_json_has_the_same(running: Path, config: Path) -> None:
    with server(running, " 0 receive 0 1 -\nok\n") as came:
        said = json.loads(ringmaster("reload", "--check", "--json", str(config)).stdout)
    assert came == [f'reload check "{config}"']
    move = {"role": 0, "kind": "receive", "before": 0, "after": 1, "stood_ns": None}
    assert said == {"moved": False, "moves": [move]}


def test_nothing_is_to_move(running: Path, config: Path) -> None:
    with server(running, "ok\n"):
        assert "on its core already" in ringmaster("reload", str(config)).stdout


def test_a_refusal_is_passed_on(running: Path, config: Path) -> None:
    with server(running, "error: ring.yaml:3:9: polling.naps: the running server began with other values\n"):
        assert "polling.naps" in ringmaster("reload", str(config), expect=1).stderr


def test_a_server_of_a_pair_is_named(running: Path, tmp_path: Path) -> None:
    file = tmp_path / "pair.yaml"
    file.write_text('workspace: "{server}"\nstandby: {servers: [{name: demo}, {name: other}]}\n')
    with server(running, "ok\n") as came:
        reload(Path(f"{file}@demo"))
    assert came == [f'reload "{file}@demo"']


def test_a_path_that_no_command_can_have(running: Path, tmp_path: Path) -> None:
    file = tmp_path / 'a"b.yaml'
    file.write_text("workspace: demo\n")
    with server(running, "ok\n") as came, pytest.raises(CommandRefused, match="quotes"):
        reload(file)
    assert came == []


@pytest.mark.parametrize("text", ["roles: []\n", "[]\n", "workspace: [\n", "workspace: 7\n"])
def test_a_file_that_names_no_workspace(tmp_path: Path, text: str) -> None:
    file = tmp_path / "none.yaml"
    file.write_text(text)
    assert str(file) in ringmaster("reload", str(file), expect=1).stderr


def test_no_server_is_there(config: Path) -> None:
    ringmaster("reload", str(config), expect=3)


def test_where_roles_are(running: Path) -> None:
    with attach("demo") as ws:
        assert placement(ws) == [Placed(2, "housekeeping", 0, 0, 0), Placed(0, "receive", 1, 3, 41250)]
