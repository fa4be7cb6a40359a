# SPDX-License-Identifier: Apache-2.0
"""Lanes of a stream, collected for longer than its ring holds them: record by record, as they come."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ringmaster.fabric.stream import Stream

Floats = NDArray[np.float64]
Turns = NDArray[np.int64]


class Course:
    """What some lanes have said from now on. ``look`` has to be called more often than the ring comes round."""

    def __init__(self, stream: Stream, lanes: Sequence[str]) -> None:
        self.stream = stream
        self._lanes = tuple(lanes)
        self._next = (stream.head or 0) // stream.period * stream.period + stream.period
        self._turn: list[Turns] = []
        self._values: list[Floats] = []

    def look(self) -> None:
        """Takes what has come since."""
        head, oldest = self.stream.head, self.stream.oldest()
        if head is None or oldest is None or head < self._next:
            return
        first = max(self._next, oldest)
        window = self.stream.read(first, min((head - first) // self.stream.period + 1, self.stream.capacity))
        self._turn.append(window.turn[window.ok].astype(np.int64))
        self._values.append(np.array([window.values(lane)[window.ok] for lane in self._lanes]))
        self._next = head + self.stream.period

    @property
    def turn(self) -> Turns:
        """Shape (records,): of those that came."""
        return np.concatenate([np.empty(0, np.int64), *self._turn])

    @property
    def values(self) -> Floats:
        """Shape (lanes, records)."""
        return np.concatenate([np.empty((len(self._lanes), 0)), *self._values], axis=1)
