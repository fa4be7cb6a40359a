# SPDX-License-Identifier: Apache-2.0
"""The pages of the generator: main, range, seq, latency and stats, in the tradition of Pktgen-DPDK.

On main, range and log each port has a column; as many stand beside each other as the width has room for.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ringmaster.console import units
from ringmaster.console.lines import Column, Line, Span, fit, heading, line, table, wrapped
from ringmaster.traffic.settings import FrameSettings, PortSettings, RangeSettings
from ringmaster.traffic.watch import PortLook

LABEL = 17
"""Columns of the labels on the left."""
COLUMN = 20
"""Columns of each port."""

Cell = Callable[[PortLook], Span]


class Row(NamedTuple):
    """One line of the main page: its label, and what each port has there."""

    label: str
    cell: Cell
    tall: bool = False
    """Only where there is room for all lines."""
    total: Callable[[Sequence[PortLook]], str] | None = None
    """What all ports come to, where that means something."""


def ports_per_page(width: int) -> int:
    """How many columns fit."""
    return max(1, (width - LABEL) // COLUMN)


# ── main ──


def _count(value: float) -> str:
    return units.quantity(value, "", 4).replace(" ", "") if value >= 100_000 else f"{value:.0f}"


def _pair(left: float, right: float) -> str:
    return f"{_count(left)}/{_count(right)}"


def _counts(left: str, right: str) -> Cell:
    return lambda port: Span(_pair(port.counts[left], port.counts[right]))


def _megabits(bps: float) -> str:
    return f"{bps / 1e6:.0f}" if bps >= 1e8 else f"{bps / 1e6:.3g}"


def _link(port: PortLook) -> Span:
    up = port.settings.link_up
    return Span(f"{'sending' if port.settings.sending else 'stopped'} {'up' if up else 'DOWN'}", "" if up else "bad")


def _errors(port: PortLook) -> Span:
    counts = port.counts
    received, sent = counts["broken"], counts["refused"]
    return Span(_pair(received, sent), "warn" if received or sent else "dim")


def _late(port: PortLook) -> Span:
    counts = port.counts
    return Span(_pair(counts["late"], counts["skipped"]), "warn" if counts["late"] or counts["skipped"] else "dim")


def _frame(text: Callable[[FrameSettings], str]) -> Cell:
    return lambda port: Span(text(port.settings.frame))


def _forever(port: PortLook) -> str:
    return _count(port.settings.count) if port.settings.count else "forever"


def _size(settings: PortSettings) -> str:
    if settings.source:
        return "of a file"
    if settings.sequence:
        return f"seq of {len(settings.sequence)}"
    return "imix" if "imix" in settings.features else str(settings.frame.size)


def _features(port: PortLook) -> Span:
    return Span(" ".join(port.settings.features) or "fixed", "" if port.settings.features else "dim")


def _kind(port: PortLook) -> Span:
    return Span(port.settings.device[-COLUMN + 1 :] or port.settings.kind)


def _sum(rates: Callable[[PortLook], float]) -> Callable[[Sequence[PortLook]], str]:
    return lambda ports: _count(sum(map(rates, ports)))


MAIN: tuple[Row, ...] = (
    Row("Traffic, link", _link),
    Row("Features", _features, tall=True),
    Row(
        "Packets/s rx/max",
        lambda port: Span(_pair(port.received.pps, port.received_max.pps)),
        total=_sum(lambda port: port.received.pps),
    ),
    Row(
        "          tx/max",
        lambda port: Span(_pair(port.sent.pps, port.sent_max.pps)),
        total=_sum(lambda port: port.sent.pps),
    ),
    Row(
        "Mbit/s     rx/tx",
        lambda port: Span(f"{_megabits(port.received.bps)}/{_megabits(port.sent.bps)}"),
        total=lambda ports: (
            f"{_megabits(sum(port.received.bps for port in ports))}/{_megabits(sum(port.sent.bps for port in ports))}"
        ),
    ),
    Row("Sizes  64/65-127", _counts("size_64", "size_127")),
    Row("  128-255/  -511", _counts("size_255", "size_511")),
    Row("  512-1023/-1518", _counts("size_1023", "size_1518")),
    Row("    jumbo/broken", lambda port: Span(_pair(port.counts["jumbo"], port.counts["broken"]))),
    Row("Broad-/multicast", _counts("broadcast", "multicast")),
    Row("Errors     rx/tx", _errors),
    Row("Late/skipped  tx", _late, tall=True),
    Row("Total pkts rx/tx", _counts("received", "sent"), total=lambda ports: _totals(ports, "received", "sent")),
    Row("ARP/ICMP      rx", _counts("arp", "icmp")),
    Row("Foreign/answered", _counts("foreign", "answered"), tall=True),
    Row("Pattern/count", lambda port: Span(f"{port.settings.frame.pattern}/{_forever(port)}")),
    Row("Rate", lambda port: Span(port.settings.rate_text)),
    Row("Size/burst", lambda port: Span(f"{_size(port.settings)}/{port.settings.burst}")),
    Row("Ports src/dst", _frame(lambda frame: f"{frame.sport}/{frame.dport}")),
    Row("Type:VLAN", _frame(lambda frame: f"{_protocol(frame)}:{_vlan(frame)}")),
    Row("Dst IP", _frame(lambda frame: frame.dst_ip)),
    Row("Src IP", _frame(lambda frame: frame.src_ip)),
    Row("Dst MAC", _frame(lambda frame: frame.dst_mac)),
    Row("Src MAC", _frame(lambda frame: frame.src_mac)),
    Row("Card or kind", _kind, tall=True),
)


def _totals(ports: Sequence[PortLook], left: str, right: str) -> str:
    return _pair(sum(port.counts[left] for port in ports), sum(port.counts[right] for port in ports))


def _protocol(frame: FrameSettings) -> str:
    return f"{frame.type.replace('ip', 'IP')}/{frame.proto.upper()}"


def _vlan(frame: FrameSettings) -> str:
    return f"{frame.vlan:04}" if frame.tagged else "none"


def main(ports: Sequence[PortLook], first: int, width: int, height: int | None) -> list[Line]:
    """One column for each port, and one for all together where there is room."""
    rows = [row for row in MAIN if height is None or len(MAIN) + 1 <= height or not row.tall]
    shown = ports[first : first + ports_per_page(width)]
    totals = len(ports) > 1 and LABEL + COLUMN * (len(shown) + 1) <= width
    lines = [_head(shown, first, "all ports" if totals else "")]
    for row in rows:
        cells = [_cell(row.cell(port)) for port in shown]
        all_ports = [_cell(Span(row.total(ports)))] if totals and row.total else []
        lines.append([Span(fit(row.label, LABEL), "dim"), *cells, *all_ports])
    return lines


def _head(shown: Sequence[PortLook], first: int, last: str) -> Line:
    names = [_cell(Span(f"{first + i}: {_name(port.settings)}", "head")) for i, port in enumerate(shown)]
    return [Span(fit("Port", LABEL), "dim"), *names, *([_cell(Span(last, "head"))] if last else [])]


def _name(settings: PortSettings) -> str:
    """With the card's address, which has no line of its own on a small screen, or the kind."""
    what = settings.device.rpartition("/")[2].removeprefix("0000:") if settings.kind == "pci" else settings.kind
    return f"{settings.name} {what}"


