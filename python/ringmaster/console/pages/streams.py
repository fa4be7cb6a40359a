# SPDX-License-Identifier: Apache-2.0
"""The instruments: one line each, and on demand everything about one."""

from ringmaster.console import units
from ringmaster.console.lines import Column, Line, Span, alarming, heading, line, table
from ringmaster.console.marks import spark
from ringmaster.console.pages.common import SortKey, bad, chosen, more, number, sorted_by, spark_width, visible, warn
from ringmaster.console.view import View
from ringmaster.console.watch import Frame
from ringmaster.monitor.figures import StreamFigures

NAME = "streams"
SORTS: dict[str, SortKey[StreamFigures]] = {
    "order": lambda _: 0.0,
    "rate": lambda stream: stream.rate_hz,
    "received": lambda stream: stream.received,
    "lost": lambda stream: stream.lost,
    "out_of_order": lambda stream: stream.out_of_order,
    "refused": lambda stream: stream.refused,
    "phase": lambda stream: abs(stream.phase_turns),
}
SLOW = 0.95
"""An instrument below this share of the rate that it should have is marked."""
ABOUT = (
    "One line for each instrument; enter shows its streams, counters and newest record. LOST turns are those passed "
    "over, less those that came LATE. PHASE is by how many turns its newest one is off the turn that the clock says is "
    "due, at best in a second. REFUSED lay outside the accepted turns. A yellow rate is below 95 % of the turn clock's."
)


def draw(frame: Frame, view: View, width: int, height: int | None) -> list[Line]:
    """The table, with the cursor."""
    streams = chosen(frame.snapshot.streams, lambda stream: stream.name, view, NAME, SORTS)
    view.row_names = [stream.name for stream in streams]
    if not streams:
        return [line(Span("no instrument of that name" if view.filter else "the server has no instruments", "dim"))]
    shown, cursor = visible(view, NAME, len(streams), None if height is None else height - 2)
    note = ", ".join(filter(None, (sorted_by(view, NAME, list(SORTS)), more(shown, len(streams)))))
    return [heading("Instruments", width, note), *stream_table(frame, streams[shown], width, cursor)]


def stream_table(frame: Frame, streams: list[StreamFigures], width: int, cursor: int | None = None) -> list[Line]:
    """One line for each instrument."""
    wide = spark_width(width)
    columns = [
        Column("NAME", 8, right=False),
        Column("KIND", 5, right=False, drop=7),
        Column("RATE", 9),
        Column("LAST MINUTE", wide, right=False, drop=2),
        Column("RECEIVED", 6),
        Column("LOST", 6),
        Column("LOSS, LAST MINUTE", 17, right=False, drop=8),
        Column("LATE", 6),
        Column("PHASE", 6),
        Column("TWICE", 6, drop=6),
        Column("MIRRORED", 6, drop=9),
        Column("REFUSED", 6),
        Column("STREAMS", 8, right=False, drop=10),
    ]
    history = frame.history
    rows = [
        [
            Span(stream.name),
            Span(stream.kind.replace("_", " "), "dim"),
            rate(stream),
            Span(spark(history.of("stream", stream.name, "rate"), wide), "dim"),
            number(stream.received),
            bad(stream.lost),
            alarming(stream.lost, spark(history.of("stream", stream.name, "lost"), 17)),
            warn(stream.out_of_order),
            phase(stream, frame.snapshot.clock.phase_limit_turns),
            warn(stream.duplicate),
            number(stream.mirrored),
            bad(stream.refused),
            Span(" ".join(rate.name.rpartition("/")[2] for rate in stream.streams), "dim"),
        ]
        for stream in streams
    ]
    return table(columns, rows, width, cursor)


def phase(stream: StreamFigures, limit_turns: int) -> Span:
    """The phase error in turns, with its sign, marked beyond the limit."""
    words = f"{stream.phase_turns:+d}" if abs(stream.phase_turns) < 100000 else f"{stream.phase_turns:+.0e}"
    return Span(words if stream.phase_turns else "0", "bad" if abs(stream.phase_turns) > limit_turns > 0 else "")


def rate(stream: StreamFigures, width: int = 0) -> Span:
    """The rate, at least so wide, marked where it is lower than the clock says."""
    style = "bad" if stream.rate_hz == 0 else "warn" if stream.rate_hz < SLOW * stream.expected_rate_hz else ""
    return Span(units.hertz(stream.rate_hz).rjust(width), style)
