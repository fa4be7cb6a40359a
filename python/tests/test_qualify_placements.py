# SPDX-License-Identifier: Apache-2.0
"""Hosts as the kernel would describe them, and the cores that a bench chooses there."""

from pathlib import Path

from ringmaster.bench.placements import card_node, find_placements
from ringmaster.doctor import cpu_list


def host(sys: Path, isolated: str, nodes: list[str]) -> Path:
    """Writes what the kernel says of a host."""
    cpu = sys / "devices/system/cpu"
    cpu.mkdir(parents=True)
    (cpu / "isolated").write_text(f"{isolated}\n")
    for number, cpus in enumerate(nodes):
        node = sys / f"devices/system/node/node{number}"
        node.mkdir(parents=True)
        (node / "cpulist").write_text(f"{cpus}\n")
    return sys


def test_an_ordinary_host_has_ordinary_cores_and_says_what_it_has_not(tmp_path: Path) -> None:
    found = find_placements([0, 1], None, host(tmp_path, "", ["0-1"]))
    assert [(place.name, place.cores) for place in found.found] == [("ordinary cores", (0, 1))]
    assert any("isolcpus" in note for note in found.notes)
    assert any("one socket" in note for note in found.notes)


def test_isolated_cores_are_chosen_though_nothing_runs_there_unasked(tmp_path: Path) -> None:
    found = find_placements([0, 1], None, host(tmp_path, "2-3", ["0-3"]))
    assert [(place.name, place.cores) for place in found.found] == [
        ("ordinary cores", (0, 1)),
        ("isolated cores", (2, 3)),
    ]


def test_a_card_has_a_socket_of_its_own_and_another(tmp_path: Path) -> None:
    found = find_placements([0, 1, 8, 9], 1, host(tmp_path, "4-7,12-15", ["0-7", "8-15"]))
    assert [(place.name, place.cores) for place in found.found] == [
        ("ordinary cores, the card's socket", (8, 9)),
        ("ordinary cores, another socket", (0, 1)),
        ("isolated cores, the card's socket", (12, 13)),
        ("isolated cores, another socket", (4, 5)),
    ]
    assert found.notes == ()


def test_virtual_links_have_no_card_to_be_near_to(tmp_path: Path) -> None:
    found = find_placements([0, 1, 8, 9], None, host(tmp_path, "", ["0-7", "8-15"]))
    assert [place.cores for place in found.found] == [(0, 1)]
    assert any("no card" in note for note in found.notes)


def threads(sys: Path, *cores: str) -> None:
    """Writes which CPUs are threads of one core."""
    for listed in cores:
        for cpu in cpu_list.parse(listed) or ():
            folder = sys / f"devices/system/cpu/cpu{cpu}/topology"
            folder.mkdir(parents=True)
            (folder / "thread_siblings_list").write_text(f"{listed}\n")


def test_two_threads_of_a_core_are_not_two_cores(tmp_path: Path) -> None:
    sys = host(tmp_path, "", ["0-3"])
    threads(sys, "0-1", "2-3")
    found = find_placements([0, 1, 2, 3], None, sys)
    assert [(place.name, place.cores) for place in found.found] == [("ordinary cores", (0, 2))]


def test_where_there_is_but_one_core_its_threads_are_taken_and_that_is_reported(tmp_path: Path) -> None:
    sys = host(tmp_path, "", ["0-1"])
    threads(sys, "0-1")
    found = find_placements([0, 1], None, sys)
    assert [place.name for place in found.found] == ["ordinary cores, two threads of one core"]


def test_one_core_is_given_twice(tmp_path: Path) -> None:
    found = find_placements([3], None, host(tmp_path, "", ["0-7"]))
    assert [place.cores for place in found.found] == [(3, 3)]


def test_the_socket_of_a_card_is_found_by_its_link(tmp_path: Path) -> None:
    for folder in ("bus/pci/devices/0000:03:00.0", "class/net/eth1/device"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "numa_node").write_text("1\n")
    assert card_node("pci:0000:03:00.0", tmp_path) == 1
    assert card_node("raw:eth1,wait=spin", tmp_path) == 1
    assert card_node("raw:eth2", tmp_path) is None
    assert card_node("memif:/tmp/x,role=server", tmp_path) is None
