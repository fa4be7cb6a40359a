# SPDX-License-Identifier: Apache-2.0
"""The ports of the generator's command line, the configuration that they make, and what is reported at the end."""

from pathlib import Path

import pytest
from generator import FLOW, StillWatch, told
from ruamel.yaml import YAML

from ringmaster.traffic.configuration import KINDS, configuration, parse_port, workspace_of
from ringmaster.traffic.report import as_json, as_text


def test_ports_of_all_kinds_become_a_configuration(tmp_path: Path) -> None:
    texts = [f"p{i}={kind}{':w' if key else ''}" for i, (kind, key) in enumerate(KINDS.items())][:7]
    ports = [parse_port(text) for text in [*texts, "last=memif-client:/run/x.sock"]]
    path = tmp_path / "generate.yaml"
    path.write_text(configuration("demo", ports, [2, 3], 9000))
    read = YAML(typ="safe").load(path)
    assert workspace_of(path) == "demo"
    assert read["ports"][0] == {
        "name": "p0",
        "kind": "memif",
        "longest_frame": 9000,
        "socket": str(Path("w").absolute()),
        "role": "server",
    }
    assert read["ports"][7]["role"] == "client"
    assert {port["kind"] for port in read["ports"]} >= {"af_packet", "af_xdp", "tap", "pci", "vhost"}
    assert [role["core"] for role in read["roles"]] == [2, 3]
    assert [role["ports"] for role in read["roles"]] == [["p0", "p2", "p4", "p6"], ["p1", "p3", "p5", "last"]]


def test_a_null_port_is_not_yamls_nothing(tmp_path: Path) -> None:
    path = tmp_path / "generate.yaml"
    path.write_text(configuration("demo", [parse_port("p0=null")], [1, 2], 1518))
    read = YAML(typ="safe").load(path)
    assert read["ports"][0]["kind"] == "null"
    assert len(read["roles"]) == 1, "no role without a port"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("memif:/run/x.sock", "expected NAME=KIND:WHERE"),
        ("p0=memif", "its socket behind a colon"),
        ("p0=ring:x", "nothing behind the kind"),
        ("P0=ring", "expected NAME=KIND:WHERE"),
        ("p0=udp:x", "expected NAME=KIND:WHERE"),
        ("all=ring", "could not be told from a list of ports"),
        ("1=ring", "could not be told from a list of ports"),
    ],
)
def test_what_is_no_port_is_told_with_what_is_one(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse_port(text)


def test_no_port_and_nine_are_refused() -> None:
    for count in (0, 9):
        with pytest.raises(ValueError, match=f"{count} ports, expected 1 to 8"):
            configuration("demo", [parse_port(f"p{i}=ring") for i in range(count)], [1], 1518)


def test_a_file_without_a_workspace_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "some.yaml"
    for text, words in (("ports: []", 'the key "workspace" is missing'), ("{", "it is no YAML"), ("[1]", "is missing")):
        path.write_text(text)
        with pytest.raises(ValueError, match=words):
            workspace_of(path)


def test_the_report_has_counts_and_flows() -> None:
    ports = StillWatch(told("p0", flows=[FLOW]), told("p1")).ports
    text = as_text(ports, 2.0)
    assert text[0] == "p0: sent 123456789, received 123000000, refused 3 in 2.0 s (61728394 packets/s sent)"
    assert text[1].startswith("  flow 0: sent 1000, received 990, lost 10, duplicate 1, reordered 2; p50 1.40 µs")
    read = as_json(ports, 2.0)
    assert read["ports"][0]["settings"]["flows"][0]["lost"] == 10
    assert read["ports"][1]["counts"]["jumbo"] == 7