def _cell(span: Span) -> Span:
    text = span.text if len(span.text) < COLUMN else fit(span.text, COLUMN - 1)
    return Span(text.rjust(COLUMN), span.style)


# ── range ──


def ranges(ports: Sequence[PortLook], first: int, width: int, height: int | None) -> list[Line]:
    """Fields that go through a range, or are drawn from one: a block for each, a column for each port."""
    shown = ports[first : first + ports_per_page(width)]
    fields = dict.fromkeys(one.field for port in ports for one in port.settings.ranges)
    lines = [_head(shown, first, ""), [Span(fit("Enabled", LABEL), "dim"), *(_cell(_ranging(port)) for port in shown)]]
    compact = height is not None and len(lines) + 5 * len(fields) > height
    for field in fields:
        found = [next((one for one in port.settings.ranges if one.field == field), None) for port in shown]
        lines += _range_block(field, found, compact)
    if not fields:
        lines += [line(), *wrapped("No field has a range: range 0 src ip max 192.168.0.99, then enable 0 range", width)]
    return lines


def _ranging(port: PortLook) -> Span:
    on = [name for name in ("range", "random") if name in port.settings.features]
    return Span(on[0] if on else "no", "good" if on else "dim")


def _range_block(field: str, found: Sequence[RangeSettings | None], compact: bool) -> list[Line]:
    parts: Sequence[tuple[str, Callable[[RangeSettings], str]]] = (
        (field, lambda one: f"{one.start} +{one.inc}"),
        ("  min", lambda one: one.min),
        ("  max", lambda one: one.max),
    )
    lines: list[Line] = [] if compact else [line()]
    for label, text in parts:
        cells = [_cell(Span(text(one) if one else units.NOTHING, "" if one else "dim")) for one in found]
        lines.append([Span(fit(label, LABEL), "dim"), *cells])
    return lines


