# SPDX-License-Identifier: Apache-2.0
"""A plan as a picture: sockets, their chiplets, cores by what they do and how full they are; and what carries bytes."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ringmaster import plots
from ringmaster.console.units import quantity, share
from ringmaster.plan.judge import Judged
from ringmaster.plan.predict import CoreLoad
from ringmaster.plan.roles import LINUX_MAY_SHARE
from ringmaster.plan.show import flows
from ringmaster.plan.topology import Core, Machine

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {
    "receive": "#1f5f8b",
    "spread": "#5b9bd5",
    "transmit": "#c1440e",
    "application": "#3a7d44",
    "process": "#6aa84f",
    "forward": "#7b4ea3",
    "generate": "#7b4ea3",
    "Linux": "#9a9a9a",
    "free": "#ffffff",
}
WORDS = {"process": "application, a process"}
FRAME, EMPTY = "#888888", "#e9eef2"
ACROSS = 4
"""Cores of a chiplet, and chiplets of a socket, in one row."""
WIDTH, BARS_HEIGHT, MOST_INCHES = 13.0, 2.9, 0.6
"""Of the picture, of the bars below, and of a core at most."""


def draw(judged: Judged, path: Path) -> None:
    """Into a file."""
    machine = judged.plan.machine
    sockets = machine.sockets
    high = max(_size(machine, socket, WIDTH / len(sockets)) for socket in sockets)
    made = plots.figure(WIDTH, high + BARS_HEIGHT)
    grid = made.add_gridspec(2, len(sockets), height_ratios=[high, BARS_HEIGHT])
    loads = {one.core: one for one in judged.prediction.cores}
    for i, socket in enumerate(sockets):
        _socket(made.add_subplot(grid[0, i]), judged, socket, loads)
    below = grid[1, :].subgridspec(1, 2, width_ratios=[3, 2])
    _bars(made.add_subplot(below[0]), judged)
    _flows(made.add_subplot(below[1]), judged)
    fits = "fits" if judged.fits else "does not fit"
    made.suptitle(
        f"{judged.plan.demand.workspace} on {machine.name}: {fits}, {judged.prediction.receive_cores} receive cores, "
        f"fullest core {share(judged.prediction.peak)}",
        fontsize=12,
    )
    plots.save(made, path)


def _size(machine: Machine, socket: int, width: float) -> float:
    """Height of a socket in inches that is so wide."""
    chiplets, across = machine.chiplets(socket), _across(machine, socket)
    wide, high = _chiplet_size(machine, socket)
    rows = math.ceil(len(chiplets) / across)
    return 0.6 + min(MOST_INCHES, width / (across * (wide + 0.7))) * rows * (high + 1.1)


def _chiplet_size(machine: Machine, socket: int) -> tuple[int, int]:
    """Cores beside each other, and below."""
    counts = [sum(core.chiplet == chiplet for core in machine.cores) for chiplet in machine.chiplets(socket)]
    wide = min(ACROSS, max(counts))
    return wide, math.ceil(max(counts) / wide)


def _across(machine: Machine, socket: int) -> int:
    return min(ACROSS, len(machine.chiplets(socket)))


def kind_of(core: Core, loads: dict[int, CoreLoad], linux: Sequence[int]) -> str:
    """What a core is drawn as: what it does that counts most."""
    one = loads.get(core.number)
    kinds = [role.kind for role in one.roles if role.kind not in LINUX_MAY_SHARE] if one else []
    for kind in ("receive", "transmit", *kinds):
        if kind in kinds:
            return kind
    return "Linux" if core.number in linux else "free"


def _socket(axes: "Axes", judged: Judged, socket: int, loads: dict[int, CoreLoad]) -> None:
    from matplotlib.patches import FancyBboxPatch, Rectangle

    machine = judged.plan.machine
    chiplets = machine.chiplets(socket)
    across = _across(machine, socket)
    wide, high = _chiplet_size(machine, socket)
    for i, chiplet in enumerate(chiplets):
        left, top = (i % across) * (wide + 0.7), -(i // across) * (high + 1.1)
        frame = FancyBboxPatch(
            (left - 0.12, top - high - 0.12), wide + 0.24, high + 0.24, boxstyle="round,pad=0.05",
            facecolor="#f7f7f7", edgecolor=FRAME, lw=0.8,
        )  # fmt: skip
        axes.add_patch(frame)
        cores = [core for core in machine.cores if core.chiplet == chiplet]
        served = _served(cores, loads, judged.plan.linux)
        axes.text(left, top + 0.22, served or f"{chiplet}", fontsize=7, va="bottom", weight="bold" if served else None)
        for j, core in enumerate(cores):
            x, y = left + j % wide, top - j // wide - 1
            kind = kind_of(core, loads, judged.plan.linux)
            fill = _fill(core, loads, kind)
            axes.add_patch(Rectangle((x + 0.06, y + 0.06), 0.88, 0.88, facecolor=EMPTY if kind != "free" else "white",
                                     edgecolor=COLOURS[kind] if kind != "free" else "#cccccc", lw=1.0))  # fmt: skip
            axes.add_patch(
                Rectangle((x + 0.06, y + 0.06), 0.88, 0.88 * fill, facecolor=COLOURS[kind], alpha=0.85, lw=0)
            )
            axes.text(x + 0.5, y + 0.72, str(core.number), ha="center", va="center", fontsize=5.5,
                      color="white" if fill > 0.75 else "#333333")  # fmt: skip
    rows = math.ceil(len(chiplets) / across)
    axes.set_xlim(-0.4, across * (wide + 0.7))
    axes.set_ylim(-rows * (high + 1.1) - 0.1, 0.9)
    axes.set_aspect("equal")
    axes.axis("off")
    axes.set_title(_title(judged, socket), fontsize=9, loc="left")


def _served(cores: Sequence[Core], loads: dict[int, CoreLoad], linux: Sequence[int]) -> str:
    """The ports and applications of a chiplet, or Linux."""
    roles = [role for core in cores if core.number in loads for role in loads[core.number].roles]
    ports = dict.fromkeys(port for role in roles if role.kind == "receive" for port in role.ports)
    others = dict.fromkeys(role.application or role.kind for role in roles if role.kind in COLOURS and not role.ports)
    return ", ".join((*ports, *others)) or ("Linux" if all(core.number in linux for core in cores) else "")


def _fill(core: Core, loads: dict[int, CoreLoad], kind: str) -> float:
    if kind in ("Linux", "free"):
        return 1.0 if kind == "Linux" else 0.0
    return min(1.0, loads[core.number].load)


def _title(judged: Judged, socket: int) -> str:
    machine, ports = judged.plan.machine, judged.plan.demand.ports
    cards = [port.name for port in ports if (one := machine.device(port.device)) is not None and one.socket == socket]
    return f"socket {socket}" + (f": cards of {', '.join(cards)}" if cards else "")


def _bars(axes: "Axes", judged: Judged) -> None:
    """Load of each core, with its uncertainty."""
    shown = judged.prediction.cores
    factor = judged.uncertainty.factor
    for i, one in enumerate(shown):
        core = judged.plan.machine.core_of(one.core)
        kind = kind_of(core, {one.core: one}, judged.plan.linux) if core else "free"
        load = 100 * one.load
        error = None if kind in ("Linux", "free") else [[load - load / factor], [load * factor - load]]
        if one.unknown:
            axes.text(i, load + 2, "?", fontsize=8, ha="center", va="bottom")
        axes.bar(i, load, color=COLOURS["Linux"] if kind == "free" else COLOURS[kind], width=0.75, yerr=error,
                 error_kw={"ecolor": "#444444", "lw": 0.8, "capsize": 2})  # fmt: skip
    limit = 100 * judged.plan.rules.limit
    axes.axhline(limit, color=plots.LIMIT, lw=0.8, ls="--")
    axes.text(len(shown) - 0.5, limit, "limit", fontsize=7, va="bottom", ha="right", color=plots.LIMIT)
    axes.axhline(100, color=plots.MEASURED, lw=0.8)
    axes.set_xticks(range(len(shown)), [str(one.core) for one in shown], fontsize=7)
    axes.set_xlabel("core", fontsize=8)
    axes.set_ylabel("load, % of the core", fontsize=8)
    axes.tick_params(labelsize=7)
    kinds = dict.fromkeys(role.kind for one in shown for role in one.roles if role.kind in COLOURS)
    _legend(axes, [*kinds, "Linux"])
    axes.grid(axis="y", alpha=0.3)


def _legend(axes: "Axes", kinds: Sequence[str]) -> None:
    from matplotlib.patches import Patch

    handles = [Patch(facecolor=COLOURS[kind], label=WORDS.get(kind, kind)) for kind in kinds]
    axes.legend(
        handles=handles, frameon=False, fontsize=7, ncols=len(handles), loc="lower right", bbox_to_anchor=(1, 1)
    )


def _flows(axes: "Axes", judged: Judged) -> None:
    """Memory, links, slots: what is carried of what can be."""
    listed = [flow for flow in flows(judged) if not flow.name.endswith("out")]
    for i, flow in enumerate(listed):
        part = 100 * (flow.share or 0.0)
        axes.barh(-i, part, color=plots.PREDICTED, height=0.7)
        most = f" of {quantity(flow.most_bytes_per_s, 'B/s', 3)}" if flow.most_bytes_per_s else ""
        axes.text(part + 1, -i, f"{quantity(flow.bytes_per_s, 'B/s', 3)}{most}", fontsize=7, va="center")
    axes.set_yticks([-i for i in range(len(listed))], [flow.name for flow in listed], fontsize=7)
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of what it carries", fontsize=8)
    axes.tick_params(labelsize=7)
    axes.grid(axis="x", alpha=0.3)
