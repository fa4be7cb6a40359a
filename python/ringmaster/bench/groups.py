# SPDX-License-Identifier: Apache-2.0
"""Groups of datagrams, one per link and cycle, as ringmaster-receiver and ringmaster-generator write them down.

The jitter of a cycle is by how much the distance of its group from the one before differs from the nominal period.
Which stamp stands for a group is a decision: the last datagram's, because nobody can work with a cycle before it is
whole. A cycle whose own group, or the one before, is not whole has no jitter and is counted apart.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

ROW = np.dtype([("link", "<u4"), ("datagrams", "<u4"), ("cycle", "<u8"), ("first", "<u8"), ("last", "<u8")])
"""`first` and `last` in TSC ticks: the stamps of the group's first and last datagram."""
US = 1e6

Rows = npt.NDArray[np.void]
Floats = npt.NDArray[np.float64]


def read_rows(path: Path) -> Rows:
    """All rows of a file; OSError where it cannot be read."""
    return np.fromfile(path, ROW)


@dataclass(frozen=True)
class Groups:
    """What one link brought in one round."""

    jitter_us: Floats
    """Of each cycle that came whole after one that came whole; not negative."""
    cycles: int
    """From the first to the last, lost ones too."""
    apart: int
    """Cycles without a jitter: something of theirs, or of the one before, was lost. Not the first, which has none
    before it."""


def groups_of(rows: Rows, link: int, instruments: int, rate_hz: float, tsc_hz: float) -> Groups:
    """Of one link's rows; whole is a group of at least so many datagrams."""
    own = rows[rows["link"] == link]
    own = own[np.argsort(own["cycle"], kind="stable")]
    if len(own) == 0:
        return Groups(np.empty(0), 0, 0)
    whole = own["datagrams"] >= instruments
    neighbours = whole[1:] & whole[:-1] & (np.diff(own["cycle"]) == 1)
    distance_us = np.diff(own["last"].astype(np.int64)) / tsc_hz * US
    jitter_us = np.abs(distance_us - US / rate_hz)[neighbours]
    cycles = int(own["cycle"][-1] - own["cycle"][0]) + 1
    return Groups(jitter_us, cycles, cycles - 1 - len(jitter_us))


def not_sent(sent: Rows, received: Rows, link: int) -> int:
    """Cycles of the receiver's window that the sender left out, because it could not keep up."""
    window = received["cycle"][received["link"] == link]
    out = sent["cycle"][(sent["link"] == link) & (sent["datagrams"] == 0)]
    return int(np.isin(out, window).sum())


def took_us(sent: Rows, received: Rows, link: int, instruments: int, tsc_hz: float) -> Floats:
    """From the moment a whole group's first datagram was sent until its last was there."""
    left, there = (rows[(rows["link"] == link) & (rows["datagrams"] >= instruments)] for rows in (sent, received))
    _, ours, theirs = np.intersect1d(left["cycle"], there["cycle"], return_indices=True)
    took = there["last"][theirs].astype(np.int64) - left["first"][ours].astype(np.int64)
    return np.asarray(took / tsc_hz * US, dtype=np.float64)
