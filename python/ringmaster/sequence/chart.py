# SPDX-License-Identifier: Apache-2.0
"""The chart of a sequence as a picture: states, what they do, and where they lead, as IEC 61131-3 draws them."""

import textwrap
from collections.abc import Callable
from collections.abc import Sequence as AnySequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from ringmaster import plots
from ringmaster.sequence.described import Sequence, State
from ringmaster.sequence.layers import Arrow, Layout, Point, Size, lay_out

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLE, TEXT = 9.0, 7.0
LINE = 1.35
"""Height of a line of text, in its own size."""
PAD = 6.0
WIDEST = 34
"""Characters of a line in a box or beside an arrow."""
MARGIN = 12.0
INK, WAY, OUT, SOFT = "#222222", "#1f5f8b", "#c1440e", "#f4f6f8"
POINTS_PER_INCH = 72.0
WIDER = 1.06
"""Letters that are drawn small are a little wider than their outlines."""


@dataclass(frozen=True)
class _Box:
    """A state as it is written."""

    title: str
    lines: tuple[str, ...]

    @property
    def size(self) -> Size:
        """In points."""
        widths = [_width(self.title, TITLE, True), *(_width(line, TEXT) for line in self.lines)]
        return max(widths) + 2 * PAD, TITLE * LINE + len(self.lines) * TEXT * LINE + 2 * PAD


def draw(sequence: Sequence, path: Path) -> None:
    """Writes the file."""
    boxes = {state.name: _box_of(state) for state in sequence.states}
    ways = [(state, to, when) for state in sequence.states for when, to in _ways_of(state)]
    labels = [_wrapped(when) for _, _, when in ways]
    arrows = [Arrow(state.name, to, _size_of(label)) for (state, to, _), label in zip(ways, labels, strict=True)]
    made = lay_out({name: box.size for name, box in boxes.items()}, arrows)
    axes, save = _sheet(made, [sequence.name, *_note(sequence)], path)
    for number, label in enumerate(labels):
        _draw_way(axes, made.ways[number], made.labels[number], label)
    for state in sequence.states:
        _draw_box(axes, made, state, boxes[state.name], sequence)
    save()


def _ways_of(state: State) -> list[tuple[str, str]]:
    """Conditions and targets; of several the first that is true is taken, so they are numbered."""
    ways = [(transition.when, transition.to) for transition in state.then]
    if len(ways) > 1:
        ways = [(f"{number}: {when}", to) for number, (when, to) in enumerate(ways, 1)]
    return [*ways, *([("timeout", state.on_timeout)] if state.on_timeout else [])]


def _sheet(made: Layout, note: list[str], path: Path) -> "tuple[Axes, Callable[[], None]]":
    """Axes in points, with a title and lines above; and what saves it."""
    title, *lines = note
    above = TITLE * 2 * LINE + len(lines) * TEXT * LINE + PAD
    width = max(made.width, _width(title, TITLE * 1.3, True), *(_width(line, TEXT) for line in lines))
    figure = plots.figure((width + 2 * MARGIN) / POINTS_PER_INCH, (made.height + above + 2 * MARGIN) / POINTS_PER_INCH)
    figure.set_layout_engine("none")
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    left = (made.width - width) / 2
    axes.set(xlim=(left - MARGIN, left + width + MARGIN), ylim=(made.height + MARGIN, -above - MARGIN))
    axes.axis("off")
    axes.text(left, -above, title, size=TITLE * 1.3, weight="bold", va="top", color=INK)
    for number, line in enumerate(lines):
        at = -above + (TITLE * 1.5 + number * TEXT) * LINE
        axes.text(left, at, line, size=TEXT, va="top", color="0.35", parse_math=False)
    return axes, lambda: plots.save(figure, path)


def _note(sequence: Sequence) -> list[str]:
    lines = textwrap.wrap(sequence.description, 90) if sequence.description else []
    if sequence.enable:
        lines += textwrap.wrap(f"enabled while {sequence.enable}", 90, subsequent_indent="  ")
    most = "" if sequence.timeout_s is None else f"at most {sequence.timeout_s:g} s; "
    out = f"→ {sequence.abort}" if sequence.abort else "it ends at once, and supplies stay"
    return [*lines, f"{most}abort, timeout, lost enable or beam: {out}"]


def _box_of(state: State) -> _Box:
    lines = [line for action in state.do for line in textwrap.wrap(action, WIDEST, subsequent_indent="   ")]
    if state.end:
        lines.append(f"end: {state.end}")
    elif state.timeout_s:
        lines.append(f"at most {state.timeout_s:g} s")
    return _Box(state.name, tuple(lines))


def _wrapped(text: str) -> str:
    return "\n".join(textwrap.wrap(text, WIDEST))


def _size_of(label: str) -> Size:
    lines = label.split("\n")
    return max(_width(line, TEXT) for line in lines) + 14.0, len(lines) * TEXT * LINE + 4.0


@cache
def _width(text: str, size: float, bold: bool = False) -> float:
    """In points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=size, weight="bold" if bold else "normal")
    return WIDER * float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0])


def _draw_box(axes: "Axes", made: Layout, state: State, box: _Box, sequence: Sequence) -> None:
    from matplotlib.patches import FancyBboxPatch

    (x, y), (width, height) = made.boxes[state.name], box.size
    edge = OUT if state.name == sequence.abort or state.end == "failed" else INK

    def frame(grow: float, fill: bool) -> None:
        axes.add_patch(
            FancyBboxPatch(
                (x - width / 2 - grow, y - height / 2 - grow),
                width + 2 * grow,
                height + 2 * grow,
                boxstyle="round,pad=0,rounding_size=5",
                facecolor=SOFT if fill else "none",
                edgecolor=edge,
                linewidth=1.1,
                zorder=3,
            )
        )

    frame(0.0, True)
    if state.name == sequence.begin or state.end:
        frame(2.5, False)
    text_y = y - height / 2 + PAD
    axes.text(x, text_y, state.name, size=TITLE, weight="bold", va="top", ha="center", color=edge, zorder=4)
    for number, line in enumerate(box.lines):
        at = text_y + TITLE * LINE + number * TEXT * LINE
        axes.text(x - width / 2 + PAD, at, line, size=TEXT, va="top", color=INK, zorder=4, parse_math=False)


def _draw_way(axes: "Axes", way: AnySequence[Point], at: Point, label: str) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path as Curve

    vertices, codes = [way[0]], [Curve.MOVETO]
    for (x0, y0), (x1, y1) in pairwise(way):
        middle = (y0 + y1) / 2
        vertices += [(x0, middle), (x1, middle), (x1, y1)]
        codes += [Curve.CURVE4] * 3
    axes.add_patch(
        FancyArrowPatch(
            path=Curve(vertices, codes), arrowstyle="-|>", mutation_scale=8, edgecolor=WAY, lw=0.9, fill=False, zorder=1
        )
    )
    axes.text(
        *at,
        label,
        size=TEXT,
        ha="center",
        va="center",
        color=WAY,
        zorder=2,
        linespacing=1.15,
        parse_math=False,
        bbox={"boxstyle": "square,pad=0.15", "facecolor": "white", "edgecolor": "none"},
    )
