# SPDX-License-Identifier: Apache-2.0
"""Two servers, one machine: who sends and since when, what the other one is, what is missing; keys to change it."""

from ringmaster.console import units
from ringmaster.console.lines import Column, Line, Span, heading, line, table, wrapped
from ringmaster.console.marks import spark
from ringmaster.console.pages.common import bad, number, spark_width, warn
from ringmaster.console.view import View
from ringmaster.console.watch import Frame
from ringmaster.fabric.layout import StandbyRole
from ringmaster.monitor.standby import StandbyLook
from ringmaster.standby.figures import StandbyFigures
from ringmaster.standby.names import REASONS, role_name
from ringmaster.values.time_format import clock_time

NAME = "standby"
ABOUT = (
    "Which of two servers sends setpoints, since when and under which term, and how many chains answer it; what its "
    "peer is, as the link tells, and what keeps the standby from READY. Applications of a standby follow the active "
    "server's decisions: IN STEP means without a difference. Keys: s lets the active server hand over to a READY "
    "standby, h holds a server that is not active (it does not take over) or releases it, a acknowledges an automatic "
    "take-over. They ask as `ringmaster standby` does."
)
STYLE: dict[StandbyRole | None, str] = {
    StandbyRole.ACTIVE: "good",
    StandbyRole.READY: "good",
    StandbyRole.JOINING: "warn",
    StandbyRole.MAINTENANCE: "warn",
    StandbyRole.FAULT: "bad",
    None: "bad",
}
LABEL = 16


def keys(frame: Frame, _view: View) -> list[tuple[str, str]]:
    """What stands at the foot of the page."""
    look = frame.standby
    if look is None or not look.figures.link.runs:
        return []
    figures = look.figures
    switch = [("s", "switch")] if figures.sends and figures.followed else []
    acknowledge = [("a", "acknowledge")] if figures.unacknowledged else []
    hold = [("h", "release" if figures.link.held else "hold")] if figures.link.held or not figures.sends else []
    return [*switch, *acknowledge, *hold]


def draw(frame: Frame, view: View, width: int, _height: int | None) -> list[Line]:
    """This server, its peer, what is missing, the applications."""
    view.row_names = []
    look = frame.standby
    if look is None:
        return [line(Span("this server is alone: docs/standby.md says how two make a pair", "dim"))]
    figures = look.figures
    lines = [*_here(figures, width), *_orbit(frame, width), line(), *_peer(figures, width), line()]
    lines += _missing(look, width)
    return [*lines, line(), *_followers(figures, width)] if figures.followers else lines


def summary(look: StandbyLook, label: int) -> Line:
    """One line for the overview."""
    it = look.figures
    words = line(
        f"  {'standby':<{label}}",
        Span(f"{it.server} {it.role.name}", STYLE[it.role]),
        f"  term {it.term}   ",
        Span(f"{it.peer} {role_name(it.link.peer_role)}", STYLE[it.link.peer_role]),
    )
    if look.missing:
        words.append(Span("   = says why", "warn"))
    return words


def _row(label: str, *parts: str | Span) -> Line:
    return line(Span(f"  {label:<{LABEL}}", "dim"), *parts)


def _here(it: StandbyFigures, width: int) -> list[Line]:
    since = clock_time(it.since_tai_ns).partition(".")[0]
    chains = f"{it.with_us} of {it.chains} chains answer its term; {it.majority} are a majority"
    lines = [
        heading(f"Server {it.server}", width, "this one"),
        _row("role", Span(f" {it.role.name} ", STYLE[it.role]), f"  since {since}, turn {it.since_turn}"),
        *wrapped(f"because {REASONS[it.reason]}", width, LABEL + 2, "dim"),
        _row("term", f"{it.term}", Span(f"   highest heard of {it.highest_term}", "dim")),
        _row("sends", f"yes: {chains}" if it.sends else "no"),
    ]
    if it.swap_cycles is not None:
        lines.append(_row("last swap", f"{units.several(it.swap_cycles, 'cycle')} after the other's last setpoints"))
    if it.unacknowledged:
        lines.append(_row("acknowledged", Span("no: the next automatic take-over waits for it", "warn")))
    if it.switch_turn is not None:
        lines.append(_row("switch", Span(f"at turn {it.switch_turn}", "warn")))
    return lines


def _orbit(frame: Frame, width: int) -> list[Line]:
    """What the feedback makes of it, where there is one: it goes on through a take-over."""
    figures = frame.feedback
    if figures is None:
        return []
    lines = [_row("feedback", figures.mostly.name)]
    for plane, value in zip("xy", figures.rms_um, strict=True):
        course = spark(frame.history.of("feedback", plane, "rms"), spark_width(width))
        lines.append(_row(f"orbit rms {plane}", f"{units.length(1e3 * value, 'nm'):>9}  ", Span(course, plane)))
    return lines


def _peer(it: StandbyFigures, width: int) -> list[Line]:
    link = it.link
    lines = [
        heading(f"Server {it.peer}", width, "as the link tells"),
        _row("role", Span(f" {role_name(link.peer_role)} ", STYLE[link.peer_role])),
        _row("term", f"{link.peer_term}" if link.peer_role is not None else units.NOTHING),
    ]
    if not it.sends and link.runs:
        lines.append(_row("lag", f"{units.several(link.lag_cycles, 'cycle')} behind it"))
    lines.append(_row("differences", bad(link.differences)))
    return lines


def _missing(look: StandbyLook, width: int) -> list[Line]:
    if not look.missing:
        return [line(Span("the standby can go on in the active server's place", "good"))]
    lines = [heading("Missing", width)]
    for sentence in look.missing:
        lines += wrapped(sentence, width, 2, "warn")
    return lines


def _followers(it: StandbyFigures, width: int) -> list[Line]:
    columns = [
        Column("APPLICATION", 16, right=False),
        Column("IN STEP", 7, right=False),
        Column("FOLLOWED", 8),
        Column("DIFFERENCES", 8),
        Column("INPUTS MISSING", 8, drop=1),
        Column("RESTORED", 8, drop=2),
    ]
    rows = [
        [
            Span(one.application),
            Span(units.NOTHING, "dim") if it.sends else Span("yes", "good") if one.in_step else Span("no", "warn"),
            number(one.counts.get("followed", 0)),
            bad(one.counts.get("differences", 0)),
            warn(one.counts.get("inputs_missing", 0)),
            number(one.counts.get("restored", 0)),
        ]
        for one in it.followers
    ]
    return [heading("Applications", width, "while this server stood by"), *table(columns, rows, width)]
