#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What tshark says of frames that templates of every kind have made: right checksums, and no warning.

test_tshark.py PROGRAM    writes them; exits 77, which Meson counts as skipped, where there is no tshark
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = sys.argv.pop() if len(sys.argv) > 1 else ""
GOOD = "1"  # tshark's word for a checksum
CHECKED = ["ip.check_checksum:TRUE", "udp.check_checksum:TRUE", "tcp.check_checksum:TRUE"]
UNCONNECTED = ["tcp.analyze_sequence_numbers:FALSE"]
FIELDS = ["ip.checksum.status", "udp.checksum.status", "tcp.checksum.status", "_ws.malformed", "_ws.expert.severity"]
WARNING = 0x00600000  # of the severities: comment, chat, note, warning, error


class Frames(unittest.TestCase):
    """One capture, read once."""

    rows: list[dict[str, str]]
    written: int

    @classmethod
    def setUpClass(cls) -> None:
        """Write and read it."""
        with tempfile.TemporaryDirectory() as folder:
            capture = Path(folder) / "frames.pcap"
            cls.written = int(subprocess.run([PROGRAM, capture], check=True, capture_output=True, text=True).stdout)
            command = ["tshark", "-r", str(capture), "-T", "fields"]
            for option in CHECKED + UNCONNECTED:
                command += ["-o", option]
            for field in [*FIELDS, "frame.protocols"]:
                command += ["-e", field]
            environment = {**os.environ, "HOME": folder, "XDG_CONFIG_HOME": folder}
            ran = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        names = [*FIELDS, "protocols"]
        cls.rows = [dict(zip(names, line.split("\t"), strict=True)) for line in ran.stdout.splitlines()]

    def test_all_frames_are_there(self) -> None:
        """The capture is whole."""
        self.assertGreater(self.written, 0)
        self.assertEqual(len(self.rows), self.written)

    def test_every_kind_is_there(self) -> None:
        """Both layers three, both layers four, with a tag and without."""
        for tag in ("", "vlan:ethertype:"):
            for network in ("ip", "ipv6"):
                for transport in ("udp", "tcp"):
                    wanted = f"eth:ethertype:{tag}{network}:{transport}"
                    self.assertTrue(any(row["protocols"].startswith(wanted) for row in self.rows), wanted)

    def test_checksums_are_right(self) -> None:
        """Of IPv4, UDP and TCP, each where there is one."""
        for row in self.rows:
            self.assertEqual(row["ip.checksum.status"], GOOD if ":ip:" in row["protocols"] else "", row)
            self.assertEqual(row["udp.checksum.status"] + row["tcp.checksum.status"], GOOD, row)

    def test_there_is_no_warning(self) -> None:
        """Nothing is malformed, nothing worse than a note."""
        for row in self.rows:
            self.assertEqual(row["_ws.malformed"], "", row)
            for severity in filter(None, row["_ws.expert.severity"].split(",")):
                self.assertLess(int(severity), WARNING, row)


if __name__ == "__main__":
    if shutil.which("tshark") is None:
        sys.exit(77)
    unittest.main()
