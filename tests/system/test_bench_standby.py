# SPDX-License-Identifier: Apache-2.0
"""Real servers as the bench of a pair kills, stops and switches them: figures are there, and what must never be is not.

How long a swap takes is the machine's.
"""

from typing import Any

import pytest
from harness import RING_CORE, SERVER_CORE, again_if_starved, ringmaster_json

from ringmaster.bench.standby_real import MISSED
from ringmaster.virtual.pair import VIOLATIONS

pytestmark = [
    pytest.mark.usefixtures("root"),
    pytest.mark.skipif(RING_CORE == SERVER_CORE, reason="ONE CORE HERE: the ring needs one, and the servers another"),
]

SHORT = ("--rounds", "1", "--real-swaps", "2", "--real-switches", "1", "--seconds", "0.2")


def measured() -> Any:
    """A round; of a host that is starved the next one, where nothing came of it."""
    found: list[Any] = []

    @again_if_starved
    def measure() -> None:
        shorter = {"ringmaster.bench.standby.FLOOR_S": 0.1}
        found.append(ringmaster_json("bench", "standby", "--parts", "real", *SHORT, "--json", shorter=shorter))

    measure()
    return found[-1]


def test_real_servers_are_ended_and_judged() -> None:
    said = measured()
    (done,) = said["data"]["rounds"]
    assert {name: done["judged"][name] for name in VIOLATIONS} == dict.fromkeys(VIOLATIONS, 0)
    assert done["different_bits"] == 0
    assert done["windows"][0]["what"] == "quiet"
    assert len(done["windows"]) == 4 or done["trouble"]
    for window in done["windows"]:
        assert window["false_swaps"] == 0
        if window["ended"] == "took_over":
            assert window["swap_cycles"] > MISSED, "the chains had setpoints when it took over"
    assert said["real"]["cycle_hz"] > 0
    assert said["real"]["stall_floor_cycles"] >= 0
    assert said["real"]["two_masters"] == 0
