# SPDX-License-Identifier: Apache-2.0
"""The ports: what came, and what became of it."""

from ringmaster.console import units
from ringmaster.console.lines import Column, Line, Span, heading, line, table, wrapped
from ringmaster.console.marks import spark
from ringmaster.console.pages.common import SortKey, bad, chosen, number, sorted_by, spark_width, visible, warn
from ringmaster.console.view import View
from ringmaster.console.watch import Frame
from ringmaster.monitor.advice import ADVICE
from ringmaster.monitor.faults import TEXTS
from ringmaster.monitor.figures import PortFigures

NAME = "ports"
SORTS: dict[str, SortKey[PortFigures]] = {
    "order": lambda _: 0.0,
    "rate": lambda port: port.rate_pps,
    "received": lambda port: port.received,
    "refused": lambda port: port.malformed,
}
ABOUT = (
    "One line for each port; enter says what to do about its faults. REFUSED are packets to the instruments' UDP port "
    "that were no datagrams of a configured instrument; OTHERS are ARP, ICMP, TCP and UDP to other ports, which is "
    "normal. MISSED were dropped before the server saw them. Ports that generate packets have a line of their own: "
    "UNSENT are those that the link did not take at their time, or whose time had gone."
)


def draw(frame: Frame, view: View, width: int, height: int | None) -> list[Line]:
    """The table, and below it what became of the packets of the port under the cursor."""
    ports = chosen(frame.snapshot.ports, lambda port: port.name, view, NAME, SORTS)
    view.row_names = [port.name for port in ports]
    if not ports:
        return [line(Span("no port of that name" if view.filter else "the server has no ports", "dim"))]
    shown, cursor = visible(view, NAME, len(ports), None if height is None else max(1, height // 2))
    lines = [
        heading("Ports", width, sorted_by(view, NAME, list(SORTS))),
        *port_table(frame, ports[shown], width, cursor),
    ]
    lines += generators(frame, width)
    first = ports[shown][cursor or 0]
    for port in [first, *(port for port in ports if port is not first)]:
        more = [line(), *breakdown(port, width)]
        if port is first or height is None or len(lines) + len(more) <= height:
            lines += more
    return lines


def port_table(frame: Frame, ports: list[PortFigures], width: int, cursor: int | None = None) -> list[Line]:
    """One line for each port."""
    wide = spark_width(width)
    columns = [
        Column("PORT", 8, right=False),
        Column("PACKETS/S", 9),
        Column("LAST MINUTE", wide, right=False, drop=5),
        Column("BITS/S", 9),
        Column("RECEIVED", 6),
        Column("DECODED", 6, drop=6),
        Column("RECORDS", 6, drop=7),
        Column("REFUSED", 6),
        Column("OTHERS", 6, drop=8),
        Column("MISSED", 6),
    ]
    rows = [
        [
            Span(port.name),
            Span(units.hertz(port.rate_pps).replace("Hz", "/s")),
            Span(spark(frame.history.of("port", port.name, "rate"), wide), "dim"),
            Span(units.quantity(port.rate_bps, "b/s", 3)),
            number(port.received),
            number(port.counts["decoded"]),
            number(port.counts["records"]),
            warn(port.malformed),
            number(port.foreign),
            bad(port.kernel_missed),
        ]
        for port in ports
    ]
    return table(columns, rows, width, cursor)


def generators(frame: Frame, width: int) -> list[Line]:
    """What ports send that generate packets; nothing where none does."""
    columns = [
        Column("PORT", 8, right=False),
        Column("SENT/S", 9),
        Column("RECEIVED/S", 9),
        Column("SENT", 6),
        Column("RECEIVED", 6),
        Column("UNSENT", 6),
        Column("LATE", 6, drop=1),
    ]
    rows = [
        [
            Span(one.name),
            Span(units.quantity(one.sent_pps, "/s")),
            Span(units.quantity(one.received_pps, "/s")),
            number(one.sent),
            number(one.received),
            warn(one.unsent),
            warn(one.late),
        ]
        for one in frame.snapshot.generators
    ]
    note = f"`ringmaster generate --attach {frame.snapshot.workspace}`"
    return [line(), heading("Packet generator", width, note), *table(columns, rows, width)] if rows else []


def details(port: PortFigures, width: int) -> list[Line]:
    """A port by itself, with what to do about each of its faults."""
    lines = breakdown(port, width)
    for name, value in port.counts.items():
        advice = ADVICE.get(("port", name))
        if value and advice:
            lines += [line(), line(Span(name, "bad" if advice[0] else "warn")), *wrapped(f"→ {advice[1]}", width, 2)]
    return lines


def breakdown(port: PortFigures, width: int) -> list[Line]:
    """What became of a port's packets: each counter that is not zero, explained."""
    lines = [heading(f"What became of the packets of {port.name}", width, "what is zero is left out")]
    for name, value in port.counts.items():
        if value:
            severe = ADVICE.get(("port", name), (None, ""))[0]
            style = {True: "bad", False: "warn", None: ""}[severe]
            head = f"{name:<18}{units.count(value):>7}  "
            text = wrapped(TEXTS["port", name][1], width - len(head) - 2, style="dim")
            lines.append([Span("  "), Span(head, style), *text[0]])
            lines += [[Span(" " * (len(head) + 2)), *rest] for rest in text[1:]]
    return lines
