# SPDX-License-Identifier: Apache-2.0
"""The instruments' cable is the host's cable too: ping and TCP go through it while instruments stream."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import foreign_sender
import probe
import pytest
from harness import (
    SERVER_CORE,
    TIMEOUT_S,
    VethPair,
    again_if_starved,
    nonzero,
    server,
    unique_name,
    veth_pair,
    wait_for,
    wait_for_all,
)

from ringmaster import Workspace
from ringmaster.programs.program import attach_to

HOST, FAR = "10.99.0.1", "10.99.0.2"
HOST_MAC = "02:00:00:00:00:01"
TURN_RATE_HZ = 10_000
TURNS = 30_000
FIRST_TURN = 7_000_000
TAP = "rm0"
TCP_PORT = "7000"

PORTS = {
    "af_xdp": "{name: hall, kind: af_xdp, interface: veth0}",
    "tap": f"{{name: hall, kind: af_packet, interface: veth0, kernel_interface: {TAP}}}",
    "answer": f"{{name: hall, kind: af_packet, interface: veth0, answer: {HOST}}}",
}
"""By the XDP program; by a tap beside a DPDK port; by the server itself."""


def run_in(prefix: list[str], *words: str) -> None:
    subprocess.run([*prefix, *words], check=True, timeout=TIMEOUT_S)


@contextmanager
def namespace() -> Iterator[list[str]]:
    """A network namespace of its own; what enters it, to be put before a command."""
    with subprocess.Popen(["unshare", "--net", "sleep", "3600"]) as holder:
        enter = ["nsenter", f"--net=/proc/{holder.pid}/ns/net"]
        try:
            own = Path("/proc/self/ns/net").readlink()
            wait_for(lambda: Path(f"/proc/{holder.pid}/ns/net").readlink() != own, "a namespace")
            yield enter
        finally:
            holder.terminate()


@dataclass
class Host:
    """Where the server's host is, as far as ping and TCP are concerned, and who is at the far end of the cable."""

    near: list[str] | None
    """Enters the namespace that has the address HOST; None where only the server itself answers for it."""
    far: list[str]
    link: VethPair


def move_tap_away(link: VethPair, there: list[str], pid: int) -> None:
    """The server's tap goes to a namespace where nobody else can answer, and takes the address with it."""
    own = link.enter(0)
    show = [*own, "ip", "link", "show", TAP]
    wait_for(lambda: subprocess.run(show, capture_output=True, check=False).returncode == 0, "the server's tap")
    run_in(own, "ip", "link", "set", TAP, "netns", str(pid))
    run_in(there, "ip", "link", "set", TAP, "address", HOST_MAC)
    run_in(there, "ip", "addr", "add", f"{HOST}/24", "dev", TAP)
    run_in(there, "ip", "link", "set", TAP, "up")


@contextmanager
def host_behind(kind: str, root: Path) -> Iterator[tuple[Workspace, Host]]:
    name = unique_name(f"split-{kind}")
    file = root / "split.yaml"
    file.write_text(
        f"workspace: {name}\nturn_rate_hz: {TURN_RATE_HZ}\npolling: {{naps: true}}\n"
        f"ports:\n  - {PORTS[kind]}\n"
        "buffers: {turn_records: 32768, fast_records: 1024}\n"
        f"roles:\n  - {{role: receive, core: {SERVER_CORE}, ports: [hall]}}\n"
        f"instruments:\n  - name: bpm01\n    kind: bpm\n    id: 1\n    port: hall\n    source: {FAR}\n"
        "    lanes: [{name: x, unit: nm, type: i32}, {name: y, unit: nm, type: i32}]\n"
    )
    with veth_pair() as link, namespace() as away:
        run_in(link.enter(1), "ip", "neigh", "flush", "nud", "permanent", "dev", "veth1")  # ARP has to work too
        if kind != "af_xdp":
            run_in(link.enter(0), "ip", "addr", "flush", "dev", "veth0")
        with server(file, link.enter(0)) as running, attach_to(name, running) as ws:
            near = None
            if kind == "af_xdp":
                near = link.enter(0)
            elif kind == "tap":
                move_tap_away(link, away, int(away[1].split("/")[2]))
                near = away
            yield ws, Host(near, link.enter(1), link)


def start(prefix: list[str], *words: str) -> "subprocess.Popen[str]":
    return subprocess.Popen([*prefix, sys.executable, *words], stdout=subprocess.PIPE, text=True)


def finish(process: "subprocess.Popen[str]") -> str:
    output, _ = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 0
    return output


def stream(host: Host) -> "subprocess.Popen[str]":
    """The instrument, for three seconds."""
    to = ["--to", f"{HOST}:4660", "--source", FAR]
    numbers = ["--count", str(TURNS), "--first", str(FIRST_TURN), "--rate", str(TURN_RATE_HZ)]
    return start(host.far, foreign_sender.__file__, "native", *to, *numbers)


@pytest.mark.parametrize("kind", PORTS)
@again_if_starved
def test_ping_and_tcp_while_instruments_stream(root: Path, kind: str) -> None:
    with host_behind(kind, root) as (ws, host):
        port = ws.counters("port/hall")
        first = finish(
            start(host.far, probe.__file__, "ping", HOST, "3")
        ).split()  # and ARP, which the first may wait for
        assert "lost" not in first[1:], f"{first}: {nonzero(port)}"
        instrument = stream(host)
        talking = None
        if host.near is not None:
            listening = start(host.near, probe.__file__, "echo", HOST, TCP_PORT)
            assert listening.stdout is not None
            assert listening.stdout.readline() == "ready\n"
            talking = start(host.far, probe.__file__, "talk", HOST, TCP_PORT, "1.5")
        pings = finish(start(host.far, probe.__file__, "ping", HOST, "200")).split()
        assert pings.count("lost") == 0, f"{pings.count('lost')} of {len(pings)} pings: {nonzero(port)}"
        if talking is not None:
            assert int(finish(talking)) > 20
            finish(listening)
        assert int(finish(instrument)) == TURNS
        wait_for_all(port, "decoded", TURNS)
        assert nonzero(ws.counters("stream/bpm01")) == {"accepted": TURNS}
        if kind == "af_xdp":
            assert port["received"] == TURNS, "the XDP program claims the instruments' datagrams alone"
        elif kind == "tap":
            assert port["to_kernel"] > 200 < port["from_kernel"]
        else:
            assert port["answered"] > 200
        assert port["punt_full"] == port["kernel_full"] == 0
