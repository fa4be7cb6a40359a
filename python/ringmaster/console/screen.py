# SPDX-License-Identifier: Apache-2.0
"""The whole screen: a line of state, the tabs, the page, the keys."""

from ringmaster.console import units
from ringmaster.console.lines import Line, Span, fit, inside, line, width_of, wrapped
from ringmaster.console.pages import PAGES, applications, detail, page_named, ports, supplies
from ringmaster.console.view import PAGE_KEYS, View
from ringmaster.console.watch import Frame
from ringmaster.monitor.figures import READBACK
from ringmaster.monitor.monitor import Snapshot

MARGIN = 1
TAB_GAP = 2
"""Blanks between two tabs."""

KEYS = (
    ("1…9, 0, -, =, tab, ← →", "another page; tab and arrows leave out pages without content"),
    ("↑ ↓ page home end", "move the cursor, or scroll"),
    ("enter, escape", "details of what is under the cursor, and back"),
    ("s, S", "sort by the next column; turn the order round"),
    ("/", "show only what has the text in its name; enter keeps it, escape drops it"),
    ("space", "freeze what is shown, and go on; the server goes on anyway"),
    ("r", "count from now on; the server's own counters stay as they are"),
    ("o, O", "orbit: take the reference and show the difference; show the orbit itself"),
    ("?, q", "this help; the end"),
)
"""What the keys do."""


def draw(frame: Frame, view: View, width: int, height: int) -> list[Line]:
    """As many lines as the terminal has, none of them wider than it."""
    inner = width - 2 * MARGIN
    view.hidden = frozenset(page.name for page in PAGES if not page.has_content(frame))
    head = [state(frame, view, inner), *_tabs(frame, view, inner), _message(frame, view, inner)]
    rows = max(1, height - len(head) - 1)
    body = _body(frame, view, inner, rows)
    if view.scroll > max(0, len(body) - rows):
        view.scroll = max(0, len(body) - rows)
        body = _body(frame, view, inner, rows)
    body = body[view.scroll : view.scroll + rows]
    body += [line()] * (rows - len(body))
    return [inside(spans, width, MARGIN) for spans in [*head, *body, _keys(frame, view, inner)]]


def _body(frame: Frame, view: View, width: int, rows: int) -> list[Line]:
    if view.help:
        return _help(view, width)
    if view.detail is not None:
        return _details(frame, view.page, view.detail, width)
    return page_named(view.page).draw(frame, view, width, rows)


def _details(frame: Frame, page: str, name: str, width: int) -> list[Line]:
    """What stands behind a line of a page."""
    if page == ports.NAME:
        port = next((port for port in frame.snapshot.ports if port.name == name), None)
        return ports.details(port, width) if port else [line(Span("that port is gone", "dim"))]
    if page == supplies.NAME:
        return supplies.details(frame, name, width) or [line(Span("that supply is gone", "dim"))]
    if page == applications.NAME:
        found = next((one for one in frame.snapshot.applications if one.name == name), None)
        return applications.account(found, width) if found else [line(Span("that application is gone", "dim"))]
    return detail.draw(frame, width)


def state(frame: Frame, view: View, width: int) -> Line:
    """What stands above every page: the workspace, what it takes in, what is lost."""
    snapshot = frame.snapshot
    lost = sum(stream.lost for stream in snapshot.streams)
    unsent = sum(stream.unsent for stream in snapshot.streams if stream.kind != READBACK)
    left = line(
        Span("ringmaster ", "dim"),
        Span(snapshot.workspace, "head"),
        "" if snapshot.alive and not frame.trouble else Span("  ended", "bad"),
        f"  {units.quantity(sum(stream.rate_hz for stream in snapshot.streams), '/s')}",
        *_time(snapshot),
        Span(f"  lost {units.count(lost)}", "bad" if lost else "good"),
        Span(f"  unsent {units.count(unsent)}" if unsent else "", "dim"),
    )
    right = line(
        Span(" FROZEN ", "cursor") if view.frozen else "",
        Span(f" since {frame.counted_since}" if frame.counted_since else "", "dim"),
    )
    return [*left, Span(" " * max(1, width - width_of(left) - width_of(right))), *right]


