# SPDX-License-Identifier: Apache-2.0
"""Figures of a camera from the frames that were shown: rates, loss, latency."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ringmaster.viewer.frame import WHOLE, Head

WINDOW_S = 3.0
"""Rates and latencies are of so many last seconds."""
RECENT_MOST = 1000
"""Frames of which they are at most."""


@dataclass(frozen=True)
class Figures:
    """What is said of a camera."""

    camera_hz: float = 0.0
    """Frames that the receiver published, per second."""
    shown_hz: float = 0.0
    """Frames that the viewer took, per second."""
    lost: int = 0
    """Frames that the camera numbered and the receiver did not publish, since the viewer began to count."""
    of: int = 0
    """Frames that the camera numbered in that time."""
    incomplete: int = 0
    """Of the frames that the viewer took: without all fragments."""
    published_us: tuple[float, float] | None = None
    """From the last fragment to the frame in the hands of readers, median and 99th percentile, microseconds."""
    shown_ms: tuple[float, float] | None = None
    """From the first fragment to the picture, median and 99th percentile, milliseconds."""


@dataclass(frozen=True)
class _Taken:
    at_s: float
    sequence: int
    published_us: float | None
    shown_ms: float


class Tally:
    """Counts the frames of one camera."""

    def __init__(self) -> None:
        self._recent: deque[_Taken] = deque(maxlen=RECENT_MOST)
        self.reset()

    def reset(self) -> None:
        """Counts from now on."""
        self._recent.clear()
        self._last: Head | None = None
        self._lost = self._numbered = self._incomplete = 0

    def take(self, head: Head, at_s: float, shown_ms: float) -> None:
        """A frame was taken, at a time of a clock that only goes forward, so long after its first fragment."""
        last, self._last = self._last, head
        if last is not None and (head.sequence <= last.sequence or head.number <= last.number):
            self._recent.clear()  # the receiver or the camera began anew
        elif last is not None:
            numbered, published = head.number - last.number, head.sequence - last.sequence
            self._numbered += numbered
            self._lost += max(0, numbered - published)
        self._incomplete += head.status != WHOLE
        self._recent.append(_Taken(at_s, head.sequence, head.published_us, shown_ms))

    def interval_s(self) -> float:
        """Between the last two frames that were taken; 0 before there are two."""
        return self._recent[-1].at_s - self._recent[-2].at_s if len(self._recent) > 1 else 0.0

    def figures(self, now_s: float) -> Figures:
        """What they come to."""
        while len(self._recent) > 2 and self._recent[1].at_s < now_s - WINDOW_S:
            self._recent.popleft()
        counts = (self._lost, self._numbered, self._incomplete)
        if len(self._recent) < 2:
            return Figures(0.0, 0.0, *counts)
        first, last = self._recent[0], self._recent[-1]
        longest = max(after.at_s - before.at_s for before, after in pairwise(self._recent))
        silent = now_s - last.at_s > max(1.0, 3 * longest)
        seconds = max(last.at_s - first.at_s, 1e-9)
        return Figures(
            0.0 if silent else (last.sequence - first.sequence) / seconds,
            0.0 if silent else (len(self._recent) - 1) / seconds,
            *counts,
            _median_and_99([taken.published_us for taken in self._recent if taken.published_us is not None]),
            _median_and_99([taken.shown_ms for taken in self._recent]),
        )


def _median_and_99(values: list[float]) -> tuple[float, float] | None:
    if not values:
        return None
    median, high = np.percentile(values, (50, 99))
    return float(median), float(high)


def words(figures: Figures) -> list[str]:
    """What is said of them; what matters most comes first."""
    said = [f"{figures.camera_hz:.1f} fps"]
    share = f" ({100 * figures.lost / figures.of:.2g} %)" if figures.lost else ""
    said.append(f"lost {figures.lost}{share}")
    if figures.incomplete:
        said.append(f"incomplete {figures.incomplete}")
    if figures.camera_hz - figures.shown_hz > 0.05 * figures.camera_hz:
        said.append(f"shown {figures.shown_hz:.1f}/s")
    if figures.published_us:
        said.append("ready {:.0f}, p99 {:.0f} µs".format(*figures.published_us))
    if figures.shown_ms:
        said.append("on screen {:.0f}, p99 {:.0f} ms".format(*figures.shown_ms))
    return said


def fitted(words: list[str], width: int, measure: Callable[[str], int]) -> str:
    """As many of the words, in their order, as the width has room for."""
    text = words[0]
    for word in words[1:]:
        longer = f"{text}   {word}"
        if measure(longer) > width:
            break
        text = longer
    return text