# ── seq ──


def sequence(ports: Sequence[PortLook], first: int, width: int, _height: int | None) -> list[Line]:
    """The frames that each port sends in turn."""
    columns = [
        Column("SEQ", right=False),
        Column("DST MAC", drop=2),
        Column("SRC MAC", drop=3),
        Column("DST IP"),
        Column("SRC IP"),
        Column("PORTS S/D"),
        Column("TYPE:VLAN", right=False),
        Column("SIZE"),
    ]
    lines: list[Line] = []
    for i, port in enumerate(ports[first:], first):
        lines.append(heading(f"{i}: {port.settings.name}", width, _sequence_note(port.settings)))
        if port.settings.sequence:
            lines += table(columns, [_sequence_row(n, one) for n, one in enumerate(port.settings.sequence)], width)
        lines.append(line())
    return lines


def _sequence_note(settings: PortSettings) -> str:
    count = len(settings.sequence)
    return f"{units.several(count, 'frame')} in turn" if count else "sends the frame of `set`: set 0 seq_cnt 2"


def _sequence_row(number: int, frame: FrameSettings) -> list[Span]:
    return [
        Span(str(number)),
        Span(frame.dst_mac),
        Span(frame.src_mac),
        Span(frame.dst_ip),
        Span(frame.src_ip),
        Span(f"{frame.sport}/{frame.dport}"),
        Span(f"{_protocol(frame)}:{_vlan(frame)}"),
        Span(str(frame.size)),
    ]


# ── latency and stats ──

NO_FLOWS = "No port stamps its frames: enable 0 latency, and set 0 flows 4 for more than one flow"


def latency(ports: Sequence[PortLook], first: int, width: int, _height: int | None) -> list[Line]:
    """How long stamped frames took, flow by flow, since the start or the last clear."""
    names = ("min", "p50", "p99", "p99.9", "max")
    columns = [
        Column("PORT", right=False),
        Column("FLOW"),
        Column("RECEIVED", 6),
        *(Column(name.upper(), 7, drop=1 if name == "min" else 0) for name in names),
    ]
    rows = [
        [
            Span(port.settings.name),
            Span(str(number)),
            Span(units.count(flow.received)),
            *(Span(_duration(flow.latency_ns, name)) for name in names),
        ]
        for port in ports[first:]
        for number, flow in enumerate(port.settings.flows)
    ]
    return [*_title("Latency", width), *table(columns, rows, width)] if rows else wrapped(NO_FLOWS, width)


def _duration(latency_ns: Mapping[str, int], name: str) -> str:
    return units.duration_ns(latency_ns[name]) if latency_ns["max"] else units.NOTHING


def stats(ports: Sequence[PortLook], first: int, width: int, _height: int | None) -> list[Line]:
    """What became of the frames of each flow."""
    columns = [
        Column("PORT", right=False),
        Column("FLOW"),
        Column("SENT", 6),
        Column("RECEIVED", 6),
        Column("LOST", 6),
        Column("LOSS", 7),
        Column("DUPLICATE", 6),
        Column("REORDERED", 6),
    ]
    rows = [
        [
            Span(port.settings.name),
            Span(str(number)),
            Span(units.count(flow.sent)),
            Span(units.count(flow.received)),
            Span(units.count(flow.lost), "bad" if flow.lost else "dim"),
            Span(units.share(flow.lost / (flow.lost + flow.received)) if flow.received else units.NOTHING),
            Span(units.count(flow.duplicate), "warn" if flow.duplicate else "dim"),
            Span(units.count(flow.reordered), "warn" if flow.reordered else "dim"),
        ]
        for port in ports[first:]
        for number, flow in enumerate(port.settings.flows)
    ]
    return [*_title("Flows", width), *table(columns, rows, width)] if rows else wrapped(NO_FLOWS, width)


def _title(text: str, width: int) -> list[Line]:
    return [heading(text, width, "by the port that sends; since the start, or since `clr`"), line()]


class Page(NamedTuple):
    """One page."""

    name: str
    draw: Callable[[Sequence[PortLook], int, int, int | None], list[Line]]
    """From the ports, the first of them that is shown, width and height."""
    columns: bool
    """Whether ports stand beside each other, so that pages of ports follow each other."""


PAGES = (
    Page("main", main, True),
    Page("range", ranges, True),
    Page("seq", sequence, False),
    Page("latency", latency, False),
    Page("stats", stats, False),
)


def page_named(name: str) -> Page | None:
    """A page by its name, or by Pktgen's other one."""
    name = "seq" if name == "sequence" else name
    return next((page for page in PAGES if page.name == name), None)
