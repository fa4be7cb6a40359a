# SPDX-License-Identifier: Apache-2.0
"""A server's forward roles between two memif links, with both ends of them in one program: every frame that is offered
comes out, and is in the counters.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from harness import SERVER_CORE, TIMEOUT_S, again_if_starved, server, unique_name, wait_for

from ringmaster.bench.forward_kernel import beside_kernel
from ringmaster.bench.forward_loss import IMIX, offer_of
from ringmaster.bench.forward_peers import Offer, ends_of, route_words, send_through
from ringmaster.bench.forward_peers import server as configuration
from ringmaster.bench.printed import printed
from ringmaster.fabric.commands import Commands
from ringmaster.programs.program import attach_to, commands_of

RATE_PPS, SECONDS, SETTLE_S = 5_000.0, 0.4, 0.1
"""So slow that a ring holds what comes while a core stands still for most of a second."""
NETWORKS = 50
OFFER = Offer(destinations=NETWORKS, rate_pps=RATE_PPS)


def written(root: Path, name: str, mode: str, **more: Any) -> Path:
    """The file of a router whose core naps."""
    config = json.loads(configuration(name, root, SERVER_CORE, mode, OFFER))
    file = root / "router.yaml"
    file.write_text(json.dumps(config | {"polling": {"naps": True}} | more))
    return file


def apart(root: Path, name: str) -> Path:
    """Of a router whose frames are received on a core of their own, if there is one: by one more role."""
    file = written(root, name, "route")
    config = json.loads(file.read_text())
    for port in config["ports"]:
        port |= {"spread": True, "queues": 2}
    config["roles"].append({"role": "spread", "core": SERVER_CORE, "ports": ["in", "out"]})
    file.write_text(json.dumps(config))
    return file


def mac_and_routes(commands: Commands) -> str:
    """Adds a route for each destination. Our MAC address on the link `in`."""
    commands.run_all(map(route_words, range(NETWORKS)))
    interfaces = json.loads("\n".join(commands.run("interface show json")))
    return str(next(one["mac"] for one in interfaces if one["name"] == "in"))


@pytest.mark.parametrize("mode", ["route", "io", "macswap", "l2", "apart"])
@again_if_starved
def test_all_that_comes_is_forwarded_and_counted(root: Path, mode: str) -> None:
    name = unique_name("forward")
    file = written(root, name, mode) if mode != "apart" else apart(root, name)
    with server(file) as program, attach_to(name, program) as ws:
        mac = "02:00:00:00:00:07"
        if mode in ("route", "apart"):
            with commands_of(ws, program) as commands:
                mac = mac_and_routes(commands)
        words = printed("both ends", ends_of(root, SERVER_CORE, mac, OFFER, SETTLE_S, SECONDS), TIMEOUT_S)
        said = json.loads(words.splitlines()[-1])
        assert said["offered"] == pytest.approx(RATE_PPS * SECONDS, rel=0.5)
        assert said["received"] == said["offered"]
        inward, outward = ws.counter_blocks["forward/in/0"], ws.counter_blocks["forward/out/0"]
        wait_for(lambda: inward["received"] == inward["forwarded"], "all frames to be forwarded")
        assert inward["received"] >= said["offered"]
        # Before the window the far end may have been without a core, and its ring full.
        assert outward["sent"] + outward["out_full"] == inward["forwarded"]
        assert outward["out_full"] <= inward["received"] - said["offered"]
        assert outward["received"] == inward["sent"] == 0


@pytest.mark.usefixtures("root")
@again_if_starved
def test_frames_of_a_mix_are_stamped() -> None:
    offer = replace(offer_of(IMIX), rate_pps=RATE_PPS, stamps=True)
    through = send_through("io", offer, SECONDS)
    assert through.received == through.offered > 0
    assert through.latency_p50_ns is not None
    assert through.latency_p99_ns is not None
    assert 0 < through.latency_p50_ns <= through.latency_p99_ns


@pytest.mark.usefixtures("root")
def test_both_routers_carry_frames_between_namespaces() -> None:
    beside = beside_kernel(SECONDS)
    assert beside.route_pps > 0
    assert beside.kernel_pps > 0


def test_each_role_needs_a_transmit_queue(root: Path) -> None:
    roles = [{"role": "forward", "core": SERVER_CORE, "ports": [port]} for port in ("in", "out")]
    name = unique_name("forward")
    with server(written(root, name, "io", roles=roles)) as program:
        assert program.wait(TIMEOUT_S) != 0
        assert 'port "in" has 1 transmit queue' in program.words
        assert '"queues: 2"' in program.words


def test_a_bridge_is_one_role(root: Path) -> None:
    roles = [{"role": "forward", "core": SERVER_CORE, "ports": [port]} for port in ("in", "out")]
    name = unique_name("forward")
    with server(written(root, name, "l2", roles=roles)) as program:
        assert program.wait(TIMEOUT_S) != 0
        assert "a bridge (router.mode l2) is one role forward" in program.words
