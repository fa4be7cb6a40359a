# SPDX-License-Identifier: Apache-2.0
"""Formats that are not ours, from senders that are not ours, through real interfaces: every record, to the bit."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import foreign_sender
import numpy as np
import pytest
from harness import (
    SERVER_CORE,
    TIMEOUT_S,
    VethPair,
    again_if_starved,
    assert_sums_hold,
    nonzero,
    server,
    unique_name,
    veth_pair,
    wait_for_all,
)

from ringmaster import Workspace
from ringmaster.programs.program import attach_to

RECEIVER, SENDER = "10.99.0.1", "10.99.0.2"
RATE_HZ = 2_500
"""A quarter of theirs: the kernel keeps 2048 frames for a reader, and a busy host lets that wait for 50 ms and more."""
PERIOD_TURNS = 116
TURN_RATE_HZ = RATE_HZ * PERIOD_TURNS
GROUPS = 1_800
"""Datagrams of one run: 0.7 s; the 16-bit counter comes round within them."""
FIRST_COUNT = 64_000
RING_RECORDS = 16_384

WIRES = {
    "1500-af_packet": (1500, "{name: hall, kind: af_packet, interface: veth0, longest_frame: 9014}"),
    "1500-af_xdp": (1500, "{name: hall, kind: af_xdp, interface: veth0}"),
    "9000-af_packet": (9000, "{name: hall, kind: af_packet, interface: veth0, longest_frame: 9014}"),
}
"""MTU of the link, and port of the server: fragments are put together by the kernel, or by us; or there are none."""


def send(link: VethPair, *arguments: str | float) -> int:
    """Runs a foreign sender in the other namespace; how many datagrams it sent."""
    command = [*link.enter(1), sys.executable, foreign_sender.__file__, *map(str, arguments), "--source", SENDER]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def configuration(name: str, ports: str, rest: str, turn_rate_hz: float) -> str:
    return (
        f"workspace: {name}\n"
        f"turn_rate_hz: {turn_rate_hz}\npolling: {{naps: true}}\n"
        f"ports:\n{ports}"
        f"buffers: {{turn_records: {RING_RECORDS}, fast_records: 1024}}\n"
        f"turn_window: {{silence_turns: {1 << 21}}}\n"
        f"{rest}"
    )


@pytest.fixture(scope="module")
def wired() -> Iterator[VethPair]:
    """A link of this module's own: its MTU changes."""
    with veth_pair() as pair:
        yield pair


def set_mtu(link: VethPair, mtu: int) -> None:
    for end in range(2):
        subprocess.run([*link.enter(end), "ip", "link", "set", f"veth{end}", "mtu", str(mtu)], check=True)


