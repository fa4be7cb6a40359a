#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What tshark's own dissectors find in vectors/tecmp.pcap and cmp.pcap is what tecmp.txt and cmp.txt say.

test_capture_dissector.py    exits 77, which Meson counts as skipped, where there is no tshark
"""

import shutil
import sys
import unittest

from dissect import dissected, tshark, vectors

TECMP = {
    "device": "device_id", "counter": "counter", "version": "version", "message_type": "message_type",
    "data_type": "data_type", "flags": "dev_flags", "interface": "payload.interface_id",
    "time_ns": "payload.timestamp_ns", "length": "payload.length", "entry_flags": "payload.data_flags",
}  # fmt: skip
"""Of a block of tecmp.txt: its fields, as tshark names them behind `tecmp.`."""

CMP = {
    "version": "hdr.version", "device": "hdr.device_id", "stream": "hdr.stream_id", "counter": "hdr.stream_seq_cnt",
    "time_ns": "msg_hdr.timestamp_ns", "interface": "msg_hdr.interface_id", "payload_type": "msg_hdr.payload_type",
    "length": "msg_hdr.payload_length", "part": "msg_hdr.seg",
}  # fmt: skip
"""The same of cmp.txt, behind `asam-cmp.`."""

CSI2 = {
    "csi2_flags": "flags", "frame": "frame_counter", "line": "line_counter", "data_type": "data_type",
    "channel": "vci", "ecc": "ecc", "checksum": "checksum", "number": "short_packet_data_field", "bytes": "word_count",
}  # fmt: skip
"""And of its packets of MIPI CSI-2, behind `asam-cmp.msg.mipi_csi2.`; older tshark does not have them."""

INCOMPLETE = {"lies", "short-line", "first-part", "middle-part", "last-part"}
"""Blocks whose payload is not whole, so that a dissector may call them malformed."""


def known(protocol: str) -> set[str]:
    """The fields of a protocol, which this tshark knows."""
    rows = [line.split("\t") for line in tshark("-G", "fields").splitlines()]
    return {row[2] for row in rows if row[0] == "F" and row[2].startswith(protocol + ".")}


class CaptureDevices(unittest.TestCase):
    """The captures against the text, packet by packet."""

    def assert_shown(self, name: str, fields: dict[str, str], malformed: set[str]) -> list[dict[str, list[str]]]:
        """Each field of each good block of a file."""
        good = [vector for vector in vectors(f"{name}.txt") if vector["verdict"] == "good"]
        packets = dissected(f"{name}.pcap", ["_ws.malformed", *fields.values(), *EXTRA.get(name, ())])
        self.assertEqual(len(packets), len(good))
        self.assertGreater(len(good), 6)
        for vector, packet in zip(good, packets, strict=True):
            with self.subTest(vector["name"]):
                if vector["name"] not in malformed:
                    self.assertEqual(packet["_ws.malformed"], [])
                for ours, theirs in fields.items():
                    if ours in vector:
                        self.assertIn(int(vector[ours], 0), [int(shown, 0) for shown in packet[theirs]], ours)
        return packets

    def test_tecmp_shows_every_field(self) -> None:
        """And which entries are not synchronised."""
        packets = self.assert_shown("tecmp", {ours: f"tecmp.{theirs}" for ours, theirs in TECMP.items()}, {"lies"})
        two = packets[1]
        self.assertEqual(two["tecmp.payload.timestamp_synch_status"], ["1", "0"])
        self.assertEqual(len(two["tecmp.payload.interface_id"]), 2)
        self.assertEqual(packets[0]["tecmp.payload.data"], [vectors("tecmp.txt")[0]["payload"].replace(" ", "")[56:]])

    def test_cmp_shows_every_field(self) -> None:
        """Headers, and the packets of MIPI CSI-2 where this tshark knows them."""
        names = known("asam-cmp")
        if not names:
            self.skipTest("this tshark has no dissector of ASAM CMP; newer ones have")
        fields = {ours: f"asam-cmp.{theirs}" for ours, theirs in CMP.items()}
        csi2 = {ours: f"asam-cmp.msg.mipi_csi2.{theirs}" for ours, theirs in CSI2.items()}
        fields |= csi2 if set(csi2.values()) <= names else {}
        self.assert_shown("cmp", fields, INCOMPLETE)


EXTRA = {"tecmp": ["tecmp.payload.timestamp_synch_status", "tecmp.payload.data"]}
"""Fields that the tests look at beside those of the text."""


if __name__ == "__main__":
    if not shutil.which("tshark"):
        print("SKIPPED: no tshark, so nobody but ourselves read the captures (apt install tshark)", file=sys.stderr)
        sys.exit(77)
    unittest.main()