def _time(snapshot: Snapshot) -> Line:
    """The turn rate; where time is simulated, that it is, and how fast it passes."""
    if snapshot.real_time_ratio is not None:
        return line("  ", Span(f" SIMULATED TIME, {snapshot.real_time_ratio:.2f} of real ", "cursor"))
    return line(f"  {snapshot.turn_rate_hz / 1e3:.3f} kHz" if snapshot.turn_rate_hz else "")


def _tabs(frame: Frame, view: View, width: int) -> list[Line]:
    """The pages that have content, with their keys, on as many lines as it takes: names are never cut."""
    lines: list[Line] = [[]]
    severe = any(fault.severe for fault in frame.snapshot.faults)
    for key, page in zip(PAGE_KEYS, PAGES, strict=True):
        here = page.name == view.page
        if page.name in view.hidden and not here:
            continue
        wrong = page.name == "faults" and frame.snapshot.faults
        style = "cursor" if here else ("bad" if severe else "warn") if wrong else "dim"
        tab = Span(f"{key} {page.name}{'!' if wrong else ''}", style)
        if lines[-1] and width_of(lines[-1]) + len(tab.text) + TAB_GAP > width:
            lines.append([])
        lines[-1] += [Span(" " * TAB_GAP), tab] if lines[-1] else [tab]
    return lines


def _message(frame: Frame, view: View, width: int) -> Line:
    """What has to be said above every page; usually nothing."""
    if frame.trouble:
        return line(Span(fit(frame.trouble, width).rstrip(), "bad"))
    if view.typing:
        return line(Span("/", "key"), view.filter, Span(" ", "cursor"), Span("  enter keeps, escape drops it", "dim"))
    if view.filter:
        return line(Span(f"only /{view.filter}", "warn"), Span("  escape shows all again", "dim"))
    return line(Span(frame.news, "warn"))


def _keys(frame: Frame, view: View, width: int) -> Line:
    """The keys that do something just now, as many as there is room for."""
    page = page_named(view.page)
    keys = [("q", "quit"), ("?", "help"), ("space", "go on" if view.frozen else "freeze"), ("r", "reset")]
    if view.help or view.detail:
        keys = [("escape", "back"), ("↑↓", "scroll"), *keys]
    else:
        keys += [("/", "filter"), ("s", "sort")] if page.sorts else []
        keys += [("enter", "details")] if page.selects and view.row_names else []
        keys = [*view.more_keys.items(), *page.keys(frame, view), *keys]
    spans: Line = []
    for key, word in keys:
        if width_of(spans) + len(key) + len(word) + 3 <= width:
            spans += [Span(key, "key"), Span(f" {word}  ", "dim")]
    return spans


def _help(view: View, width: int) -> list[Line]:
    page = page_named(view.page)
    lines = [line(Span(f"The page of {page.name}", "head")), *wrapped(page.about, width, 2)]
    if page.sorts:
        lines.append(line(Span(f"  sorted by {', '.join(page.sorts)}", "dim")))
    lines += [line(), line(Span("Keys", "head"))]
    for key, text in KEYS:
        first, *more = wrapped(text, width - 22)
        lines += [[Span(f"  {key:<20}", "key"), *first], *([Span(" " * 22), *rest] for rest in more)]
    lines += [line(), line(Span("What it costs", "head"))]
    lines += wrapped(
        "The server notices nothing: this only reads its shared memory, and keeps off the server's cores where the "
        "machine has another one. --rate sets how often it looks; orbit and tune are read twice a second.",
        width,
        2,
    )
    colours = line("  ", Span("lost data", "bad"), "  ", Span("! look at it", "warn"), "  ", Span("all well", "good"))
    return [*lines, line(), line(Span("Colours", "head")), [*colours, Span("  x", "x"), Span("  y", "y")]]
