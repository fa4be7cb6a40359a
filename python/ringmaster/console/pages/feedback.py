# SPDX-License-Identifier: Apache-2.0
"""The orbit feedback: its state and why, the orbit's motion open and closed, what is out; keys that drive it."""

import math
from collections.abc import Sequence

import numpy as np

from ringmaster.console import units
from ringmaster.console.lines import Column, Line, Span, heading, line, table, width_of, wrapped
from ringmaster.console.marks import curve, spark
from ringmaster.console.pages.common import postmortem, spark_width
from ringmaster.console.view import View
from ringmaster.console.watch import Frame
from ringmaster.feedback.names import Loop, State
from ringmaster.monitor.feedback import BANDS_HZ, LINES_HZ, LOST_MA, FeedbackFigures, LeftOut, Motion, Motions, decibel

NAME = "feedback"
ABOUT = (
    "State and why, RMS of the orbit over the BPMs now and over the last second, and its spectrum: OPEN is how it "
    "moved when the loop was last open, CLOSED when it was last closed, for longer than a spectrum takes. Below stand "
    "the BPMs and actuators that are not used, and why. Keys: l opens and closes the loop, h holds it, n switches the "
    "resonators (notches), t whether they track the mains, u the unloading to slow families, f the RF, w shadow mode, "
    "x leaves a fault; d switches the disturbances of a virtual machine, b trips its RF, so that the beam is lost, and "
    "injects again. They ask as `ringmaster put` does."
)
STYLE = {State.ON: "good", State.READY: "", State.OFF: "dim", State.HOLD: "warn", State.FAULT: "bad"}
LABEL = 9
"""Columns of a spectrum's scale."""
ROWS_ONCE = 8
OUT_SHOWN = 6
LOWEST_HZ = 2.0
DECADES = 5
BRAILLE_BLANK = 0x2800


def keys(frame: Frame, _view: View) -> list[tuple[str, str]]:
    """What stands at the foot of the page; the others are in the help."""
    figures = frame.feedback
    if figures is None:
        return []
    disturbances = [("d", "disturbances")] if figures.disturbances else []
    lost = figures.current_ma < LOST_MA
    beam = [("b", "inject" if lost else "lose beam")] if math.isfinite(figures.current_ma) else []
    return [("l", "loop"), ("n", "resonators"), *disturbances, *beam, ("h", "hold"), ("x", "leave fault")]


def draw(frame: Frame, view: View, width: int, height: int | None) -> list[Line]:
    """From what matters most down to what is out."""
    view.row_names = []
    figures = frame.snapshot.feedback
    if figures is None:
        return [line(Span("no orbit feedback runs here: docs/feedback.md says how to have one", "dim"))]
    lines = [*_state(figures, width), *postmortem(frame, 0), line(), *_orbit(frame, figures, width), line()]
    lines += [*_comparison(frame.motions, width), line()]
    out = _out(figures, width)
    left = ROWS_ONCE if height is None else (height - len(lines) - len(out) - 5) // 2
    lines += _spectra(frame.motions, width, max(3, left))
    return [*lines, *out]


def _state(figures: FeedbackFigures, width: int) -> list[Line]:
    """In one word, why, and what is switched on."""
    head = line(Span("Feedback ", "head"), Span(f" {figures.mostly.name} ", STYLE[figures.mostly]))
    notes: dict[float, str] = {Loop.ON: "ON (requested)", Loop.HOLD: "HOLD (requested)"}
    note = notes.get(figures.wanted, "OFF (requested)")
    lines = [[*head, Span(f"  {note}{_else(figures)}", "dim")]]
    if figures.withdrawn:
        lines += _sentence("permission to act was withdrawn: ", figures.withdrawn, width, "bad")
    if figures.missing and figures.mostly != State.ON:
        lines += _sentence("missing now: ", "; ".join(figures.missing), width, "bad" if figures.wanted else "warn")
    if figures.cause and figures.mostly != State.ON:
        lines += _sentence("it left ON because: ", "; ".join(figures.cause), width, "warn")
    switches: Line = []
    for what, on in figures.switches.items():
        switches += [Span(f"{what} "), Span("on" if on else "off", "good" if on else "dim"), Span("  ")]
    if figures.disturbances:
        disturbed = figures.disturbed
        switches += [Span("disturbances "), Span("on" if disturbed else "off", "warn" if disturbed else "dim")]
    return [*lines, *_flowing(switches, width)]


