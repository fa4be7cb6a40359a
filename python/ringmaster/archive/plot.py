# SPDX-License-Identifier: Apache-2.0
"""Lanes of an archive over time, drawn into a PNG or SVG file."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ringmaster import plots
from ringmaster.archive.stream import StoredStream
from ringmaster.archive.times import Edge
from ringmaster.archive.window import ReducedWindow
from ringmaster.errors import ArchiveArgument, ObjectNotFound
from ringmaster.fabric.naming import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ringmaster.archive.window import ArchiveWindow

MOST_PANELS = 24


def draw(
    streams: Sequence[StoredStream], start: Edge, stop: Edge, points: int, lanes: Sequence[str], path: Path
) -> str:
    """Writes the file, a panel for each lane; says what is in it."""
    wanted = list(dict.fromkeys(lane for stream in streams for lane in _lanes(stream, lanes)))[:MOST_PANELS]
    windows = [(stream, stream.view(start, stop, points)) for stream in streams]
    windows = [(stream, window) for stream, window in windows if len(window)]
    if not windows:
        raise ArchiveArgument("nothing was recorded in this span; `ringmaster archive ls` shows what was")
    figure = plots.figure(11, 1.2 + 2.0 * len(wanted))
    panels = figure.subplots(len(wanted), squeeze=False, sharex=True)[:, 0]
    for lane, axes in zip(wanted, panels, strict=True):
        for stream, window in windows:
            if lane in window.lanes:
                _draw_lane(axes, stream, window, lane)
        axes.grid(alpha=0.25)
    panels[0].legend(frameon=False, ncols=4, fontsize=8)
    panels[-1].set_xlabel("UTC")
    plots.save(figure, path)
    return ", ".join(_words(stream, window) for stream, window in windows)


def _lanes(stream: StoredStream, lanes: Sequence[str]) -> list[str]:
    there = [lane.name for lane in stream.lanes]
    absent = [lane for lane in lanes if lane not in there]
    if absent:
        raise ObjectNotFound(f"{stream.name}: no lane {absent[0]!r}; it has: {', '.join(there)}")
    return list(lanes) or there


def _draw_lane(axes: "Axes", stream: StoredStream, window: "ArchiveWindow | ReducedWindow", lane: str) -> None:
    (line,) = axes.plot(window.utc, window.values(lane), lw=0.8, label=stream.name)
    if isinstance(window, ReducedWindow):
        axes.fill_between(
            window.utc, window.min(lane), window.max(lane), color=line.get_color(), alpha=0.25, linewidth=0
        )
    unit = next((it.unit for it in stream.lanes if it.name == lane), "")
    axes.set_ylabel(f"{lane}, {unit}" if unit else lane)


def _words(stream: StoredStream, window: "ArchiveWindow | ReducedWindow") -> str:
    if isinstance(window, ReducedWindow):
        return f"{stream.name} ({len(window)} steps of {window.period} turns)"
    return f"{stream.name} ({counted(len(window), 'record')})"
