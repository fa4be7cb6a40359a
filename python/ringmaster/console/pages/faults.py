# SPDX-License-Identifier: Apache-2.0
"""The faults: only what is wrong, newest change first, with what it means and what to do."""

from collections.abc import Sequence

from ringmaster.console import units
from ringmaster.console.lines import Line, Span, heading, line, wrapped
from ringmaster.console.view import View
from ringmaster.console.watch import Frame
from ringmaster.monitor.faults import Fault

NAME = "faults"
ABOUT = (
    "Only counters that should be zero and are not; those that changed last stand first. Red means that data is lost. "
    "r counts from now on, which clears the page until something happens again."
)

NAMED = 8
"""So many objects of one fault are named."""


def draw(frame: Frame, view: View, width: int, height: int | None) -> list[Line]:
    """Each fault with its sentence and its advice."""
    view.row_names = []
    faults = [fault for fault in frame.snapshot.faults if view.matches(f"{fault.kind} {fault.name} {fault.counter}")]
    if not frame.snapshot.faults:
        return [line(all_well(frame))]
    if not faults:
        return [line(Span("no fault has that in its name; escape shows the others", "dim"))]
    severe = sum(fault.severe for fault in faults)
    lines = [heading("Faults", width, f"{len(faults)}, of which {severe} lose data; newest change first")]
    groups = grouped(faults)
    airy = height is None or len(groups) * 5 <= height
    for group in groups:
        fault = group[0]
        lines += [line()] if airy else []
        lines += [summary(group, frame.now_s), *wrapped(fault.means, width, 4)]
        if len(group) > 1:
            lines += wrapped(_each(group), width, 4, "dim")
        lines += wrapped(f"→ {fault.advice}", width, 4)
    return lines


def grouped(faults: Sequence[Fault]) -> list[list[Fault]]:
    """The same fault of several objects together, in the order in which the first of them stands."""
    groups: dict[tuple[str, str], list[Fault]] = {}
    for fault in faults:
        groups.setdefault((fault.kind, fault.counter), []).append(fault)
    return list(groups.values())


def all_well(frame: Frame) -> Span:
    """Says that nothing is wrong, and since when nothing was."""
    since = f"since {frame.counted_since}" if frame.counted_since else "since the server started"
    return Span(f"nothing is wrong: no counter of a fault has moved {since}", "good")


def _each(group: list[Fault]) -> str:
    """The objects that have it worst."""
    worst = sorted(group, key=lambda fault: -fault.count)[:NAMED]
    words = ", ".join(f"{fault.name} {units.count(fault.count)}" for fault in worst)
    return words if len(group) <= NAMED else f"{words} and {len(group) - NAMED} more"


def summary(group: list[Fault], now_s: float) -> Line:
    """A fault on one line; of several objects the sum."""
    fault = group[0]
    many = len(group) > 1
    who = f"{len(group)} {fault.kind}s" if many else f"{fault.kind} {fault.name}"
    count, per_second = sum(each.count for each in group), sum(each.per_second for each in group)
    style = "bad" if fault.severe else "warn"
    mark = "‼" if fault.severe else "!"
    when = "" if fault.changed_s is None else f"  {_ago(now_s - fault.changed_s)}"
    rate = f"  +{units.quantity(per_second, '/s', 3)}" if per_second > 0 else ""
    return line(
        Span(f"{mark} {who}", style),
        "  ",
        Span(fault.counter, "head"),
        f"  {units.count(count)} {fault.unit}{rate}",
        Span(when, "dim"),
    )


def _ago(seconds: float) -> str:
    if seconds < 1.5:
        return "just now"
    return f"{seconds:.0f} s ago" if seconds < 120 else f"{seconds / 60:.0f} min ago"
