#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What tshark finds in vectors/native.pcap, with the dissector, is what vectors/native.txt says; so in setpoints.pcap,
and in control.pcap.

test_capture.py    exits 77, which Meson counts as skipped, where there is no tshark
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
GOOD, BAD, ABSENT = "1", "0", "3"  # tshark's words for checksums
FIELDS = ["ip.checksum.status", "udp.checksum.status", "vlan.id", "ieee8021ad.id"] + [
    f"ringmaster.{name}"
    for name in ("magic", "version", "kind", "instrument", "status", "turn", "lane_i32", "lane_f32")
]


def vectors(name: str) -> list[dict[str, str]]:
    """The blocks of native.txt or control.txt: key to value."""
    blocks = (HERE / "vectors" / name).read_text().split("\n\n")
    lines = [[line for line in block.splitlines() if not line.startswith("#")] for block in blocks]
    return [dict([*line.split(" ", 1), ""][:2] for line in block) for block in lines if block]


def dissected(name: str, fields: list[str]) -> list[dict[str, str]]:
    """One dictionary per packet of a capture: tshark's field name to its values, joined by commas."""
    command = ["tshark", "-X", f"lua_script:{HERE / 'ringmaster.lua'}", "-r", str(HERE / "vectors" / name)]
    command += ["-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE", "-T", "fields"]
    for field in fields:
        command += ["-e", field]
    with tempfile.TemporaryDirectory() as home:  # nobody's own preferences
        environment = {**os.environ, "HOME": home, "XDG_CONFIG_HOME": home}
        ran = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return [dict(zip(fields, line.split("\t"), strict=True)) for line in ran.stdout.splitlines()]


class Capture(unittest.TestCase):
    """The capture against the text, packet by packet."""

    def setUp(self) -> None:
        """Read both."""
        self.vectors = vectors("native.txt")
        self.packets = dissected("native.pcap", FIELDS)
        self.assertEqual(len(self.packets), len(self.vectors))

    def test_good_datagrams_show_every_field(self) -> None:
        """Decoded vectors have right checksums, and the dissector names the fields that the text does."""
        for vector, packet in zip(self.vectors, self.packets, strict=True):
            if vector["verdict"] != "decoded":
                continue
            with self.subTest(vector["name"]):
                self.assertEqual(packet["ip.checksum.status"], GOOD)
                self.assertEqual(packet["udp.checksum.status"], ABSENT if vector["udp"].endswith("00 00") else GOOD)
                inner = packet["vlan.id"] or packet["ieee8021ad.id"]
                self.assertEqual(inner.split(",")[-1], vector.get("vlan", ""))
                self.assertEqual(packet["ringmaster.magic"], "0x4d52")
                self.assertEqual(packet["ringmaster.version"], "1")
                for field in ("kind", "instrument", "status", "turn"):
                    self.assertEqual(packet[f"ringmaster.{field}"], vector[field])
                lane_type = "f32" if "f32" in vector else "i32"
                shown = packet[f"ringmaster.lane_{lane_type}"].split(",")
                self.assertEqual([float(lane) for lane in shown], [float(lane) for lane in vector[lane_type].split()])

    def test_broken_checksums_are_broken_for_tshark_too(self) -> None:
        """And those of all other whole datagrams are right."""
        for vector, packet in zip(self.vectors, self.packets, strict=True):
            with self.subTest(vector["name"]):
                if vector["name"] == "ip-checksum":
                    self.assertEqual(packet["ip.checksum.status"], BAD)
                elif vector["verdict"] == "bad_udp_checksum":
                    self.assertEqual(packet["udp.checksum.status"], BAD)
                elif vector["verdict"] in ("too_short", "too_long", "bad_length", "bad_magic", "unknown_kind"):
                    self.assertEqual((packet["ip.checksum.status"], packet["udp.checksum.status"]), (GOOD, GOOD))

    def test_what_is_not_native_is_left_alone(self) -> None:
        """Payloads that the server refuses for their shape are not shown as datagrams of ours."""
        for vector, packet in zip(self.vectors, self.packets, strict=True):
            if vector["verdict"] in ("too_short", "too_long", "bad_length", "bad_magic", "unknown_version"):
                with self.subTest(vector["name"]):
                    self.assertEqual(packet["ringmaster.turn"], "")


SETPOINT_NUMBERS = ["chain", "turn", "term", "instance", "sequence"]
SETPOINT_FIELDS = ["ip.checksum.status", "udp.checksum.status", "vlan.id", "ringmaster.turn"]
SETPOINT_FIELDS += [f"ringmaster_setpoint.{name}" for name in ("version", "query", "count", *SETPOINT_NUMBERS, "value")]


