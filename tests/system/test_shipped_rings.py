# SPDX-License-Identifier: Apache-2.0
"""Shipped configurations, their servers, the virtual rings that they describe: all that is sent comes, and is kept."""

import json
import re
from pathlib import Path

import pytest
from harness import RING_CORE, ROOT, SERVER_CORE, assert_sums_hold, server, unique_name, wait_for

from ringmaster import Workspace
from ringmaster.fabric.counters import lost, refused, refused_packets
from ringmaster.programs.program import Program, attach_to

LEAST = {"libera": (168, 10_000), "vendor": (28, 20_000), "mirror": (4, 40_000)}
"""Of each pair: how many instruments it has, and how many records of each have come before the ring is ended. At the
rate of the file that takes a second or less."""

pytestmark = pytest.mark.skipif(
    RING_CORE == SERVER_CORE, reason="ONE CORE HERE: the shipped rings need one, and their servers another"
)


def adapted(file: str, folder: Path, name: str, core: int) -> Path:
    """A shipped file with a workspace, sockets and a core of this test's own."""
    text = (ROOT / "configs" / file).read_text()
    text = text.replace("/run/ringmaster", str(folder))
    text = re.sub(r"^workspace: .*$", f"workspace: {name}", text, flags=re.MULTILINE)
    text = re.sub(r"\bcore: \d+", f"core: {core}", text)
    path = folder / file
    path.write_text(text)
    return path


def streams(ws: Workspace) -> list[dict[str, int]]:
    """The counters of each instrument."""
    return [dict(block) for block in ws.counter_blocks.values() if block.set_name == "stream"]


def ports(ws: Workspace) -> list[dict[str, int]]:
    return [dict(block) for block in ws.counter_blocks.values() if block.set_name == "port"]


OVERLAYS = {
    "mirror": """faults:
  - {instrument: all, fault: drop, probability: 1e-3, network: a}
  - {instrument: all, fault: drop, probability: 1e-3, network: b}
"""
}
"""Each network of the mirror loses one datagram in 1000."""


def overlay(folder: Path, word: str) -> Path:
    """What the ring has besides."""
    path = folder / f"{word}-ring.yaml"
    path.write_text(f"core: {RING_CORE}\n" + OVERLAYS.get(word, ""))
    return path


def run_pair(ws: Workspace, word: str, config: Path) -> dict[str, int]:
    """Runs the ring until enough has come, ends it, and waits until all is there; what the ring says."""
    instruments, least = LEAST[word]
    with Program("ringmaster-instruments", "run", config, overlay(config.parent, word), "--json") as sender:
        wait_for(
            lambda: not sender.running or min(stream["accepted"] for stream in streams(ws)) >= least,
            f"{least} records of each of {instruments} instruments",
        )
        sender.check()
        sender.stop()
        said: dict[str, int] = json.loads(sender.words.splitlines()[-1])
    assert len(streams(ws)) == instruments
    return said


@pytest.mark.parametrize("word", LEAST)
def test_a_shipped_ring_and_its_server(root: Path, tmp_path: Path, word: str) -> None:
    name = unique_name(word)
    config = adapted(f"{word}.yaml", tmp_path, name, SERVER_CORE)
    with server(config) as running, attach_to(name, running) as ws:
        said = run_pair(ws, word, config)
        kept = sum(port["decoded"] for port in ports(ws))
        wait_for(lambda: sum(port["decoded"] for port in ports(ws)) == said["sent"], f"{kept} of {said['sent']} came")
        running.check()
        assert_sums_hold(ws)
        assert [refused_packets(port) for port in ports(ws)] == [0] * len(ports(ws))
        assert [refused(stream) for stream in streams(ws)] == [0] * len(streams(ws))
        missing = sum(map(lost, streams(ws)))
        if word == "mirror":  # what both networks lose is one in a million
            paths = [dict(block) for block in ws.counter_blocks.values() if block.set_name == "path"]
            assert all(path["lost"] > 0 for path in paths)
            assert missing * 50 < sum(path["lost"] for path in paths)
        else:
            assert missing == 0
        if word == "libera":
            assert all(port["reassembled"] == port["fragment"] > 0 for port in ports(ws))
