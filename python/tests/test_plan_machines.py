# SPDX-License-Identifier: Apache-2.0
"""Machines as hwloc and as people describe them, whole and broken; and hosts that several servers want."""

import shutil
import subprocess
from pathlib import Path

import pytest
from command import ringmaster

from ringmaster.plan import hwloc, others
from ringmaster.plan.costs import DEFAULT, read_costs
from ringmaster.plan.demand import read_demand
from ringmaster.plan.machine_file import add_cards, read_machine
from ringmaster.plan.place import Rules, make_plan

CONFIG = """workspace: {workspace}
ports:
  - {{name: p, kind: pci, device: "{device}"}}
instruments:
  - {{name: b, kind: bpm, id: 1, port: p, source: 10.0.0.1}}
roles:
  - {{role: receive, core: {core}, ports: [p]}}
"""


def write_config(folder: Path, workspace: str = "one", device: str = "0000:41:00.0", core: int = 1) -> Path:
    """Of one port and one instrument."""
    path = folder / f"{workspace}.yaml"
    path.write_text(CONFIG.format(workspace=workspace, device=device, core=core))
    return path


def pu(number: int) -> str:
    """A core of one thread."""
    mask = f"0x{1 << number:08x}"
    return (
        f'<object type="Core" os_index="{number}" cpuset="{mask}" gp_index="{10 + number}">'
        f'<object type="PU" os_index="{number}" cpuset="{mask}" gp_index="{30 + number}"/></object>'
    )


def topology(*, nodes: bool = True, card: bool = True, offline: bool = False) -> str:
    """Two sockets of two chiplets with two cores; a card on the second socket."""
    sockets = ""
    for socket in range(2):
        mask = f"0x{0xF << 4 * socket:08x}"
        node = (
            f'<object type="NUMANode" os_index="{socket}" cpuset="{mask}" gp_index="{60 + socket}"/>' if nodes else ""
        )
        chiplets = "".join(
            f'<object type="L3Cache" cpuset="0x{3 << first:08x}" gp_index="{80 + first}" cache_size="16777216">'
            f"{pu(first)}{pu(first + 1)}</object>"
            for first in (4 * socket, 4 * socket + 2)
        )
        pci = (
            '<object type="Bridge" gp_index="90"><object type="PCIDev" pci_busid="0000:41:00.0" '
            'pci_type="0200 [8086:1592]" pci_link_speed="31.5" gp_index="91">'
            '<object type="OSDev" name="eth7" osdev_type="2" gp_index="92"/></object></object>'
            if card and socket == 1
            else ""
        )
        sockets += f'<object type="Package" os_index="{socket}" cpuset="{mask}" gp_index="{50 + socket}">'
        sockets += f"{node}{chiplets}{pci}</object>"
    whole = "0x000001ff" if offline else "0x000000ff"
    return (
        f'<topology version="2.0"><object type="Machine" cpuset="0x000000ff" complete_cpuset="{whole}" gp_index="1">'
        f'<info name="HostName" value="there"/>{sockets}</object></topology>'
    )


def test_hwloc_tells_sockets_chiplets_nodes_and_cards() -> None:
    """Of its XML."""
    known = hwloc.parse(topology(), "x.xml")
    assert known.name == "there"
    assert [(core.number, core.socket, core.chiplet, core.node) for core in known.cores] == [
        *((0, 0, 0, 0), (1, 0, 0, 0), (2, 0, 1, 0), (3, 0, 1, 0)),
        *((4, 1, 2, 1), (5, 1, 2, 1), (6, 1, 3, 1), (7, 1, 3, 1)),
    ]
    card = known.devices[0]
    assert (card.address, card.socket, card.chiplet, card.interface) == ("0000:41:00.0", 1, None, "eth7")
    assert card.slot_bytes_per_s == pytest.approx(31.5e9)
    assert known.cache_bytes == 16 << 20
    assert not known.gaps


def test_a_receive_core_is_on_the_socket_of_its_card(tmp_path: Path) -> None:
    """Which hwloc says."""
    plan = make_plan(hwloc.parse(topology(), "x"), read_demand(write_config(tmp_path)), DEFAULT)
    core = next(role.core for role in plan.roles if role.kind == "receive")
    assert core in (4, 5, 6, 7)


@pytest.mark.parametrize(("nodes", "card", "word"), [(False, True, "no NUMA nodes"), (True, False, "no Ethernet card")])
def test_what_a_topology_lacks_is_said_and_the_plan_is_made_all_the_same(
    tmp_path: Path, nodes: bool, card: bool, word: str
) -> None:
    """A warning, not an error."""
    known = hwloc.parse(topology(nodes=nodes, card=card), "x")
    plan = make_plan(known, read_demand(write_config(tmp_path)), DEFAULT)
    assert any(word in remark for remark in plan.remarks)
    if not card:
        assert any("0000:41:00.0" in remark and "--cards" in remark for remark in plan.remarks)


