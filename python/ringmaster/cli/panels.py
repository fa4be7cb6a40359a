# SPDX-License-Identifier: Apache-2.0
"""What `ringmaster top` shows of a snapshot, as Rich renderables."""

import math
from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from ringmaster.monitor import Snapshot

PLOT_ROWS = 7
PLOT_COLUMNS = 100


def summary(snapshot: Snapshot) -> Text:
    """Workspace, turn rate, total rate, losses, tune."""
    total = sum(stream.rate_hz for stream in snapshot.streams)
    lost = sum(stream.lost for stream in snapshot.streams)
    text = Text()
    text.append(snapshot.workspace, "bold")
    text.append("" if snapshot.alive else "  its server has ended", "bold red")
    text.append(f"   turn rate {_hertz(snapshot.turn_rate_hz)}   {total / 1e6:.3f} M datagrams/s   lost ")
    text.append(f"{lost}", "bold red" if lost else "bold green")
    if snapshot.tunes:
        text.append(f"\ntune x {snapshot.tunes[0]:.5f}   y {snapshot.tunes[1]:.5f}")
    if snapshot.tunes_simulated:
        text.append(f"   (simulated {snapshot.tunes_simulated[0]:.5f}, {snapshot.tunes_simulated[1]:.5f})", "dim")
    for name, figures in snapshot.latency_ns.items():
        parts = (f"{key} {value / 1e3:.1f}" for key, value in figures.items() if key != "count")
        role = name.rpartition("/")[2]
        text.append(f"\narrival to visible, role {role}: {', '.join(parts)} µs")
    return text


def streams(snapshot: Snapshot) -> Table:
    """One line for each instrument."""
    table = _table("STREAM", ">RATE", ">RECEIVED", ">LOST", ">DUPLICATE", ">LATE", ">REFUSED")
    for stream in snapshot.streams:
        table.add_row(
            stream.name,
            _hertz(stream.rate_hz),
            str(stream.received),
            *(_alarming(count) for count in (stream.lost, stream.duplicate, stream.late, stream.refused)),
        )
    return table


def ports(snapshot: Snapshot) -> Table:
    """One line for each port."""
    table = _table("PORT", ">RATE", ">RECEIVED", ">REFUSED", ">MISSED BY KERNEL")
    for port in snapshot.ports:
        table.add_row(
            port.name, _hertz(port.rate_pps), str(port.received), _alarming(port.refused), _alarming(port.kernel_missed)
        )
    return table


def cores(snapshot: Snapshot) -> Table:
    """One line for each core of the engine."""
    table = _table("CORE", ">CPU", ">BUSY", ">LONGEST GAP")
    for core in snapshot.cores:
        table.add_row(core.name, str(core.core), f"{core.busy_share:.0%}", f"{core.longest_gap_us:.0f} µs")
    return table


def senders(snapshot: Snapshot) -> Table | Text:
    """One line for each sender that had to wait; a dim one when none did; nothing where there are none."""
    if not snapshot.senders:
        return Text()
    waiting = [sender for sender in snapshot.senders if sender.waits or sender.behind_turns]
    if not waiting:
        return Text(f"{len(snapshot.senders)} senders, none had to wait", "dim")
    table = _table("SENDER", ">SENT", ">WAITS", ">LONGEST WAIT", ">TURNS BEHIND")
    for sender in waiting:
        wait = f"{sender.longest_wait_us:.0f} µs"
        table.add_row(sender.name, str(sender.sent), str(sender.waits), wait, str(sender.behind_turns))
    return table


def orbit(snapshot: Snapshot) -> Text:
    """The horizontal orbit as bars, one for each BPM."""
    now = snapshot.orbit
    if now is None:
        return Text("no beam positions yet", "dim")
    largest = max((abs(x) for x in now.x if not math.isnan(x)), default=0.0)
    scale, unit = (1e-3, "µm") if now.unit == "nm" else (1.0, now.unit)
    text = Text(f"orbit x, {len(now.names)} BPMs, ±{largest * scale:.4g} {unit}, rms {now.rms[0] * scale:.4g} {unit}\n")
    text.append("\n".join(bars(now.x.tolist(), PLOT_ROWS, PLOT_COLUMNS)), "cyan")
    return text


def bars(values: Sequence[float], rows: int, columns: int) -> list[str]:
    """Lines of text with one bar for each value, up or down from the middle, scaled to the largest; NaN has none.

    More values than ``columns`` are put together, the one that is furthest from zero standing for its group.
    """
    group = max(1, math.ceil(len(values) / columns))
    finite = [0.0 if math.isnan(value) else value for value in values]
    heights = [max(finite[i : i + group], key=abs) for i in range(0, len(finite), group)]
    scale = max(map(abs, heights), default=0.0) or 1.0
    levels = [round(height / scale * rows) for height in heights]
    width = max(1, min(8, columns // max(1, len(levels))))
    gap = " " if width > 1 else ""
    lines = []
    for row in range(rows):
        top, bottom = rows - 2 * row, rows - 2 * row - 1
        cells = (_cell(_covers(level, top), _covers(level, bottom)) * (width - len(gap)) + gap for level in levels)
        lines.append("".join(cells).rstrip())
    return lines


def _covers(level: int, half_row: int) -> bool:
    """Whether a bar from 0 to ``level`` covers the half row whose upper edge is ``half_row``."""
    return 0 < half_row <= level or level < half_row <= 0


def _cell(top: bool, bottom: bool) -> str:
    return {(True, True): "█", (True, False): "▀", (False, True): "▄", (False, False): " "}[top, bottom]


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
    for column in columns:
        table.add_column(column.removeprefix(">"), justify="right" if column.startswith(">") else "left", no_wrap=True)
    return table


def _alarming(count: int) -> Text:
    return Text(str(count), "bold red" if count else "")


def _hertz(rate: float) -> str:
    return f"{rate / 1e6:.4f} MHz" if rate >= 1e6 else f"{rate / 1e3:.2f} kHz"
