# SPDX-License-Identifier: Apache-2.0
"""One virtual ring at both servers of a pair: each gets everything, whatever becomes of the other one."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import networks
import pytest
from harness import (
    RING_CORE,
    SERVER_CORE,
    TIMEOUT_S,
    again_if_starved,
    assert_sums_hold,
    free_udp_port,
    kill_at_once,
    nonzero,
    ringmaster,
    server,
    unique_name,
    wait_for,
    wait_for_all,
)

from ringmaster.programs.program import Program, attach_to

TURNS, TURN_RATE_HZ, KILL_AT = 6_000, 2_000, 1_000
KINDS = ("memif", "udp", "af_packet")


@contextmanager
def place_of(kind: str) -> Iterator[tuple[str, ...]]:
    """Words before each command: there both servers have their interfaces, where they have some."""
    if kind != "af_packet":
        yield ()
        return
    with networks.host("pair") as here:
        for name in ("a", "b"):
            networks.link(here, f"rx-{name}", here, f"tx-{name}")
        yield tuple(here.enter)


def write_files(root: Path, name: str, kind: str) -> tuple[Path, Path]:
    """A pair whose instruments come by that kind of port, and its ring."""
    port = {
        "memif": f'socket: "{root}/{name}-{{server}}.sock"',
        "udp": f'address: "127.0.9.{{number}}:{free_udp_port()}"',
        "af_packet": 'interface: "rx-{server}"',
    }[kind]
    config, ring = root / f"{name}.yaml", root / f"{name}-ring.yaml"
    config.write_text(f"""
workspace: "{name}-{{server}}"
turn_rate_hz: {TURN_RATE_HZ}
polling: {{naps: true}}
ports:
  - {{name: ring, kind: {kind}, {port}}}
  - {{name: chains, kind: memif, socket: "{root}/{name}-c-{{server}}.sock", answer: "10.30.0.25{{number}}"}}
buffers: {{turn_records: 16384, fast_records: 1024}}
instruments:
  - {{name: bpm, kind: bpm, id: 1, port: ring, source: 127.0.0.5}}
  - {{name: blm, kind: blm, id: 1, port: ring, source: 127.0.0.6}}
setpoints: {{period_turns: 10, lost_cycles: 10000}}
standby:
  key: no.key
  missed_cycles: 60
  begin_s: 600
  servers: [{{name: a, links: ["127.0.0.1:1"]}}, {{name: b, links: ["127.0.0.1:2"]}}]
chains:
  - {{name: c, count: 3, id: 1, port: chains, address: 10.30.0.1, timeout_us: 0,
     supplies: [{{name: "ps{{chain}}_", count: 2, unit: A, limits: [-10, 10], slew: 100}}]}}
roles: [{{role: receive, core: {SERVER_CORE}, ports: [ring, chains]}}, {{role: transmit, core: {SERVER_CORE}}}]
""")
    interface = 'ports: [{name: ring, interface: "tx-{server}"}]\n' if kind == "af_packet" else ""
    ring.write_text(f"core: {RING_CORE}\n{interface}")
    return config, ring


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("killed", ["a", "b"])
@again_if_starved
def test_the_other_server_gets_everything(root: Path, kind: str, killed: str) -> None:
    name = unique_name(f"p{KINDS.index(kind)}{killed}")
    config, ring = write_files(root, name, kind)
    assert "both servers, a and b" in ringmaster("virtual", config, ring, "--check").stdout
    left = "b" if killed == "a" else "a"
    with place_of(kind) as prefix:
        one, other = (Path(f"{config}@{which}") for which in (left, killed))
        with (
            server(one, prefix) as lives,
            server(other, prefix) as dies,
            attach_to(f"{name}-{left}", lives) as ws,
            attach_to(f"{name}-{killed}", dies) as its,
        ):
            words = ("run", config, ring, "--turns", str(TURNS), "--json")
            with Program("ringmaster-instruments", *words, prefix=prefix) as sender:
                for both in (ws, its):  # the answers to either one's questions come to both
                    wait_for_all(both.counters("port/chains"), "received", 1)
                    wait_for_all(both.counters("port/ring"), "records", KILL_AT)
                kill_at_once(dies.pid)
                assert sender.wait(TIMEOUT_S) == 0
                told = json.loads(sender.words.splitlines()[-1])
            port = ws.counters("port/ring")
            wait_for(lambda: port["records"] == 2 * TURNS, lambda: f"{2 * TURNS} records: {nonzero(port)}")
            assert [ws.counters(f"stream/{one}")["accepted"] for one in ("bpm", "blm")] == [TURNS, TURNS]
            assert_sums_hold(ws)
    assert (told["turns"], told["sent"], told["link_down_turns"]) == (TURNS, 2 * TURNS, 0)
    assert told["missed"][left] == 0
    if kind == "memif":  # the kernel takes datagrams although nobody is there
        assert told["missed"][killed] > 0
