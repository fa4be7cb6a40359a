# SPDX-License-Identifier: Apache-2.0
"""Finding the beam positions among the streams of a workspace."""

import re

from ringmaster.fabric.layout import InstrumentKind
from ringmaster.fabric.stream import Stream
from ringmaster.fabric.workspace import Workspace

OWN_RATES = ("turn", "raw")
"""What an instrument's own stream is called: "turn" where it sends every turn, "raw" where it has another period."""

_X_LANE = re.compile(r"x(\d*)")


def bpm_streams(ws: Workspace, *rates: str) -> list[Stream]:
    """The streams at these rates ("turn", "raw", "fast") of all electronics that give beam positions."""
    return [
        stream
        for stream in ws.streams.values()
        if stream.instrument_kind == InstrumentKind.BPM and stream.rate in rates and position_lanes(stream)
    ]


def position_lanes(stream: Stream) -> list[tuple[str, str]]:
    """Pairs of lane names, x and y, one for each BPM that the electronics serves: ("x1", "y1")."""
    names = [lane.name for lane in stream.lanes]
    suffixes = [match[1] for match in map(_X_LANE.fullmatch, names) if match]
    return [(f"x{suffix}", f"y{suffix}") for suffix in suffixes if f"y{suffix}" in names]


def common_turn(streams: list[Stream], turns: int) -> int | None:
    """Newest turn that all streams reach, but for those that are ``turns`` or more behind; None when all are empty.

    A stream reaches the turns up to its next record: between records none is missing.
    """
    live = [(head, head + stream.period - 1) for stream in streams if (head := stream.head) is not None]
    newest = max((head for head, _ in live), default=0)
    reach = min((reach for _, reach in live if reach > newest - turns), default=None)
    return None if reach is None else min(reach, newest)
