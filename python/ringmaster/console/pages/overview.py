# SPDX-License-Identifier: Apache-2.0
"""Everything at a glance."""

from ringmaster.console import units
from ringmaster.console.lines import Column, Line, Span, alarming, beside, heading, line, table
from ringmaster.console.marks import spark
from ringmaster.console.pages import cores, faults, orbit, standby, tune
from ringmaster.console.pages.common import postmortem
from ringmaster.console.pages.streams import rate
from ringmaster.console.view import View
from ringmaster.console.watch import Frame

NAME = "overview"
ABOUT = "What comes in, what is lost, how long it takes, what the beam does, and the faults that changed last."
WIDE = 140
"""From this width on the instruments stand beside the rest."""
LABEL = 15
GRID = 26
"""Columns of one instrument in the grid."""
ROWS_ONCE = 60
"""Lines of the page where there is no screen to fill."""
LEAST_BLOCK = 11
"""Lines that a drawing takes at least."""


def draw(frame: Frame, view: View, width: int, height: int | None) -> list[Line]:
    """One column, or two where there is room."""
    view.row_names = []
    room = height or ROWS_ONCE
    if width < WIDE:
        lines = [*figures(frame, width), line()]
        lines += _faults(frame, width, max(3, min(room - len(lines), room // 3)))
        grid = _grid(frame, width, room - len(lines) - 2) if room - len(lines) > 2 else []
        return [*lines, line(), *grid] if grid else lines
    half = width * 11 // 20
    left = [*figures(frame, half), line()]
    left += _plots(frame, half, room - len(left))
    right = [*_instruments(frame, width - half - 4, room * 2 // 3), line()]
    right += _faults(frame, width - half - 4, room - len(right))
    return beside(left, right, half)


def _grid(frame: Frame, width: int, rows: int) -> list[Line]:
    """Name and rate of the instruments, several to a line."""
    streams = frame.snapshot.streams
    across = max(1, width // GRID)
    shown = streams[: across * rows]
    left = len(streams) - len(shown)
    lines = [heading("Instruments", width, f"and {left} more; 3 shows them" if left else "3 shows more of them")]
    for i in range(0, len(shown), across):
        cells: Line = []
        for stream in shown[i : i + across]:
            cells += [Span(f"  {stream.name:<8}"), rate(stream, 10), Span(" " * (GRID - 20))]
        lines.append(cells)
    return lines


def figures(frame: Frame, width: int) -> list[Line]:
    """The figures that matter most, with the last minute of each."""
    wide = 30 if width >= 90 else 20
    snapshot, history = frame.snapshot, frame.history
    records = sum(stream.rate_hz for stream in snapshot.streams)
    lost = sum(stream.lost for stream in snapshot.streams)
    lost_rate = sum(stream.lost_per_s for stream in snapshot.streams)
    lines = [
        heading("Now", width, "and the last minute" if history.of("all", "", "rate") else ""),
        _row("records", units.quantity(records, "/s"), history.of("all", "", "rate"), wide, _ports(frame)),
        _row(
            "lost",
            units.quantity(lost_rate, "/s", 3),
            history.of("all", "", "lost"),
            wide,
            alarming(lost, f"{units.count(lost)} turns"),
            alarming=lost_rate > 0,
        ),
    ]
    for name, latency in snapshot.latency_ns.items():
        courses = history.of("latency", name, "p99")
        p99 = courses[-1] if courses else latency["p99"]
        words = f"p50 {units.duration_ns(latency['p50'])}, p99.9 {units.duration_ns(latency['p99.9'])}"
        words += " so far" if width >= 90 else ""
        lines.append(_row(f"p99 {name.removeprefix('latency/')}", units.duration_ns(p99), courses, wide, Span(words)))
    for core in snapshot.cores:
        words = f"waits {units.share(core.waiting_share)}"
        courses = history.of("core", core.name, "busy")
        lines.append(_row(f"core {core.name}", f"{units.share(core.busy_share)} busy", courses, wide, Span(words), 1.0))
    return [*lines, line(), *_clock(frame, width), *_beam(frame), *_standby(frame), *postmortem(frame, LABEL)]


def _row(
    label: str,
    value: str,
    course: list[float],
    wide: int,
    words: Span,
    high: float | None = None,
    alarming: bool = False,
) -> Line:
    style = "bad" if alarming else ""
    room = LABEL + 11 - max(LABEL, len(label))  # a long name takes some of the value's
    return line(
        f"  {label:<{LABEL}}",
        Span(f"{value:>{max(0, room)}}", style),
        "  ",
        Span(spark(course, wide, high=high), "dim"),
        "  ",
        words,
    )


def _ports(frame: Frame) -> Span:
    ports = frame.snapshot.ports
    bits = units.quantity(sum(port.rate_bps for port in ports), "b/s", 3)
    return Span(f"{bits}, {units.several(len(ports), 'port')}")


def _clock(frame: Frame, width: int) -> list[Line]:
    clock, streams = frame.snapshot.clock, frame.snapshot.streams
    if not clock.anchored:
        return [heading("Clock", width), line(Span("  not anchored yet: it waits for a first turn", "warn"))]
    precision = f"±{units.duration_ns(clock.residual_ns)}" if clock.supported else "not sure"
    live = sum(stream.rate_hz > 0 for stream in streams)
    style = "good" if live == len(streams) else "bad"
    return [
        heading("Clock and beam", width),
        line(
            f"  {'turn rate':<{LABEL}}",
            Span(
                f"{clock.turn_rate_hz / 1e3:>11.3f}  kHz, {precision}",
                "" if clock.fits and clock.supported else "warn",
            ),
            "   ",
            Span(f"{live} of {len(streams)} instruments send", style),
        ),
    ]


def _standby(frame: Frame) -> list[Line]:
    return [] if frame.standby is None else [standby.summary(frame.standby, LABEL)]


def _beam(frame: Frame) -> list[Line]:
    lines = []
    simulated = frame.snapshot.tunes_simulated
    figures = frame.snapshot.tune
    if figures:
        words = line(f"  {'tune':<{LABEL}}", Span("x", "x"), f"{figures.x.tune:>10.5f}  ", Span("y", "y"))
        words.append(Span(f" {figures.y.tune:.5f}"))
        reasons = ", ".join(dict.fromkeys([*figures.x.reasons, *figures.y.reasons]))
        words.append(
            Span(f"   not to be trusted: {reasons}" if reasons else "   8 shows more", "warn" if reasons else "dim")
        )
        lines.append(words)
    elif frame.spectrum:
        tunes = [f"{plane.tune:.5f}" if plane.peaks else "–" for plane in (frame.spectrum.x, frame.spectrum.y)]
        words = line(f"  {'tune':<{LABEL}}", Span("x", "x"), f"{tunes[0]:>10}  ", Span("y", "y"), f" {tunes[1]}")
        if "–" in tunes:
            words.append(Span("   no line above the noise", "dim"))
        elif simulated:
            words.append(Span(f"   simulated {simulated[0]:.5f}, {simulated[1]:.5f}", "dim"))
        lines.append(words)
    if frame.orbit:
        x, y = frame.orbit.rms
        unit = frame.orbit.unit
        lines.append(
            line(
                f"  {'orbit rms':<{LABEL}}",
                Span("x", "x"),
                f"{units.length(x, unit):>10}  ",
                Span("y", "y"),
                f" {units.length(y, unit)}   ",
                Span(units.several(len(frame.orbit.names), "BPM"), "dim"),
            )
        )
    return lines


def _faults(frame: Frame, width: int, rows: int) -> list[Line]:
    found = frame.snapshot.faults
    if not found:
        return [heading("Faults", width), line("  ", faults.all_well(frame))]
    groups = faults.grouped(found)
    shown = groups if len(groups) < rows else groups[: max(1, rows - 2)]
    note = "newest change first; 6 explains them"
    lines = [heading("Faults", width, note), *(line("  ", *faults.summary(group, frame.now_s)) for group in shown)]
    return [*lines, line(Span(f"  and {len(groups) - len(shown)} more", "dim"))] if len(shown) < len(groups) else lines


def _instruments(frame: Frame, width: int, rows: int) -> list[Line]:
    streams = frame.snapshot.streams
    shown = streams[: max(1, rows - 3)]
    columns = [
        Column("NAME", 10, right=False),
        Column("RATE", 9),
        Column("LAST MINUTE", 30, right=False, drop=1),
        Column("RECEIVED", 6),
        Column("LOST", 6),
    ]
    cells = [
        [
            Span(stream.name),
            rate(stream),
            Span(spark(frame.history.of("stream", stream.name, "rate"), 30), "dim"),
            Span(units.count(stream.received)),
            alarming(stream.lost, units.count(stream.lost)),
        ]
        for stream in shown
    ]
    lines = [heading("Instruments", width), *table(columns, cells, width)]
    return [*lines, line(Span(f"and {len(streams) - len(shown)} more", "dim"))] if len(shown) < len(streams) else lines


def _plots(frame: Frame, width: int, rows: int) -> list[Line]:
    """Orbit, spectrum and latency, as many of them as there is room for, as high as there is room."""
    spectrum, names = frame.spectrum, list(frame.snapshot.latency_ns)[:1]
    orbit_ = frame.orbit
    blocks = [block for block in (orbit_, spectrum, names) if block][: max(0, rows // LEAST_BLOCK)]
    lines: list[Line] = []
    for i, block in enumerate(blocks):
        room = (rows - len(lines)) // (len(blocks) - i) - 1
        if block is orbit_ and orbit_:
            lines += orbit.plot("x", orbit_, orbit_.x, width, room // 2 - 1)
            lines += orbit.plot("y", orbit_, orbit_.y, width, room // 2 - 1)
        elif block is spectrum and spectrum:
            lines += tune.plot("x", spectrum.x, spectrum, width, room // 2 - 2)
            lines += tune.plot("y", spectrum.y, spectrum, width, room // 2 - 2)
        else:
            lines += cores.latency(frame, names[0], width, min(cores.MOST_ROWS, room - 4))
        lines.append(line())
    return lines
