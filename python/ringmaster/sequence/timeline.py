# SPDX-License-Identifier: Apache-2.0
"""The time line of a simulated sequence as a picture: its states, the supplies that moved, and what it looked at."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ringmaster import plots
from ringmaster.sequence.described import State
from ringmaster.sequence.simulated import Simulated

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]
ACTS, LOOKS, WAY_OUT, GOOD_END = "#1f5f8b", "#9db8cc", "#c1440e", "#3b7a3b"
CURVES = ("#1f5f8b", "#c1440e", "#3b7a3b", "#8a5a9c", "#b08a1e", "#4a4a4a")
POINTS = 6000
"""Of a curve, at most: more are not seen."""
SAME = 0.01
"""Supplies whose setpoints and currents differ by less than this share of their range are one curve."""
LEGEND_MOST = 8
SHOWN: Mapping[str, tuple[float, str]] = {"nm": (1e-3, "µm")}
"""Units that people rather see in others."""


@dataclass(frozen=True)
class _Moved:
    """Supplies that moved alike."""

    names: list[str]
    setpoint: Floats
    current: Floats

    @property
    def label(self) -> str:
        more = f" and {len(self.names) - 1} more" if len(self.names) > 1 else ""
        return self.names[0] + more


def draw(done: Simulated, path: Path, happened: Mapping[float, str] | None = None) -> None:
    """Writes the file. ``happened`` are words by their time, in seconds from the begin."""
    moved, seen = _moved_by_unit(done), _seen_by_unit(done)
    states = list(dict.fromkeys((passage.sequence.name, passage.state) for passage in done.passages))
    heights = [max(1.6, 0.24 * len(states) + 0.4), *[1.7] * (len(moved) + len(seen))]
    figure = plots.figure(11, 1.0 + sum(heights))
    all_axes = np.atleast_1d(figure.subplots(len(heights), sharex=True, height_ratios=heights))
    _draw_states(all_axes[0], done, [state for _, state in states])
    for axes, (unit, supplies) in zip(all_axes[1:], moved.items(), strict=False):
        _draw_moved(axes, done, supplies, unit)
    for axes, (unit, inputs) in zip(all_axes[1 + len(moved) :], seen.items(), strict=True):
        _draw_seen(axes, done, inputs, unit)
    for axes in all_axes:
        for at, words in (happened or {}).items():
            axes.axvline(at, color=WAY_OUT, lw=0.9, ls=":")
            if axes is all_axes[0]:
                axes.annotate(words, (at, 1), xycoords=("data", "axes fraction"), xytext=(2, 2),
                              textcoords="offset points", fontsize=7, color=WAY_OUT)  # fmt: skip
        axes.spines[["top", "right"]].set_visible(False)
    all_axes[-1].set(xlabel="time since it was asked to run, s", xlim=(done.time_s[0], done.time_s[-1]))
    plots.save(figure, path)


def _draw_states(axes: "Axes", done: Simulated, states: list[State]) -> None:
    rows = {state.number: row for row, state in enumerate(states)}
    time, period_s = done.time_s, 1 / done.run.rate_hz
    for passage in done.passages:
        begin, length = time[passage.step], passage.steps * period_s
        row = rows[passage.state.number]
        axes.broken_barh([(begin, length)], (row - 0.36, 0.72), color=_colour(passage.state, done))
        if passage.is_way_out:
            axes.annotate(passage.why, (begin, row), xytext=(4, 9), textcoords="offset points", fontsize=7,
                          color=WAY_OUT)  # fmt: skip
    for earlier, later in zip(done.passages, done.passages[1:], strict=False):
        at = time[later.step]
        ends = rows[earlier.state.number], rows[later.state.number]
        axes.plot([at, at], ends, color=WAY_OUT if later.is_way_out else "0.6", lw=0.6, zorder=0)
    axes.plot([time[mark.step] for mark in done.marks], [rows[mark.state.number] for mark in done.marks], "v",
              color="0.15", ms=3.5, label="marks")  # fmt: skip
    axes.set_yticks(range(len(states)), [state.name for state in states], fontsize=8)
    axes.set_ylim(len(states) - 0.4, -0.6)
    axes.grid(axis="x", alpha=0.25)
    how = done.result.name.lower()
    axes.set_title(f"{done.sequence.name}: {how}, {done.seconds:.4g} s", loc="left", fontsize=10, pad=14)


def _colour(state: State, done: Simulated) -> str:
    if state.end is not None:
        return GOOD_END if state.end == "done" else WAY_OUT
    if state.name == done.sequence.abort:
        return WAY_OUT
    return ACTS if state.moves else LOOKS


def _thinned(done: Simulated) -> slice:
    return slice(None, None, max(1, done.run.cycles // POINTS))


def _moved_by_unit(done: Simulated) -> dict[str, list[_Moved]]:
    """Those that left where they stood, alike ones together."""
    found: dict[str, list[_Moved]] = defaultdict(list)
    piece = _thinned(done)
    setpoints, currents = np.asarray(done.run.setpoints[piece]), np.asarray(done.run.currents[piece])
    ranges = np.ptp(setpoints, axis=0)
    for place, each in enumerate(done.run.summary["actuators"]):
        if ranges[place] <= 0:
            continue
        unit = str(each["unit"])
        for other in found[unit]:
            apart = np.abs(other.setpoint - setpoints[:, place]).max(), np.abs(other.current - currents[:, place]).max()
            if max(apart) <= SAME * ranges[place]:
                other.names.append(str(each["name"]))
                break
        else:
            found[unit].append(_Moved([str(each["name"])], setpoints[:, place], currents[:, place]))
    return {unit: supplies for unit, supplies in found.items() if supplies}


def _draw_moved(axes: "Axes", done: Simulated, supplies: list[_Moved], unit: str) -> None:
    time = done.time_s[_thinned(done)]
    for number, one in enumerate(supplies):
        colour = CURVES[number % len(CURVES)]
        axes.plot(time, one.current, color=colour, lw=2.4, alpha=0.35)
        axes.plot(time, one.setpoint, color=colour, lw=0.9, label=one.label if number < LEGEND_MOST else None)
    axes.set_ylabel(f"setpoint (thin), current\n{unit}" if unit else "setpoint (thin),\ncurrent", fontsize=8)
    _finish(axes)


def _seen_by_unit(done: Simulated) -> dict[str, list[tuple[str, Floats]]]:
    found: dict[str, list[tuple[str, Floats]]] = defaultdict(list)
    for name in done.file.inputs:
        values = done.input(name)
        if values is not None:
            found[_unit(done, done.file.inputs[name])].append((name, values[_thinned(done)]))
    return dict(found)


def _unit(done: Simulated, lane: str) -> str:
    stream, _, name = lane.rpartition(".")
    for each in done.run.summary["inputs"]:
        if each["name"] == stream and "units" in each:
            return str(each["units"][each["lanes"].index(name)])
    return "nm" if name[:1] in "xy" else ""


def _draw_seen(axes: "Axes", done: Simulated, inputs: list[tuple[str, Floats]], unit: str) -> None:
    time = done.time_s[_thinned(done)]
    factor, shown = SHOWN.get(unit, (1.0, unit))
    for number, (name, values) in enumerate(inputs):
        lane = done.file.inputs[name]
        axes.plot(time, values * factor, color=CURVES[number % len(CURVES)], lw=0.8, label=f"{name}, {lane}")
    axes.set_ylabel(shown or "inputs", fontsize=8)
    _finish(axes)


def _finish(axes: "Axes") -> None:
    axes.grid(alpha=0.25)
    axes.legend(frameon=False, fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    axes.tick_params(labelsize=8)
