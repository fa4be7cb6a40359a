#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What tshark finds in vectors/native.pcap, with the dissector, is what vectors/native.txt says.

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
FIELDS = ["ip.checksum.status", "udp.checksum.status"] + [
    f"ringmaster.{name}"
    for name in ("magic", "version", "kind", "instrument", "status", "turn", "lane_i32", "lane_f32")
]


def vectors() -> list[dict[str, str]]:
    """The blocks of native.txt: key to value."""
    blocks = (HERE / "vectors/native.txt").read_text().split("\n\n")
    lines = [[line for line in block.splitlines() if not line.startswith("#")] for block in blocks]
    return [dict(line.split(" ", 1) for line in block) for block in lines if block]


def dissected() -> list[dict[str, str]]:
    """One dictionary per packet of the capture: tshark's field name to its values, joined by commas."""
    command = ["tshark", "-X", f"lua_script:{HERE / 'ringmaster.lua'}", "-r", str(HERE / "vectors/native.pcap")]
    command += ["-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE", "-T", "fields"]
    for field in FIELDS:
        command += ["-e", field]
    with tempfile.TemporaryDirectory() as home:  # nobody's own preferences
        environment = {**os.environ, "HOME": home, "XDG_CONFIG_HOME": home}
        ran = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return [dict(zip(FIELDS, line.split("\t"), strict=True)) for line in ran.stdout.splitlines()]


class Capture(unittest.TestCase):
    """The capture against the text, packet by packet."""

    def setUp(self) -> None:
        """Read both."""
        self.vectors = vectors()
        self.packets = dissected()
        self.assertEqual(len(self.packets), len(self.vectors))

    def test_good_datagrams_show_every_field(self) -> None:
        """Decoded vectors have right checksums, and the dissector names the fields that the text does."""
        for vector, packet in zip(self.vectors, self.packets, strict=True):
            if vector["verdict"] != "decoded":
                continue
            with self.subTest(vector["name"]):
                self.assertEqual(packet["ip.checksum.status"], GOOD)
                self.assertEqual(packet["udp.checksum.status"], ABSENT if vector["udp"].endswith("00 00") else GOOD)
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


if __name__ == "__main__":
    if not shutil.which("tshark"):
        print("SKIPPED: no tshark, so nobody but ourselves read the capture (apt install tshark)", file=sys.stderr)
        sys.exit(77)
    unittest.main()
