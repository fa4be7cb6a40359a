# SPDX-License-Identifier: Apache-2.0
"""Ordinary sockets of this host, whose UDP checksums the kernel leaves unfinished; and Libera's other variant."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import SERVER_CORE, VethPair, assert_sums_hold, nonzero, server, unique_name, wait_for
from test_formats import RECEIVER, SENDER, send

from ringmaster.monitor.monitor import Monitor
from ringmaster.programs.program import attach_to

COUNT, RATE_HZ = 200, 1000
KINDS = ("af_packet", "af_xdp")


CHECKSUMS_TO_HARDWARE = """
import ctypes, fcntl, socket, struct, sys
ETHTOOL_STXCSUM, SIOCETHTOOL = 0x17, 0x8946
value = ctypes.create_string_buffer(struct.pack("II", ETHTOOL_STXCSUM, int(sys.argv[1])))
fcntl.ioctl(socket.socket(), SIOCETHTOOL, struct.pack("16sP16x", b"veth1", ctypes.addressof(value)))
"""
"""As `ethtool -K veth1 tx on` or off: a new veth link has it on, and the harness's has it off."""


@pytest.fixture
def unfinished(link: VethPair) -> Iterator[VethPair]:
    """A link as the kernel makes it, whose sockets leave checksums to a card that is not there."""
    command = [*link.enter(1), sys.executable, "-c", CHECKSUMS_TO_HARDWARE]
    subprocess.run([*command, "1"], check=True)
    yield link
    subprocess.run([*command, "0"], check=True)


def write_server(root: Path, name: str, port: str, instruments: str) -> Path:
    file = root / f"{name}.yaml"
    file.write_text(
        f"workspace: {name}\n"
        f"turn_rate_hz: {RATE_HZ}\npolling: {{naps: true}}\n"
        f"ports:\n  - {{name: hall, {port}}}\n"
        f"buffers: {{turn_records: 16384, fast_records: 1024}}\n"
        f"roles:\n  - {{role: receive, core: {SERVER_CORE}, ports: [hall]}}\n"
        f"instruments:\n  - {{{instruments}, port: hall, source: {SENDER}}}\n"
    )
    return file


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("told", [False, True])
def test_an_ordinary_socket_on_this_host_is_heard(root: Path, unfinished: VethPair, kind: str, told: bool) -> None:
    """A sender as anybody writes it. Untold, the reason and the remedy are named; told, all is taken."""
    name = unique_name(f"local{kind[3]}{int(told)}")
    key = ", local_senders: true" if told else ""
    lanes = "lanes: [{name: x, unit: nm, type: i32}, {name: y, unit: nm, type: i32}]"
    file = write_server(root, name, f"kind: {kind}, interface: veth0{key}", f"name: bpm1, kind: bpm, id: 1, {lanes}")
    with server(file, unfinished.enter(0)) as running, attach_to(name, running) as ws:
        port = ws.counters("port/hall")
        assert send(unfinished, "native", "--count", COUNT, "--rate", RATE_HZ, "--to", f"{RECEIVER}:4660") == COUNT
        reason = "decoded" if told else "unfinished_checksum"
        wait_for(lambda: port[reason] == COUNT, lambda: f"{COUNT} {reason}: {nonzero(port)}")
        assert_sums_hold(ws)
        assert nonzero(ws.counters("stream/bpm1")).get("accepted", 0) == (COUNT if told else 0)
        advice = {fault.counter: fault.advice for fault in Monitor(ws).look().faults}
        assert ("unfinished_checksum" in advice) is not told
        assert told or "local_senders: true" in advice["unfinished_checksum"]


@pytest.mark.parametrize("sent", ["libera", "libera-counter-first"])
def test_the_other_variant_of_libera_is_recognised(root: Path, link: VethPair, sent: str) -> None:
    """None of it is stored, and the advice says what it is."""
    other = {"libera": "libera_grouping_counter_first", "libera-counter-first": "libera_grouping"}[sent]
    name = unique_name(f"variant{len(sent)}")
    bpm = f"name: bpm, kind: bpm, format: {other}, count: 40, id: 0, period_turns: 1"
    file = write_server(root, name, f'kind: udp, address: "{RECEIVER}:2048"', bpm)
    with server(file, link.enter(0)) as running, attach_to(name, running) as ws:
        port = ws.counters("port/hall")
        assert send(link, sent, "--bpms", 40, "--count", COUNT, "--rate", RATE_HZ, "--to", f"{RECEIVER}:2048") == COUNT
        wait_for(lambda: port["repeated_id"] == COUNT, lambda: f"{COUNT} recognised: {nonzero(port)}")
        assert_sums_hold(ws)
        assert port["records"] == port["decoded"] == 0
        advice = {fault.counter: fault.advice for fault in Monitor(ws).look().faults}
        assert "libera_grouping_counter_first" in advice["repeated_id"]
