# SPDX-License-Identifier: Apache-2.0
"""A server's configuration by FILE or FILE@NAME, as Python reads it."""

from pathlib import Path

import click
import pytest

from ringmaster.cli.options import ServerFile
from ringmaster.doctor.host import Host
from ringmaster.doctor.setting import read_setting
from ringmaster.fabric.config_file import read_text, split
from ringmaster.machine.server_file import cycle_rate_hz, names_of_server, read_yaml
from ringmaster.traffic.configuration import workspace_of

PAIR = """
workspace: "ring-{server}"
turn_rate_hz: 1000000
ports: [{name: ring, kind: memif, socket: "/run/{server}{number}.sock"}]
instruments: [{name: bpm, kind: bpm, id: 1, count: 2, port: ring, source: 10.20.0.1}]
setpoints: {period_turns: 100}
standby:
  key: pair.key
  servers: [{name: a, links: ["10.40.0.1:4671"]}, {name: b, links: ["10.40.0.2:4671"]}]
chains: [{name: c, id: 1, port: ring, supplies: [{name: s, slew: 1}]}]
applications: [{name: feedback, configuration: own.yaml}]
roles: [{role: receive, core: 1, ports: [ring]}]
"""


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    """A file of two servers."""
    file = tmp_path / "pair.yaml"
    file.write_text(PAIR)
    return file


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("pair.yaml", ("pair.yaml", None)),
        ("pair.yaml@b", ("pair.yaml", "b")),
        ("/a@b/c.yaml", ("/a@b/c.yaml", None)),
        ("ring@site.yaml", ("ring@site.yaml", None)),
        ("ring@site.yaml@a-2_x", ("ring@site.yaml", "a-2_x")),
        ("@a", ("@a", None)),
        ("pair.yaml@B", ("pair.yaml@B", None)),
    ],
)
def test_a_path_is_taken_apart_as_the_programs_do(path: str, parts: tuple[str, str | None]) -> None:
    assert split(path) == (Path(parts[0]), parts[1])


def test_a_servers_words_are_replaced(pair: Path) -> None:
    assert read_text(pair) == PAIR
    assert '"/run/b2.sock"' in read_text(f"{pair}@b")
    assert read_yaml(Path(f"{pair}@a"))["workspace"] == "ring-a"


def test_a_server_that_is_not_there_is_named(pair: Path) -> None:
    with pytest.raises(ValueError, match=r"found no server 'c', expected .*pair.yaml@a or .*pair.yaml@b"):
        read_text(f"{pair}@c")
    pair.write_text("workspace: ring\n")
    with pytest.raises(ValueError, match=r"found no server 'a', expected .*pair.yaml alone, which is of one server"):
        read_text(f"{pair}@a")
    pair.write_text("{")
    with pytest.raises(ValueError, match="pair.yaml: "):
        read_text(f"{pair}@a")
    with pytest.raises(FileNotFoundError):
        read_text(f"{pair.parent}/none.yaml@a")


def test_everybody_takes_it(pair: Path) -> None:
    server = Path(f"{pair}@b")
    assert workspace_of(server) == "ring-b"
    assert read_setting(server, Host()).workspace == "ring-b"
    assert names_of_server(read_yaml(server))[1] == ["s"]
    assert cycle_rate_hz(pair.parent / "own.yaml", server) == 10000.0
    assert cycle_rate_hz(pair.parent / "own.yaml", None) == 10000.0  # found beside it


def test_an_option_asks_whether_the_file_is_there(pair: Path) -> None:
    option = ServerFile()
    assert option.convert(f"{pair}@b", None, None) == Path(f"{pair}@b")
    with pytest.raises(click.BadParameter, match="does not exist"):
        option.convert(f"{pair.parent}/none.yaml@b", None, None)
