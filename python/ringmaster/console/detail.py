# SPDX-License-Identifier: Apache-2.0
"""Everything about one instrument: its streams, counters, networks and newest record."""

from dataclasses import dataclass
from typing import NamedTuple

from ringmaster.fabric.counters import CounterBlock
from ringmaster.fabric.stream import Stream
from ringmaster.fabric.window import Window
from ringmaster.fabric.workspace import Workspace


class LaneValue(NamedTuple):
    """One number of a record."""

    name: str
    unit: str
    value: int | float


class StreamDetail(NamedTuple):
    """What a stream is."""

    name: str
    period: int
    filter: str
    group_delay_turns: float
    closing_delay_turns: float
    capacity: int
    """Records that its ring holds."""


class CounterValue(NamedTuple):
    """One counter, explained."""

    name: str
    value: int
    unit: str
    text: str


@dataclass(frozen=True)
class Details:
    """One instrument."""

    name: str
    instrument_id: int
    source: str
    """Address of the sender."""
    streams: tuple[StreamDetail, ...]
    newest_of: str
    """The stream that the record is of; empty where there is none."""
    turn: int | None
    """Of the newest record; None while there is none."""
    status: int
    """The instrument's own sixteen bits."""
    lanes: tuple[LaneValue, ...]
    counters: tuple[CounterValue, ...]
    paths: tuple[tuple[str, tuple[CounterValue, ...]], ...]
    """Of each mirrored network."""
    calibrated: bool
    """Whether the server publishes how to convert its lanes."""

    @property
    def status_bits(self) -> tuple[int, ...]:
        """Which bits of the status are set."""
        return tuple(bit for bit in range(16) if self.status >> bit & 1)


def read_details(ws: Workspace, instrument: str) -> Details | None:
    """What there is about an instrument; None where there is none of that name."""
    streams = [stream for stream in ws.streams.values() if stream.instrument == instrument]
    if f"stream/{instrument}" not in ws.counter_blocks:
        return None
    finest = min(streams, key=lambda stream: stream.period, default=None)
    window = finest.latest(1) if finest else None
    there = window is not None and len(window) == 1 and bool(window.ok[0])
    return Details(
        name=instrument,
        instrument_id=finest.instrument_id if finest else 0,
        source=finest.source if finest else "",
        streams=tuple(map(_stream, streams)),
        newest_of=finest.name if finest else "",
        turn=int(window.turn[0]) if window is not None and there else None,
        status=int(window.status[0]) if window is not None and there else 0,
        lanes=_lanes(finest, window) if finest and window is not None and there else (),
        counters=_explained(ws.counters(f"stream/{instrument}")),
        paths=tuple(
            (name.rpartition("/")[2], _explained(block))
            for name, block in ws.counter_blocks.items()
            if block.set_name == "path" and name.startswith(f"path/{instrument}/")
        ),
        calibrated=f"calibration/{instrument}" in ws.parameters,
    )


def _stream(stream: Stream) -> StreamDetail:
    return StreamDetail(
        stream.name, stream.period, stream.filter, stream.group_delay_turns, stream.closing_delay_turns, stream.capacity
    )


def _lanes(stream: Stream, window: Window) -> tuple[LaneValue, ...]:
    names = window.records.dtype.names or ()
    return tuple(
        LaneValue(lane.name, lane.unit, window[lane.name][0].item()) for lane in stream.lanes if lane.name in names
    )


def _explained(block: CounterBlock) -> tuple[CounterValue, ...]:
    return tuple(
        CounterValue(counter.name, block[counter.name], counter.unit, counter.text)
        for counter in block.counters.values()
    )
