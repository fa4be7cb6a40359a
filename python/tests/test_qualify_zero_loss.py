# SPDX-License-Identifier: Apache-2.0
"""The search for the highest rate without loss, on channels that are known."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ringmaster.bench.zero_loss import BUFFERED_DATAGRAMS, Trial, most_trials, search


def channel(capacity_pps: float, tolerance: int = 0) -> Callable[[float], Trial]:
    """Carries so much for a second, and loses what is more."""
    return lambda pps: Trial(pps, max(0, round(pps - capacity_pps)), 0, 20.0, tolerance)


@settings(deadline=None)
@given(
    capacity=st.floats(1e3, 1.4e7),
    highest=st.floats(1e4, 1.4e7),
    resolution=st.floats(0.001, 0.5),
    tolerance=st.integers(0, 500),
)
def test_the_search_finds_the_capacity_of_a_channel(
    capacity: float, highest: float, resolution: float, tolerance: int
) -> None:
    found = search(channel(capacity, tolerance), highest, resolution)
    most = min(highest, capacity + tolerance)
    assert found.best_pps <= most + 1.0
    assert found.best_pps >= most - resolution * highest - 1.0
    assert len(found.trials) <= most_trials(resolution)
    assert (found.limit is None) == (found.best_pps == highest)


def test_a_link_that_pushes_back_fails_by_the_rate_that_was_not_held() -> None:
    found = search(lambda pps: Trial(pps, 0, round(max(0.0, pps - 5e5)), 20.0, 0), 1e6, 0.01)
    assert found.best_pps == pytest.approx(5e5, abs=1e4)
    assert found.limit is not None
    assert found.limit.why == "rate not held"


def test_a_channel_that_carries_nothing_has_no_rate() -> None:
    found = search(channel(-1e9), 1e6, 0.1)
    assert found.best_pps == 0
    assert all(not trial.passed for trial in found.trials)


def test_a_trial_with_a_stall_is_tried_once_more_and_then_told() -> None:
    seen: list[float] = []

    def stalls_at_first(pps: float) -> Trial:
        seen.append(pps)
        first = len(seen) == 1
        return Trial(pps, 1000 if first else 0, 0, 20_000.0 if first else 10.0, 0)

    assert search(stalls_at_first, 1e6, 0.1).best_pps == 1e6
    assert seen == [1e6, 1e6]
    always = search(lambda pps: Trial(pps, 1000, 0, 20_000.0, 0), 1e6, 0.5)
    assert always.best_pps == 0
    assert always.trials[0].why == "1000 lost: stall of 20.0 ms"


@pytest.mark.parametrize(("gap_us", "stalled"), [(900.0, False), (1e3, True), (BUFFERED_DATAGRAMS + 2e3, True)])
def test_only_a_gap_that_the_link_cannot_bridge_is_a_stall(gap_us: float, stalled: bool) -> None:
    assert Trial(1e6, 5, 0, gap_us, 0).stalled == stalled
    assert not Trial(1e3, 5, 0, gap_us, 0).stalled
