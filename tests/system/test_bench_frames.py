# SPDX-License-Identifier: Apache-2.0
"""The bench of camera frames as a person runs it: what its cameras send comes, with the bytes that were sent."""

import pytest
from harness import ringmaster_json

from ringmaster.programs.cores import cores

pytestmark = [
    pytest.mark.usefixtures("root"),
    pytest.mark.skipif(cores()[0] == cores()[1], reason="needs two cores, one for the receiver, one for the cameras"),
]


def test_frames_come_with_the_bytes_that_were_sent() -> None:
    """Over a link between namespaces, by sockets and past the kernel; and of eight cameras over memif."""
    parts = ("--parts", "latency,cameras", "--transports", "udp,af_xdp", "--loads", "idle")
    found = ringmaster_json("bench", "frames", *parts, "--windows", "1", "--seconds", "0.3", "--json")
    rows = [*found["data"]["rows"]["latency"], *found["data"]["rows"]["cameras"]]
    assert [(row["transport"], row["mtu"]) for row in rows] == [
        ("udp", 1500),
        ("af_xdp", 1500),
        ("memif", 1500),
        ("memif", 9000),
    ], found["notes"]
    for row in rows:
        assert row["wrong"] == 0
        assert row["published_us"]["min"] <= row["after_last_fragment_us"]["min"] <= row["after_sent_us"]["min"]