def _else(figures: FeedbackFigures) -> str:
    """Where it is not always in one state: how often in which, and why it last left "on"."""
    if len(figures.lately) < 2:
        return ""
    shares = sorted(figures.lately.items(), key=lambda pair: -pair[1])
    words = ", ".join(f"{state.name.lower()} {share:.0%}" for state, share in shares)
    held = f"; held for: {'; '.join(figures.cause)}" if figures.mostly == State.ON and figures.cause else ""
    return f"; of the last cycles: {words}{held}"


def _sentence(head: str, text: str, width: int, style: str) -> list[Line]:
    return wrapped(head + text, width, 0, style)


def _flowing(spans: Line, width: int) -> list[Line]:
    """Pairs of a name and its value on as many lines as they take."""
    lines: list[Line] = [[]]
    for i in range(0, len(spans), 3):
        part = spans[i : i + 3]
        if lines[-1] and width_of([*lines[-1], *part]) > width:
            lines.append([])
        lines[-1] += part
    return lines


def _orbit(frame: Frame, figures: FeedbackFigures, width: int) -> list[Line]:
    """The orbit's RMS with its last minute, and the figures beside."""
    lines = []
    for i, plane in enumerate("xy"):
        course = frame.history.of("feedback", plane, "rms")
        lines.append(
            line(
                Span(f"{plane}  ", plane),
                f"rms {_um(figures.rms_um[i]):>9}  over the last second {_um(figures.cumulated_um[i]):>9}  ",
                Span(spark(course, spark_width(width)) if course else "", plane),
            )
        )
    modes = "all" if figures.modes_wanted == 0 else str(figures.modes_wanted)
    facts = [
        ("BPM readings", f"{figures.rows_used} of {figures.rows}", "" if not figures.rows_out else "warn"),
        ("substituted", units.count(figures.substituted), "warn" if figures.substituted else "dim"),
        ("actuators", f"{figures.actuators - len(figures.actuators_out)} of {figures.actuators}", ""),
        ("saturated", str(figures.saturated), "bad" if figures.saturated else "dim"),
        ("modes", f"{modes} ({figures.modes}, condition {figures.condition:.3g})", ""),
        ("gain", f"{figures.gain:g}", "" if figures.gain == 1 else "warn"),
        ("mains", f"{figures.mains_hz:.3f} Hz", ""),
        ("RF", f"{figures.rf_offset:+.2f}", ""),
        ("matrix", f"no. {figures.generation}, {figures.solve_ms:.0f} ms", ""),
        ("beam", units.quantity(figures.beam, "") if math.isfinite(figures.beam) else "not watched", ""),
        ("delay", f"{figures.latency_us:.0f} µs", ""),
    ]
    if figures.switches["shadow"]:
        facts.append(("shadow", f"{figures.shadow_rms:.3g} rms off", ""))
    spans: Line = []
    for what, value, style in facts:
        spans += [Span(f"{what} ", "dim"), Span(value, style), Span("   ")]
    return [*lines, *_flowing(spans, width)]


def _um(value: float) -> str:
    return units.quantity(value * 1e-6, "m", 3)


def _comparison(motions: Motions, width: int) -> list[Line]:
    """Cumulative RMS and lines, open and closed."""
    if motions.open is None and motions.closed is None:
        return [line(Span("no spectrum yet: it takes a second of the loop as it is", "dim"))]
    columns = [Column("", 8, right=False)]
    for plane in "xy":
        columns += [
            Column(f"{plane} OPEN", 8, drop=0),
            Column("CLOSED", 8),
            Column("LESS BY", 8, drop=1 if plane == "x" else 2),
        ]
    rows = [
        [Span(f"< {hz:g} Hz" if math.isfinite(hz) else "all", "dim"), *_cells(motions, "rms_um", hz)] for hz in BANDS_HZ
    ]
    lines = [heading("Motion, RMS", width, "of everything below a frequency")]
    lines += table(columns, rows, width)
    seen = [hz for hz in LINES_HZ if _stands_out(motions.open or motions.closed, hz)][:6]
    if seen:
        lines += table(
            [Column("LINE", 8, right=False), *columns[1:]],
            [[Span(f"{hz} Hz", "dim"), *_cells(motions, "line_um", hz)] for hz in seen],
            width,
        )
    return lines


def _cells(motions: Motions, what: str, hz: float) -> list[Span]:
    cells = []
    for plane in "xy":
        pair = [
            float("nan") if motion is None else float(getattr(motion, what)(plane, hz))
            for motion in (motions.open, motions.closed)
        ]
        less = decibel(*pair)
        cells += [Span(_um(pair[0]), plane), Span(_um(pair[1]), plane)]
        cells.append(Span(f"{less:.1f} dB" if math.isfinite(less) else units.NOTHING, "good" if less > 0 else "warn"))
    return cells


