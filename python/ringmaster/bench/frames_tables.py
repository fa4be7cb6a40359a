# SPDX-License-Identifier: Apache-2.0
"""Figures and tables of `ringmaster bench frames`, the source's among them in its own form: min, mean, max."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean
from typing import TYPE_CHECKING

from ringmaster.bench.frames_assembly import STREAMS
from ringmaster.bench.frames_run import ABOUT, FRAME_BYTES, RATE_HZ, Spread, Window
from ringmaster.report.headlines import Figure, exact, of_values
from ringmaster.report.published import CAMERA, CAMERA_PAPER
from ringmaster.report.section import Columns, Table
from ringmaster.report.verdicts import Headline, number

if TYPE_CHECKING:
    from ringmaster.bench.frames import CameraFrames

P99_US, RATIO, HELD = 50.0, 0.7, 7.9
"""Targets: of the latency past the kernel, idle, at most; of the assembly's speed to the copy's, at least;
of the cameras at their full rate, at least."""
QUANTITIES = ("min", "mean", "p99", "max")
FROM_ARRIVAL, FROM_SENDING = "after_last_fragment", "after_sent"
PUBLISHED = {"udp": CAMERA[:3], "memif": CAMERA[3:], "af_xdp": CAMERA[3:]}
"""Min, mean and max, by transport: of the kernel's sockets, and of DPDK."""


@dataclass(frozen=True)
class Pooled:
    """All windows of one transport and load, one time of theirs, µs."""

    transport: str
    load: str
    windows: int
    frames: int
    min: float
    mean: float
    p99: float
    """The median of the windows'."""
    max: float
    behind_us: float
    """That a packet was late to its pace, at most."""
    left_out: int
    """Windows in which others had a core."""


COLUMNS: Columns = {
    "transport": lambda row: row.transport,
    "load": lambda row: row.load,
    "frames": lambda row: f"{row.frames:,}",
    "min": lambda row: row.min / 1e3,
    "mean": lambda row: row.mean / 1e3,
    "p99": lambda row: row.p99 / 1e3,
    "max": lambda row: row.max / 1e3,
    "published min": lambda row: PUBLISHED[row.transport][0].value,
    "mean ": lambda row: PUBLISHED[row.transport][1].value,
    "max ": lambda row: PUBLISHED[row.transport][2].value,
    "sender kept": lambda row: row.behind_us / 1e3,
    "left out": lambda row: str(row.left_out),
}
EIGHT: Columns = {
    "MTU": lambda row: str(row.mtu),
    "cameras": lambda row: str(row.cameras),
    "sent": lambda row: f"{row.sent:,}",
    "lost": lambda row: str(row.lost),
    "wrong": lambda row: str(row.wrong),
    "MB/s": lambda row: row.bytes_per_s / 1e6,
    "p99 µs": lambda row: row.after_last_fragment_us.p99 if row.after_last_fragment_us else None,
    "max µs": lambda row: row.after_last_fragment_us.max if row.after_last_fragment_us else None,
    "sender waited": lambda row: f"{row.waits} ×, up to {row.longest_wait_us:.0f} µs",
    "class": lambda row: row.distance,
    "": lambda row: "" if row.whole else "discarded",
}


def _times(window: Window, name: str) -> Spread | None:
    found: Spread | None = getattr(window, f"{name}_us")
    return found


def pooled(windows: Sequence[Window], name: str) -> list[Pooled]:
    """By transport and load, in the order in which they were measured."""
    made = []
    for transport, load in dict.fromkeys((window.transport, window.load) for window in windows):
        all_of_it = [window for window in windows if (window.transport, window.load) == (transport, load)]
        here = [window for window in all_of_it if window.whole]
        times = [time for time in (_times(window, name) for window in here) if time is not None]
        if times:
            p99 = of_values((time.p99 for time in times), "windows")
            assert p99 is not None
            frames = sum(time.count for time in times)
            made.append(
                Pooled(
                    transport,
                    load,
                    windows=len(times),
                    frames=frames,
                    min=min(time.min for time in times),
                    mean=sum(time.mean * time.count for time in times) / frames,
                    p99=p99.median,
                    max=max(time.max for time in times),
                    behind_us=max(window.longest_behind_us for window in here),
                    left_out=len(all_of_it) - len(here),
                )
            )
    return made


def _figure(windows: Sequence[Window], transport: str, load: str, name: str, quantity: str) -> Figure | None:
    here = [window for window in windows if (window.transport, window.load) == (transport, load) and window.whole]
    return of_values(
        (getattr(time, quantity) for time in (_times(window, name) for window in here) if time is not None), "windows"
    )


def headlines(bench: "CameraFrames") -> list[Headline]:
    """Of the parts that were asked for, those with a target first."""
    of_part = {"latency": _latencies, "cameras": _cameras, "assembly": _assemblies}
    made = [line for part, lines in of_part.items() if part in bench.options.parts for line in lines(bench)]
    return sorted(made, key=lambda line: line.target is None)


