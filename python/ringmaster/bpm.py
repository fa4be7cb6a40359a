# SPDX-License-Identifier: Apache-2.0
"""Finding the beam positions among the streams of a workspace."""

import re

from ringmaster.layout import InstrumentKind
from ringmaster.stream import Stream
from ringmaster.workspace import Workspace

_X_LANE = re.compile(r"x(\d*)")


def bpm_streams(ws: Workspace, rate: str = "turn") -> list[Stream]:
    """The streams at one rate ("turn", "fast", "prompt") of all electronics that give beam positions."""
    return [
        stream
        for stream in ws.streams.values()
        if stream.instrument_kind == InstrumentKind.BPM and stream.rate == rate and position_lanes(stream)
    ]


def position_lanes(stream: Stream) -> list[tuple[str, str]]:
    """Pairs of lane names, x and y, one for each BPM that the electronics serves: ("x1", "y1")."""
    names = [lane.name for lane in stream.lanes]
    suffixes = [match[1] for match in map(_X_LANE.fullmatch, names) if match]
    return [(f"x{suffix}", f"y{suffix}") for suffix in suffixes if f"y{suffix}" in names]


def common_turn(streams: list[Stream], turns: int) -> int | None:
    """Newest turn that all streams have, but for those that are ``turns`` or more behind; None when all are empty."""
    heads = [head for stream in streams if (head := stream.head) is not None]
    return min((head for head in heads if head > max(heads) - turns), default=None)
