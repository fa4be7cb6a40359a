# SPDX-License-Identifier: Apache-2.0
"""How long events took: from the turn zero to the entry in the catalogue, and until nothing more was waited for."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from ringmaster.postmortem.event import Event

BY_RECORD = ("interlock", "beam_loss", "server")
"""Kinds of triggers whose turn zero is found in records: it tells when it happened, not when it was seen."""


@dataclass(frozen=True)
class Times:
    """Over some events."""

    events: int
    trigger_to_entry_s: float
    """Median."""
    trigger_to_entry_p99_s: float
    after_windows_to_done_s: float
    """Median, from the end of the windows on."""
    after_windows_to_done_p99_s: float


def times_of(events: Iterable[Event]) -> Times | None:
    """Of those that began with a record; None where there are none."""
    done = [event for event in events if event.done_tai_ns and event.triggers[0].kind in BY_RECORD]
    if not done:
        return None
    entry = _seconds(done, lambda event: event.entry_tai_ns - event.triggers[0].zero.tai_ns)
    rest = _seconds(done, lambda event: event.done_tai_ns - event.span_tai_ns[1])
    return Times(len(done), *_figures(entry), *_figures(rest))


def _seconds(events: list[Event], time_ns: Callable[[Event], int]) -> "np.typing.NDArray[np.float64]":
    return np.array([1e-9 * time_ns(event) for event in events])


def _figures(values: "np.typing.NDArray[np.float64]") -> tuple[float, float]:
    return float(np.median(values)), float(np.percentile(values, 99))