def test_cards_are_added_to_a_topology_without_pci(tmp_path: Path) -> None:
    """By a file."""
    cards = tmp_path / "cards.yaml"
    cards.write_text("cards: [{device: '0000:41:00', ports: 2, socket: 1, link_gbps: 100}]\n")
    known = add_cards(hwloc.parse(topology(card=False), "x"), cards)
    assert [one.address for one in known.devices] == ["0000:41:00.0", "0000:41:00.1"]
    assert not known.gaps
    plan = make_plan(known, read_demand(write_config(tmp_path)), DEFAULT)
    assert next(role.core for role in plan.roles if role.kind == "receive") >= 4


def test_hwloc_itself_is_read(tmp_path: Path) -> None:
    """A machine of 256 cores, made by lstopo."""
    program = shutil.which("lstopo-no-graphics") or shutil.which("lstopo")
    if program is None:
        pytest.skip("lstopo is not installed (Debian package hwloc-nox)")
    path = tmp_path / "synthetic.xml"
    subprocess.run([program, "--input", "pack:2 numa:1 l3:16 core:8 pu:2", "--of", "xml", str(path)], check=True)
    known = read_machine(path)
    assert len(known.cores) == 256
    assert len(known.chiplets()) == 32
    assert all(len(core.threads) == 2 for core in known.cores)
    assert {core.node for core in known.cores} == {0, 1}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("<topology", "expected hwloc's XML"),
        ("<other/>", "found no topology"),
        ('<topology><object type="Machine"/></topology>', "no processing unit"),
    ],
)
def test_what_is_no_topology_is_refused(tmp_path: Path, text: str, word: str) -> None:
    """With what was expected."""
    path = tmp_path / "broken.xml"
    path.write_text(text)
    told = ringmaster("plan", str(write_config(tmp_path)), "--machine", str(path), expect=1).stderr
    assert word in told
    assert "broken.xml" in told


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("sockets: 0", "from 1 to"),
        ("sockets: many", "found 'many'"),
        ("sockets: 900", "CPUs, expected 1024"),
        ("chips: 3", "there is no key 'chips'"),
        ("cards: 7", "expected a list of cards"),
        ("cards: [{device: 41}]", "expected the card's address"),
        ("cards: [{device: '0000:41:00', socket: 5}]", "expected one of 0"),
        ("cards: [{device: '0000:41:00', pcie: {generation: 9, lanes: 1}}]", "from 1 to 6"),
    ],
)
def test_a_wrong_machine_file_is_told_by_place(tmp_path: Path, line: str, word: str) -> None:
    """FILE:LINE:COLUMN: key: what was found, what was expected."""
    key = line.partition(":")[0]
    good = [f"{name}: {value}" for name, value in (("sockets", 1), ("chiplets", 2), ("cores", 2)) if name != key]
    path = tmp_path / "machine.yaml"
    path.write_text("\n".join([*good, line]) + "\n")
    with pytest.raises(ValueError, match="machine.yaml:[0-9]+:[0-9]+: ") as error:
        read_machine(path)
    assert word in str(error.value)


def test_cores_that_are_not_there_or_offline_are_told(tmp_path: Path) -> None:
    """What exists stands beside."""
    known = hwloc.parse(topology(offline=True), "x")
    asked = read_demand(write_config(tmp_path))
    with pytest.raises(ValueError, match="has no core 77, expected one of 0-7"):
        make_plan(known, asked, DEFAULT, Rules(linux=(77,)))
    with pytest.raises(ValueError, match="core 8 of there is offline"):
        make_plan(known, asked, DEFAULT, Rules(linux=(8,)))


def test_two_plans_for_one_host_keep_apart(tmp_path: Path) -> None:
    """Cores of the other are left to it, and its cards are an error."""
    known = hwloc.parse(topology(), "x")
    asked = read_demand(write_config(tmp_path))
    other = write_config(tmp_path, "two", "0000:81:00.0", core=4)
    taken, said = others.planned(asked, [other])
    assert set(taken) == {4}
    assert "core 4" in said[0]
    plan = make_plan(known, asked, DEFAULT, Rules(taken=tuple(taken)))
    assert all(role.core != 4 for role in plan.roles)
    same_card = write_config(tmp_path, "three", core=4)
    with pytest.raises(ValueError, match="has the card 0000:41:00.0, and so has our port p"):
        others.planned(asked, [same_card])
    with pytest.raises(ValueError, match="a name each"):
        others.planned(asked, [write_config(tmp_path, "one", "0000:91:00.0")])


def test_a_host_whose_cores_are_all_taken_is_an_error(tmp_path: Path) -> None:
    """With what to do."""
    with pytest.raises(ValueError, match="no core is left"):
        make_plan(
            hwloc.parse(topology(), "x"), read_demand(write_config(tmp_path)), DEFAULT, Rules(taken=tuple(range(8)))
        )


@pytest.mark.parametrize("text", ["", "[]", '{"costs": {}}', '{"data": {"costs": {"receive_ns": {}}}}'])
def test_costs_that_are_none_are_refused(tmp_path: Path, text: str) -> None:
    """With the command that makes some."""
    path = tmp_path / "costs.json"
    path.write_text(text)
    with pytest.raises(ValueError, match="ringmaster plan costs"):
        read_costs(path)


def test_costs_come_back_as_they_were_written(tmp_path: Path) -> None:
    """As JSON."""
    import json

    path = tmp_path / "costs.json"
    path.write_text(json.dumps({"costs": DEFAULT.as_json()}))
    assert read_costs(path) == DEFAULT