def _stands_out(motion: Motion | None, hz: float) -> bool:
    """Whether a line is worth a row: three times what lies about it."""
    if motion is None:
        return False
    about = np.abs(motion.hz - hz)
    near = (about > 5) & (about < 15)
    return any(motion.line_um(plane, hz) > 3 * np.sqrt(2 * 5 * motion.plane(plane)[near].mean()) for plane in "xy")


def _spectra(motions: Motions, width: int, rows: int) -> list[Line]:
    """Both planes: closed in colour over open."""
    some = motions.closed or motions.open
    if some is None:
        return []
    highest = float(some.hz[-1])
    columns = max(20, width - LABEL - 1)
    lines = [heading("Spectrum", width, "amplitude, µm/√Hz: open dim, closed in colour; both axes logarithmic")]
    top = max(
        float(_density(motion, plane).max()) for motion in (motions.open, motions.closed) if motion for plane in "xy"
    )
    decade = math.ceil(math.log10(max(top, 1e-9)))
    for plane in "xy":
        drawn = [
            [] if motion is None else curve(_heights(motion, plane, 2 * columns, highest, decade), rows)
            for motion in (motions.open, motions.closed)
        ]
        for row in range(rows):
            label = {0: _power(decade), rows - 1: _power(decade - DECADES)}.get(row, plane if row == 1 else "")
            pieces = [one[row] if one else "" for one in drawn]
            lines.append([Span(f"{label:>{LABEL - 1}} ", "dim"), *_over(pieces[0], pieces[1], plane, columns)])
    return [*lines, line(Span(" " * LABEL + _axis(columns, highest), "dim"))]


def _power(decade: int) -> str:
    """A power of ten as a plain number."""
    return f"{10.0**decade:.{max(0, -decade)}f}"


def _density(motion: Motion, plane: str) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    return np.sqrt(motion.plane(plane) * motion.span_s)


def _heights(motion: Motion, plane: str, points: int, highest: float, decade: int) -> list[float]:
    """The largest of all bins that share a point; where a point has none, what lies between its neighbours."""
    edges = np.geomspace(LOWEST_HZ, highest, points + 1)
    density = _density(motion, plane)
    at = np.interp(np.sqrt(edges[1:] * edges[:-1]), motion.hz, density)
    begin, end = np.searchsorted(motion.hz, edges[:-1]), np.searchsorted(motion.hz, edges[1:])
    level = [
        float(density[a:b].max()) if b > a else float(at[i]) for i, (a, b) in enumerate(zip(begin, end, strict=True))
    ]
    return [(math.log10(max(value, 1e-12)) - decade + DECADES) / DECADES for value in level]


def _over(under: str, over: str, plane: str, columns: int) -> Line:
    """One curve over another: where both have dots, both show, in the upper one's colour."""
    spans: Line = []
    for low, high in zip(under.ljust(columns), over.ljust(columns), strict=True):
        both = (ord(low) - BRAILLE_BLANK if low != " " else 0) | (ord(high) - BRAILLE_BLANK if high != " " else 0)
        style = plane if high != " " else "dim"
        character = chr(BRAILLE_BLANK + both) if both else " "
        if spans and spans[-1].style == style:
            spans[-1] = Span(spans[-1].text + character, style)
        else:
            spans.append(Span(character, style))
    return spans


def _axis(columns: int, highest: float) -> str:
    """Frequencies in Hz."""
    cells = [" "] * columns
    for hz in (2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000):
        at = round(math.log(hz / LOWEST_HZ) / math.log(highest / LOWEST_HZ) * columns)
        text = f"┴{hz}"
        if at + len(text) <= columns:
            cells[at : at + len(text)] = list(text)
    return "".join(cells).rstrip()


def _out(figures: FeedbackFigures, width: int) -> list[Line]:
    """What is not used, and why."""
    lines: list[Line] = []
    for title, left_out in (("BPM readings out", figures.rows_out), ("Actuators out", figures.actuators_out)):
        if left_out:
            lines += [line(), heading(title, width, units.count(len(left_out))), *_left_out_lines(left_out, width)]
    return lines


def _left_out_lines(left_out: Sequence[LeftOut], width: int) -> list[Line]:
    shown = [f"{one.name} {', '.join(one.why)}" for one in left_out[:OUT_SHOWN]]
    rest = len(left_out) - len(shown)
    return wrapped("; ".join(shown) + (f"; and {rest} more" if rest > 0 else ""), width, 0, "warn")
