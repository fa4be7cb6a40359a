# SPDX-License-Identifier: Apache-2.0
"""Everything about one instrument."""

from ringmaster.console import units
from ringmaster.console.detail import CounterValue, Details
from ringmaster.console.lines import Column, Line, Span, beside, heading, line, table, wrapped
from ringmaster.console.watch import Frame
from ringmaster.monitor.advice import ADVICE

WIDE = 150
"""From this width on the newest record stands beside the counters."""


def draw(frame: Frame, width: int) -> list[Line]:
    """Streams, newest record, counters and networks of the instrument whose details were read."""
    details = frame.details
    if details is None:
        return [line(Span("the server has no instrument of that name any more", "dim"))]
    head = line(
        Span(details.name, "head"),
        f"  id {details.instrument_id}, sent from {details.source}",
        Span(", calibrated" if details.calibrated else "", "dim"),
    )
    each = width // 2 - 2 if width >= WIDE else width
    left = [*_streams(frame, details, each), line(), *_record(details, each)]
    counted = "since the server started"
    right = _counters("Counters", counted, details.counters, "stream", each)
    for port, counters in details.paths:
        right += [line(), *_counters(f"Network {port}", counted, counters, "path", each)]
    return [head, line(), *(beside(left, right, each) if width >= WIDE else [*left, line(), *right])]


def _streams(frame: Frame, details: Details, width: int) -> list[Line]:
    figures = next((stream for stream in frame.snapshot.streams if stream.name == details.name), None)
    measured = {rate.name: rate for rate in figures.streams} if figures else {}
    columns = [
        Column("STREAM", 12, right=False),
        Column("EVERY", 6),
        Column("RATE", 9),
        Column("FILTER", 6, right=False),
        Column("HEAD", 10),
        Column("DELAY", 6, drop=2),
        Column("HOLDS", 6, drop=1),
    ]
    rows = []
    for stream in details.streams:
        rate = measured.get(stream.name)
        rate_hz = rate.rate_hz if rate else float("nan")
        rows.append(
            [
                Span(stream.name),
                Span(units.several(stream.period, "turn")),
                Span(units.hertz(rate_hz)),
                Span(stream.filter),
                Span(units.NOTHING if rate is None or rate.head_turn is None else str(rate.head_turn)),
                Span(f"{stream.group_delay_turns:g} turns"),
                Span(units.duration_ns(stream.capacity / rate_hz * 1e9) if rate_hz else units.NOTHING),
            ]
        )
    return [heading("Streams", width), *table(columns, rows, width)]


def _record(details: Details, width: int) -> list[Line]:
    if details.turn is None:
        return [heading("Newest record", width), line(Span("  nothing has come yet", "dim"))]
    bits = ", ".join(map(str, details.status_bits)) or "none"
    lines = [
        heading("Newest record", width, f"turn {details.turn} of {details.newest_of}"),
        line(f"  status 0x{details.status:04x}", Span(f"  bits set: {bits}", "dim")),
    ]
    per_line = max(1, min(4, width // 36))
    cells = [f"{lane.name:<16}{_value(lane.value):>11} {lane.unit:<6}" for lane in details.lanes]
    for i in range(0, len(cells), per_line):
        lines.append(line("  ", "  ".join(cells[i : i + per_line])))
    return lines


def _value(value: int | float) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _counters(title: str, note: str, counters: tuple[CounterValue, ...], set_name: str, width: int) -> list[Line]:
    lines = [heading(title, width, note)]
    for counter in counters:
        severe = ADVICE.get((set_name, counter.name), (None, ""))[0]
        style = ({True: "bad", False: "warn", None: ""}[severe]) if counter.value else "dim"
        head = f"{counter.name:<14}{units.count(counter.value):>7} {counter.unit:<9}"
        text = wrapped(counter.text, width - len(head) - 2, style="dim")
        lines.append([Span("  "), Span(head, style), *text[0]])
        lines += [[Span(" " * (len(head) + 2)), *rest] for rest in text[1:]]
    return lines
