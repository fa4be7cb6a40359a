# SPDX-License-Identifier: Apache-2.0
"""Shipped configurations, their servers, the virtual rings that they describe: all that is sent comes, and is kept."""

import json
import re
from pathlib import Path

import pytest
from harness import RING_CORE, ROOT, SERVER_CORE, TIMEOUT_S, assert_sums_hold, server, unique_name, wait_for

from ringmaster import Workspace
from ringmaster.fabric.counters import lost, refused, refused_packets
from ringmaster.programs.program import Program, attach_to

INSTRUMENTS, TURNS = 196, 1_160_000
"""How many the ring has, and how long it sends: a second, 10 000 records of each."""
FAULTS = """faults:
  - {instrument: all, fault: drop, probability: 1e-3, network: a}
  - {instrument: all, fault: drop, probability: 1e-3, network: b}
"""
"""Each network loses one datagram in 1000."""

pytestmark = pytest.mark.skipif(
    RING_CORE == SERVER_CORE, reason="ONE CORE HERE: the shipped rings need one, and their servers another"
)


def adapted(file: str, folder: Path, name: str, core: int) -> Path:
    """A shipped file with a workspace, sockets and a core of this test's own."""
    text = (ROOT / "configs" / file).read_text()
    text = text.replace("/run/ringmaster", str(folder))
    text = re.sub(r"^workspace: .*$", f"workspace: {name}", text, flags=re.MULTILINE)
    text = re.sub(r"\bcore: \d+", f"core: {core}", text) + "\npolling: {naps: true}\n"
    path = folder / file
    path.write_text(text)
    return path


def streams(ws: Workspace) -> list[dict[str, int]]:
    """The counters of each instrument."""
    return [dict(block) for block in ws.counter_blocks.values() if block.set_name == "stream"]


def ports(ws: Workspace) -> list[dict[str, int]]:
    return [dict(block) for block in ws.counter_blocks.values() if block.set_name == "port"]


def run_ring(ws: Workspace, config: Path) -> dict[str, int]:
    """Runs the ring to its own end, by which all was sent; what it says. One that is told to end gives up what a full
    link does not take, a datagram's last fragment maybe.
    """
    overlay = config.parent / "ring.yaml"
    overlay.write_text(f"core: {RING_CORE}\n{FAULTS}")
    with Program("ringmaster-instruments", "run", config, overlay, "--turns", str(TURNS), "--json") as sender:
        assert sender.wait(TIMEOUT_S) == 0, sender.words
        said: dict[str, int] = json.loads(sender.words.splitlines()[-1])
    assert len(streams(ws)) == INSTRUMENTS
    return said


def test_the_ring_of_foreign_formats_and_its_server(root: Path, tmp_path: Path) -> None:
    """Libera Grouping in fragments and a vendor's packet of four records, each over two networks with losses."""
    name = unique_name("formats")
    config = adapted("formats.yaml", tmp_path, name, SERVER_CORE)
    with server(config) as running, attach_to(name, running) as ws:
        said = run_ring(ws, config)
        kept = sum(port["decoded"] for port in ports(ws))
        wait_for(lambda: sum(port["decoded"] for port in ports(ws)) == said["sent"], f"{kept} of {said['sent']} came")
        running.check()
        assert_sums_hold(ws)
        assert [refused_packets(port) for port in ports(ws)] == [0] * len(ports(ws))
        # Short counters wait for the first of the longest, which then sets the clock for all. Second copies of what
        # came before that may come after it: they are behind the clock's first turn.
        too_many = [stream for stream in streams(ws) if refused(stream) > 2 * stream["unanchored"]]
        assert not too_many, too_many[0]
        assert all(stream["unanchored"] < 1000 for stream in streams(ws))
        assert all(ws.counters(f"stream/vendor{i:02}")["unanchored"] == 0 for i in range(1, 29))
        assert all(port["reassembled"] == port["fragment"] > 0 for port in ports(ws))
        paths = [dict(block) for block in ws.counter_blocks.values() if block.set_name == "path"]
        lost_of_path = sum(path["lost"] for path in paths)
        assert lost_of_path > len(paths), "some in each, of the thousand datagrams and more that each was sent"
        # What both networks lose is one in a million.
        assert sum(map(lost, streams(ws))) * 50 < lost_of_path
