# SPDX-License-Identifier: Apache-2.0
"""The live page of the router: ports, drops by name, interfaces, neighbours and routes, one below the other."""

from typing import Any

from ringmaster.console import units
from ringmaster.console.lines import Column, Line, Span, fit, heading, line, plain, table, width_of
from ringmaster.router.watch import DROPS, Look, PortFigures

KEYS = "↑↓ PgUp PgDn, n neighbours, r routes, p ports, q quit"
SECTIONS = {"p": "ports", "n": "neighbours", "r": "routes"}
"""Keys, and the section that each goes to."""

PORT_COLUMNS = (
    Column("port", right=False),
    Column("in/s"),
    Column("forwarded/s"),
    Column("out/s"),
    Column("to kernel/s", drop=3),
    Column("received", drop=1),
    Column("sent", drop=2),
    Column("dropped"),
)
NEIGHBOUR_COLUMNS = (
    Column("address", right=False),
    Column("interface", right=False),
    Column("MAC", right=False, drop=2),
    Column("state", right=False),
    Column("answered", drop=1),
)
ROUTE_COLUMNS = (
    Column("prefix", right=False),
    Column("where to", right=False),
    Column("source", right=False, drop=2),
    Column("", right=False, drop=1),
)
STATE_STYLES = {"reachable": "good", "permanent": "good", "failed": "bad", "incomplete": "warn"}


def body(look: Look, width: int) -> tuple[list[Line], dict[str, int]]:
    """All lines of the page, and where its sections begin."""
    lines: list[Line] = []
    begins: dict[str, int] = {}
    for name, section in (
        ("ports", _ports(look, width)),
        ("drops", _drops(look, width)),
        ("interfaces", _interfaces(look, width)),
        ("neighbours", _neighbours(look, width)),
        ("routes", _routes(look, width)),
    ):
        if section:
            begins[name] = len(lines)
            lines += [*section, line()]
    return lines, begins


def draw(look: Look, scroll: int, width: int, height: int) -> tuple[list[Line], int]:
    """As many lines as the terminal has, and how far it is scrolled at most."""
    rows = max(1, height - 2)
    lines, _ = body(look, width)
    most = max(0, len(lines) - 1 - rows)
    scroll = max(0, min(scroll, most))
    shown = lines[scroll : scroll + rows]
    shown += [line()] * (rows - len(shown))
    below = len(lines) - 1 - scroll - rows
    more = f"  {below} more lines below" if below > 0 else ""
    bottom = line(Span(fit(KEYS + more, width), "dim"))
    return [_cut(spans, width) for spans in (_head(look, width), *shown, bottom)], most


def text(look: Look, width: int) -> str:
    """The page for a file or a pipe."""
    lines, _ = body(look, width)
    return "\n".join(plain(_cut(spans, width)) for spans in lines).rstrip()


def _cut(spans: Line, width: int) -> Line:
    left, out = width, []
    for span in spans:
        out.append(Span(span.text[: max(0, left)], span.style))
        left -= len(span.text)
    return out


def _head(look: Look, width: int) -> Line:
    total = sum(port.rates["forwarded"] for port in look.ports)
    left = line(Span("forward ", "dim"), Span(look.workspace, "head"), f"  {units.quantity(total, '/s')}")
    if look.trouble:
        return [*left, Span(f"  {fit(look.trouble, max(0, width - width_of(left) - 2)).rstrip()}", "bad")]
    routes = sum(route["used"] for route in look.routes)
    told = f"  {units.several(routes, 'route')}, {units.several(len(look.neighbours), 'neighbour')}"
    return [*left, Span(told if look.control else "  without routing", "dim")]


def _ports(look: Look, width: int) -> list[Line]:
    rows = [
        [
            Span(port.name),
            *(_rate(port, name) for name in ("received", "forwarded", "sent", "to_kernel")),
            *(Span(units.count(port.counts[name])) for name in ("received", "sent")),
            Span(units.count(port.dropped), "bad" if port.dropped else "good"),
        ]
        for port in look.ports
    ]
    return [heading("Ports", width, "packets"), *table(PORT_COLUMNS, rows, width)]


def _rate(port: PortFigures, name: str) -> Span:
    return Span(units.quantity(float(round(port.rates[name])), ""))


def _drops(look: Look, width: int) -> list[Line]:
    """What was dropped, by its counter, as far as there is any."""
    names = [name for name in DROPS if any(port.counts[name] for port in look.ports)]
    lost = [name for name in ("unclaimed", "kernel_full", "out_full", "waiting_full") if look.control.get(name)]
    if not names and not lost:
        return []
    columns = [Column("dropped", right=False), *(Column(port.name) for port in look.ports), Column("control side")]
    rows = [[Span(name), *(Span(units.count(port.counts[name])) for port in look.ports), Span("")] for name in names]
    rows += [[Span(name), *(Span("") for _ in look.ports), Span(units.count(look.control[name]))] for name in lost]
    return [heading("Dropped", width, "docs/counters.md says what each is"), *table(columns, rows, width)]


def _interfaces(look: Look, width: int) -> list[Line]:
    if not look.interfaces:
        return []
    lines = [heading("Interfaces", width)]
    for one in look.interfaces:
        kernel = f"  kernel {one['kernel_interface']}" if one["kernel_interface"] else ""
        state = Span("up  " if one["up"] else "down", "good" if one["up"] else "bad")
        addresses = "  ".join(one["addresses"]) or "no address"
        lines.append(line(f"{one['name']:<12}", state, f"  mtu {one['mtu']}{kernel}  {addresses}"))
    return lines


def _neighbours(look: Look, width: int) -> list[Line]:
    rows = [
        [
            Span(one["address"]),
            Span(one["interface"]),
            Span(one["mac"] or ""),
            Span(one["state"], STATE_STYLES.get(one["state"], "")),
            Span("" if one["answered_ms_ago"] is None else f"{one['answered_ms_ago'] / 1000:.0f} s ago"),
        ]
        for one in look.neighbours
    ]
    return [heading("Neighbours", width), *table(NEIGHBOUR_COLUMNS, rows, width)] if rows else []


def _routes(look: Look, width: int) -> list[Line]:
    rows = [
        [Span(one["prefix"]), Span(_where(one)), Span(one["source"]), Span("" if one["used"] else "unused", "warn")]
        for one in look.routes
        if not (one["action"] == "local" or (one["source"] == "kernel" and not one["used"]))
    ]
    return [heading("Routes", width), *table(ROUTE_COLUMNS, rows, width)] if rows else []


def _where(route: dict[str, Any]) -> str:
    if not route["paths"]:
        return str(route["action"])
    ways = [
        f"via {way['via']} by {way['interface']}" if way["via"] else f"{way['interface']}" for way in route["paths"]
    ]
    return ", ".join(ways)
