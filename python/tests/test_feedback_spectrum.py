# SPDX-License-Identifier: Apache-2.0
"""The orbit's spectrum is taken of as much data as the streams hold."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from ringmaster.fabric.stream import Stream
from ringmaster.fabric.workspace import Workspace
from ringmaster.feedback.spectrum import capture
from ringmaster.spectra.series import USUAL_S, held_s

PERIOD = 100
TURN_RATE_HZ = 1e6


@dataclass
class GrowingStream:
    """A stream whose head moves on by a tenth of its ring at each look."""

    capacity: int
    margin: int = 8
    name: str = "bpm01/raw"
    period: int = PERIOD
    looks: int = field(default=0)
    lost: float = 0.0

    @property
    def head(self) -> int:
        """Newest turn."""
        self.looks += 1
        return self.looks * self.capacity // 10 * PERIOD

    def latest(self, count: int) -> Any:
        """A window of one sine in every lane."""
        assert count <= self.capacity - 2 * self.margin
        values = np.sin(np.arange(count))
        values[: round(self.lost * count)] = np.nan
        return SimpleNamespace(values=lambda _lane: values)


def workspace_of(stream: GrowingStream) -> Workspace:
    parameters = {"server/turn_rate_hz": SimpleNamespace(number=TURN_RATE_HZ)}
    return cast(Workspace, SimpleNamespace(parameters=parameters, streams={stream.name: stream}))


@pytest.mark.parametrize("capacity", [16384, 131072])
def test_without_a_length_it_takes_what_the_streams_hold(capacity: int) -> None:
    stream = GrowingStream(capacity)
    rate_hz, orbit = capture(workspace_of(stream), ["bpm01/x"], "raw")
    expected_s = min(USUAL_S, held_s(cast(Stream, stream), TURN_RATE_HZ))
    assert rate_hz == TURN_RATE_HZ / PERIOD
    assert len(orbit["bpm01/x"]) == int(expected_s * rate_hz)


def test_too_few_records_are_named() -> None:
    stream = GrowingStream(16384, lost=0.25)
    with pytest.raises(RuntimeError, match=r"at best 75\.0% of a BPM's records came, and a spectrum needs 99%"):
        capture(workspace_of(stream), ["bpm01/x"], "raw", 0.4)


def test_a_length_that_the_streams_do_not_hold_is_refused_with_what_they_hold() -> None:
    with pytest.raises(ValueError, match=r"bpm01/raw holds 1\.6 s, not 4 s: give --seconds less, or leave it out"):
        capture(workspace_of(GrowingStream(16384)), ["bpm01/x"], "raw", 4.0)
