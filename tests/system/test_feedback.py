# SPDX-License-Identifier: Apache-2.0
"""The orbit feedback on the living machine that we ship, over real datagrams, in lock-step: the ring waits,
so a core that is taken away costs time and no cycle. The integral is slow, for a loop of few cycles.
"""

from pathlib import Path

import numpy as np
import pytest
from harness import RING_CORE, SERVER_CORE, wait_for
from slow_loop import slow_loop

from ringmaster.feedback.loop import Feedback
from ringmaster.feedback.matrix import load_csv
from ringmaster.feedback.names import State
from ringmaster.virtual import loop as virtual_loop
from ringmaster.virtual import rate as virtual_rate

AWAY_UM = 20.0
"""RMS of the orbit that is asked for, over all BPMs; correctors can make it."""
LEFT = 0.3
"""Share of it that may be left, at a loop that has had its time."""

pytestmark = pytest.mark.skipif(
    RING_CORE == SERVER_CORE, reason="ONE CORE HERE: the ring needs one, the server another"
)


def reachable_orbit_nm(path: Path) -> np.ndarray:
    """What one fast corrector of each plane makes of the orbit, so much that it is AWAY_UM in both."""
    matrix = load_csv(path)
    wanted = np.zeros(len(matrix.rows))
    for plane in "xy":
        rows = np.array([row.rpartition("/")[2].startswith(plane) for row in matrix.rows])
        column = matrix.values[:, matrix.columns.index(f"sr/ps/cf{plane}_01_05")] * rows
        wanted += AWAY_UM * 1e3 * column / np.sqrt(np.mean(np.square(column[rows])))
    return wanted


def assert_rows_have_an_age(loop: virtual_loop.Loop) -> None:
    """From the turn to its row more time passes than from the last of its inputs."""
    name = loop.figures().name
    assert virtual_rate.watch_cycles(loop, virtual_rate.AGES_S).answers_after_us * 1e3 > loop.ws.histograms[
        f"latency/{name}"
    ].read().percentile_ns(50)


def test_the_loop_closes_and_brings_the_orbit_to_where_it_is_wanted(root: Path) -> None:
    with slow_loop() as (loop, folder):
        name = loop.figures().name
        assert_rows_have_an_age(loop)
        loop.take_golden()
        feedback = Feedback(loop.ws, name, timeout_s=virtual_loop.TIMEOUT_S)
        feedback.put_array(
            "golden", np.round(feedback.array("golden") + reachable_orbit_nm(folder / virtual_loop.ELETTRA2.matrix))
        )
        wait_for(lambda: min(loop.figures().rms_um) > 0.8 * AWAY_UM, lambda: f"the error: {loop.figures()}")
        loop.put("loop", 1.0)

        def there() -> bool:
            figures = loop.figures()
            assert figures.state != State.FAULT, figures
            return figures.state == State.ON and max(figures.rms_um) < LEFT * AWAY_UM

        wait_for(there, lambda: f"the loop to bring it down: {loop.figures()}")
        loop.put("loop", 0.0)
        wait_for(lambda: loop.figures().state == State.READY, lambda: f"the loop to open: {loop.figures()}")
