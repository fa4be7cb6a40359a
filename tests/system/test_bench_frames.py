# SPDX-License-Identifier: Apache-2.0
"""The bench of camera frames as a person runs it: what its cameras send comes, with the bytes that were sent."""

import pytest
from harness import ringmaster_json

from ringmaster.programs.cores import cores

pytestmark = [
    pytest.mark.usefixtures("root"),
    pytest.mark.skipif(cores()[0] == cores()[1], reason="needs two cores, one for the receiver, one for the cameras"),
]


def test_eight_cameras_over_memif_have_the_bytes_that_were_sent() -> None:
    found = ringmaster_json("bench", "frames", "--parts", "cameras", "--windows", "1", "--seconds", "0.3", "--json")
    rows = found["data"]["rows"]["cameras"]
    assert [row["mtu"] for row in rows] == [1500, 9000]
    for row in rows:
        assert row["wrong"] == 0
        assert row["sent"] - row["lost"] > 0
        assert row["published_us"]["min"] <= row["after_last_fragment_us"]["min"] <= row["after_sent_us"]["min"]


@pytest.mark.parametrize("transport", ["udp", "af_xdp"])
def test_frames_come_over_a_link_between_namespaces(transport: str) -> None:
    words = ("--parts", "latency", "--transports", transport, "--loads", "idle", "--windows", "1", "--seconds", "0.5")
    found = ringmaster_json("bench", "frames", *words, "--json")
    (row,) = found["data"]["rows"]["latency"]
    assert row["wrong"] == 0
    assert found["after_last_fragment_us"][transport]["min"] > 0