def check_libera(ws: Workspace, bpm: int, digits: int) -> None:
    """All records of one BPM, against the pattern that its sender made."""
    stream = ws.streams[f"bpm{bpm + 1:0{digits}}/raw"]
    window = stream.latest(GROUPS)
    assert window.ok.all(), f"BPM {bpm}: {np.count_nonzero(~window.ok)} records are missing"
    counts = np.arange(FIRST_COUNT, FIRST_COUNT + GROUPS, dtype=np.int64)
    np.testing.assert_array_equal(window.turn.astype(np.int64) // PERIOD_TURNS % 65536, counts % 65536)
    for lane, name in enumerate(("x", "y", "sum")):
        np.testing.assert_array_equal(window[name], foreign_sender.values(counts, bpm, lane), f"BPM {bpm}, {name}")
    assert np.all(window.status == 1 | bpm << 2 | 1 << 11)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("bpms", [168, 256])
@pytest.mark.parametrize("order", ["libera", "libera-counter-first"])
@again_if_starved
def test_libera_grouping(root: Path, wired: VethPair, wire: str, bpms: int, order: str) -> None:
    """Whole and in fragments, with 168 and 256 BPMs and the counter at either end: nothing is lost."""
    mtu, port = WIRES[wire]
    set_mtu(wired, mtu)
    preset = order.replace("libera", "libera_grouping").replace("-", "_")
    name = unique_name(f"libera{bpms}{mtu}{'x' if 'xdp' in wire else 'p'}{order[-1]}"[:16])
    file = root / "libera.yaml"
    file.write_text(
        configuration(
            name,
            f"  - {port}\n",
            f"roles:\n  - {{role: receive, core: {SERVER_CORE}, ports: [hall]}}\n"
            f"instruments:\n  - {{name: bpm, kind: bpm, format: {preset}, count: {bpms},"
            f" id: 0, period_turns: {PERIOD_TURNS}, port: hall, source: {SENDER}}}\n",
            TURN_RATE_HZ,
        )
    )
    with server(file, wired.enter(0)) as running, attach_to(name, running) as ws:
        checksum = [] if mtu == 1500 else ["--no-checksum"]
        to = ["--to", f"{RECEIVER}:2048"]
        assert send(wired, order, "--bpms", bpms, "--count", GROUPS, "--rate", RATE_HZ, *to, *checksum) == GROUPS
        counters = ws.counters("port/hall")
        wait_for_all(counters, "records", GROUPS * bpms)
        assert_sums_hold(ws)
        for bpm in range(bpms):
            counted = nonzero(ws.counters(f"stream/bpm{bpm + 1:03}"))
            assert counted == {"accepted": GROUPS}, f"BPM {bpm}: {counted}"
        for bpm in (0, 1, 77, bpms - 1):
            check_libera(ws, bpm, 3)
        whole = nonzero(counters)
        assert whole["decoded"] == GROUPS
        if wire == "1500-af_xdp":
            pieces = -(-(8 + 16 * bpms) // 1480)
            assert whole["reassembled"] == GROUPS
            assert whole["fragment"] == GROUPS * (pieces - 1)


VENDOR = """
formats:
  - name: vendor
    udp_port: 7001
    layout:
      byte_order: big
      bytes: 80
      constants:
        - {at: 0, type: u16, value: 0xB1A5}
        - {at: 2, type: u16, value: 80}
      counter: {at: 4, type: u32, in: datagram}
      instruments: {count: 2, at: 8, stride: 36}
      id: {at: 0, type: u16, in: instrument}
      status: {at: 2, type: u16, in: instrument}
      turns: {count: 4, at: 4, stride: 8}
      lanes:
        - {name: x, unit: nm, at: 0, type: i24}
        - {name: y, unit: nm, at: 3, type: i24}
        - {name: intensity, unit: counts, at: 6, type: u16}
"""


@pytest.mark.parametrize("port_kind", ["af_packet", "af_xdp", "udp"])
@again_if_starved
def test_a_vendors_packet_of_four_turns(root: Path, wired: VethPair, port_kind: str) -> None:
    """Big-endian, 24-bit numbers, two instruments and four turns in a datagram, told by the configuration alone."""
    turns, turn_rate_hz = 12_000, 20_000
    set_mtu(wired, 1500)
    port = {
        "af_packet": "{name: hall, kind: af_packet, interface: veth0}",
        "af_xdp": "{name: hall, kind: af_xdp, interface: veth0}",
        "udp": f'{{name: hall, kind: udp, address: "{RECEIVER}:7001"}}',
    }[port_kind]
    name = unique_name(f"vendor-{port_kind[-4:]}")
    file = root / "vendor.yaml"
    file.write_text(
        configuration(
            name,
            f"  - {port}\n",
            f"roles:\n  - {{role: receive, core: {SERVER_CORE}, ports: [hall]}}\n{VENDOR}"
            "instruments:\n"
            f"  - {{name: v, kind: bpm, format: vendor, count: 2, id: 500, port: hall, source: {SENDER}}}\n",
            turn_rate_hz,
        )
    )
    with server(file, wired.enter(0)) as running, attach_to(name, running) as ws:
        datagrams = turns // 4
        first = (1 << 32) - turns // 2  # the 32-bit counter comes round in the middle
        numbers: list[str | float] = ["--count", datagrams, "--first", first, "--rate", turn_rate_hz / 4]
        assert send(wired, "vendor", *numbers, "--to", f"{RECEIVER}:7001") == datagrams
        counters = ws.counters("port/hall")
        wait_for_all(counters, "records", 2 * turns)
        counts = np.arange(first, first + turns, dtype=np.int64)
        for i in range(2):
            assert nonzero(ws.counters(f"stream/v{i + 1:02}")) == {"accepted": turns}
            window = ws.streams[f"v{i + 1:02}/turn"].latest(turns)
            assert window.ok.all()
            np.testing.assert_array_equal(window.turn.astype(np.int64) % (1 << 32), counts % (1 << 32))
            for lane, lane_name in enumerate(("x", "y")):
                np.testing.assert_array_equal(window[lane_name], foreign_sender.values(counts, i, lane))
            np.testing.assert_array_equal(window["intensity"], foreign_sender.values(counts, i, 2) & 0xFFFF)
            np.testing.assert_array_equal(window.status, 0x8000 | counts // 4 & 0xFF)
        assert_sums_hold(ws)
