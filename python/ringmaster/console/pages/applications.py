# SPDX-License-Identifier: Apache-2.0
"""The applications: whether they run, and what the guard made of what they wanted."""

from time import CLOCK_TAI, clock_gettime_ns

from ringmaster.console import units
from ringmaster.console.lines import Column, Line, Span, heading, line, table, wrapped
from ringmaster.console.marks import spark
from ringmaster.console.pages.common import SortKey, bad, chosen, number, sorted_by, spark_width, visible, warn
from ringmaster.console.view import View
from ringmaster.console.watch import Frame
from ringmaster.fabric.layout import ApplicationState
from ringmaster.monitor.driving import ApplicationFigures
from ringmaster.monitor.faults import TEXTS

NAME = "applications"
SORTS: dict[str, SortKey[ApplicationFigures]] = {
    "order": lambda _: 0.0,
    "refused": lambda application: application.refused,
    "vectors": lambda application: application.vectors_per_s,
}
ABOUT = (
    "STATE is the guard's: joined has a grant and has sent no good vector yet; stalled lives and sends nothing good; "
    "dead ended in the midst of it. TAKEN are vectors that were not refused whole; REFUSED vectors and values; SLEW "
    "values "
    "whose step was shortened. Below stands the newest refusal, and why. The operator sets supplies by hand."
)
OPERATOR = "operator"
"""Who is no program, and cannot stall."""
STYLE = {
    ApplicationState.ABSENT: "dim",
    ApplicationState.JOINED: "warn",
    ApplicationState.RUNNING: "good",
    ApplicationState.STALLED: "bad",
    ApplicationState.DEAD: "bad",
}


def draw(frame: Frame, view: View, width: int, height: int | None) -> list[Line]:
    """A line for each application; below what the guard and the host count of the one under the cursor."""
    applications = chosen(frame.snapshot.applications, lambda one: one.name, view, NAME, SORTS)
    view.row_names = [application.name for application in applications]
    if not applications:
        words = "no application of that name" if view.filter else "this server has no applications"
        return [line(Span(words, "dim"))]
    shown, cursor = visible(view, NAME, len(applications), None if height is None else max(1, height // 2))
    lines = [
        heading("Applications", width, sorted_by(view, NAME, list(SORTS))),
        *application_table(frame, applications[shown], width, cursor),
    ]
    first = applications[shown][cursor or 0]
    for application in [first, *(one for one in applications if one is not first)]:
        block = [line(), *account(application, width)]
        if application is first or height is None or len(lines) + len(block) <= height:
            lines += block
    return lines


def application_table(
    frame: Frame, applications: list[ApplicationFigures], width: int, cursor: int | None = None
) -> list[Line]:
    """One line for each application."""
    wide = spark_width(width)
    columns = [
        Column("APPLICATION", 8, right=False),
        Column("STATE", 8, right=False),
        Column("FOR", 7, drop=6),
        Column("PROCESS", 7, drop=7),
        Column("ROWS/S", 9),
        Column("LAST MINUTE", wide, right=False, drop=5),
        Column("TAKEN", 6),
        Column("REFUSED", 6),
        Column("SLEW", 6, drop=4),
        Column("STALLS", 6),
        Column("RESTARTS", 6, drop=3),
        Column("IF IT STOPS", 4, right=False, drop=8),
    ]
    rows = [
        [
            Span(application.name),
            _state(application),
            Span(_for(application)),
            Span(str(application.pid) if application.pid else ""),
            Span(units.hertz(application.vectors_per_s).replace("Hz", "/s")),
            Span(spark(frame.history.of("application", application.name, "vectors"), wide), "dim"),
            number(application.taken),
            bad(application.refused),
            warn(application.slew_limited),
            bad(application.stalls),
            warn(application.restarts),
            Span("" if application.name == OPERATOR else application.stop, "dim"),
        ]
        for application in applications
    ]
    return table(columns, rows, width, cursor)


def account(application: ApplicationFigures, width: int) -> list[Line]:
    """The newest refusal, and every counter that is not zero."""
    lines = [heading(application.name, width, "what is zero is left out")]
    if application.offence:
        lines += wrapped(f"newest refusal: {application.offence}", width, 2, "warn")
    for set_name, counts in (("guard", application.guard), ("application", application.host)):
        for counter, count in counts.items():
            if not count:
                continue
            head = f"{counter:<18}{units.count(count):>7}  "
            text = wrapped(TEXTS[set_name, counter][1], width - len(head) - 2, style="dim")
            lines.append([Span("  "), Span(head, "warn" if counter.startswith("refused") else ""), *text[0]])
            lines += [[Span(" " * (len(head) + 2)), *rest] for rest in text[1:]]
    return lines


def _state(application: ApplicationFigures) -> Span:
    if application.name == OPERATOR:
        return Span("by hand", "dim")
    return Span(application.state.name.lower(), STYLE[application.state])


def _for(application: ApplicationFigures) -> str:
    """How long it has been in its state."""
    if not application.since_tai_ns:
        return ""
    age_s = (clock_gettime_ns(CLOCK_TAI) - application.since_tai_ns) / 1e9
    if age_s < 0:
        return "now"
    for seconds, word in ((86400, "d"), (3600, "h"), (60, "min")):
        if age_s >= 2 * seconds:
            return f"{age_s / seconds:.0f} {word}"
    return f"{age_s:.0f} s"
