# SPDX-License-Identifier: Apache-2.0
"""The demo's loop at a tenth of its rate, in lock-step: for tests of few cycles on a host with few cores."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness import wait_for

from ringmaster.feedback.names import State
from ringmaster.virtual import loop as virtual_loop
from ringmaster.virtual.ring import FULL_TURN_RATE_HZ
from ringmaster.virtual.slower import SLOWER, make_slow


@contextmanager
def slow_loop() -> Iterator[tuple[virtual_loop.Loop, Path]]:
    """A ring without disturbances and its feedback, which is ready; and the folder of their files."""
    with virtual_loop.prepare() as folder:
        make_slow(folder / virtual_loop.ELETTRA2.feedback)
        with virtual_loop.start(folder, FULL_TURN_RATE_HZ / SLOWER, simulated=True) as loop:
            for what in loop.figures().disturbances:
                loop.ws.put(f"machine/{what}", 0.0, timeout=virtual_loop.TIMEOUT_S)
            wait_for(lambda: loop.figures().state == State.READY, lambda: f"ready: {loop.figures()}")
            yield loop, folder
