# SPDX-License-Identifier: Apache-2.0
"""When a supply counts as being where it was sent."""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from ringmaster.moving.follower import Follower
from ringmaster.moving.timeout import Timeout

NAME = "sr/ps/csx_03_12"


class Moved:
    """A workspace with one supply, of which numbers are an f32 on the wire."""

    def __init__(self) -> None:
        self.setpoint = SimpleNamespace(number=0.0, name=f"{NAME}/setpoint", unit="A")
        self.readback = SimpleNamespace(number=0.0, name=f"{NAME}/readback", unit="A")
        supply = SimpleNamespace(name=NAME, setpoint=self.setpoint, readback=self.readback, state=[], words="good")
        self.supplies = {NAME: supply}

    def stand(self, value: float, beside: float = 0.0) -> None:
        """Setpoint and readback."""
        self.setpoint.number = float(np.float32(value))
        self.readback.number = float(np.float32(value + beside))

    def check(self) -> None:
        """Its server lives."""


def moved_by(offset: float, beside: float = 0.0) -> list[str]:
    """What does not follow when a supply at -2.65966 A is sent on by so much."""
    ws = Moved()
    ws.stand(-2.65966)
    follower = Follower(cast(Any, ws), [NAME], lambda _s: None)
    follower.begin_together({NAME: offset})
    ws.stand(-2.65966 + offset, beside)
    over = cast(Timeout, SimpleNamespace(begin=lambda: None, over=lambda: True, seconds=1.0))
    return list(follower.wait_for_together({NAME: offset}, lambda _s: None, over))


@pytest.mark.parametrize("offset", [1.0, -1e-3, 3.1e-6, 1e-7])
def test_rounding_of_a_readback_is_no_distance(offset: float) -> None:
    """A step as small as the rounding of an f32 leaves a readback beside its target by more than a share of it."""
    assert moved_by(offset) == []


def test_a_readback_that_stays_behind_is_named() -> None:
    assert moved_by(1e-3, beside=-9e-4) == [NAME]
