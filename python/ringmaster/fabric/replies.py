# SPDX-License-Identifier: Apache-2.0
"""How many requests an owner has answered; asking is in request.py, answering in owner.py."""

from ringmaster.fabric import layout
from ringmaster.fabric.memory import Words
from ringmaster.fabric.segment import ObjectInfo, Segment


class Replies:
    """The replies of one owner."""

    def __init__(self, segment: Segment, info: ObjectInfo) -> None:
        self.name = info.name
        self.owner = info.owner
        self._live = Words(segment.memory, layout.REPLIES, info.offset)

    def read(self) -> dict[str, int]:
        """Requests answered, those of them refused, and those that were overwritten before they could be read."""
        return {"answered": self._live("head"), "refused": self._live("refused"), "missed": self._live("missed")}