class Setpoints(unittest.TestCase):
    """Setpoint datagrams, as tshark sees them."""

    def setUp(self) -> None:
        """Read both."""
        self.vectors = vectors("setpoints.txt")
        self.packets = dissected("setpoints.pcap", SETPOINT_FIELDS)
        self.assertEqual(len(self.packets), len(self.vectors))

    def test_good_datagrams_show_every_field(self) -> None:
        """And all checksums are right, those of the bad ones too."""
        for vector, packet in zip(self.vectors, self.packets, strict=True):
            with self.subTest(vector["name"]):
                self.assertEqual((packet["ip.checksum.status"], packet["udp.checksum.status"]), (GOOD, GOOD))
                if vector["verdict"] != "good":
                    continue
                self.assertEqual(packet["vlan.id"], "100" if vector["name"] == "vlan" else "")
                for name in SETPOINT_NUMBERS:
                    self.assertEqual(int(packet[f"ringmaster_setpoint.{name}"], 0), int(vector[name]))
                self.assertEqual(packet["ringmaster_setpoint.version"], "2")
                self.assertIn(
                    packet["ringmaster_setpoint.query"].lower(),
                    ("1", "true") if vector["flags"] == "1" else ("0", "false"),
                )
                shown = packet["ringmaster_setpoint.value"].split(",")
                wanted = vector["f32"].split()
                self.assertEqual(int(packet["ringmaster_setpoint.count"]), len(wanted))
                for seen, value in zip(shown, wanted, strict=True):
                    self.assertAlmostEqual(float(seen), float(value), delta=abs(float(value)) * 1e-5)

    def test_what_a_chain_refuses_is_left_alone(self) -> None:
        """It is shown as no setpoints; one is a native datagram that is too long to be one."""
        for vector, packet in zip(self.vectors, self.packets, strict=True):
            if vector["verdict"] != "good":
                with self.subTest(vector["name"]):
                    self.assertEqual(packet["ringmaster_setpoint.turn"], "")


CONTROL_FIELDS = ["eth.src", "eth.dst", "ip.checksum.status", "_ws.malformed"]
CONTROL_FIELDS += [f"arp.{name}" for name in ("opcode", "src.hw_mac", "src.proto_ipv4")]
CONTROL_FIELDS += [f"icmp.{name}" for name in ("type", "checksum.status")]
CONTROL_FIELDS += [f"icmpv6.{name}" for name in ("type", "checksum.status")]
CONTROL_FIELDS += [f"igmp.{name}" for name in ("type", "checksum.status", "maddr", "max_resp")]
OURS = ("02:00:00:00:00:01", "10.0.0.1")
THEIR_MAC = "02:00:00:00:00:02"
ECHO_REQUEST, ECHO_REPLY, REPORT_V2, REPORT_V3 = "8", "0", "0x16", "0x22"
ICMPV6 = ("128", "129", "135", "136")
"""Echo request and reply, neighbour solicitation and advertisement."""


class Control(unittest.TestCase):
    """What the server sends, and how it reads queries, as tshark sees them."""

    def setUp(self) -> None:
        """Read both; a block has one or two frames."""
        packets = iter(dissected("control.pcap", CONTROL_FIELDS))
        self.exchanges = [
            (block, {kind: next(packets) for kind in ("received", "answer", "sent") if kind in block})
            for block in vectors("control.txt")
        ]
        self.assertEqual(list(packets), [])

    def test_what_is_sent_is_right(self) -> None:
        """ARP replies name us, and no checksum is wrong."""
        seen = set()
        for block, packets in self.exchanges:
            sent = packets.get("answer") or packets.get("sent")
            if sent is None:
                continue
            with self.subTest(block["name"]):
                self.assertEqual(sent["_ws.malformed"], "")
                self.assertEqual(sent["eth.src"], OURS[0])
                if sent["arp.opcode"]:
                    self.assertEqual((sent["arp.src.hw_mac"], sent["arp.src.proto_ipv4"]), OURS)
                elif sent["icmp.type"]:
                    kind = ECHO_REPLY if "answer" in packets else ECHO_REQUEST
                    self.assertEqual((sent["icmp.type"], sent["icmp.checksum.status"]), (kind, GOOD))
                    self.assertEqual(sent["ip.checksum.status"], GOOD)
                    self.assertEqual(sent["eth.dst"], packets.get("received", {}).get("eth.src", THEIR_MAC))
                elif sent["icmpv6.type"]:
                    self.assertIn(sent["icmpv6.type"], ICMPV6)
                    self.assertEqual(sent["icmpv6.checksum.status"], GOOD)
                else:
                    self.assertIn(sent["igmp.type"], (REPORT_V2, REPORT_V3))
                    self.assertEqual((sent["igmp.checksum.status"], sent["ip.checksum.status"]), (GOOD, GOOD))
                seen.add(block["name"].split("-")[0])
        self.assertEqual(seen, {"arp", "nd", "ping", "ping6", "report"})

    def test_queries_say_the_same_to_both(self) -> None:
        """The group, and the wait in tenths of a second."""
        for block, packets in self.exchanges:
            if "query" not in block:
                continue
            with self.subTest(block["name"]):
                _, group, wait_ms = block["query"].split()
                query = packets["received"]
                self.assertEqual(query["igmp.maddr"], group)
                self.assertEqual(float(query["igmp.max_resp"]) * 100, float(wait_ms))
                self.assertEqual(query["igmp.checksum.status"], GOOD)


if __name__ == "__main__":
    if not shutil.which("tshark"):
        print("SKIPPED: no tshark, so nobody but ourselves read the capture (apt install tshark)", file=sys.stderr)
        sys.exit(77)
    unittest.main()