def _latencies(bench: "CameraFrames") -> list[Headline]:
    windows, made = bench.of("latency"), []
    for name, load, transport in product((FROM_ARRIVAL, FROM_SENDING), bench.options.loads, bench.options.transports):
        group = f"{name}{'' if load == 'idle' else '_loaded'}_us.{transport}"
        for quantity in QUANTITIES if name == FROM_ARRIVAL else QUANTITIES[1:3]:
            held = quantity == "p99" and name == FROM_ARRIVAL and load == "idle" and transport != "udp"
            figure = _figure(windows, transport, load, name, quantity)
            about = ABOUT[transport] if quantity == "mean" else ""
            made.append(Headline(f"{group}.{quantity}", figure, "µs", P99_US if held else None, about=about))
    return made


def _cameras(bench: "CameraFrames") -> list[Headline]:
    windows: list[Window] = bench.of("cameras")
    lost = sum(window.lost for window in windows) if windows else None
    whole = [window for window in windows if window.whole]
    held = of_values((window.bytes_per_s / (RATE_HZ * FRAME_BYTES) for window in whole), "windows")
    rate = of_values((window.bytes_per_s / 1e6 for window in whole), "windows")
    return [
        Headline("lost_frames", exact(lost, "all windows"), "frames", 0.0, about="of eight cameras over memif"),
        Headline("cameras", held, "", HELD, False, "2.5 megapixels, 12 bits, 30 frames a second each: by whole frames"),
        Headline("cameras_mb_per_s", rate, "MB/s", about="of whole frames"),
    ]


def _worst_ratio(bench: "CameraFrames", mtu: int) -> Figure | None:
    streams = [stream for stream, its in STREAMS.items() if its == mtu]
    figures = [of_values((look.ratio(stream) for look in bench.looks), "looks") for stream in streams]
    return min((figure for figure in figures if figure), key=lambda figure: figure.median, default=None)


def _spead2_ratio(bench: "CameraFrames", mtu: int) -> Figure | None:
    stream = f"GVSP, MTU {mtu}"
    pairs = zip(bench.looks, bench.heaps(mtu), strict=False)
    return of_values((look.ours[stream] / heap.memory for look, heap in pairs), "pairs of looks")


def _assemblies(bench: "CameraFrames") -> list[Headline]:
    worst = "assembly to a streaming copy of the same bytes, the slower of two formats"
    made = [
        Headline("ratio_to_memcpy", _worst_ratio(bench, 1500), "×", RATIO, False, f"{worst}, MTU 1500"),
        Headline("ratio_to_memcpy_jumbo", _worst_ratio(bench, 9000), "×", RATIO, False, f"{worst}, MTU 9000"),
    ]
    peer = "GVSP to spead2's heaps from memory, one core"
    for name, mtu in (("ratio_to_spead2", 1500), ("ratio_to_spead2_jumbo", 9000)):
        if bench.heaps(mtu):
            made.append(Headline(name, _spead2_ratio(bench, mtu), "×", about=f"{peer}, MTU {mtu}"))
    return made


def tables(bench: "CameraFrames") -> list[Table]:
    """Of what was measured."""
    floor_us = max((floor.longest_us for floor in bench.floors), default=float("nan"))
    floor = f"Stall floor: a loop that only looks at the clock waited {floor_us / 1e3:.3f} ms on these cores at most. "
    source = f"Published: {CAMERA_PAPER.kind}, {CAMERA_PAPER.words}; other cards, and a real link."
    arrival, sending = (pooled(bench.of("latency"), name) for name in (FROM_ARRIVAL, FROM_SENDING))
    made = []
    if arrival:
        made.append(
            Table.of("From the last packet's arrival to the frame's lease, ms", arrival, COLUMNS, floor + source)
        )
    if sending:
        about = "With the way through the kernel, and what the sender's own core waited for. " + floor
        made.append(Table.of("From the last packet's sending to the frame's lease, ms", sending, COLUMNS, about))
    if bench.of("cameras"):
        made.append(Table.of("Eight cameras over memif", bench.of("cameras"), EIGHT))
    return made + ([_one_core(bench)] if bench.looks else [])


def _one_core(bench: "CameraFrames") -> Table:
    def speed(values: Sequence[float]) -> str:
        return f"{number(fmean(values))} ({number(min(values))}–{number(max(values))})" if values else "–"

    looks = bench.looks
    rows = [
        (stream, speed([look.ours[stream] for look in looks]), speed([look.ratio(stream) for look in looks]))
        for stream in STREAMS
    ]
    for mtu in (1500, 9000):
        rows.append((f"copy, MTU {mtu}", speed([look.copied[mtu] for look in looks]), "1"))
        if heaps := bench.heaps(mtu):
            rows.append((f"spead2, MTU {mtu}, from memory", speed([heap.memory for heap in heaps]), "–"))
            rows.append((f"spead2, MTU {mtu}, from a capture", speed([heap.pcap for heap in heaps]), "–"))
    return Table("One core, packets in memory", ("", "GB/s", "to the copy"), rows)
