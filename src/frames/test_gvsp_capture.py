#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What tshark's own dissectors find in vectors/gvsp.pcap is what vectors/gvsp.txt and resend.txt say.

test_gvsp_capture.py    exits 77, which Meson counts as skipped, where there is no tshark
"""

import shutil
import sys
import unittest

from dissect import dissected, vectors

CHUNKS, EXTENDED_CHUNK_DATA = 0x4000, 5
GVSP = {
    "status": "status", "format": "format", "payload_type": "payloadtype", "time": "timestamp", "lines": "sizey",
    "pixel_format": "pixel", "width": "sizex", "height": "sizey", "offset_x": "offsetx", "offset_y": "offsety",
    "padding_x": "paddingx", "padding_y": "paddingy",
}  # fmt: skip
"""Of a block of gvsp.txt: its fields, as tshark names them."""

FIELDS = ["_ws.malformed", "gvsp.blockid16", "gvsp.packetid24", "gvsp.blockid64", "gvsp.packetid32", "gvsp.payloaddata"]
FIELDS += ["gvsp.flag.packetresend", "gvsp.chunkdatapayloadlengthhex", "gvsp.chunklayoutidhex", "gvsp.payloadlength"]
FIELDS += sorted({f"gvsp.{name}" for name in GVSP.values()})
FIELDS += ["gvcp.cmd.command", *(f"gvcp.cmd.resend.{name}" for name in
           ("streamchannelindex", "blockid", "firstpacketid", "lastpacketid", "extendedblockid"))]  # fmt: skip


class Capture(unittest.TestCase):
    """The capture against the text, packet by packet."""

    def setUp(self) -> None:
        """Read both."""
        streams, requests = vectors("gvsp.txt"), vectors("resend.txt")
        packets = dissected("gvsp.pcap", FIELDS, "-d", "udp.port==20202,gvsp")
        self.assertEqual(len(packets), len(streams) + len(requests))
        self.streams = list(zip(streams, packets, strict=False))
        self.requests = list(zip(requests, packets[len(streams) :], strict=True))

    def test_good_packets_show_every_field(self) -> None:
        """Ids, geometry, times, lines and how many bytes there are."""
        good = [(vector, packet) for vector, packet in self.streams if vector["verdict"] == "good"]
        self.assertGreater(len(good), 12)
        for vector, packet in good:
            with self.subTest(vector["name"]):
                extended = "extended_ids" in vector
                self.assertEqual(packet["_ws.malformed"], [])
                for ours, theirs in {"block": "blockid", "packet": "packetid"}.items():
                    widths = ("64", "32") if extended else ("16", "24")
                    shown = packet[f"gvsp.{theirs}{widths[ours == 'packet']}"]
                    self.assertEqual(int(shown[0]), int(vector.get(ours, "0"), 0))
                self.assert_fields(vector, packet)
                if "status" in vector:
                    continue  # tshark shows the bytes of packets with status 0 alone
                data = bytes.fromhex("".join(packet["gvsp.payloaddata"][:1]))
                self.assertEqual(len(data), int(vector.get("length", "0"), 0))

    def assert_fields(self, vector: dict[str, str], packet: dict[str, list[str]]) -> None:
        """Those of leader and trailer."""
        kind = int(vector.get("payload_type", "0"), 0)
        for ours, theirs in GVSP.items():
            if ours not in vector:
                continue
            value = int(vector[ours], 0) | (0x80 if ours == "format" and "extended_ids" in vector else 0)
            self.assertIn(value, [int(shown, 0) for shown in packet[f"gvsp.{theirs}"]], ours)
        if "block_bytes" in vector:
            name = "chunkdatapayloadlengthhex" if kind & CHUNKS else "payloadlength"
            self.assertEqual(int(packet[f"gvsp.{name}"][0], 0), int(vector["block_bytes"], 0))
        if "layout" in vector:
            self.assertEqual(int(packet["gvsp.chunklayoutidhex"][0], 0), int(vector["layout"], 0))

    def test_requests_show_every_field(self) -> None:
        """Both forms of them."""
        names = {"channel": "streamchannelindex", "first": "firstpacketid", "last": "lastpacketid"}
        for vector, packet in self.requests:
            with self.subTest(vector["name"]):
                self.assertEqual(packet["_ws.malformed"], [])
                self.assertEqual(int(packet["gvcp.cmd.command"][0], 0), 0x40)
                extended = "extended_ids" in vector
                block = packet[f"gvcp.cmd.resend.{'extendedblockid' if extended else 'blockid'}"]
                self.assertEqual(int(block[0], 0), int(vector["block"], 0))
                for ours, theirs in names.items():
                    if ours == "last" and extended:
                        continue  # this dissector shows 24 bits of it
                    self.assertEqual(int(packet[f"gvcp.cmd.resend.{theirs}"][0], 0), int(vector[ours], 0))


if __name__ == "__main__":
    if not shutil.which("tshark"):
        print("SKIPPED: no tshark, so nobody but ourselves read the capture (apt install tshark)", file=sys.stderr)
        sys.exit(77)
    unittest.main()
