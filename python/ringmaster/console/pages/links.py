# SPDX-License-Identifier: Apache-2.0
"""The links: the kernel's share of the traffic, mirrored networks, and which core gets whose datagrams."""

from ringmaster.console import units
from ringmaster.console.lines import Column, Line, Span, heading, line, table
from ringmaster.console.pages.common import bad, number, warn
from ringmaster.console.view import View
from ringmaster.console.watch import Frame
from ringmaster.monitor.figures import PathFigures, PortFigures, Steering

NAME = "links"
ABOUT = (
    "Exception path: what no instrument sent is PUNTED; the server answers ARP, ping and IGMP itself or gives the "
    "packet "
    "to the kernel. Mirrored networks: an instrument that sends on two networks is whole while one of them brings each "
    "turn; LOSS is each network's own. Steering: which queue, role and core an instrument's datagrams go to, and by "
    "what means."
)
NETWORK = (
    Column("LOST", 6, drop=4),
    Column("LOSS", 8),
    Column("RATE", 9, drop=6),
    Column("FIRST", 6, drop=7),
    Column("SECOND", 6, drop=7),
    Column("TWICE", 6, drop=8),
    Column("RECEIVED", 6, drop=9),
)
STEERING = (
    Column("QUEUE", 5),
    Column("ROLE", 4, drop=3),
    Column("CORE", 4),
    Column("BY", 4, right=False, drop=1),
)


def draw(frame: Frame, view: View, width: int, height: int | None) -> list[Line]:
    """Ports, networks, and each instrument on each of its ports; rows that are scrolled away are left empty."""
    view.row_names = []
    snapshot = frame.snapshot
    ports = [port for port in snapshot.ports if view.matches(port.name)]
    lines = [
        heading("Exception path", width, "what no instrument sent, and fragments"),
        *_exception_path(ports, width),
        line(),
    ]
    lines += [heading("Mirrored networks", width), *_networks(snapshot.paths, width), line()]
    shown = slice(0, None) if height is None else slice(max(0, view.scroll - len(lines)), view.scroll + height)
    return [*lines, *_instruments(snapshot.paths, snapshot.steering, view, width, shown)]


def _exception_path(ports: list[PortFigures], width: int) -> list[Line]:
    columns = [
        Column("PORT", 8, right=False),
        Column("PUNTED", 6),
        Column("ANSWERED", 6),
        Column("TO KERNEL", 6),
        Column("FROM KERNEL", 6),
        Column("DROPPED", 6),
        Column("SPREAD FULL", 6, drop=4),
        Column("FRAGMENTS", 6, drop=3),
        Column("MADE WHOLE", 6, drop=3),
        Column("EXPIRED", 6, drop=2),
    ]
    rows = [
        [
            Span(port.name),
            number(port.counts["punted"]),
            number(port.counts["answered"]),
            number(port.counts["to_kernel"]),
            number(port.counts["from_kernel"]),
            warn(port.counts["punt_full"] + port.counts["kernel_full"]),
            bad(port.counts["spread_full"]),
            number(port.counts["fragment"]),
            number(port.counts["reassembled"]),
            bad(port.counts["fragment_expired"]),
        ]
        for port in ports
    ]
    return table(columns, rows, width) if rows else [line(Span("  no port of that name", "dim"))]


def _networks(paths: tuple[PathFigures, ...], width: int) -> list[Line]:
    """One line for each network, over all its instruments."""
    if not paths:
        return [line(Span("  none: no instrument is configured on two ports", "dim"))]
    columns = [Column("NETWORK", 8, right=False), Column("INSTRUMENTS", 6), *NETWORK]
    rows = []
    for port in dict.fromkeys(path.port for path in paths):
        here = [path for path in paths if path.port == port]
        rows.append([Span(port), number(len(here)), *_network_cells(_sum(port, here))])
    return table(columns, rows, width)


def _sum(port: str, paths: list[PathFigures]) -> PathFigures:
    return PathFigures(
        instrument="",
        port=port,
        rate_hz=sum(path.rate_hz for path in paths),
        received=sum(path.received for path in paths),
        first=sum(path.first for path in paths),
        second=sum(path.second for path in paths),
        duplicate=sum(path.duplicate for path in paths),
        lost=sum(path.lost for path in paths),
    )


def _network_cells(path: PathFigures | None) -> list[Span]:
    if path is None:
        return [Span("")] * len(NETWORK)
    return [
        warn(path.lost),
        Span(units.share(path.loss_share), "warn" if path.lost else "dim"),
        Span(units.hertz(path.rate_hz)),
        number(path.first),
        number(path.second),
        warn(path.duplicate),
        number(path.received),
    ]


def _instruments(
    paths: tuple[PathFigures, ...], steering: tuple[Steering, ...], view: View, width: int, shown: slice
) -> list[Line]:
    """Where each instrument's datagrams go, and what each of its networks loses."""
    lines = [heading("Steering", width, "which queue, role and core an instrument's datagrams go to")]
    if not steering:
        lines.append(line(Span("  this server does not say", "dim")))
    lossy = {(path.instrument, path.port): path for path in paths}
    led = {(row.instrument, row.port): row for row in steering}
    both = [key for key in dict.fromkeys([*led, *lossy]) if view.matches(" ".join(led.get(key, key)))]
    if not both:
        return lines
    columns = [Column("INSTRUMENT", 10, right=False), Column("PORT", 8, right=False)]
    columns += [*(NETWORK if paths else ()), *(STEERING if steering else ())]
    rows = []
    for instrument, port in both[shown]:
        row = [Span(instrument), Span(port)]
        row += _network_cells(lossy.get((instrument, port))) if paths else []
        row += _steering_cells(led.get((instrument, port))) if steering else []
        rows.append(row)
    above, below = len(both[: shown.start]), len(both[shown.stop :]) if shown.stop else 0
    head, *body = table(columns, rows, width)
    return [*lines, head, *[line()] * above, *body, *[line()] * below]


def _steering_cells(row: Steering | None) -> list[Span]:
    return [Span(word) for word in row[2:]] if row else [Span("")] * len(STEERING)
