# SPDX-License-Identifier: Apache-2.0
"""The demonstration of two servers as a script runs it: one is killed, the orbit stays, it joins, a planned switch."""

import json
import subprocess

import pytest
from harness import RING_CORE, SERVER_CORE, TIMEOUT_S, again_if_starved, command_line

pytestmark = pytest.mark.skipif(
    RING_CORE == SERVER_CORE, reason="ONE CORE HERE: the ring needs one, and the servers another"
)


@pytest.mark.usefixtures("root", "nothing_left")
@again_if_starved
def test_one_of_two_servers_is_killed_and_the_orbit_stays() -> None:
    """It judges itself. A host that takes the cores away moves the orbit, too, and takes cycles of the switch."""
    command = command_line("demo", "--pair")
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=4 * TIMEOUT_S)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])["pair"]
    assert {report["killed"], report["took_over"]} == {"a", "b"}
    assert report["swap_cycles"] >= report["missed_cycles"]
    assert report["feedback"] == "on"
    assert report["joined"]
    assert report["switched"]["server"] == report["killed"]
