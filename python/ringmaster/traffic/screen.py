# SPDX-License-Identifier: Apache-2.0
"""The whole screen of the generator: a line of state, the page, the answer to what was typed, the command line."""

from ringmaster.console.lines import Line, Span, fit, inside, line, width_of, wrapped
from ringmaster.traffic.pages import PAGES, page_named, ports_per_page
from ringmaster.traffic.prompt import Prompt
from ringmaster.traffic.session import Session

MARGIN = 1
SMALL_SHARE = 3
"""An answer that takes more than this part of the page, 1/3, hides the page."""
KEYS = "Tab completes, ↑↓ history, F1–F5 pages, PgDn ports, help, quit"


def draw(session: Session, prompt: Prompt, width: int, height: int) -> list[Line]:
    """As many lines as the terminal has, none of them wider than it."""
    inner, rows = width - 2 * MARGIN, max(1, height - 2)
    answer = _answer(session, prompt, inner)
    body = _page(session, inner, rows)
    if len(answer) > max(3, rows // SMALL_SHARE):
        body, answer = answer, []
    session.scroll = min(session.scroll, max(0, len(body) - rows))
    room = rows - len(answer)
    shown = body[session.scroll : session.scroll + room]
    shown += [line()] * (room - len(shown))
    return [inside(spans, width, MARGIN) for spans in (_state(session, inner), *shown, *answer, _bottom(prompt, inner))]


def _page(session: Session, width: int, rows: int) -> list[Line]:
    page = page_named(session.page)
    if page is None or not session.watch.ports:
        return [line(Span("the generator has no ports", "dim"))]
    return page.draw(session.watch.ports, session.first(width), width, rows)


def _answer(session: Session, prompt: Prompt, width: int) -> list[Line]:
    """What came of the last line; while words are being completed, their choices."""
    if prompt.choices:
        return wrapped("  ".join(prompt.choices), width, style="dim")
    if session.refused:
        return wrapped(session.refused, width, style="bad")
    return [spans for text in session.answer for spans in wrapped(text, width)]


def _state(session: Session, width: int) -> Line:
    """The workspace, the pages, which ports are shown; why there is nothing new."""
    tabs: Line = []
    for page in PAGES:
        tabs += [Span(page.name, "cursor" if page.name == session.page else "dim"), Span(" ")]
    left = [Span("ringmaster ", "dim"), Span(f"{fit(session.watch.workspace, 16).rstrip()}  ", "head"), *tabs]
    if session.watch.trouble:
        right = line(Span(session.watch.trouble, "bad"))
    else:
        right = line(Span(_which(session, width), "dim"))
    room = width - width_of(left)
    text = fit(right[0].text, room).rstrip() if room > 0 else ""
    return [*left, Span(" " * max(0, room - len(text))), Span(text, right[0].style)]


def _which(session: Session, width: int) -> str:
    count, first, step = len(session.watch.ports), session.first(width), ports_per_page(width)
    page = page_named(session.page)
    last = min(count, first + step) - 1 if page and page.columns else count - 1
    return f"ports {first}-{last} of {count}" if first < last else f"port {first} of {count}"


def _bottom(prompt: Prompt, width: int) -> Line:
    spans = prompt.draw(width)
    room = width - width_of(spans) - 2
    hint = "" if prompt.text else KEYS
    return [*spans, Span(f"  {hint}"[: max(0, room)], "dim")]
