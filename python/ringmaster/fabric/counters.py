# SPDX-License-Identifier: Apache-2.0
"""Counter blocks: what the server counted, by name."""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from ringmaster.errors import WorkspaceDamaged
from ringmaster.fabric._counters import COUNTERS, SET_NAMES, Counter
from ringmaster.fabric.naming import not_found
from ringmaster.fabric.segment import ObjectInfo, Segment


class CounterBlock(Mapping[str, int]):
    """Live mapping from a counter's name to its value; every look reads it afresh.

    The counters of one block are no consistent snapshot: each is exact, and sums hold once traffic has stopped.
    ``dict(block)`` keeps the values of now.
    """

    def __init__(self, segment: Segment, info: ObjectInfo) -> None:
        if info.variety not in SET_NAMES:
            raise WorkspaceDamaged(f"{segment.path}: {info.name!r} is of the unknown counter set {info.variety}")
        self.name = info.name.removeprefix("counters/")
        self.set_name = SET_NAMES[info.variety]
        """ "port", "stream", "path", "core", "clock" or "sender"."""
        self.counters: dict[str, Counter] = {counter.name: counter for counter in COUNTERS[self.set_name]}
        """What each counts: its unit, a sentence, and whether it may fall."""
        if 8 * len(self.counters) > info.size:
            raise WorkspaceDamaged(f"{segment.path}: {info.name!r} is too short for a {self.set_name} block")
        self._words = np.frombuffer(segment.memory, "<u8", len(self.counters), info.offset)
        self._index = {name: i for i, name in enumerate(self.counters)}

    def __getitem__(self, name: str) -> int:
        if name not in self._index:
            raise not_found(f"{self.set_name} counter", name, list(self._index))
        return int(self._words[self._index[name]])

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def __repr__(self) -> str:
        return f"<counters {self.name}: {dict(self)}>"


def lost(stream: Mapping[str, int]) -> int:
    """Lost turns by a stream's counters: those skipped, less those that came after all."""
    return stream["skipped"] - stream["out_of_order"]


def refused_packets(port: Mapping[str, int]) -> int:
    """Packets that were no datagrams of a configured instrument, and that nobody took.

    Those put by, as parts of a datagram that is not whole yet, are not refused, nor are those punted: the exception
    path answers them or hands them to the kernel.
    """
    return max(0, port["received"] - port["decoded"] - port["fragment"] - port["punted"])


def refused(stream: Mapping[str, int]) -> int:
    """Records that a stream refused: their turn lay outside the accepted window, or nobody could tell it."""
    return sum(stream[name] for name in ("turn_ahead", "turn_behind", "turn_out_of_range", "unanchored"))


def refused_together(streams: Iterable[Mapping[str, int]]) -> bool:
    """Whether most streams, and more than one, had turns refused.

    That is not an instrument's doing: their host or the server's stood still, or the machine's turn counter leapt.
    """
    misses = [stream["turn_ahead"] + stream["turn_behind"] > 0 for stream in streams]
    return sum(misses) > max(1, len(misses) // 2)
