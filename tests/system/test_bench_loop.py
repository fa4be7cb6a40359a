# SPDX-License-Identifier: Apache-2.0
"""The closed loop as a person measures it: it ends, and says what was lost and missed. How much is the machine's."""

import pytest
from harness import RING_CORE, SERVER_CORE, again_if_starved, ringmaster_json

from ringmaster.virtual.loop import LEAST_TURN_RATE_HZ

pytestmark = [
    pytest.mark.usefixtures("root"),
    pytest.mark.skipif(RING_CORE == SERVER_CORE, reason="ONE CORE HERE: the ring needs one, the server another"),
]

SHORTER = {
    "ringmaster.virtual.rate.WARMS_S": 0.5,
    "ringmaster.virtual.rate.AGES_S": 0.5,
    "ringmaster.virtual.loop.SETTLES_S": 0.5,
    "ringmaster.virtual.loop.CLOSES_S": 0.5,
    "ringmaster.bench.loop.OPEN_S": 0.5,
    "ringmaster.bench.loop.LONG_FLOOR_S": 0.05,
}
"""How well the loop does is not asked for here."""


@again_if_starved
def test_the_loop_is_closed_for_a_while_and_counted() -> None:
    words = ("--seconds", "1", "--turn-rate", f"{LEAST_TURN_RATE_HZ:.0f}")
    said = ringmaster_json("bench", "loop", *words, "--json", shorter=SHORTER)
    assert said["lost_records"] is not None
    assert said["missed_share"] >= 0
    for share in ("stall_floor_share", "on_share", "passed_share"):
        assert 0 <= said[share] <= 1, share
    assert said["turn_rate_hz"] == LEAST_TURN_RATE_HZ
    assert len(said["conditions"]["stall_floors"]) == 2
    assert said["command"] == f"ringmaster bench loop --ring elettra --seconds 1 --turn-rate {LEAST_TURN_RATE_HZ:.0f}"
